"""What was measured, for a terminal and for the README beside this file."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from rich.box import SIMPLE_HEAD
from rich.table import Table

from tests.benchmarks.sides import Row

HEADINGS = (
    *("point", "strategy", "members x partitions x topics", "scene"),
    *("Kafka ms", "evenkeel ms", "ratio", "asked", "", "peak MiB"),
)
ALONE = ("strategy", "members x partitions x topics", "evenkeel ms", "peak MiB")
_WORDS = 4
"""So many columns are words, the others numbers."""
_COLOURS = {"reached": "green", "missed": "yellow", "other answer": "red"}


def cells(row: Row) -> list[str]:
    """The row as text, a cell per heading."""
    ours = row.ours
    return [
        *(row.point.name, row.point.strategy, row.point.size, row.scene),
        _milliseconds(row.kafka),
        _milliseconds(ours.milliseconds if ours else None),
        _ratio(row.ratio),
        _asked(row.asked),
        row.verdict,
        f"{ours.peak_mib:,.0f}" if ours else "-",
    ]


def cells_alone(row: Row) -> list[str]:
    """The row of a strategy that has no peer."""
    _, strategy, size, _, _, milliseconds, _, _, _, peak = cells(row)
    return [strategy, size, milliseconds, peak]


def empty(title: str, headings: Sequence[str]) -> Table:
    """A table without rows."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD)
    words = _WORDS if headings is HEADINGS else 2
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place < words else "right", no_wrap=True)
    return table


def coloured(texts: Sequence[str]) -> list[str]:
    """The cells with the verdict in its colour."""
    return [f"[{_COLOURS[t]}]{t}[/]" if t in _COLOURS else t for t in texts]


def heading(headings: Sequence[str]) -> str:
    """The first two lines of a Markdown table."""
    words = _WORDS if headings is HEADINGS else 2
    rule = ["---" if place < words else "---:" for place in range(len(headings))]
    return f"{line(headings)}\n{line(rule)}"


def line(texts: Sequence[str]) -> str:
    """A row of a Markdown table."""
    return "| " + " | ".join(texts) + " |"


def _milliseconds(value: float | None) -> str:
    """Three figures that mean something, whole numbers from a hundred on."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _ratio(value: float | None) -> str:
    if value is None:
        return "-"
    return f"{value:,.0f}" if value >= 100 else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def _asked(value: Fraction | None) -> str:
    """
    >>> _asked(Fraction(1, 3)), _asked(Fraction(2)), _asked(None)
    ('1/3', '2', '-')
    """
    return "-" if value is None else str(value)
