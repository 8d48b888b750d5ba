"""
What retention takes of what a group has not read: when it may begin to, and where it is doing so.

Kafka removes a segment when its newest record is older than `retention.ms`, or when what is stored without it still
reaches `retention.bytes`. So the log start leaps, and records may stay for longer than either says, but never shorter.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..model.arrays import Flags, Floats
from ..model.groups import PartitionTable
from ..model.states import TimeLagBasis
from .history import Rate, TimeLag
from .samples import Samples

EVEN = 0.01
"""
Log start and commit move equally fast when their speeds differ by no more than this share: they are read at different
moments, and a few minutes of history then give either of them a little too much.
"""

RIDES = 2
"""Intervals in a row in which a commit only moves with the log start, from which on it does so because it is pushed."""

BESIDE = 0.05
"""A commit keeps its distance from the log start while that changes by no more than this share of the way gone."""

LEAP = 1.5
"""A commit that went so many times as fast as it ever was read was moved by retention for the rest."""

EVERY = slice(None)
"""All rows of a partition table."""


def time_to_loss(
    table: PartitionTable, log_start: Rate, consumption: Rate, production: Rate, age: TimeLag
) -> Floats:
    """
    Seconds until what the group has not read yet may be removed; infinity if it never would be; nan unknown.

    Where retention is known it decides: the age of the record at the commit against `retention.ms`, and what is stored
    from there on against `retention.bytes`, whichever is reached first. No record goes before that, however far the log
    start leaps. Elsewhere it is seen from the log start as it moves. The group's own consumption carries its commit
    away and is taken into account. 0 where records are lost already; infinity where all is read, so that nothing is
    left to lose.
    """
    topics = _Retention(table, consumption, production, age)
    by_log_start = _until_log_start(topics, log_start)
    limits = np.fmin(topics.until_too_old, topics.until_too_large)
    unknown = np.isnan(topics.until_too_old) | np.isnan(topics.until_too_large)
    # a limit that never strikes says nothing of another that is unknown
    limits = np.where(unknown & np.isinf(limits), np.nan, limits)
    decides = ~unknown & ~topics.all_read & ~(by_log_start == 0)
    return np.where(decides, limits, np.fmin(by_log_start, limits))


def _until_log_start(topics: _Retention, log_start: Rate) -> Floats:
    begin, committed = topics.table.begin, topics.table.committed
    known = begin.known & committed.known & ~np.isnan(log_start.per_second)
    margin = np.maximum(committed.values - begin.values, 0)
    lost = known & (committed.values < begin.values)
    closing = log_start.per_second - np.nan_to_num(topics.consumption.per_second)
    gains = closing > EVEN * log_start.per_second
    never = known & ~lost & (topics.all_read | ~gains)
    seconds: Floats = np.where(known & ~never, margin / np.where(closing > 0, closing, 1), np.nan)
    return np.where(never, np.inf, seconds)


@dataclass(frozen=True, eq=False)
class _Retention:
    """What follows from the topics' retention, as far as it is known."""

    table: PartitionTable
    consumption: Rate
    production: Rate
    time_lag: TimeLag

    @cached_property
    def kept_seconds(self) -> Floats:
        """(n) as the function has them."""
        return kept_seconds(self.table)

    @cached_property
    def kept_offsets(self) -> Floats:
        """(n) how many offsets fill `retention.bytes`; infinity where size removes nothing, nan unknown."""
        table, limit = self.table, _limits(self.table, self.table.retention_bytes)
        stored = table.end.floats() - table.begin.floats()
        each = table.log_bytes.floats() / np.where(stored > 0, stored, np.nan)
        return np.where(np.isinf(limit), np.inf, limit / np.where(each > 0, each, np.nan))

    @cached_property
    def all_read(self) -> Flags:
        """(n) whether nothing is left to lose."""
        end, committed = self.table.end, self.table.committed
        read: Flags = end.known & committed.known & (committed.values >= end.values)
        return read

    @cached_property
    def age(self) -> Floats:
        """
        (n) seconds since the record at the commit was produced; nan unknown.

        Where it is older than the history: by its place in a log of which the oldest record is as old as may be.
        """
        table, age = self.table, self.time_lag.seconds
        at_least = self.time_lag.basis.equal(TimeLagBasis.AT_LEAST)
        begin, end, committed = table.begin.floats(), table.end.floats(), table.committed.floats()
        behind = (end - committed) / np.where(end > begin, end - begin, np.nan)
        # what was never cut may be younger
        placed = np.where((begin > 0) & np.isfinite(self.kept_seconds), behind, np.nan)
        by_place = np.maximum(placed * self.kept_seconds, age)
        return np.where(at_least, by_place, age)

    @cached_property
    def until_too_old(self) -> Floats:
        """(n) seconds; a second later the record at the commit is older by the share that is not consumed."""
        produced = self.production.per_second
        read = np.nan_to_num(self.consumption.per_second)
        ageing = 1 - read / np.where(produced > 0, produced, np.nan)
        ageing = np.where(produced == 0, 1.0, ageing)
        left = np.maximum(self.kept_seconds - self.age, 0)
        return _until(left, ageing, unlimited=np.isinf(self.kept_seconds))

    @cached_property
    def until_too_large(self) -> Floats:
        """(n) seconds until what is stored from the commit on fills `retention.bytes`."""
        waits = self.table.end.floats() - self.table.committed.floats()
        growth = self.production.per_second - np.nan_to_num(self.consumption.per_second)
        growth = np.where(growth <= EVEN * self.production.per_second, 0, growth)
        left = np.maximum(self.kept_offsets - waits, 0)
        return _until(left, growth, unlimited=np.isinf(self.kept_offsets))


