"""
`python -m tests.benchmarks`: every point, Kafka's classes and ours on the same group in one run.

Times are medians of warm calls, from parsed group to assignment; reading and writing are not
counted. A ratio above 1 means that ours is faster. Memory is the peak of one call of ours beside
its input. All of it holds for this machine and this hour. Exit status 1 when an answer differs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from rich.console import Console
from rich.live import Live

from tests.benchmarks import table
from tests.benchmarks.points import ALONE, POINTS, Point
from tests.benchmarks.sides import Row, rows
from tests.oracle.jvm import ready
from tests.stage.process import LocalClusterError

TITLE = "Kafka's classes and evenkeel: medians of warm calls on this machine"
TITLE_ALONE = "Strategies Kafka has no class for"
_WIDTH = 160
"""Characters per line of a file or pipe."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    names = [point.name for point in (*POINTS, *ALONE)]
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help="these only")
    parser.add_argument("--markdown", action="store_true", help="print the tables as the README's")
    options = parser.parse_args(arguments)
    wanted = [[p for p in some if p.name in (options.only or names)] for some in (POINTS, ALONE)]
    java = bool(wanted[0]) and _has_java()
    show = _lines if options.markdown else _grid
    done = [show(wanted[0], TITLE, java), show(wanted[1], TITLE_ALONE, False)]
    for row in done[0]:
        if row.differs:
            print(f"{row.point.name}, {row.scene}: {row.differs}", file=sys.stderr)
    return int(any(row.differs for row in done[0]))


def _has_java() -> bool:
    """Whether Kafka's classes can be asked; says why not."""
    try:
        ready()
    except LocalClusterError as problem:
        print(f"without Kafka's side: {problem}", file=sys.stderr)
        return False
    return True


def _grid(points: Sequence[Point], title: str, java: bool) -> list[Row]:
    """Measure point by point; a table for people, each row shown as soon as it is known."""
    done: list[Row] = []
    if not points:
        return done
    peers = title == TITLE
    grid = table.empty(title, table.HEADINGS if peers else table.ALONE)
    console = Console() if sys.stdout.isatty() else Console(width=_WIDTH)
    with Live(grid, console=console, auto_refresh=False, vertical_overflow="visible") as live:
        for point in points:
            for row in rows(point, java=java):
                done.append(row)
                texts = table.cells(row) if peers else table.cells_alone(row)
                grid.add_row(*table.coloured(texts))
                live.refresh()
    return done


def _lines(points: Sequence[Point], title: str, java: bool) -> list[Row]:
    """The same as Markdown, line by line."""
    done: list[Row] = []
    if not points:
        return done
    peers = title == TITLE
    print(table.heading(table.HEADINGS if peers else table.ALONE), flush=True)
    for point in points:
        for row in rows(point, java=java):
            done.append(row)
            print(table.line(table.cells(row) if peers else table.cells_alone(row)), flush=True)
    print()
    return done


if __name__ == "__main__":
    sys.exit(main())
