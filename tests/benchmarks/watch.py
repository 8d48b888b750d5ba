"""
`python -m tests.benchmarks.watch [GROUPS ...]`: how long it takes to judge all groups of a snapshot, after it is taken.

A seeded fleet of 13 snapshots, of which a third of the groups is not well; judged in a process of its own, cold, with
nothing learned before. Processor time is all of it, reading included, without what starting and importing take, which
stands beside it. Exit status 1 when more is needed for 10,000 groups than is asked.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline.screen import plainly_well
from evenkeel.engine.pipeline.watch_judgement import judge_groups
from evenkeel.engine.snapshots.groups_with_past import lookback_of
from tests.benchmarks.measure import resident, show
from tests.helpers.fleet import Shape, make_fleet, write_fleet

GROUPS = (1_000, 3_000, 10_000)
ASKED_SECONDS, ASKED_OF = 10.0, 10_000
HEADINGS = ("groups", "processor s", "seconds", "import s", "at a glance", "not well", "peak MiB")


@dataclass(frozen=True, slots=True, kw_only=True)
class Judging:
    """One snapshot judged: seconds, groups of each kind, and the most memory of the process."""

    groups: int
    processor_seconds: float
    seconds: float
    import_seconds: float
    at_a_glance: int
    odd: int
    peak_mib: float


def once(folder: str) -> Judging:
    """Judge the newest snapshot of a fleet's lake."""
    imported = time.process_time()
    lake, settings = FileLake(folder), Settings()
    (newest,) = lake.snapshots(Shape().cluster)
    began, processor = time.perf_counter(), time.process_time()
    judgement = judge_groups(lake, settings, newest)
    processor_seconds = time.process_time() - processor
    seconds, peak = time.perf_counter() - began, resident("VmHWM")
    return Judging(
        groups=len(judgement.listed),
        processor_seconds=processor_seconds,
        seconds=seconds,
        import_seconds=imported,
        at_a_glance=len(plainly_well(lake, settings, lookback_of(lake, settings, newest))),
        odd=len(judgement.odd),
        peak_mib=peak,
    )


def measured(groups: int) -> Judging:
    """Make a fleet, and judge it in a process of its own."""
    with TemporaryDirectory() as folder:
        lake = Path(folder) / "lake"
        write_fleet(FileLake(lake), make_fleet(Shape(groups=groups)))
        argv = [sys.executable, "-m", "tests.benchmarks.watch", "--once", str(lake)]
        out = subprocess.run(argv, capture_output=True, text=True, timeout=900, check=True).stdout
    return Judging(**json.loads(out))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.watch", description=__doc__)
    parser.add_argument("groups", nargs="*", type=int, default=GROUPS, help="how many, one by one")
    parser.add_argument("--once", metavar="LAKE", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.once:
        print(json.dumps(asdict(once(options.once))))
        return 0
    found = [measured(groups) for groups in options.groups]
    cells = (
        [
            f"{row.groups:,}",
            f"{row.processor_seconds:.1f}",
            f"{row.seconds:.1f}",
            f"{row.import_seconds:.1f}",
            f"{row.at_a_glance / row.groups:.0%}",
            f"{row.odd / row.groups:.0%}",
            f"{row.peak_mib:.0f}",
        ]
        for row in found
    )
    show("All groups of a snapshot, judged from the lake", HEADINGS, cells)
    late = any(row.groups >= ASKED_OF and row.processor_seconds > ASKED_SECONDS for row in found)
    return int(late)


if __name__ == "__main__":
    sys.exit(main())