def kept_seconds(table: PartitionTable, rows: slice = EVERY) -> Floats:
    """(n) `retention.ms` in seconds, of some rows; infinity where age removes nothing, nan unknown."""
    return _limits(table, table.retention_ms, rows) / 1000


def _limits(table: PartitionTable, limits: Sequence[int | None], rows: slice = EVERY) -> Floats:
    """(n) a limit of the topic of each row; infinity where it does not hold, nan unknown."""
    topics, place = np.unique(table.topic[rows], return_inverse=True)
    policies = ((table.cleanup_policies[topic], limits[topic]) for topic in topics.tolist())
    of_topics = [
        np.nan if policy is None or limit is None else _in_force(policy, limit)
        for policy, limit in policies
    ]
    return np.array(of_topics, np.float64)[place]


def _in_force(policy: str, limit: int) -> float:
    return float(limit) if limit >= 0 and "delete" in policy else np.inf


def _until(left: Floats, per_second: Floats, unlimited: Flags) -> Floats:
    """(n) seconds in which what is left is used up: infinity where it is not, nan unknown."""
    seconds = left / np.where(per_second > 0, per_second, np.nan)
    never = unlimited | (~np.isnan(left) & (per_second <= 0))
    return np.where(never, np.inf, seconds)


def evicted(samples: Samples, behind: Flags, newest: int) -> Flags:
    """
    (n) partitions of which retention has lately removed what was not read, though their commits went on.

    A consumer that finds its position removed goes on at the log start, so none of its commits need ever lie below it.
    Two things show it in an interval in which the log start passed the commit, and which was behind at both ends: the
    commit stands no farther from the log start than before, in `RIDES` intervals in a row; or it went on much faster
    than it was ever read.

    Args:
        samples: The partitions of a batch.
        behind: (S, n) whether each was behind at each sample.
        newest: Intervals that count as lately.
    """
    begin, committed = samples.begin, samples.committed
    passed = samples.moved & (begin[:-1] > committed[1:]) & behind[:-1] & behind[1:]
    # without a commit a group that begins at the log start is taken to stand there
    passed &= committed[1:] != begin[1:]
    if not passed[:newest].any():
        return np.zeros(begin.shape[1], np.bool_)
    margin, gone = committed - begin, begin[:-1] - begin[1:]
    rides = passed & (np.abs(margin[:-1] - margin[1:]) <= BESIDE * gone)
    held = rides.copy()
    for before in range(1, RIDES):
        held[:-before] &= rides[before:]
        held[-before:] = False
    speed = samples.consumed / samples.seconds
    read = np.where(passed | ~behind[1:] | (samples.consumed < 0), np.nan, speed)
    fastest = np.nanmax(read, axis=0, initial=-np.inf)
    leapt = passed & samples.stayed & (fastest > 0) & (speed > LEAP * fastest)
    found: Flags = (held | leapt)[:newest].any(axis=0)
    return found
