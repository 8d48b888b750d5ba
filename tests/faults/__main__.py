"""
``python -m tests.faults``: runs with faults by seed, then what was lost, doubled or false in them.

    python -m tests.faults --seeds 100          # seeds 1 to 100, in as many processes as there are cores
    python -m tests.faults --seed 17            # one, with its plan and with what its tasks said
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from tests.faults.plan import CALM, COUNT
from tests.faults.seeds import Seen, run_all

SEEDS = 100


LOST = (
    "each run took one snapshot, or said why not",
    "each incident was told",
    "no message is lost",
    "no incident of a group is lost",
    "no alert is pending",
    "advice caught up",
)
DOUBLED = ("advice, events and incidents are there once", "no message came twice")
FALSE = (
    "no incident of a group is false",
    "no incident of the pipeline is left open",
    "no incident of a group is open that is not true",
)


def totals(found: Sequence[Seen]) -> str:
    """What became of all of them, in one line."""

    def count(*names: str) -> int:
        return sum(len(each.broken.get(name, ())) for each in found for name in names)

    return (
        f"snapshots {sum(e.snapshots for e in found):,}, advice {sum(e.advised for e in found):,},"
        f" messages {sum(e.messages for e in found):,}; lost {count(*LOST)}, doubled {count(*DOUBLED)},"
        f" false incidents {count(*FALSE)}"
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the seeds; 0 when all promises were kept in all of them."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seeds", type=int, default=SEEDS, help=f"number of seeds ({SEEDS})")
    parser.add_argument("--first", type=int, default=1, help="first seed (1)")
    parser.add_argument("--seed", type=int, help="the only seed; prints its plan and its errors")
    parser.add_argument(
        "--snapshots", type=int, default=COUNT, help=f"snapshots of a run ({COUNT})"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    asked = parser.parse_args(arguments)
    seeds = (
        [asked.seed] if asked.seed is not None else [asked.first + n for n in range(asked.seeds)]
    )
    calm = min(CALM, asked.snapshots - 3)
    found = run_all(seeds, asked.snapshots, calm, min(asked.jobs, len(seeds)))
    if asked.seed is not None:
        for one in found:
            print(*(f"  met   {line}" for line in one.met), sep="\n")
            print(*(f"  said  {line}" for line in one.told), sep="\n")
    print(totals(found))
    return int(any(each.broken for each in found))


if __name__ == "__main__":
    sys.exit(main())
