"""
A day of many healthy groups through the backtest: whoever is woken by any of it was woken for nothing.

    python -m tests.benchmarks.healthy_day --groups 1000 --snapshots 288

The groups are the healthy situations of the simulation, each under many names: what arrives is drawn from the name, so
no two see the same records. They are gone through some at a time, as clusters of their own. It prints what was told,
group by group, and how long it took; it fails where anything was.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace

from evenkeel.engine.adapters.memory import MemoryHistory
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline.backtest import Said, backtest
from tests.helpers.fluid import CLUSTER, SITUATIONS, Group, simulate, snapshots
from tests.helpers.lake_snapshots import write_taken

AT_A_TIME = 40
"""Groups of one simulation; its arrays hold every step of the day."""


def healthy(count: int) -> list[Group]:
    """So many groups of which nothing may be said, all kinds in turn."""
    kinds = [each.group for each in SITUATIONS.values() if each.healthy]
    return [
        replace(kinds[n % len(kinds)], name=f"{kinds[n % len(kinds)].name}-{n // len(kinds)}")
        for n in range(count)
    ]


def messages(groups: Sequence[Group], count: int, seed: int) -> Iterator[Said]:
    """What would have been told of some groups over so many snapshots."""
    lake = Recording()
    write_taken(lake, snapshots(simulate(groups, count, seed)))
    for event in backtest(lake, MemoryHistory(), Settings(), CLUSTER):
        if isinstance(event, Said):
            yield event


def main(arguments: Sequence[str] | None = None) -> int:
    """Go through the day; 1 when anything was told."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.healthy_day")
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--snapshots", type=int, default=288)
    parser.add_argument("--seed", type=int, default=11, help="of what arrives (11)")
    options = parser.parse_args(arguments)
    groups, began, number = healthy(options.groups), time.monotonic(), 0
    for first in range(0, len(groups), AT_A_TIME):
        for said in messages(groups[first : first + AT_A_TIME], options.snapshots, options.seed):
            number += 1
            sys.stdout.write(
                f"{said.at:%H:%M} {said.kind} {', '.join(said.groups)}: {said.title}\n"
            )
        passed = time.monotonic() - began
        sys.stderr.write(f"{min(first + AT_A_TIME, len(groups))} groups, {passed:.0f} s\n")
    sys.stdout.write(
        f"{options.groups} groups x {options.snapshots} snapshots: {number} messages,"
        f" {time.monotonic() - began:.0f} s, {time.process_time():.0f} processor seconds\n"
    )
    return 1 if number else 0


if __name__ == "__main__":
    sys.exit(main())
