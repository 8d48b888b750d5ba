"""`python -m tests.helpers.fluid SITUATION ...|--all --out FILE`: recordings of situations, one group each."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from tests.helpers.fluid import SITUATIONS, record, simulate
from tests.helpers.fluid.truth import SNAPSHOTS


def main(arguments: Sequence[str] | None = None) -> int:
    """Write a recording; without names tell which there are."""
    parser = argparse.ArgumentParser(prog="python -m tests.helpers.fluid", description=__doc__)
    parser.add_argument("situation", nargs="*", metavar="SITUATION", choices=[*SITUATIONS, []])
    parser.add_argument("--all", action="store_true", help="all situations, as one cluster")
    parser.add_argument("--out", metavar="FILE", help="the recording, replaced")
    parser.add_argument("--seed", type=int, default=7, help="of what arrives (7)")
    parser.add_argument("--snapshots", type=int, default=SNAPSHOTS, help=f"how many ({SNAPSHOTS})")
    options = parser.parse_args(arguments)
    chosen = list(SITUATIONS) if options.all else options.situation
    if not chosen:
        for each in SITUATIONS.values():
            sys.stdout.write(f"{each.name:32} {each.says}\n")
        return 0
    if options.out is None:
        parser.error("--out FILE is missing")
    groups = [SITUATIONS[name].group for name in chosen]
    size = record(options.out, simulate(groups, options.snapshots, options.seed))
    sys.stdout.write(
        f"{options.out}: {len(groups)} groups, {options.snapshots} snapshots, {size} bytes\n"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
