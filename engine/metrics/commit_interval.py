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

Backlog is no commit interval, which shows in three ways:

* Ages that rise to, or fall from, one that is longer than commits can be apart, or after a commit that left more than
  an interval between samples unread: the way into a backlog and out of it.
* Ages that swing by themselves, as under a periodic load. Their autocorrelation over a period of at least three samples
  exceeds `ALIKE`, and they don't advance as the ages of regular commits do (`REGULAR`). Such ages count without their
  largest fall. It takes two periods in the lookback to see that.
* A standstill longer than commits that came in several successive intervals can be apart (`at_most`): a batch reader
  that pauses.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Flags, Floats, Ints
from ..model.batch import count_by, max_by, median_by, min_by, sum_by
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

ALIKE = 0.9
"""
Ages whose autocorrelation over a period is above this repeat themselves. Of commits at random moments, 1 series of 12
ages in 200 does; 1 in 50 where the interval varies by a tenth.
"""

REGULAR = 0.8
"""
Commits are regular where the phases of successive ages advance as far as time does, but for an eighth of an interval:
the mean cosine of the difference.
"""

PHASES = 100
"""Intervals that are tried for regular commits, evenly spread in their frequency."""


@dataclass(frozen=True, kw_only=True, eq=False)
class CommitInterval:
    """
    How often groups commit.

    Attributes:
        of_group: (G) seconds from one commit to the next; nan where nothing shows it.
        of_partition: (n) the same by what each partition itself shows, where that is enough and nothing is configured;
            nan elsewhere.
        at_most: (G) seconds that commits can be apart, because they came in several successive intervals; nan where
            they didn't.
    """

    of_group: Floats
    of_partition: Floats
    at_most: Floats


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
    apart = _at_most(samples)
    # ages of a commit interval
    part = samples.current & (samples.arrived > 0) & ~_of_backlog(samples, apart)
    ages = np.where(part, samples.age[:-1], np.nan)
    number = (~np.isnan(ages)).sum(axis=0)
    enough = number >= np.where(_mostly_current(samples, number, counted, start), 1, ENOUGH)
    fall, rise = _fall_and_rise(ages)
    by_itself = _by_themselves(ages, samples.seconds, counted & (fall > RISE), start)
    swing = _swing(ages, number, np.where(by_itself, 0, fall))
    swing = np.where(counted & enough, swing, np.nan)
    steady = np.where((fall == 0) & (rise > RISE), np.nan, swing)
    largest = max_by(np.where(np.isnan(steady), -np.inf, steady), start, -np.inf)
    gaps = _gaps(samples)
    gaps = median_by(np.where(counted & ~(gaps > apart), gaps, np.nan), start)
    least = min_by(np.where(np.isnan(swing), np.inf, swing), start, np.inf)
    shown = np.where(np.isneginf(largest), np.where(np.isinf(least), np.nan, least), largest)
    learned = np.fmax(shown, gaps)
    known = np.where(np.isnan(learned), before, learned)
    return CommitInterval(
        of_group=np.where(np.isnan(configured), known, configured),
        of_partition=np.where(np.isnan(configured).repeat(np.diff(start)), swing, np.nan),
        at_most=_most(samples, apart, counted, start),
    )


def _of_backlog(samples: Samples, apart: Floats) -> Flags:
    """
    (S - 1, n) ages on the way into a backlog, or out of it; small ones mislead nobody.

    Args:
        samples: The partitions.
        apart: (n) seconds that commits can be apart; nan unknown.
    """
    age = samples.age
    left = age > np.append(samples.seconds, samples.seconds[-1:], axis=0)[: len(age)] + RISE
    left[:-1] &= samples.moved  # of the oldest sample nobody knows whether the commit moved
    left |= age > apart + RISE
    found = left.copy()
    for newer in range(len(age) - 2, -1, -1):
        found[newer] |= found[newer + 1] & (age[newer] < age[newer + 1])
    into = left.copy()
    for older in range(1, len(age)):
        into[older] |= into[older - 1] & (age[older] < age[older - 1])
    backlog: Flags = ((found | into) & (age > RISE))[:-1]
    return backlog


