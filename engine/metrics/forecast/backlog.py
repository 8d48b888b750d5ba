"""
The backlog of each member under some assignments, future by future: a queue that arrivals fill and a capacity empties.

    backlog(t + 1) = max(0, backlog(t) + (arrivals(t) - capacity) x seconds)

A partition that changes hands takes its backlog along. A member that stands still does so at the beginning, and
consumes nothing until it goes on. What a group shows as lag is this backlog and what arrived since its last commit. A
member of unknown capacity is taken to keep up.

Cost: 12 steps over (assignments x futures x members) numbers.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model.arrays import Flags, Floats
from .correction import corrected
from .futures import STEPS, Futures, futures
from .load import AssignmentBatch
from .queues import filled, over

TAIL = 0.1
"""What comes lies below the low end of a band in one case of ten, and above its high end in another."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Outlooks:
    """
    What becomes of groups under K assignments; the last axis is low, expected, high.

    Attributes:
        lag: (K, T, 3) offsets at each step, as a snapshot would show them.
        delay_seconds: (K, 3) how far behind the member is that is behind most, at the horizon.
        drained_seconds: (K, 3) until nobody has a backlog; infinity beyond the horizon, nan where somebody who has one
            is of unknown capacity.
        utilization: (K, 3) of the busiest member, over the horizon; nan where no capacity is known.
        overload: (K) offsets/s that arrived in the newest interval beyond what their members can do.
        lag_integral: (K, 3) offset-seconds of backlog over the horizon.
        integrals: (K, R) the same, future by future: differences of assignments are taken before quantiles.
        tail: The share of futures beyond either end of a band.
    """

    lag: Floats
    delay_seconds: Floats
    drained_seconds: Floats
    utilization: Floats
    overload: Floats
    lag_integral: Floats
    integrals: Floats
    tail: float


def outlooks(batch: AssignmentBatch) -> Outlooks:
    """What becomes of groups with as many past intervals under their assignments, see `worked_out`."""
    loads, group, start = batch.loads, batch.group, batch.start[:-1]
    ahead = futures(batch.totals)
    capacity = np.where(np.isnan(batch.capacity), np.inf, batch.capacity)
    unsure = batch.of_members([load.uncertainty for load in loads])
    can = capacity * np.exp(ahead.spread[:, None] * unsure)  # (R, M)
    arrivals = batch.sums(*batch.arrivals[:, batch.partition])  # (I, Q)
    fills = filled(batch, _waiting(batch), arrivals, can, ahead)
    share = tail(len(arrivals))
    mean = _mean(batch, arrivals, ahead)
    late = fills.queues.most(over(fills.backlog, mean[:, fills.queues.at]))
    shown = fills.totals[1:] + _uncommitted(batch, ahead)[:, group]
    correction = np.array([load.correction for load in loads])[group]
    return Outlooks(
        lag=corrected(bands_of(shown, share).swapaxes(0, 1), correction),
        delay_seconds=bands_of(late, share),
        drained_seconds=bands_of(np.where(_unknown(batch), np.nan, fills.drained), share),
        utilization=bands_of(_utilization(batch, mean, can), share),
        overload=np.add.reduceat(np.maximum(arrivals[0] - capacity[batch.member], 0.0), start),
        lag_integral=bands_of(fills.integrals, share),
        integrals=fills.integrals,
        tail=share,
    )


def _waiting(batch: AssignmentBatch) -> Floats:
    """
    (Q) offsets that members are behind at the beginning.

    What of a member's partitions stands still for longer than the member does waits on top.
    """
    longer = np.maximum(batch.held_up - batch.lost[batch.queue], 0.0)
    waits: Floats = batch.sums(batch.backlog + longer * batch.arrives)[0]
    return waits


def _mean(batch: AssignmentBatch, arrivals: Floats, ahead: Futures) -> Floats:
    """(R, Q) offsets/s in the mean of each future, of (I, Q) in past intervals."""
    intervals, own = len(arrivals), np.arange(len(ahead.interval))[:, None]
    mean, ends = np.empty((len(own), arrivals.shape[1])), batch.start[batch.first].tolist()
    for number, scale in enumerate(ahead.scale):
        part = slice(*ends[number : number + 2])
        place, size = (own * intervals + ahead.interval).ravel(), len(own) * intervals
        shares = np.bincount(place, scale.ravel(), size).reshape(-1, intervals) / STEPS
        # not by matrix multiplication, whose last digits hang on how many threads the process has
        np.einsum("ri,iq->rq", shares, arrivals[:, part], out=mean[:, part])
    return mean


def _uncommitted(batch: AssignmentBatch, ahead: Futures) -> Floats:
    """(T, G, R) offsets that arrived since the last commit, at the end of each step."""
    ages = [load.ages[(ahead.wait * len(load.ages)).astype(np.int64)] for load in batch.loads]
    return np.moveaxis(batch.totals[:, ahead.interval] * ahead.scale * np.array(ages), 2, 0)


def _utilization(batch: AssignmentBatch, mean: Floats, can: Floats) -> Floats:
    """(K, R) of the busiest member whose capacity is known, nan where none is."""
    known = np.isfinite(batch.capacity)
    known[batch.member_start[1:] - 1] = False
    some = np.add.reduceat(known, batch.member_start[:-1], dtype=np.int64)[batch.group] > 0
    used = over(np.where(known[batch.member], mean, 0.0), can[:, batch.member])
    busiest = np.maximum.reduceat(used, batch.start[:-1], axis=1).T
    return np.where(some[:, None], busiest, np.nan)


def _unknown(batch: AssignmentBatch) -> Flags:
    """(K, 1) whether a member of unknown capacity is behind, so that nobody knows how long it will be."""
    behind = (batch.sums(batch.backlog)[0] > 0) & np.isnan(batch.capacity)[batch.member]
    return np.logical_or.reduceat(behind, batch.start[:-1])[:, None]


def bands_of(values: Floats, share: float) -> Floats:
    """(..., 3) low, expected and high of (..., R) futures: *share* of them lie below the first and above the last."""
    ordered = np.sort(values, axis=-1)
    places = [round(q * (values.shape[-1] - 1)) for q in (share, 0.5, 1 - share)]
    return ordered[..., places]


def tail(intervals: int) -> float:
    """
    The share of futures beyond either end of a band that holds what comes in four cases of five.

    Of so few intervals as the past has, the tenth from either end lies too far inside: a next one falls between the
    j-th from below and from above of n with probability (n + 1 - 2 j) / (n + 1) (order statistics).

    >>> [round(tail(n), 3) for n in (1, 12, 1000)]
    [0.0, 0.027, 0.099]
    """
    return max(0.0, (TAIL * (intervals + 1) - 1) / max(intervals - 1, 1))
