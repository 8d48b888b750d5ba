"""
What a group would be behind with an assignment that it did not have, by the records that came.

The queues of a forecast (`forecast.backlog`), over what arrived instead of over what may: a member's partitions are one
queue that arrivals fill and its capacity empties. What is known of capacities has two ends, so has the answer: a
member that is only known to do so much *at least* may do more, one of which nothing is known anything.

The same queues under the assignment that the group had, beside what it showed, tell how far such a replay is off; by as
much its ends are moved apart (`widened`).

Two partitions of one member of 10 records/s; 12/s arrive for a minute:

>>> import numpy as np
>>> ends = np.array([[0, 0], [600, 120]], np.float64)
>>> both = replay(
...     np.array([[0, 0], [0, 1]]), np.zeros(2), ends, np.array([0.0, 60]), capacity_ends([10, np.nan], [False, True])
... )
>>> both.backlog[:, -1].round().tolist()
[[82.0, 120.0, 158.0], [0.0, 0.0, 158.0]]

Cost: one pass over (assignments x members x 3) numbers per interval.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..model.arrays import NONE, Flags, Floats, Indices
from .forecast import UNCERTAIN
from .forecast.queues import worked_off

ENDS = 3
"""Low, expected, high."""

SPREAD = 1.28 * UNCERTAIN
"""By which share of itself a capacity may be off in four cases of five."""


def capacity_ends(per_second: Floats | Sequence[float], at_least: Flags | Sequence[bool]) -> Floats:
    """
    (3, M) offsets/s with which members fall behind least, as expected, and most.

    Who is known to do so much at least is taken to keep up, as in a forecast; so is who is not known at all.

    Args:
        per_second: (M) offsets/s, nan unknown.
        at_least: (M) whose is no more than a lower bound.

    >>> capacity_ends([100, 100, float("nan")], [False, True, False]).round().tolist()
    [[106.0, inf, inf], [100.0, inf, inf], [94.0, 100.0, 0.0]]
    """
    known = np.nan_to_num(np.asarray(per_second, np.float64))
    open_ended = np.isnan(per_second) | np.asarray(at_least, np.bool_)
    upper = np.where(open_ended, np.inf, known)
    lower = np.where(open_ended, known, known * (1 - SPREAD))
    return np.array([upper * (1 + SPREAD), upper, lower])


def learned(before: Floats, now: Floats, as_peers: Flags) -> Floats:
    """
    (3, M) what is known of capacities after one more snapshot.

    A member that did less since is not slower for it: it may have had less to do. One that did more is faster. What its
    peers do counts only of one of which nothing else is known.

    Args:
        before: (3, M) as of `capacity_ends`; who does nothing stays so: the replay begins with what stood still.
        now: (3, M) what the snapshot says.
        as_peers: (M) of whom it says only what their peers do.

    >>> slow, fast = (capacity_ends([each], [False]) for each in (230, 600))
    >>> [learned(slow, fast, np.array([by_peers]))[1].tolist() for by_peers in (False, True)]
    [[600.0], [230.0]]
    """
    firm = np.isfinite(now[1]) & (now[1] > 0)
    better = np.where(firm, now, np.maximum(before, now[2]))
    kept = (before[0] == 0) | (as_peers & np.isfinite(before[1]))
    return np.where(kept, before, better)


def through(
    backlog: Floats, arrived: Floats, capacity: Floats, seconds: float
) -> tuple[Floats, Floats]:
    """
    One interval: (..., Q) offsets that wait in each queue at its end, and (..., Q) offset-seconds within it.

    Args:
        backlog: (..., Q) offsets that wait at its beginning.
        arrived: (..., Q) offsets that come, evenly.
        capacity: (..., Q) offsets/s; infinite: nothing waits.
        seconds: How long it is.
    """
    after, until = worked_off(backlog, capacity - arrived / seconds, seconds)
    return after, (backlog + after) / 2 * np.minimum(until, seconds)


def sums(values: Floats, owner: Indices, members: int) -> Floats:
    """(M + 1) of each member's partitions, (n) numbers; the last is nobody's."""
    place = np.where(owner == NONE, members, owner)
    return np.bincount(place, values, minlength=members + 1).astype(np.float64)


def with_nobody(capacity: Floats) -> Floats:
    """(..., M + 1) capacities of members, and of nobody, who does nothing."""
    return np.concatenate([capacity, np.zeros((*capacity.shape[:-1], 1))], axis=-1)


def late(backlog: Floats, arrived: Floats, seconds: float, hottest: Floats | float = 1.0) -> Floats:
    """
    (...) seconds for which the records have waited that wait longest, by the member that is behind most.

    Args:
        backlog: (..., Q) offsets that wait.
        arrived: (..., Q) offsets that came in the last seconds.
        seconds: So many.
        hottest: (Q) as of `hottest`.
    """
    speed = arrived / seconds
    with np.errstate(divide="ignore"):
        waited = np.divide(backlog, speed, out=np.zeros(backlog.shape), where=backlog > 0.5)
    longest: Floats = (waited * hottest).max(axis=-1, initial=0.0)
    return longest


def hottest(rates: Floats, owner: Indices, capacity: Floats) -> Floats:
    """
    (M + 1) by how much the latest partition of each member is later than its partitions are on average.

    A member reads its partitions in equal shares, and what one does not need goes to the others: so in one that gets
    too much only those fall behind at which more arrives than such a share.

    Args:
        rates: (n) offsets/s that arrive.
        owner: (n) a member, or NONE.
        capacity: (M) offsets/s, infinite where it keeps up.

    >>> hottest(np.array([480.0, 240, 300]), np.array([0, 0, 1]), np.array([600.0, 600])).round(3).tolist()
    [1.5, 1.0, 1.0]
    """
    factors = np.ones(len(capacity) + 1)
    gets = sums(rates, owner, len(capacity))[:-1]
    for member in np.flatnonzero(gets > capacity).tolist():
        own = np.sort(rates[owner == member])
        smaller = np.cumsum(own) - own
        share = ((capacity[member] - smaller) / np.arange(len(own), 0, -1)).max()
        factors[member] = (1 - share / own[-1]) / (1 - capacity[member] / gets[member])
    return factors


@dataclass(frozen=True, kw_only=True, eq=False)
class Replay:
    """
    What would have waited under K assignments at T + 1 moments; the last axis is low, expected, high.

    Attributes:
        backlog: (K, T + 1, 3) offsets beyond those that wait for the next commit.
        late_seconds: (K, T + 1, 3) see `late`; at the first moment by the first interval.
        offset_seconds: (K, T + 1, 3) backlog summed up over the time since the first moment.
    """

    backlog: Floats
    late_seconds: Floats
    offset_seconds: Floats


def replay(
    owners: Indices, backlog: Floats, ends: Floats, moments: Floats, capacity: Floats
) -> Replay:
    """
    Go through the records that came with some assignments.

    Args:
        owners: (K, n) a member, or NONE.
        backlog: (n) offsets that wait at the first moment, beyond those that wait for the next commit.
        ends: (T + 1, n) end offsets at each moment.
        moments: (T + 1) seconds.
        capacity: (3, M) of members, as of `capacity_ends`.
    """
    can, members = with_nobody(capacity), capacity.shape[-1]
    waiting = np.array([sums(backlog, each, members) for each in owners])
    came = np.array(
        [[sums(one, each, members) for one in np.diff(ends, axis=0)] for each in owners]
    )
    waits = np.repeat(waiting[:, None], ENDS, axis=1)  # (K, 3, Q)
    took = np.diff(moments)
    totals, area = [waits.sum(axis=-1)], [np.zeros(waits.shape[:2])]
    lates = [late(waits, came[:, :1], float(took[0]))]
    for step, seconds in enumerate(took.tolist()):
        waits, within = through(waits, came[:, step, None], can, seconds)
        totals.append(waits.sum(axis=-1))
        area.append(area[-1] + within.sum(axis=-1))
        since = came[:, : step + 1].sum(axis=1)[:, None]
        lates.append(late(waits, since, float(took[: step + 1].sum())))
    stacked = (np.stack(each, axis=1) for each in (totals, lates, area))
    return Replay(**dict(zip(("backlog", "late_seconds", "offset_seconds"), stacked, strict=True)))


def widened(stayed: Floats, own: float, came: float) -> Floats:
    """
    (3) what would have been, its ends moved apart by as much as the replay of what was is off.

    Args:
        stayed: (3) low, expected, high.
        own: What the replay says of the assignment that the group had.
        came: What it showed.

    >>> widened(np.array([5.0, 9.0, 12.0]), 3.0, 9.0).tolist()
    [0.0, 9.0, 18.0]
    """
    off = abs(came - own)
    return np.array([max(stayed[0] - off, 0.0), stayed[1], stayed[2] + off])
