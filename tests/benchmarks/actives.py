"""
`python -m tests.benchmarks.actives`: the rack optimizer of active tasks, Kafka's and ours on the same case.

Times are medians of warm calls from objects in memory to objects in memory; Kafka's is one call
after one that warms up, because a call takes it up to minutes. Memory is the peak of one call of
ours beside its input. All of it holds for this machine and this hour. Exit status 1 when total
costs differ or a target is missed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass

import numpy as np

from evenkeel.engine.streams.actives import optimize, total_cost
from tests.benchmarks.measure import Measured, measure, show
from tests.oracle.task_cases import Case, grid_case, read
from tests.oracle.tasks import STRATEGIES, TaskJvm
from tests.stage.process import LocalClusterError

HEADINGS = (
    *("strategy", "clients x tasks x racks x sub-topologies"),
    *("Kafka ms", "evenkeel ms", "ratio", "asked", "total cost", "peak MiB"),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """
    An application; *times* faster than Kafka and *most* milliseconds are what is asked of it.

    Kafka is asked only where it answers within minutes (*kafka*).
    """

    clients: int
    tasks: int
    racks: int
    subtopologies: int
    kafka: bool = False
    times: int | None = None
    most: float | None = None

    def __str__(self) -> str:
        numbers = (self.clients, self.tasks, self.racks, self.subtopologies)
        return " x ".join(f"{n:,}" for n in numbers)


SIZES = (
    Size(clients=10, tasks=100, racks=3, subtopologies=10, kafka=True),
    Size(clients=20, tasks=500, racks=3, subtopologies=10, kafka=True, times=1000),
    Size(clients=100, tasks=1_000, racks=3, subtopologies=10),
    Size(clients=1_000, tasks=10_000, racks=3, subtopologies=10, most=500),
    Size(clients=1_000, tasks=10_000, racks=3, subtopologies=100, most=500),
    Size(clients=1_000, tasks=30_000, racks=3, subtopologies=10),
    Size(clients=1_000, tasks=100_000, racks=3, subtopologies=10, most=5000),
    Size(clients=1_000, tasks=100_000, racks=3, subtopologies=100, most=5000),
    Size(clients=1_000, tasks=100_000, racks=20, subtopologies=10, most=5000),
)
"""The points that have a target, and what lies between to show how time grows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One size and strategy; *kafka* (milliseconds, total cost) is None where it was not asked."""

    size: Size
    strategy: str
    ours: Measured
    cost: int
    kafka: tuple[float, int] | None

    @property
    def ratio(self) -> float | None:
        """How many times faster ours is."""
        return None if self.kafka is None else self.kafka[0] / self.ours.milliseconds

    @property
    def fault(self) -> str | None:
        """What is wrong with it, in words."""
        if self.kafka is not None and self.kafka[1] != self.cost:
            return f"total cost {self.cost} instead of {self.kafka[1]}"
        if self.ratio is not None and self.size.times and self.ratio < self.size.times:
            return f"{self.ratio:,.0f} times faster instead of {self.size.times:,}"
        if self.size.most and self.ours.milliseconds > self.size.most:
            return f"{self.ours.milliseconds:,.0f} ms instead of {self.size.most:,.0f}"
        return None

    def cells(self) -> list[str]:
        """As text, a cell per heading."""
        asked = f"{self.size.times:,}" if self.size.times else "-"
        asked = f"{self.size.most:,.0f} ms" if self.size.most else asked
        return [
            *(self.strategy, str(self.size)),
            f"{self.kafka[0]:,.0f}" if self.kafka else "-",
            f"{self.ours.milliseconds:,.1f}",
            f"{self.ratio:,.0f}" if self.ratio else "-",
            *(asked, f"{self.cost:,}", f"{self.ours.peak_mib:,.0f}"),
        ]


def rows(sizes: Sequence[Size], jvm: TaskJvm | None) -> Iterator[Row]:
    """Measure each size with both strategies."""
    for size in sizes:
        for strategy in STRATEGIES:
            case = grid_case(size.clients, size.tasks, size.racks, size.subtopologies, strategy)
            measured, cost = _ours(case, repeat=21 if size.tasks <= 1_000 else 5)
            kafka = _kafkas(jvm, case) if jvm is not None and size.kafka else None
            yield Row(size=size, strategy=strategy, ours=measured, cost=cost, kafka=kafka)


def _ours(case: Case, repeat: int) -> tuple[Measured, int]:
    asked = read(case)
    every = np.arange(len(asked.app.tasks))

    def call(_: None) -> object:
        return optimize(asked.app, asked.owner, every, asked.costs, asked.strategy)

    better = optimize(asked.app, asked.owner, every, asked.costs, asked.strategy)
    cost = total_cost(asked.app, better, every, asked.costs, asked.owner)
    return measure(call, lambda: None, repeat), cost


def _kafkas(jvm: TaskJvm, case: Case) -> tuple[float, int]:
    told = jvm.ask({**case, "repeat": 1}, timeout=1800)
    return told["milliseconds"], told["active_cost"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.actives", description=__doc__)
    parser.add_argument("--alone", action="store_true", help="do not ask Kafka")
    parser.add_argument("--at-most", type=int, metavar="TASKS", help="leave larger cases out")
    options = parser.parse_args(arguments)
    sizes = [s for s in SIZES if options.at_most is None or s.tasks <= options.at_most]
    faults, cells = [], []
    try:
        with nullcontext() if options.alone else TaskJvm() as jvm:
            for row in rows(sizes, jvm):
                cells.append(row.cells())
                if row.fault:
                    faults.append(f"{row.strategy}, {row.size}: {row.fault}")
    except LocalClusterError as problem:
        print(f"Kafka cannot be asked (--alone does without): {problem}", file=sys.stderr)
        return 2
    title = "The rack optimizer of active tasks: medians of warm calls"
    show(title, HEADINGS, cells, words=HEADINGS[:2])
    print(*faults, sep="\n", file=sys.stderr, end="\n" if faults else "")
    return int(bool(faults))


if __name__ == "__main__":
    sys.exit(main())
