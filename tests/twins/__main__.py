"""
``python -m tests.twins``: is the difference that evenkeel replays the difference that is measured?

Starts three brokers and as many pairs of groups as asked for, and prints a table. Exit status 1 when less than four in
five of the pairs that switch are inside what is replayed, or a pair that does not switch is not.
"""

from __future__ import annotations

import argparse
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from tests.helpers.fluid.curves import read_curve, rough_curve
from tests.twins.plan import INTERVAL, NULLS, SWITCHING, WARM, pairs
from tests.twins.results import RESULTS, failures, save, table
from tests.twins.run import Keep, run

SPARE_SECONDS = 900.0
"""What switches may take, one after the other, beyond the time for which each pair is looked at."""


def main(arguments: Sequence[str] | None = None, keep: Keep | None = None) -> int:
    """Run, print, keep; 0 when replays are true."""
    parser = argparse.ArgumentParser(prog="python -m tests.twins", description=__doc__)
    most, least = len(SWITCHING), len(NULLS)
    parser.add_argument("--pairs", type=int, default=most, help=f"pairs that switch ({most})")
    parser.add_argument("--nulls", type=int, default=least, help=f"pairs that do not ({least})")
    parser.add_argument("--minutes", type=float, default=5, help="after each switch (5)")
    parser.add_argument(
        "--traces", type=Path, metavar="FOLDER", help="of CSV files; default: drawn"
    )
    parser.add_argument("--seed", type=int, default=1, help="of what is drawn (1)")
    parser.add_argument("--out", type=Path, metavar="FILE", help=f"all figures, as {RESULTS.name}")
    asked = parser.parse_args(arguments)
    # everything is ended as after Ctrl-C
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    intervals = int((WARM + 60 * asked.minutes + SPARE_SECONDS) / INTERVAL)
    if asked.traces:
        curves = [read_curve(path) for path in sorted(asked.traces.glob("*.csv"))]
    else:
        count = asked.pairs + asked.nulls
        curves = [rough_curve(asked.seed + n, 20 * intervals) for n in range(count)]
    found = run(pairs(asked.pairs, asked.nulls, curves, intervals), 60 * asked.minutes, keep)
    print(*table(found), sep="\n")
    if asked.out:
        save(found, asked.out)
    wrong = failures(found)
    for each in wrong:
        print(each, file=sys.stderr)
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main())
