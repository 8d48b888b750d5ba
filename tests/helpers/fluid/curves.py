"""Groups to which arrives what a curve says, real or rough; all else about them is simulated."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from pathlib import Path

import numpy as np

from evenkeel.engine.model.arrays import Floats
from tests.helpers.fluid.plan import DAY, EVERY, WARM, Commits, Group, Topic, members
from tests.helpers.fluid.truth import SNAPSHOTS

RATE = 100.0
"""Records/s of a curve in the mean: only its shape is taken, whatever it counts."""

WINDOW = WARM // EVERY + SNAPSHOTS
"""Intervals of `EVERY` that a group lives through."""

SHARES = (0.3, 0.27, 0.23, 0.2)
"""What each partition gets of a curve that a group has to itself."""

COMMITS = {
    "5 s": Commits(every=5),
    "60 s": Commits(every=60, phase=20, spread=10),
    "70 s, drifting": Commits(every=70, spread=15),
    "300 s": Commits(every=300, phase=30, spread=70),
    "305 s, drifting": Commits(every=305, spread=70),
}

CAPACITIES = {"healthy": 1000.0, "nearly full": 1.05, "overloaded": 0.9}
"""Of all members together, times what arrives in the mean."""

_SCENES = tuple(product(COMMITS, CAPACITIES))


@dataclass(frozen=True, kw_only=True)
class Replay:
    """A group, the series that arrives, and by which of `COMMITS` and `CAPACITIES` it lives."""

    series: str
    commits: str
    capacity: str
    group: Group


def read_curve(path: Path) -> Floats:
    """
    (I) records that arrive in one `EVERY` after the other, `RATE` in the mean.

    Args:
        path: Comma-separated with a heading; the first column is a moment, the second what was counted from it to the
            next, at most `EVERY` later. A gap is closed up.
    """
    with path.open(newline="") as file:
        rows = list(csv.reader(file))[1:]
    moments = np.array([datetime.fromisoformat(row[0]).timestamp() for row in rows])
    together = max(round(EVERY / float(np.median(np.diff(moments)))), 1)
    whole = len(rows) // together * together
    counted = np.array([float(row[1]) for row in rows[:whole]]).reshape(-1, together).sum(axis=1)
    return _scaled(counted)


def rough_curve(seed: int, intervals: int) -> Floats:
    """(I) likewise, drawn: a day, a level that wanders for hours, noise, and bursts that die away."""
    random = np.random.default_rng(seed)
    day = 1 + 0.5 * np.cos(2 * np.pi * np.arange(intervals) * EVERY / DAY)
    pushes, level = random.normal(0, 0.04, intervals), np.zeros(intervals)
    for at in range(1, intervals):
        level[at] = 0.99 * level[at - 1] + pushes[at]
    noise = random.normal(0, 0.15, intervals)
    begun = random.exponential(1.0, intervals) * (random.random(intervals) < 0.01)
    bursts = np.convolve(begun, 0.7 ** np.arange(12))[:intervals]
    return _scaled(day * np.exp(level + noise) * (1 + bursts))


def _scaled(counted: Floats) -> Floats:
    return counted * (RATE * EVERY / counted.mean())


def replays(series: str, partitions: Floats, most: int) -> Iterator[Replay]:
    """
    Groups of two members, each with another stretch of ten hours, in turn with each way to commit and capacity.

    Args:
        series: What to call it.
        partitions: (n, I) records that arrive in each interval.
        most: Stretches to take, evenly spread; those in which next to nothing arrives are left out.
    """
    begins = np.arange(0, partitions.shape[1] - WINDOW + 1, WINDOW)
    chosen = np.linspace(0, len(begins) - 1, min(most, len(begins))).astype(np.int64)
    for number, begin in enumerate(begins[chosen].tolist()):
        counts = np.round(partitions[:, begin : begin + WINDOW]).astype(np.int64)
        rates = counts.mean(axis=1) / EVERY
        commits, capacity = _SCENES[number % len(_SCENES)]
        if rates.sum() < RATE / 100:
            continue
        topic = Topic(
            name="t",
            rates=tuple(rates.tolist()),
            counts=tuple(tuple(row) for row in counts.tolist()),
        )
        group = Group(
            name=f"{series}-{number}",
            topics=(topic,),
            members=members(2, CAPACITIES[capacity] * float(rates.sum()) / 2),
            strategy="roundrobin",
            commits=COMMITS[commits],
        )
        yield Replay(series=series, commits=commits, capacity=capacity, group=group)
