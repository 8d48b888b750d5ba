"""
What a member can consume, and how that is known.

| basis | what says so |
| --- | --- |
| configured | `capacity_per_second` of the group's rule |
| saturated | it had more to do than it did: consumption over intervals at both ends of which it was behind |
| as its peers | it was never seen so, and kept up with no more than they do: the median of its saturated peers |
| at least | it kept up with so much, which is more than its peers are known to do |

An interval between two samples counts while the member's partitions stay its own, nothing was set back, and one of
those that were behind moved: a member whose commits stand still says nothing of its speed. How far behind is a matter
of time beyond the commit interval (`commit_interval.delay`), so what merely waits for the next commit is no backlog.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..model.arrays import Flags, Floats, Ints
from ..model.batch import median_by
from ..model.labels import Labels
from ..model.states import CapacityBasis
from .samples import Samples, any_of_owner, stack_of, sums_by_owner

NEWEST = 3
"""
Intervals that count, the newest, for what arrives now and for what a saturated member does: an hour ago it was not the
same.
"""

SAME = 1.05
"""A member that kept up with up to so many times what its saturated peers do was seen to do no more than they."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Capacity:
    """
    What the members of a batch can consume.

    Attributes:
        per_second: (M) offsets/s; nan unknown.
        basis: (M) how that is known.
        saturated: (M) offsets/s over saturated intervals; nan without any.
        at_least: (M) offsets/s it kept up with; nan without such intervals.
        before: (M) offsets/s it did before what *saturated* says, keeping up or not; nan unknown.
    """

    per_second: Floats
    basis: Labels[CapacityBasis]
    saturated: Floats
    at_least: Floats
    before: Floats

    @cached_property
    def sure(self) -> Floats:
        """(M) offsets/s; nan unknown, and where no more is known than what a member kept up with."""
        lower_bound = self.basis.equal(CapacityBasis.AT_LEAST)
        return np.where(lower_bound, np.nan, self.per_second)


def capacities(
    samples: Samples, behind: Flags, lumpy: Flags, moved: Flags, configured: Floats, start: Ints
) -> Capacity:
    """
    Args:
        samples: The partitions of a batch.
        behind: (S, n) whether each was behind at each sample.
        lumpy: (n) whether the group commits more rarely than it is looked at, so that an interval may see none.
        moved: (S - 1, M) whether members of its group came or went in each interval: it stood still for that, so
            other intervals count if there are any.
        configured: (M) offsets/s; nan where nothing is configured.
        start: (G + 1) where each group's members begin.
    """
    members = len(configured)
    seen = [_interval(samples, at, behind, lumpy, members) for at in range(len(samples) - 1)]
    consumed = stack_of([each.consumed for each in seen], members, np.float64)
    seconds = stack_of([each.seconds for each in seen], members, np.float64)
    busy = stack_of([each.busy for each in seen], members, np.bool_)
    calm = busy & ~moved
    busy = np.where(calm.any(axis=0), calm, busy)
    kept_up = stack_of([each.kept_up for each in seen], members, np.bool_)
    rare = any_of_owner(lumpy, samples.owner[0], members)
    newest = busy & ((np.cumsum(busy, axis=0) <= NEWEST) | rare)
    saturated = _speed(consumed, seconds, newest)
    at_least = _speed(consumed, seconds, kept_up)
    peers = np.repeat(median_by(saturated, start), np.diff(start))
    learned = np.where(np.isnan(saturated), np.fmax(at_least, peers), saturated)
    return Capacity(
        per_second=np.where(np.isnan(configured), learned, configured),
        basis=Labels.choose(
            CapacityBasis,
            [
                ~np.isnan(configured),
                ~np.isnan(saturated),
                ~np.isnan(peers) & ~(at_least > SAME * peers),
                ~np.isnan(at_least),
            ],
            [
                CapacityBasis.CONFIGURED,
                CapacityBasis.SATURATED,
                CapacityBasis.AS_ITS_PEERS,
                CapacityBasis.AT_LEAST,
            ],
            CapacityBasis.UNKNOWN,
        ),
        saturated=saturated,
        at_least=at_least,
        before=np.fmax(at_least, _speed(consumed, seconds, busy & ~newest)),
    )


def _speed(consumed: Floats, seconds: Floats, chosen: Flags) -> Floats:
    """(M) offsets/s over the chosen intervals; nan without any, and where nothing moved in them."""
    offsets = np.where(chosen, consumed, 0).sum(axis=0)
    time = np.where(chosen, seconds, 0).sum(axis=0)
    known = (time > 0) & (offsets > 0)
    return np.where(known, offsets / np.where(known, time, 1), np.nan)


@dataclass(frozen=True, kw_only=True, eq=False)
class _Interval:
    """(M) what the members did between two samples, and what that says."""

    consumed: Floats
    seconds: Floats
    busy: Flags
    kept_up: Flags


def _interval(samples: Samples, at: int, behind: Flags, lumpy: Flags, members: int) -> _Interval:
    stayed, consumed = samples.stayed[at], samples.consumed[at]
    owner, before = samples.owner[at], samples.owner[at + 1]
    usable = stayed & ~np.isnan(consumed) & ~np.isnan(samples.seconds[at])
    disturbed = any_of_owner(~stayed, owner, members) | any_of_owner(~stayed, before, members)
    disturbed |= any_of_owner(usable & (consumed < 0), owner, members)
    waited = usable & behind[at] & behind[at + 1]
    busy = any_of_owner(waited & (samples.moved[at] | lumpy), owner, members)
    some = np.bincount(owner[usable], minlength=members)
    seconds = sums_by_owner(samples.seconds[at], owner, usable, members) / np.maximum(some, 1)
    was_behind = any_of_owner(usable & (behind[at] | behind[at + 1]), owner, members)
    return _Interval(
        consumed=sums_by_owner(consumed, owner, usable, members),
        seconds=seconds,
        busy=busy & ~disturbed,
        kept_up=(some > 0) & ~was_behind & ~disturbed,
    )
