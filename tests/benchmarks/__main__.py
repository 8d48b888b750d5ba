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

from tests.benchmarks.measure import show
from tests.benchmarks.points import ALONE, POINTS
from tests.benchmarks.sides import HEADINGS, Row, rows
from tests.oracle.jvm import ready
from tests.stage.process import LocalClusterError

PEERS = "Kafka's classes and evenkeel: medians of warm calls on this machine", POINTS, HEADINGS
NO_PEER = ("strategy", "members x partitions x topics", "evenkeel ms", "peak MiB")
NO_PEERS = "Strategies Kafka has no class for", ALONE, NO_PEER


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    names = [point.name for point in (*POINTS, *ALONE)]
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help="these only")
    parser.add_argument("--markdown", action="store_true", help="print the tables as Markdown")
    options = parser.parse_args(arguments)
    differing = list[Row]()
    for title, points, headings in (PEERS, NO_PEERS):
        wanted = [point for point in points if point.name in (options.only or names)]
        if not wanted:
            continue
        java, found = points is POINTS and _has_java(), list[Row]()
        for point in wanted:
            print(f"measuring {point.name} ...", file=sys.stderr, flush=True)
            found += rows(point, java=java)
        shown = [dict(zip(HEADINGS, row.cells(), strict=True)) for row in found]
        cells = [[row[heading] for heading in headings] for row in shown]
        show(title, headings, cells, words=HEADINGS[:4], as_markdown=options.markdown)
        print()
        differing += [row for row in found if row.differs]
    for row in differing:
        print(f"{row.point.name}, {row.scene}: {row.differs}", file=sys.stderr)
    return int(bool(differing))


def _has_java() -> bool:
    """Whether Kafka's classes can be asked; says why not."""
    try:
        ready()
    except LocalClusterError as problem:
        print(f"without Kafka's side: {problem}", file=sys.stderr)
        return False
    return True


if __name__ == "__main__":
    sys.exit(main())
