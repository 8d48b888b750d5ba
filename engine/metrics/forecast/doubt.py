"""Whether members can do what an assignment gives them, as far as anybody knows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.arrays import Flags, Floats, Indices
from .backlog import Load, queues_of, sums

ROOM = 0.3
"""
By which share more than the mean of what it was seen to do a member is taken to do: it kept up with what lay above it.
"""

NOW = 3
"""Intervals, the newest, that say what arrives now."""


def doubtful(gets: Floats, at_most: Floats, seen: Floats) -> Flags:
    """
    (..., M) of whom it is not known whether they can do what they would get.

    Args:
        gets: (..., M) offsets/s that would arrive at each.
        at_most: (M) offsets/s that each is known to do at most; nan unknown.
        seen: (M) offsets/s that each was seen to do; nan where nothing was: such a member does what its peers do.

    >>> gets, seen = np.array([2.0, 3.0, 3.0, 0.0]), np.array([2.0, 2.0, 2.0, np.nan])
    >>> doubtful(gets, np.array([np.nan, np.nan, 1.0, np.nan]), seen).tolist()
    [False, True, False, False]
    """
    known = np.sort(seen[seen > 0])
    median = known[(len(known) - 1) // 2] if len(known) else np.nan
    does = np.where(np.isnan(seen), median, seen)
    sure = (gets == 0) | ~np.isnan(at_most) | (gets <= does * (1 + ROOM))
    found: Flags = ~sure
    return found


def doubted(load: Load, owners: Sequence[Indices]) -> list[bool]:
    """
    (K) whether a member would get more than it has, and than it is known to do: then nothing can be forecast.

    Args:
        load: What the group has to do, and can.
        owners: K assignments: (n) who gets each partition, NONE for nobody.
    """
    if load.seen is None:
        return [False] * len(owners)
    members = len(load.capacity)
    placed = queues_of(load, [load.owner, *owners])
    arrives = sums(load.arrivals[None, :NOW].mean(axis=1), placed, members + 1)[0, :, :-1]
    has, gets = arrives[0], arrives[1:]
    # who keeps up with what it has now does so
    keeps_up = (sums(load.backlog[None], placed[:1], members + 1)[0, 0, :-1] == 0) & (has > 0)
    seen = np.fmax(load.seen, np.where(keeps_up, has, np.nan))
    doubts = doubtful(gets, load.capacity, seen) & (gets > has)
    return [bool(each) for each in doubts.any(axis=1)]
