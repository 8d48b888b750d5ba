"""
The backlog of each member under some assignments, future by future: a queue that arrivals fill and a capacity empties.

    backlog(t + 1) = max(0, backlog(t) + (arrivals(t) - capacity) x seconds)

A partition that changes hands takes its backlog along. A member that stands still does so at the beginning, and
consumes nothing until it goes on. What a group shows as lag is this backlog and what arrived since its last commit. A
member of unknown capacity is taken to keep up.

Cost: 12 steps over (assignments x futures x members) numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...model.arrays import NONE, Flags, Floats, Indices
from ...model.pauses import Standstill
from .correction import NO_CORRECTION, corrected
from .futures import HORIZON_SECONDS, STEPS, Futures

STEP_SECONDS = HORIZON_SECONDS / STEPS

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
        correction: By how much earlier forecasts were too narrow or too wide, see `correction`.
        seen: (M) offsets/s that members were seen to do, nan where nothing was; None: that is not asked.
    """

    arrivals: Floats
    backlog: Floats
    capacity: Floats
    uncertainty: Floats
    ages: Floats
    owner: Indices
    stuck: Flags
    correction: Floats = field(default_factory=lambda: np.array(NO_CORRECTION))
    seen: Floats | None = None


@dataclass(frozen=True, kw_only=True, eq=False)
class Outlooks:
    """
    What becomes of a group under K assignments; the last axis is low, expected, high.

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


def outlooks(
    load: Load,
    owners: Sequence[Indices],
    futures: Futures,
    standstills: Sequence[Standstill | None] | None = None,
) -> Outlooks:
    """
    Args:
        load: What the group has to do, and can.
        owners: K assignments: (n) a member, or NONE; what nobody owns is not consumed.
        futures: What may come.
        standstills: K times what pauses on the way there; None: nothing.
    """
    members, count = len(load.capacity), len(owners)
    placed = [queue_of(load, owner) for owner in owners]
    capacity = np.append(np.where(np.isnan(load.capacity), np.inf, load.capacity), 0.0)
    factor = np.exp(futures.spread[:, None] * np.append(load.uncertainty, 0.0))
    can = np.where(np.isinf(capacity), np.inf, capacity * factor)  # (R, M + 1)
    arrivals = np.array([_sums(load.arrivals, o, members + 1) for o in placed])  # (K, I, M + 1)
    paused = [None] * count if standstills is None else standstills
    waits = [_waiting(load, *each) for each in zip(placed, paused, strict=True)]
    waiting, stands = (np.array(each)[:, None] for each in zip(*waits, strict=True))
    backlog, totals, integrals, drained = _filled(waiting, stands, arrivals, can, futures)
    comes = load.arrivals.sum(axis=1)[futures.interval] * futures.scale
    uncommitted = load.ages[(futures.wait * len(load.ages)).astype(np.int64)]
    # not by matrix multiplication, whose last digits hang on how many threads the process has
    mean = np.einsum("ri,kim->krm", _shares(futures, len(load.arrivals)), arrivals)
    late = _over(backlog, mean).max(axis=2)
    known = np.flatnonzero(np.isfinite(capacity[:-1]))
    used = _over(mean[..., known], can[:, known]).max(axis=2, initial=0.0 if len(known) else np.nan)
    share = tail(len(load.arrivals))
    lag = totals[1:] + (comes * uncommitted).T[:, None]  # (T, K, R)
    return Outlooks(
        lag=corrected(bands_of(lag, share).swapaxes(0, 1), load.correction),
        delay_seconds=bands_of(late, share),
        drained_seconds=bands_of(np.where(_unknown(load, placed), np.nan, drained), share),
        utilization=bands_of(used, share),
        overload=np.maximum(arrivals[:, 0] - capacity, 0.0).sum(axis=1),
        lag_integral=bands_of(integrals, share),
        integrals=integrals,
        tail=share,
    )


def queue_of(load: Load, owner: Indices) -> Indices:
    """(n) the member in whose queue each partition is; one more member has what nobody gets on with."""
    return np.where((owner == NONE) | load.stuck, len(load.capacity), owner)


def _unknown(load: Load, placed: Sequence[Indices]) -> Flags:
    """(K, 1) whether a member of unknown capacity is behind, so that nobody knows how long it will be."""
    members = len(load.capacity)
    behind = np.array([_sums(load.backlog[None], owner, members + 1)[0] for owner in placed])
    unknown = (behind[:, :-1] > 0) & np.isnan(load.capacity)
    return np.asarray(unknown.any(axis=1, keepdims=True))


def _waiting(load: Load, owner: Indices, paused: Standstill | None) -> tuple[Floats, Floats]:
    """
    (M + 1) offsets that members are behind at the beginning, and seconds until they go on; the last is nobody.

    What of a member's partitions stands still for longer than the member does waits on top.
    """
    members = len(load.capacity)
    if paused is None:
        return _sums(load.backlog[None], owner, members + 1)[0], np.zeros(members + 1)
    lost = np.append(paused.lost_seconds, 0.0)
    longer = np.maximum(paused.held_up_seconds - lost[owner], 0.0) * load.arrivals.mean(axis=0)
    return _sums((load.backlog + longer)[None], owner, members + 1)[0], lost


def _filled(
    waiting: Floats, stands: Floats, arrivals: Floats, can: Floats, futures: Futures
) -> tuple[Floats, Floats, Floats, Floats]:
    """
    The queues of K assignments over all steps of R futures.

    Args:
        waiting: (K, 1, M) offsets at the beginning.
        stands: (K, 1, M) seconds from then on in which nothing is done.
        arrivals: (K, I, M) offsets/s in past intervals.
        can: (R, M) offsets/s that are done at most.
        futures: Which intervals come.

    Returns:
        (K, R, M) offsets at the end, (T + 1, K, R) of all members at the beginning and after each step, (K, R)
        offset-seconds, and (K, R) seconds until nothing is left and nothing comes again, infinity beyond the horizon.
    """
    if not (waiting.any() or stands.any() or arrivals[..., np.isfinite(can[0])].any()):
        # nothing waits, and what arrives goes to those who are taken to keep up
        nothing = np.zeros((len(waiting), len(can)))
        return (
            np.repeat(waiting, len(can), axis=1),
            np.zeros((STEPS + 1, *nothing.shape)),
            nothing,
            nothing,
        )
    backlog = np.repeat(waiting, len(can), axis=1)
    comes, done, due = np.empty_like(backlog), can * STEP_SECONDS, arrivals * STEP_SECONDS
    totals, before = [np.einsum("krm->kr", backlog)], np.empty_like(backlog)
    drained = np.zeros(totals[0].shape)
    integrals, longest = np.zeros(totals[0].shape), float(stands.max(initial=0.0))
    for step in range(STEPS):
        np.take(due, futures.interval[:, step], axis=1, out=comes, mode="clip")  # or it buffers
        comes *= futures.scale[:, step, None]
        if longest > step * STEP_SECONDS:
            still = np.clip(stands - step * STEP_SECONDS, 0.0, STEP_SECONDS)
            backlog, within, until = _stood_still(backlog, comes, done, still)
            totals.append(np.einsum("krm->kr", backlog))
            ends = np.nonzero((totals[-1] == 0) & (until > 0))
            until = until[ends]
        else:
            comes -= done
            backlog, before = np.add(backlog, comes, out=before), backlog
            np.maximum(backlog, 0.0, out=backlog)
            totals.append(np.einsum("krm->kr", backlog))
            within = (totals[-2] + totals[-1]) / 2 * STEP_SECONDS
            ends = np.nonzero((totals[-1] == 0) & (totals[-2] > 0))
            until = _over(before[ends], -comes[ends]).max(axis=1, initial=0.0) * STEP_SECONDS
        drained[ends] = step * STEP_SECONDS + until
        integrals += within
    return backlog, np.array(totals), integrals, np.where(totals[-1] > 0, np.inf, drained)


def _stood_still(
    backlog: Floats, comes: Floats, done: Floats, still: Floats
) -> tuple[Floats, Floats, Floats]:
    """
    A step at whose beginning members stand still.

    Args:
        backlog: (K, R, M) offsets at its beginning.
        comes: (K, R, M) offsets that arrive.
        done: (R, M) offsets that are consumed at most if nobody stands still.
        still: (K, 1, M) seconds in which nothing is.

    Returns:
        (K, R, M) offsets at its end, (K, R) offset-seconds within it, and (K, R) seconds until all that waits is done.
    """
    arrives, goes = comes / STEP_SECONDS, STEP_SECONDS - still
    waits = backlog + arrives * still
    drains = done / STEP_SECONDS - arrives  # offsets/s, infinite where no capacity is known
    after, until = worked_off(waits, drains, goes)
    # a member that stands still to the end of the step drains nothing
    after = np.where(goes > 0, after, waits)
    area = (backlog + waits) / 2 * still + (waits + after) / 2 * np.minimum(until, goes)
    busy = np.where(waits > 0, still + until, 0.0).max(axis=2, initial=0.0)
    return after, np.einsum("krm->kr", area), busy


def worked_off(waits: Floats, drains: Floats, seconds: Floats | float) -> tuple[Floats, Floats]:
    """
    Offsets that are left of those that wait after some seconds, and seconds until nothing is.

    Args:
        waits: Offsets.
        drains: Offsets/s done beyond those that arrive; below 0 more arrive. Infinite: nothing waits.
        seconds: How long it goes on.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        until = np.where(drains > 0, waits / drains, np.inf)
        return np.where(until < seconds, 0.0, waits - drains * seconds), until


def _over(values: Floats, by: Floats) -> Floats:
    """Values over others; 0 where there is nothing, infinity where that is over nothing."""
    with np.errstate(divide="ignore"):
        return np.divide(values, by, out=np.zeros_like(values), where=values > 0)


def _shares(futures: Futures, intervals: int) -> Floats:
    """(R, I) how much of each past interval is in the mean of a future."""
    own = np.arange(len(futures.scale))[:, None] * intervals + futures.interval
    sums = np.bincount(own.ravel(), futures.scale.ravel(), minlength=len(own) * intervals)
    return sums.reshape(len(own), intervals) / STEPS


def _sums(values: Floats, owner: Indices, members: int) -> Floats:
    """(I, members) the sum of each owner's (I, n) values, row by row."""
    rows = len(values)
    place = owner + members * np.arange(rows)[:, None]
    sums = np.bincount(place.ravel(), values.ravel(), minlength=rows * members)
    return sums.astype(np.float64).reshape(rows, members)


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