def _by_themselves(ages: Floats, seconds: Floats, swinging: Flags, start: Ints) -> Flags:
    """
    (n) partitions of groups of which most of those that swing do so by themselves.

    Args:
        ages: (S - 1, n) ages of a commit interval, newest first; nan elsewhere.
        seconds: (S - 1, n) how long each interval is.
        swinging: (n) whether the ages fall by enough to matter.
        start: (G + 1) where each group's partitions begin.
    """
    found = np.zeros(len(swinging), np.bool_)
    chosen = np.flatnonzero(swinging)
    chosen = chosen[_repeating(ages[:, chosen])]
    if len(chosen):
        found[chosen] = ~_regular(ages[:, chosen], seconds[:, chosen])
    most = 2 * count_by(found, start) > count_by(swinging, start)
    by_itself: Flags = swinging & np.repeat(most, np.diff(start))
    return by_itself


def _repeating(ages: Floats) -> Flags:
    """(k) whether ages repeat themselves after three samples or more; two periods at least."""
    known = ~np.isnan(ages)
    around = np.where(known, ages - _mean(ages, known), 0)
    best = np.zeros(ages.shape[1])
    for period in range(ENOUGH, len(ages) // 2 + 1):
        both = known[:-period] & known[period:]
        newer, older = np.where(both, around[:-period], 0), np.where(both, around[period:], 0)
        spread = np.sqrt((newer**2).sum(axis=0) * (older**2).sum(axis=0))
        alike = (newer * older).sum(axis=0) / np.where(spread > 0, spread, 1)
        best = np.where(both.sum(axis=0) >= period, np.maximum(best, alike), best)
    repeating: Flags = best > ALIKE
    return repeating


def _regular(ages: Floats, seconds: Floats) -> Flags:
    """(k) whether an interval between commits explains the ages, as they are seen at these distances."""
    known = ~np.isnan(ages[:-1]) & ~np.isnan(ages[1:]) & ~np.isnan(seconds[:-1])
    off = np.where(known, ages[:-1] - ages[1:] - seconds[:-1], 0)
    longest = 2 * np.nanmedian(seconds, axis=0)
    shortest = np.clip(np.nanmax(ages, axis=0), RISE, longest)
    best = np.full(ages.shape[1], -1.0)
    for share in np.linspace(0, 1, PHASES):
        frequency = (1 - share) / longest + share / shortest
        best = np.maximum(best, _mean(np.cos(2 * np.pi * off * frequency), known))
    regular: Flags = best >= REGULAR
    return regular


def _mean(values: Floats, chosen: Flags) -> Floats:
    """(k) the mean of the chosen ones, 0 of none."""
    mean: Floats = np.where(chosen, values, 0).sum(axis=0) / np.maximum(chosen.sum(axis=0), 1)
    return mean


def _at_most(samples: Samples) -> Floats:
    """(n) seconds that commits can be apart that came in `ENOUGH` successive intervals or more; nan where none did."""
    count = samples.end.shape[1]
    shortest = np.full(count, np.nan)
    run, passed = np.zeros(count, np.int64), np.zeros(count)
    for moved, stayed, seconds in zip(samples.moved, samples.stayed, samples.seconds, strict=True):
        goes_on = moved & stayed & ~np.isnan(seconds)
        run, passed = np.where(goes_on, run + 1, 0), np.where(goes_on, passed + seconds, 0)
        apart = np.where(run >= ENOUGH, passed / np.maximum(run - 1, 1), np.nan)
        shortest = np.fmin(shortest, apart)
    return shortest


def _most(samples: Samples, apart: Floats, counted: Flags, start: Ints) -> Floats:
    """(G) the same of most partitions in which something is there to be read."""
    some = counted & ((samples.arrived > 0).any(axis=0) | (samples.age[0] > 0))
    unlimited = np.where(np.isnan(apart), np.inf, apart)
    most = median_by(np.where(some, unlimited, np.nan), start)
    return np.where(np.isinf(most), np.nan, most)


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
        assumed: The interval that a group may have that has not shown one, unless it can't be that long.
    """
    longest = np.fmin(assumed, interval.at_most)
    of_group = np.where(np.isnan(interval.of_group), longest, interval.of_group)[group]
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
