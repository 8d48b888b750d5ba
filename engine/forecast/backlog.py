"""
The backlog of each member under some assignments, future by future: a queue that arrivals fill and a capacity empties.

    backlog(t + 1) = max(0, backlog(t) + (arrivals(t) - capacity) x seconds)

A partition that changes hands takes its backlog along. What a group shows as lag is this backlog and what arrived since
its last commit. A member of unknown capacity is taken to keep up.

Cost: 12 steps over (assignments x futures x members) numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenkeel.engine.forecast.drawn import HORIZON_SECONDS, STEPS, Futures
from evenkeel.engine.model import NONE, Flags, Floats, Indices

TAIL = 0.1
"""What comes lies below the low end of a band in one case of ten, and above its high end in another."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Load:
    """
    What a group has to do, and can.

    Attributes:
        arrivals: (I, n) offsets/s of its partitions in past intervals, newest first.
        backlog: (n) offsets behind now, beyond what waits for the next commit.
        capacity: (M) offsets/s; nan unknown.
        uncertainty: (M) by which share of itself a capacity may be off.
        ages: (A) seconds since the last commit, as they were seen, at least one.
        owner: (n) the member who has each partition now; NONE for nobody.
        stuck: (n) partitions that nobody gets on with, whoever has them.
    """

    arrivals: Floats
    backlog: Floats
    capacity: Floats
    uncertainty: Floats
    ages: Floats
    owner: Indices
    stuck: Flags


@dataclass(frozen=True, kw_only=True, eq=False)
class Outlooks:
    """
    What becomes of a group under K assignments; the last axis is low, expected, high.

    Attributes:
        lag: (K, T, 3) offsets at each step, as a snapshot would show them.
        delay_seconds: (K, 3) how far behind the member is that is behind most, at the horizon.
        drained_seconds: (K, 3) until nobody has a backlog; infinity beyond the horizon.
        utilisation: (K, 3) of the busiest member, over the horizon; nan where no capacity is known.
        lag_integral: (K, 3) offset-seconds of backlog over the horizon.
    """

    lag: Floats
    delay_seconds: Floats
    drained_seconds: Floats
    utilisation: Floats
    lag_integral: Floats


def outlooks(load: Load, owners: Sequence[Indices], futures: Futures) -> Outlooks:
    """
    Args:
        load: What the group has to do, and can.
        owners: K assignments: (n) a member, or NONE; what nobody owns is not consumed.
        futures: What may come.
    """
    members = len(load.capacity)
    # one more member, who has what nobody owns and does nothing
    placed = [np.where((owner == NONE) | load.stuck, members, owner) for owner in owners]
    capacity = np.append(np.where(np.isnan(load.capacity), np.inf, load.capacity), 0.0)
    factor = np.exp(futures.spread[:, None] * np.append(load.uncertainty, 0.0))
    can = np.where(np.isinf(capacity), np.inf, capacity * factor)  # (R, M + 1)
    arrivals = np.array([[_sums(row, o, members + 1) for row in load.arrivals] for o in placed])
    backlog = np.repeat(
        np.array([_sums(load.backlog, o, members + 1) for o in placed])[:, None],
        len(futures.scale),
        axis=1,
    )
    waits = load.ages[(futures.wait * len(load.ages)).astype(np.int64)]  # (R, T)
    seconds = HORIZON_SECONDS / STEPS
    lags, total = [], np.zeros(backlog.shape[:2])
    drained = np.full(backlog.shape[:2], np.where(backlog.sum(axis=2) > 0, np.inf, 0.0))
    arrived = np.zeros_like(backlog)
    for step in range(STEPS):
        interval, scale = futures.interval[:, step], futures.scale[:, step, None]
        comes = arrivals[:, interval] * scale  # (K, R, M + 1)
        before = backlog.sum(axis=2)
        backlog = np.maximum(backlog + (comes - can) * seconds, 0.0)
        after = backlog.sum(axis=2)
        total += (before + after) / 2 * seconds
        drained = np.where(after > 0, np.inf, np.minimum(drained, (step + 1) * seconds))
        lags.append(after + comes.sum(axis=2) * waits[:, step])
        arrived += comes
    mean = arrived / STEPS
    with np.errstate(invalid="ignore", divide="ignore"):
        late = np.where(backlog > 0, backlog / mean, 0.0).max(axis=2)
        used = np.where(np.isinf(can[:, :-1]), np.nan, mean[..., :-1] / can[:, :-1])
    busiest = np.fmax.reduce(used, axis=2, initial=np.nan)
    share = tail(len(load.arrivals))
    return Outlooks(
        lag=np.stack([_band(each, share) for each in lags], axis=1),
        delay_seconds=_band(np.nan_to_num(late, nan=0.0, posinf=np.inf), share),
        drained_seconds=_band(drained, share),
        utilisation=_band(busiest, share),
        lag_integral=_band(total, share),
    )


def _sums(values: Floats, owner: Indices, members: int) -> Floats:
    return np.bincount(owner, values, minlength=members).astype(np.float64)


def _band(values: Floats, share: float) -> Floats:
    """(K, 3) low, expected and high of (K, R) futures: *share* of them lie below the first and above the last."""
    ordered = np.sort(values, axis=1)
    places = [round(q * (values.shape[1] - 1)) for q in (share, 0.5, 1 - share)]
    return ordered[:, places]


def tail(intervals: int) -> float:
    """
    The share of futures beyond either end of a band that holds what comes in four cases of five.

    Of so few intervals as the past has, the tenth from either end lies too far inside: a next one falls between the
    j-th from below and from above of n with probability (n + 1 - 2 j) / (n + 1) (order statistics).

    >>> [round(tail(n), 3) for n in (1, 12, 1000)]
    [0.0, 0.027, 0.099]
    """
    return max(0.0, (TAIL * (intervals + 1) - 1) / max(intervals - 1, 1))
