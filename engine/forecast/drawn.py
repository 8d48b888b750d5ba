"""
Which of a group's past intervals its possible futures are made of.

A future is a walk along the past: it begins at an interval drawn at random, goes on in time or back, and turns at
either end. So it keeps what one interval says of the next, and all partitions of an interval come together: what is
produced to one topic and what to another belong to the same moment. The walk is scaled to where the group stands now,
by the mean of its newest intervals over the mean of those around its beginning.

The draws are the same for the same number of intervals, so the same group gets the same forecast, and all strategies
are held against the same futures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from evenkeel.engine.model import Floats, Ints

HORIZON_SECONDS = 3600.0
"""How far a forecast looks ahead."""

STEPS = 12
"""Steps of a forecast."""

PATHS = 80
"""Possible futures: enough that the tenth from either end moves little from one set of draws to another."""

AROUND = 3
"""Intervals whose mean is the level that a walk begins at, and is scaled to."""

LEAST_SCALE, MOST_SCALE = 0.5, 2.0
"""Within these a walk is scaled: an interval without traffic says little of the level."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Futures:
    """
    Possible futures of a group.

    Attributes:
        interval: (R, T) the past interval, newest 0, whose arrivals come in each step of each future.
        scale: (R) by what they are multiplied.
        wait: (R, T) number of the observed commit age at each step, as a share of how many there are.
        spread: (R) standard normal draws, by which a capacity may be off.
    """

    interval: Ints
    scale: Floats
    wait: Floats
    spread: Floats


def futures(totals: Floats) -> Futures:
    """
    Args:
        totals: (I) offsets/s that arrived in all of the group, interval by interval, newest first; at least one.
    """
    walk, begin, wait, spread = _draws(len(totals))
    around = np.minimum(np.arange(AROUND), len(totals) - 1)
    now = float(totals[around].mean())
    levels = np.array(
        [
            totals[max(0, at - AROUND // 2) : at + AROUND // 2 + 1].mean()
            for at in range(len(totals))
        ]
    )[begin]
    scale = np.where(levels > 0, now / np.where(levels > 0, levels, 1), 1.0)
    return Futures(
        interval=walk, scale=np.clip(scale, LEAST_SCALE, MOST_SCALE), wait=wait, spread=spread
    )


@lru_cache(maxsize=64)
def _draws(intervals: int) -> tuple[Ints, Ints, Floats, Floats]:
    """The walks over so many intervals, where they begin, and what else is drawn."""
    random = np.random.default_rng(intervals)
    begin = random.integers(0, intervals, PATHS)
    direction = random.choice((-1, 1), PATHS)
    steps = begin[:, None] + direction[:, None] * np.arange(1, STEPS + 1)
    period = max(2 * (intervals - 1), 1)
    folded = np.abs((steps + period) % period) if intervals > 1 else np.zeros_like(steps)
    walk = np.where(folded >= intervals, period - folded, folded)
    return walk, begin, random.random((PATHS, STEPS)), random.standard_normal(PATHS)
