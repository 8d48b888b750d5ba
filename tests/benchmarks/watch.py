"""
`python -m tests.benchmarks.watch [GROUPS ...]`: how long it takes to judge all groups of a snapshot, after it is taken.

A seeded fleet of 13 snapshots, of which a third of the groups is not well; judged in a process of its own, cold, with
nothing learned before. Processor time is all of it, reading and a second process included, without what starting and
importing take here, which stands beside it; so is peak memory. Exit status 1 when 10,000 groups take longer than is
asked, on two processors.
"""

from __future__ import annotations

import argparse
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline.evaluate_groups import judge_groups
from evenkeel.engine.pipeline.health_screen import plainly_well
from evenkeel.engine.snapshots.groups_with_past import lookback_of
from tests.benchmarks.measure import in_own_process, resident, show
from tests.helpers.fleet import Shape, make_fleet, write_fleet

GROUPS = (1_000, 3_000, 10_000)
ASKED_SECONDS, ASKED_OF = 4.0, 10_000
HEADINGS = ("groups", "processor s", "seconds", "import s", "at a glance", "not well", "peak MiB")


def once(folder: str) -> dict[str, float]:
    """Judge the newest snapshot of a fleet's lake: seconds, groups of each kind, and the most memory of the process."""
    imported = time.process_time()
    lake, settings = FileLake(folder), Settings()
    (newest,) = lake.snapshots(Shape().cluster)
    began, processor = time.perf_counter(), time.process_time()
    judgment = judge_groups(lake, settings, newest)
    second = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "processor": time.process_time() - processor + second.ru_utime + second.ru_stime,
        "seconds": time.perf_counter() - began,
        "import": imported,
        "peak_mib": resident("VmHWM") + second.ru_maxrss / 1024,
        "groups": len(judgment.listed),
        "odd": len(judgment.odd),
        "at_a_glance": len(plainly_well(lake, settings, lookback_of(lake, settings, newest))),
    }


def measured(groups: int) -> dict[str, float]:
    """Make a fleet, and judge it in a process of its own."""
    with TemporaryDirectory() as folder:
        lake = Path(folder) / "lake"
        write_fleet(FileLake(lake), make_fleet(Shape(groups=groups)))
        found: dict[str, float] = in_own_process("tests.benchmarks.watch:once", str(lake))
        return found


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.watch", description=__doc__)
    parser.add_argument("groups", nargs="*", type=int, default=GROUPS, help="how many, one by one")
    found = [measured(groups) for groups in parser.parse_args(arguments).groups]
    cells = [
        [
            f"{row['groups']:,}",
            *(f"{row[name]:.1f}" for name in ("processor", "seconds", "import")),
            *(f"{row[name] / row['groups']:.0%}" for name in ("at_a_glance", "odd")),
            f"{row['peak_mib']:.0f}",
        ]
        for row in found
    ]
    show("All groups of a snapshot, judged from the lake", HEADINGS, cells)
    return int(any(r["groups"] >= ASKED_OF and r["seconds"] > ASKED_SECONDS for r in found))


if __name__ == "__main__":
    sys.exit(main())
