"""Whether members can do what an assignment gives them, as far as anybody knows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from ...model.arrays import Flags, Floats
from .load import AssignmentBatch, ForecastInput

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


def doubted(groups: Sequence[ForecastInput]) -> Iterator[list[bool]]:
    """
    (K) of each group whether a member would get more than it has, and than it is known to do: then nothing can be
    forecast.

    Args:
        groups: What is asked, of groups with as many past intervals.
    """
    batch = AssignmentBatch(
        [ForecastInput(load=each.load, owners=[each.load.owner, *each.owners]) for each in groups]
    )
    recent = batch.arrivals[:NOW].mean(axis=0)[batch.partition]
    arrives, backlog = batch.sums(recent, batch.backlog)
    ends = batch.start[batch.first].tolist()
    for load, start, end in zip(batch.loads, ends, ends[1:], strict=False):
        size = len(load.capacity) + 1
        each = arrives[start:end].reshape(-1, size)[:, :-1]
        has, gets = each[0], each[1:]
        if load.seen is None:
            yield [False] * len(gets)
            continue
        # who keeps up with what it has now does so
        keeps_up = (backlog[start : start + size - 1] == 0) & (has > 0)
        seen = np.fmax(load.seen, np.where(keeps_up, has, np.nan))
        doubts = doubtful(gets, load.capacity, seen) & (gets > has)
        yield doubts.any(axis=1).tolist()
