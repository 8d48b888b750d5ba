"""The rows of the strategies' benchmark that were kept for the documentation."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.benchmarks.points import POINTS
from tests.benchmarks.sides import HEADINGS

FILE = Path(__file__).parents[1] / "data" / "strategy-times.json"
SHOWN = ("strategy", "members x partitions", "scene", "Kafka ms", "evenkeel ms", "ratio")
_KEY = 3
"""So many cells say what was measured."""


def load(file: Path = FILE) -> list[list[str]]:
    """The cells of each row."""
    rows: list[list[str]] = json.loads(file.read_text(encoding="utf-8"))
    return rows


def keep(rows: Iterable[Sequence[str]], file: Path = FILE) -> None:
    """Put rows in the place of what was measured before of the same; those of no point any more go."""
    before = load(file) if file.exists() else []
    known = {tuple(row[:_KEY]): [*row] for row in [*before, *rows]}
    keys = [(point.strategy, point.size, scene) for point in POINTS for scene in point.scenes]
    lines = [json.dumps(known[key]) for key in keys if key in known]
    file.write_text("[\n" + ",\n".join(lines) + "\n]\n", encoding="utf-8")


def section(file: Path = FILE) -> str:
    """What the documentation has of them."""
    columns = [HEADINGS.index(name) for name in SHOWN]
    lines = [[f"`{row[0]}`", *(row[at] for at in columns[1:])] for row in load(file)]
    rule = ["---"] * _KEY + ["---:"] * (len(SHOWN) - _KEY)
    heads = [name[0].upper() + name[1:] if name != "evenkeel ms" else name for name in SHOWN]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in [heads, rule, *lines])
