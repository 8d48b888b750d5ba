"""
Which of a group's past intervals its possible futures are made of.

A future is a walk along the past: it begins at some interval, goes on in time or back, and turns at either end. As
many go on as back, and their beginnings are spread evenly. So a walk keeps what one interval says of the next, and all
partitions of an interval come together: what is produced to one topic and what to another belong to the same moment.

What the walk passes through is scaled to the level the group has by then. That begins where it is now, and with each
step rises or falls by what the level of the past did there. Where the walk turns, the level does not turn with it: it
goes on as it went. So a group whose traffic grew by a third within its past may grow by another third, or lose it
again; it is not held to what it had before. Nothing is said of the hour of the day: a past of an hour knows of none.

What is drawn is the same for the same number of intervals, so the same group gets the same forecast, and all strategies
are held against the same futures.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from ...model.arrays import Floats, Ints

HORIZON_SECONDS = 3600.0
"""How far a forecast looks ahead."""

SOON_SECONDS = 900.0
"""How far ahead the nearer forecast looks."""

AHEAD = (SOON_SECONDS, HORIZON_SECONDS)
"""Horizons of forecasts of lag, in seconds."""

STEPS = 12
"""Steps of a forecast."""

STEP_SECONDS = HORIZON_SECONDS / STEPS
"""How long each takes."""

PATHS = 80
"""Possible futures: enough that the tenth from either end moves little from one set of draws to another."""

AROUND = 3
"""Intervals whose mean is the level of the one in their midst; of the newest it is that of two."""

LEAST_SCALE, MOST_SCALE = 0.5, 2.0
"""Within these an interval is scaled: one without traffic says little of the level."""


def step_after(seconds: float) -> int:
    """
    The step at whose end so much time is over.

    >>> step_after(900), step_after(HORIZON_SECONDS)
    (2, 11)
    """
    return round(seconds / HORIZON_SECONDS * STEPS) - 1


@dataclass(frozen=True, kw_only=True, eq=False)
class Futures:
    """
    Possible futures of groups with as many past intervals; of one group alone without the axis G.

    Attributes:
        interval: (R, T) the past interval, newest 0, whose arrivals come in each step of each future.
        scale: (G, R, T) by what they are multiplied.
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
        totals: (G, I) offsets/s that arrived in all of each group, interval by interval, newest first; at least one.
    """
    path, direction, wait, spread = _draws(totals.shape[-1])
    walk = path[:, 1:]
    levels = _levels(totals)
    # two neighbors on a path are neighbors in the past; who stays at the only one there is sees no change
    changes = np.append(np.diff(np.log(levels)), np.zeros_like(levels[..., :1]), axis=-1)
    along = changes[..., np.minimum(walk, path[:, :-1])]
    becomes = levels[..., :1, None] * np.exp(np.cumsum(direction[:, None] * along, axis=-1))
    scale = np.clip(becomes / levels[..., walk], LEAST_SCALE, MOST_SCALE)
    return Futures(interval=walk, scale=scale, wait=wait, spread=spread)


def _levels(totals: Floats) -> Floats:
    """(G, I) means of neighbors; where nothing came the least of the others, 1 where nothing ever did."""
    means, each = totals.astype(np.float64), np.ones(totals.shape[-1])
    for apart in range(1, AROUND // 2 + 1):
        for one, other in (
            (slice(apart, None), slice(-apart)),
            (slice(-apart), slice(apart, None)),
        ):
            means[..., one] += totals[..., other]
            each[one] += 1
    means /= each
    least = means.min(axis=-1, where=means > 0, initial=np.inf, keepdims=True)
    return np.where(means > 0, means, np.where(np.isfinite(least), least, 1.0))


@lru_cache(maxsize=64)
def _draws(intervals: int) -> tuple[Ints, Ints, Floats, Floats]:
    """(R, T + 1) walks, from where they begin on, (R) which way each goes, and what else is drawn."""
    random = np.random.default_rng(intervals)
    begin = np.arange(PATHS) // 2 * intervals // (PATHS // 2)
    direction = np.tile((-1, 1), PATHS // 2)
    steps = begin[:, None] + direction[:, None] * np.arange(STEPS + 1)
    period = max(2 * (intervals - 1), 1)
    folded = steps % period
    path = np.where(folded >= intervals, period - folded, folded)
    return path, direction, random.random((PATHS, STEPS)), random.standard_normal(PATHS)
