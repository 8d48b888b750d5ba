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
from functools import cached_property

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
        lags: (T, K, R) offsets at each step, as a snapshot would show them.
        correction: As of a `Load`.
        delay_seconds: (K, 3) how far behind the member is that is behind most, at the horizon.
        drained_seconds: (K, 3) until nobody has a backlog; infinity beyond the horizon, nan where somebody who has one
            is of unknown capacity.
        utilization: (K, 3) of the busiest member, over the horizon; nan where no capacity is known.
        overload: (K) offsets/s that arrived in the newest interval beyond what their members can do.
        lag_integral: (K, 3) offset-seconds of backlog over the horizon.
        integrals: (K, R) the same, future by future: differences of assignments are taken before quantiles.
        tail: The share of futures beyond either end of a band.
    """

    lags: Floats
    correction: Floats
    delay_seconds: Floats
    drained_seconds: Floats
    utilization: Floats
    overload: Floats
    lag_integral: Floats
    integrals: Floats
    tail: float

    @cached_property
    def lag(self) -> Floats:
        """(K, T, 3) offsets at each step, as a snapshot would show them."""
        return corrected(bands_of(self.lags, self.tail).swapaxes(0, 1), self.correction)


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
    members, placed = len(load.capacity), queues_of(load, owners)
    capacity = np.append(np.where(np.isnan(load.capacity), np.inf, load.capacity), 0.0)
    can = capacity * np.exp(futures.spread[:, None] * np.append(load.uncertainty, 0.0))
    arrivals = sums(load.arrivals, placed, members + 1)  # (I, K, M + 1)
    waiting, stands = _waiting(load, placed, standstills or [None] * len(placed))
    queues, backlog, totals, integrals, drained = _filled(waiting, stands, arrivals, can, futures)
    comes = load.arrivals.sum(axis=1)[futures.interval] * futures.scale
    uncommitted = load.ages[(futures.wait * len(load.ages)).astype(np.int64)]
    known = np.isfinite(capacity)
    known[-1] = False
    # not by matrix multiplication, whose last digits hang on how many threads the process has
    mean = np.einsum("ri,ikm->rkm", _shares(futures, len(load.arrivals)), arrivals)
    late = queues.most(_over(backlog, mean.reshape(len(mean), -1)[:, queues.at]))
    used = _over(mean[..., known], can[:, None, known])
    share = tail(len(load.arrivals))
    return Outlooks(
        lags=totals[1:] + (comes * uncommitted).T[:, None],
        correction=load.correction,
        delay_seconds=bands_of(late, share),
        drained_seconds=bands_of(np.where(_unknown(load, placed), np.nan, drained), share),
        utilization=bands_of(used.max(axis=2, initial=0.0 if known.any() else np.nan).T, share),
        overload=np.maximum(arrivals[0] - capacity, 0.0).sum(axis=1),
        lag_integral=bands_of(integrals, share),
        integrals=integrals,
        tail=share,
    )


def queues_of(load: Load, owners: Sequence[Indices]) -> Indices:
    """(K, n) the member in whose queue each partition is; one more member has what nobody gets on with."""
    placed = np.array(owners)
    return np.where((placed == NONE) | load.stuck, len(load.capacity), placed)


def _unknown(load: Load, placed: Indices) -> Flags:
    """(K, 1) whether a member of unknown capacity is behind, so that nobody knows how long it will be."""
    behind = sums(load.backlog[None], placed, len(load.capacity) + 1)[0, :, :-1] > 0
    return np.asarray((behind & np.isnan(load.capacity)).any(axis=1, keepdims=True))


def _waiting(
    load: Load, placed: Indices, paused: Sequence[Standstill | None]
) -> tuple[Floats, Floats]:
    """
    (K, M + 1) offsets that members are behind at the beginning, and seconds until they go on; the last is nobody.

    What of a member's partitions stands still for longer than the member does waits on top.
    """
    members, waits = len(load.capacity), np.tile(load.backlog, (len(placed), 1))
    stands, arrives = np.zeros((len(placed), members + 1)), load.arrivals.mean(axis=0)
    for row, pauses in enumerate(paused):
        if pauses is not None:
            stands[row, :-1] = pauses.lost_seconds
            longer = np.maximum(pauses.held_up_seconds - stands[row][placed[row]], 0.0)
            waits[row] += longer * arrives
    return sums(waits[None], placed, members + 1)[0], stands


class _Queues:
    """N queues of members under K assignments; under each one at least, that of nobody."""

    def __init__(self, there: Flags) -> None:
        """
        Args:
            there: (K, M) which; the last column is nobody's.
        """
        there[:, -1] = True
        self.there, self.at = there, np.flatnonzero(there)
        self._start = np.append(0, np.cumsum(there.sum(axis=1))[:-1])

    def total(self, values: Floats) -> Floats:
        """(K, R) the sums of (R, N) values."""
        return np.add.reduceat(values, self._start, axis=1).T

    def most(self, values: Floats) -> Floats:
        """(K, R) the largest of (R, N) values."""
        return np.maximum.reduceat(values, self._start, axis=1).T


def _filled(
    waiting: Floats, stands: Floats, arrivals: Floats, can: Floats, futures: Futures
) -> tuple[_Queues, Floats, Floats, Floats, Floats]:
    """
    The queues of K assignments over all steps of R futures.

    Args:
        waiting: (K, M) offsets at the beginning.
        stands: (K, M) seconds from then on in which nothing is done.
        arrivals: (I, K, M) offsets/s in past intervals.
        can: (R, M) offsets/s that are done at most.
        futures: Which intervals come.

    Returns:
        Those that may not be empty at the end, and (R, N) offsets in them; (T + 1, K, R) offsets of all at the
        beginning and after each step; (K, R) offset-seconds; and (K, R) seconds until nothing is left and nothing
        comes again, infinity beyond the horizon.
    """
    done, scale = can * STEP_SECONDS, futures.scale.T[..., None]
    # who has nothing, and never gets more than it can do, has no queue
    grows = arrivals.max(axis=0) * STEP_SECONDS * scale.max() > done.min(axis=0)
    some = grows | (waiting > 0) | (stands > 0)
    if not some.any():
        nothing = np.zeros((len(waiting), len(can)))
        return _Queues(some), nothing.T, np.zeros((STEPS + 1, *nothing.shape)), nothing, nothing
    queues = _Queues(some)
    due = arrivals.reshape(len(arrivals), -1)[:, queues.at] * STEP_SECONDS
    done, still = done[:, queues.at % can.shape[1]], stands.ravel()[queues.at]
    backlog = np.repeat(waiting.ravel()[None, queues.at], len(can), axis=0)
    totals = [queues.total(backlog)]
    drained, integrals = np.zeros((2, *totals[0].shape))
    longest, stood = float(stands.max(initial=0.0)), False
    for step in range(STEPS):
        begins = step * STEP_SECONDS
        if stood and longest <= begins:
            stood, waits = False, np.zeros_like(queues.there)
            waits.ravel()[queues.at] = backlog.any(axis=0)
            left = _Queues(grows | waits)
            stay = left.there.ravel()[queues.at]
            queues, backlog, due, done = left, backlog[:, stay], due[:, stay], done[:, stay]
        comes = due[futures.interval[:, step]]
        comes *= scale[step]
        if longest > begins:
            stood = True
            now = np.clip(still - begins, 0.0, STEP_SECONDS)
            backlog, area, empty = _stood_still(backlog, comes, done, now)
            within, until = queues.total(area), queues.most(empty)
            totals.append(queues.total(backlog))
            ends = (totals[-1] == 0) & (until > 0)
        else:
            comes -= done
            backlog, before = backlog + comes, backlog
            np.maximum(backlog, 0.0, out=backlog)
            totals.append(queues.total(backlog))
            within = (totals[-2] + totals[-1]) / 2 * STEP_SECONDS
            ends = (totals[-1] == 0) & (totals[-2] > 0)
            until = queues.most(_over(before, -comes)) * STEP_SECONDS if ends.any() else within
        drained[ends] = begins + until[ends]
        integrals += within
    drained[totals[-1] > 0] = np.inf
    return queues, backlog, np.array(totals), integrals, drained


def _stood_still(
    backlog: Floats, comes: Floats, done: Floats, still: Floats
) -> tuple[Floats, Floats, Floats]:
    """
    A step at whose beginning members stand still.

    Args:
        backlog: (R, N) offsets at its beginning.
        comes: (R, N) offsets that arrive.
        done: (R, N) offsets that are consumed at most if nobody stands still.
        still: (N) seconds in which nothing is.

    Returns:
        (R, N) offsets at its end, offset-seconds within it, and seconds until all that waits is done.
    """
    arrives, goes = comes / STEP_SECONDS, STEP_SECONDS - still
    waits = arrives * still
    waits += backlog
    drains = done / STEP_SECONDS  # offsets/s, infinite where no capacity is known
    drains -= arrives
    after, until = worked_off(waits, drains, goes)
    # a member that stands still to the end of the step drains nothing
    idle = goes <= 0
    after[:, idle] = waits[:, idle]
    area, rest = backlog + waits, waits + after
    area *= still / 2
    rest *= np.minimum(until, goes)
    area += rest / 2
    until += still
    until[waits <= 0] = 0.0
    return after, area, until


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
    shares = np.bincount(own.ravel(), futures.scale.ravel(), minlength=len(own) * intervals)
    return shares.reshape(len(own), intervals) / STEPS


def sums(values: Floats, placed: Indices, members: int) -> Floats:
    """(I, K, members) the sums of each one's (I, n) or (I, K, n) values under K assignments (K, n)."""
    rows, count = len(values), len(placed)
    place = (placed + members * np.arange(count)[:, None]).ravel()
    every = np.broadcast_to(values if values.ndim == 3 else values[:, None], (rows, *placed.shape))
    place = (place + members * count * np.arange(rows)[:, None]).ravel()
    found = np.bincount(place, every.ravel(), minlength=rows * count * members)
    return found.astype(np.float64, copy=False).reshape(rows, count, members)


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
