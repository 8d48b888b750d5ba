"""
`python -m tests.benchmarks`: every strategy at every size, Kafka's classes and ours on the same groups in one run.

Times are medians of warm calls, of processor time, from parsed groups to assignments; reading and writing are not
counted. Kafka's is that of the thread that calls: the JVM's collector and compiler work beside it for nothing. Of small
groups ours gets many different ones at once, Kafka's class the same in a loop, and the time is that of one: putting
them together and taking the answers apart is in it. A ratio is Kafka's time over ours: above 1, ours is faster. Memory
is the peak of one call of ours beside its input. All of it holds for this machine and this hour. Exit status 1 when an
answer differs.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.benchmarks.kept import keep
from tests.benchmarks.measure import show
from tests.benchmarks.points import POINTS
from tests.benchmarks.sides import HEADINGS, Row, rows
from tests.oracle.jvm import ready
from tests.stage.process import LocalClusterError

TITLE = "Kafka's classes and evenkeel: processor time of warm calls on this machine, for a group"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    names = dict.fromkeys(name for point in POINTS for name in (point.strategy, point.name))
    parser.add_argument("--only", action="append", choices=names, metavar="NAME", help="these only")
    parser.add_argument("--markdown", action="store_true", help="print the table as Markdown")
    parser.add_argument("--keep", action="store_true", help="keep the rows for the documentation")
    options = parser.parse_args(arguments)
    wanted = options.only or names
    java, found = _has_java(), list[Row]()
    for point in POINTS:
        if point.strategy in wanted or point.name in wanted:
            for row in rows(point, java=java):
                print(*row.cells(), sep=" | ", file=sys.stderr, flush=True)
                found.append(row)
                if options.keep:
                    keep([row.cells()])
    cells = [row.cells() for row in found]
    show(TITLE, HEADINGS, cells, words=HEADINGS[:3], as_markdown=options.markdown)
    print()
    differing = [row for row in found if row.differs]
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
