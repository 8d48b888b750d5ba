"""
`python -m tests.benchmarks.forecasts`: how long the forecasts of all strategies of a group take, prices included.

No two of the 14 assignments are equal (13 strategies and what the group has), and eight have a price: more than a group
has work for, since strategies agree often. Times are medians of 20 calls, and the memory of one more.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from evenkeel.engine.advice.switch_cost import price
from evenkeel.engine.config import Policy
from evenkeel.engine.metrics.forecast import ForecastInput, Load, forecasts
from evenkeel.engine.model.facts import step
from tests.benchmarks.measure import measure, show

SHAPES = ((20, 4), (100, 10), (100, 100), (1_000, 50), (10_000, 500))
"""Partitions and members."""

STRATEGIES, PRICED, INTERVALS = 13, 8, 12
HEADINGS = ("partitions", "members", "ms", "peak MiB")


def rows(shapes: Sequence[tuple[int, int]] = SHAPES) -> list[list[str]]:
    """A row per shape."""
    return [_row(partitions, members) for partitions, members in shapes]


def _row(partitions: int, members: int) -> list[str]:
    taken = measure(_forecasts, lambda: _group(partitions, members), repeat=20, warm_up=3)
    return [
        f"{partitions:,}",
        f"{members:,}",
        f"{taken.milliseconds:.1f}",
        f"{taken.peak_mib:.0f}",
    ]


def _group(partitions: int, members: int) -> tuple[Load, list[Any]]:
    random = np.random.default_rng(7)
    owners = random.integers(0, members, (STRATEGIES + 1, partitions)).astype(np.int32)
    load = Load(
        arrivals=random.gamma(9, 10 / 9, (INTERVALS, partitions)),
        backlog=random.uniform(0, 10_000, partitions),
        capacity=np.full(members, 12 * partitions / members),
        uncertainty=np.full(members, 0.05),
        ages=random.uniform(0, 60, INTERVALS + 1),
        owner=owners[0],
        stuck=np.zeros(partitions, np.bool_),
    )
    return load, list(owners)


def _forecasts(group: tuple[Load, list[Any]]) -> object:
    load, owners = group
    dynamic, way = np.zeros(len(load.capacity), np.bool_), [step("two_restarts")]
    prices = [
        price(way, dynamic, load.owner, owner, eager=True, pauses=Policy())
        if 0 < number <= PRICED
        else None
        for number, owner in enumerate(owners)
    ]
    return forecasts([ForecastInput(load=load, owners=owners, standstills=prices, live=0)])


def main() -> int:
    """Measure and print."""
    show("Forecasts of all strategies of a group", HEADINGS, rows())
    return 0


if __name__ == "__main__":
    sys.exit(main())
