"""
`python -m tests.benchmarks.fleet [GROUPS ...]`: whole runs over fleets, from the lake to Postgres.

Every step is started as the DAG starts it, on a fleet of so many groups with 12 earlier snapshots: wall and processor
seconds, memory of all processes together, rows, and how it grows. Postgres and what loading Airflow costs are left out.
A step that fails stands in the table with its reason. With --plain the plain form, in one process, per group.
"""

from __future__ import annotations

import argparse
import json
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.benchmarks.fleet import results
from tests.benchmarks.fleet.bench import Checkout, measured, place, warm_up, written
from tests.benchmarks.fleet.results import Run, load, save
from tests.benchmarks.measure import show
from tests.helpers.fleet import GIANT_FROM, Shape
from tests.stage.process import default_home

SIZES = (300, 1_000, 3_000, 10_000)
PLAIN = Path(__file__).with_name("plain.py")


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print and save; 1 when a step failed."""
    asked = _parse(arguments)
    # what was started ends with it, also where a shell has it in the background
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    checkout = Checkout.at(asked.checkout)
    if asked.plain:
        return _plain(checkout, asked)
    runs: list[Run] = load(asked.load) if asked.load else []
    if not asked.load:
        with place(checkout, asked.limit, _tell) as where:
            warm_up(where)
            for groups in asked.groups or SIZES:
                shape = Shape(groups=groups, seed=asked.seed, giant=asked.giant)
                runs += measured(where, shape, rounds=1 + asked.again)
                if asked.json:
                    save(runs, asked.json)
    before = load(asked.before) if asked.before else []
    _show([*before, *runs] if before else runs, asked.markdown)
    if asked.picture:
        results.picture(runs, before, asked.picture)
    return int(any(run.failed for run in runs))


def _tell(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _show(runs: Sequence[Run], as_markdown: bool) -> None:
    """By run, then by step; runs of one code after the other."""
    codes = list(dict.fromkeys(run.checkout for run in runs))
    by_code = [[run for run in runs if run.checkout == code] for code in codes]
    rows = [row for some in by_code for row in results.cells(some)]
    steps = [row for some in by_code for row in results.step_cells(some)]
    for title, headings, cells in (
        ("Runs from lake to Postgres", results.HEADINGS, rows),
        ("Step by step", results.STEP_HEADINGS, steps),
    ):
        show(title, headings, cells, words=results.WORDS, as_markdown=as_markdown)
        print()


def _plain(checkout: Checkout, asked: argparse.Namespace) -> int:
    """The plain form, by the interpreter of the checkout that is measured."""
    home = default_home()
    home.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="fleet-", dir=home) as name:
        lakes = [Path(name) / "equal", Path(name) / "giant"]
        equal = Shape(groups=asked.plain_groups, seed=asked.seed, spread=0, plain=True)
        written(checkout, lakes[0], equal)
        written(checkout, lakes[1], Shape(groups=1, seed=asked.seed, giant=True))
        command = [str(checkout.python), str(PLAIN), *map(str, lakes)]
        told = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False, cwd=name)
    if told.returncode:
        return told.returncode
    found = json.loads(told.stdout.strip().splitlines()[-1]) | {"checkout": checkout.name}
    if asked.json:
        asked.json.write_text(json.dumps(found, indent=1) + "\n")
    print(*(f"{name}: {value}" for name, value in found.items()), sep="\n")
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.fleet", description=__doc__)
    parser.add_argument(
        "groups", nargs="*", type=int, help="sizes; default: " + " ".join(map(str, SIZES))
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write what was measured")
    parser.add_argument("--load", type=Path, metavar="FILE", help="measure nothing, show that file")
    parser.add_argument(
        "--before", type=Path, metavar="FILE", help="runs of other code, to show beside"
    )
    parser.add_argument("--picture", type=Path, metavar="FILE", help="write a picture (PNG)")
    parser.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    parser.add_argument(
        "--checkout", type=Path, metavar="DIR", help="measure that code, by its .venv"
    )
    parser.add_argument("--seed", type=int, default=13, help="of the fleets; default: 13")
    parser.add_argument(
        "--giant",
        action=argparse.BooleanOptionalAction,
        help=f"one group of 50,000 partitions x 1,000 members; default: from {GIANT_FROM:,} groups on",
    )
    parser.add_argument(
        "--again", action="store_true", help="run all steps once more, with nothing changed"
    )
    parser.add_argument(
        "--limit", type=float, default=1800, metavar="S", help="cut a step off; default: 1800"
    )
    parser.add_argument(
        "--plain", action="store_true", help="the plain form, per group, in one process"
    )
    parser.add_argument(
        "--plain-groups", type=int, default=60, metavar="N", help="how many; default: 60"
    )
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
