"""
How often a group commits, learned from how old its commits are when they are seen.

A group that keeps up is seen behind by what arrived since its last commit. So the age of its commit (time since the
end of the log stood there) rises from one commit to the next and falls back, and the longest such rise is the commit
interval. What rises and does not fall back is backlog.

Two things show it, where records arrive:

* a commit that had, at the end of an interval between samples, all that was there at its beginning: its age is part of
  a commit interval. Of several such ages of a partition the interval is their lower quartile and the largest fall from
  one to the next, at most the largest: so it holds what swings, and not what grows.
* a commit that stood still for whole intervals and then did the same: the time between the two commits.

A group's is the largest of the former over its partitions, for its members commit at different moments; those are left
out whose ages only rose, and where all did, it is the least. Or it is the median of the latter, if that is longer,
because a partition that is stuck and comes back looks like a long interval.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Flags, Floats, Ints
from ..model.batch import max_by, median_by, min_by, sum_by
from .samples import Samples

ENOUGH = 3
"""
So many ages of a partition say what its interval is; fewer do where most partitions of its group had one whenever they
were looked at, which is not so where commits are rare.
"""

RARELY = 0.5
"""A group that commits more rarely than so many times between two samples may miss one of them by chance."""

RISE = 30.0
"""Seconds by which the ages of a commit rise that are taken for backlog, if they only rise."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CommitInterval:
    """
    How often groups commit.

    Attributes:
        of_group: (G) seconds from one commit to the next; nan where nothing shows it.
        of_partition: (n) the same by what each partition itself shows, where that is enough and nothing is configured;
            nan elsewhere.
    """

    of_group: Floats
    of_partition: Floats


def commit_intervals(
    samples: Samples, counted: Flags, start: Ints, configured: Floats, before: Floats
) -> CommitInterval:
    """
    Args:
        samples: The partitions of a batch.
        counted: (n) those that count.
        start: (G + 1) where each group's partitions begin.
        configured: (G) seconds, as the configuration says; nan nothing.
        before: (G) what was learned after the preceding snapshot; nan nothing. It counts where nothing new is shown.
    """
    part = samples.current & (samples.arrived > 0)  # ages of a commit interval
    ages = np.where(part, samples.age[:-1], np.nan)
    number = (~np.isnan(ages)).sum(axis=0)
    enough = number >= np.where(_mostly_current(samples, number, counted, start), 1, ENOUGH)
    fall, rise = _fall_and_rise(ages)
    swing = np.where(counted & enough, _swing(ages, number, fall), np.nan)
    steady = np.where((fall == 0) & (rise > RISE), np.nan, swing)
    largest = max_by(np.where(np.isnan(steady), -np.inf, steady), start, -np.inf)
    gaps = median_by(np.where(counted, _gaps(samples), np.nan), start)
    least = min_by(np.where(np.isnan(swing), np.inf, swing), start, np.inf)
    shown = np.where(np.isneginf(largest), np.where(np.isinf(least), np.nan, least), largest)
    learned = np.fmax(shown, gaps)
    known = np.where(np.isnan(learned), before, learned)
    return CommitInterval(
        of_group=np.where(np.isnan(configured), known, configured),
        of_partition=np.where(np.isnan(configured).repeat(np.diff(start)), swing, np.nan),
    )


def _mostly_current(samples: Samples, number: Ints, counted: Flags, start: Ints) -> Flags:
    """(n) whether half of what could have been current in each partition's group was, and that several times."""
    could = np.where(counted, (samples.arrived > 0).sum(axis=0), 0)
    was = np.where(counted, number, 0)
    mostly: Flags = (2 * sum_by(was, start) >= sum_by(could, start)) & (
        sum_by(was, start) >= ENOUGH
    )
    return np.repeat(mostly, np.diff(start))


def _fall_and_rise(ages: Floats) -> tuple[Floats, Floats]:
    """(n) the largest fall of such ages, newest first, from one to the next, and the rise from oldest to newest."""
    fall, newer = np.zeros(ages.shape[1]), np.full(ages.shape[1], np.nan)
    newest = newer
    for age in ages:
        fall = np.fmax(fall, age - newer)
        newer = np.where(np.isnan(age), newer, age)
        newest = np.where(np.isnan(newest), age, newest)
    return fall, newest - newer


def _swing(ages: Floats, number: Ints, fall: Floats) -> Floats:
    """(n) the commit interval by such ages, newest first, and their largest fall; nan without any."""
    if not len(ages):
        return np.full(ages.shape[1], np.nan)
    ordered = np.sort(ages, axis=0)  # nan comes last
    columns = np.arange(ages.shape[1])
    quartile = ordered[np.maximum(number - 1, 0) // 4, columns]
    largest = ordered[np.maximum(number - 1, 0), columns]
    swing: Floats = np.where(number >= ENOUGH, np.minimum(quartile + fall, largest), largest)
    return swing


def _gaps(samples: Samples) -> Floats:
    """(n) the longest time between two commits, where the commit stood still in between; nan without any."""
    longest = np.full(samples.end.shape[1], np.nan)
    # a commit that is current was made about when its record was
    committed_at = samples.at - samples.age
    for newer in range(len(samples) - 2):
        older = newer + 1
        came_back = samples.current[newer] & samples.moved[newer]
        # while nobody is there nobody commits
        stood = samples.stood[older] & samples.stayed[newer] & (samples.arrived[older] > 0)
        gap = committed_at[newer] - committed_at[older]
        # a clock that leapt back in between tells nothing of the time that passed
        longest = np.fmax(longest, np.where(came_back & stood & (gap > 0), gap, np.nan))
    return longest


def delay(samples: Samples, interval: CommitInterval, group: Ints, assumed: float) -> Floats:
    """
    (S, n) seconds by which each partition is behind beyond its group's commit interval; nan unknown.

    Args:
        samples: The partitions of a batch.
        interval: How often their groups commit.
        group: (n) the group of each.
        assumed: The interval that a group may have that has not shown one.
    """
    of_group = np.where(np.isnan(interval.of_group), assumed, interval.of_group)[group]
    patience = np.fmax(of_group, interval.of_partition)
    return np.maximum(samples.age - patience - _missed(samples, patience), 0)


def _missed(samples: Samples, interval: Floats) -> Floats:
    """(S, n) seconds of an interval between samples in which no commit came by chance, but did in the one before."""
    missed = np.zeros(samples.age.shape)
    if len(samples) > 2:
        chance = interval > RARELY * samples.seconds[:-1]
        chance &= samples.stood[:-1] & samples.moved[1:]
        missed[:-2] = np.where(chance, samples.seconds[:-1], 0)
    return missed
