"""
How often a group commits, learned from how old its commits are when they are seen.

A group that keeps up is seen behind by what arrived since its last commit. So the age of its commit (time since the
end of the log stood there) rises from one commit to the next and falls back, and the longest such rise is the commit
interval. What rises and does not fall back is backlog.

Two things show it, where records arrive:

* a commit that had, at the end of an interval between samples, all that was there at its beginning: its age is part of
  a commit interval. Of several such ages the interval is their lower quartile and the largest fall from one to the
  next, at most the largest: so it holds what swings, and not what grows.
* a commit that stood still for whole intervals and then did the same: the time between the two commits.

A group's is the median over its partitions, because one that is stuck and comes back looks like a long interval.
"""

from __future__ import annotations

import numpy as np

from evenkeel.engine.batch import count_by, max_by, median_by
from evenkeel.engine.metrics.samples import Samples
from evenkeel.engine.model import Flags, Floats, Ints

ENOUGH = 4
"""So many ages of a partition say what its interval is; with fewer, what was known before counts as well."""


def commit_intervals(
    samples: Samples, counted: Flags, start: Ints, configured: Floats, before: Floats
) -> Floats:
    """
    (G) seconds from one commit of a group to the next; nan where nothing shows it.

    Args:
        samples: The partitions of a batch.
        counted: (n) those that count.
        start: (G + 1) where each group's partitions begin.
        configured: (G) what the configuration says; nan nothing.
        before: (G) what was learned after the preceding snapshot; nan nothing.
    """
    ages, gaps = _ages(samples), _gaps(samples)
    number = (~np.isnan(ages)).sum(axis=0)
    shown = np.where(counted, np.fmax(_swing(ages, number), gaps), np.nan)
    learned: Floats = median_by(shown, start)
    sure = counted & ((number >= ENOUGH) | ~np.isnan(gaps))
    is_sure = 2 * count_by(sure, start) >= np.maximum(count_by(~np.isnan(shown), start), 1)
    learned = np.where(is_sure, learned, np.fmax(learned, before))
    return np.where(np.isnan(configured), learned, configured)


def _ages(samples: Samples) -> Floats:
    """(S - 1, n) ages that are part of a commit interval."""
    part = samples.current & (samples.arrived > 0)
    return np.where(part, samples.age[:-1], np.nan)


def _swing(ages: Floats, number: Ints) -> Floats:
    """(n) the commit interval by such ages, newest first; nan without any."""
    if not len(ages):
        return np.full(ages.shape[1], np.nan)
    fall, newer = np.zeros(ages.shape[1]), np.full(ages.shape[1], np.nan)
    for age in ages:
        fall = np.fmax(fall, age - newer)
        newer = np.where(np.isnan(age), newer, age)
    ordered = np.sort(ages, axis=0)  # nan comes last
    columns = np.arange(ages.shape[1])
    quartile = ordered[np.maximum(number - 1, 0) // 4, columns]
    largest = ordered[np.maximum(number - 1, 0), columns]
    return np.where(number >= ENOUGH, np.minimum(quartile + fall, largest), largest)


def _gaps(samples: Samples) -> Floats:
    """(n) the longest time between two commits, where the commit stood still in between; nan without any."""
    longest = np.full(samples.end.shape[1], np.nan)
    committed_at = (
        samples.at - samples.age
    )  # a commit that is current was made about when its record was
    for newer in range(len(samples) - 2):
        older = newer + 1
        came_back = samples.current[newer] & samples.moved[newer]
        stood = (samples.consumed[older] == 0) & (samples.arrived[older] > 0)
        gap = committed_at[newer] - committed_at[older]
        longest = np.fmax(longest, np.where(came_back & stood, gap, np.nan))
    return longest


def delay(samples: Samples, interval: Floats, group: Ints, assumed: float) -> Floats:
    """
    (S, n) seconds by which each partition is behind beyond its group's commit interval; nan unknown.

    Args:
        samples: The partitions of a batch.
        interval: (G) commit intervals; nan unknown.
        group: (n) the group of each.
        assumed: The interval that a group may have that has not shown one.
    """
    patience = np.where(np.isnan(interval), assumed, interval)[group]
    return np.maximum(samples.age - patience, 0)


def largest_delay(delays: Floats, counted: Flags, start: Ints) -> Floats:
    """(G) the largest delay of a group's partitions now; nan where none is known."""
    known = counted & ~np.isnan(delays[0])
    largest: Floats = max_by(np.where(known, delays[0], -np.inf), start, -np.inf)
    return np.where(np.isneginf(largest), np.nan, largest)
