"""
Rates and time, from the earlier snapshots of the same partitions.

A partition is the same while its topic id is: a recreated topic starts afresh. Unknown is nan; "never" is infinity.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from evenkeel.engine.batch import GroupBatch
from evenkeel.engine.labels import Labels
from evenkeel.engine.model import (
    NONE,
    Column,
    Flags,
    Floats,
    GroupHeader,
    Ints,
    PartitionTable,
    TimeLagBasis,
)

EVEN = 0.01
"""
Log start and commit move equally fast when their speeds differ by no more than this share: they are read at different
moments, and a few minutes of history then give either of them a little too much.
"""


class Past:
    """
    Earlier samples of the partitions of a batch, newest first.

    Sample k of a group is the k-th newest of its earlier snapshots in which it could be read, so two groups of a batch
    may have theirs from different ones. What a sample does not know is unknown, also where a group has fewer samples.
    """

    def __init__(self, now: GroupBatch, earlier: Sequence[GroupBatch]) -> None:
        """
        Args:
            now: The groups as they are.
            earlier: Earlier snapshots of (some of) these groups, newest first.
        """
        self.now, self.earlier = now, tuple(earlier)
        self.of_group = [_same_groups(now, old) for old in self.earlier]
        """Per earlier snapshot, (G) the number of each present group in it; NONE where it cannot be used."""
        self.sample = _sample_numbers(self.of_group, len(now))
        """Per earlier snapshot, (G) which sample of each group it is, NONE for none."""
        self.samples = max((int(one.max(initial=NONE)) + 1 for one in self.sample), default=0)
        self.rows = [_rows_in(now, old) for old in self.earlier]
        self._columns: dict[str, tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]] = {}

    def column(self, name: str, sample: int) -> Column:
        """(n) a column of the partition table at an earlier sample."""
        if name not in self._columns:
            columns: list[Column] = [getattr(old.partitions, name) for old in self.earlier]
            self._columns[name] = (
                self.gather([one.values for one in columns], 0, np.int64),
                self.gather([one.known for one in columns], False, np.bool_),
            )
        values, known = self._columns[name]
        return Column(values[sample], known[sample])

    def offsets(self, sample: int) -> SampledOffsets:
        """What a lag follows from, at an earlier sample."""
        return SampledOffsets(
            begin=self.column("begin", sample),
            end=self.column("end", sample),
            committed=self.column("committed", sample),
            commit_unread=self._unread[sample],
        )

    @cached_property
    def _unread(self) -> npt.NDArray[np.bool_]:
        columns = [old.partitions.commit_unread for old in self.earlier]
        unread: npt.NDArray[np.bool_] = self.gather(columns, False, np.bool_)
        return unread

    def gather(self, arrays: Sequence[npt.NDArray[Any]], otherwise: Any, kind: Any) -> Any:
        """
        (samples, n) what earlier snapshots say of each present partition.

        Args:
            arrays: Per earlier snapshot, one entry per row of its partition table.
            otherwise: What stands where nothing is said.
            kind: The type of the result.
        """
        gathered = np.full((self.samples, len(self.now.partitions)), otherwise, kind)
        for rows, sample, array in zip(self.rows, self.sample, arrays, strict=True):
            at = np.flatnonzero(rows != NONE)
            gathered[sample[self.now.group[at]], at] = array[rows[at]]
        return gathered

    def flags(self, condition: Callable[[GroupHeader], bool]) -> npt.NDArray[np.bool_]:
        """(samples, G) a condition of each group's header; false where a group has no such sample."""
        gathered = np.zeros((self.samples, len(self.now)), np.bool_)
        for old, of_group, sample in zip(self.earlier, self.of_group, self.sample, strict=True):
            there = np.flatnonzero(of_group != NONE)
            gathered[sample[there], there] = old.flags(condition)[of_group[there]]
        return gathered

    def snapshots_of(self, group: int) -> Iterator[tuple[GroupBatch, int]]:
        """The earlier snapshots of one group, newest first: the batch, and its number in it."""
        for old, of_group in zip(self.earlier, self.of_group, strict=True):
            if of_group[group] != NONE:
                yield old, int(of_group[group])


@dataclass(frozen=True, kw_only=True, eq=False)
class SampledOffsets:
    """The offsets of the present partitions at an earlier sample."""

    begin: Column
    end: Column
    committed: Column
    commit_unread: Flags


def _same_groups(now: GroupBatch, old: GroupBatch) -> Ints:
    """(G) the number of each present group in an earlier batch, NONE where it is missing or could not be read."""
    there = ((old.place.get(header.group, NONE)) for header in now.headers)
    numbers = np.fromiter(there, np.int64, len(now))
    unread = np.array([*(header.error is not None for header in old.headers), True], np.bool_)
    return np.where(unread[numbers], NONE, numbers)


def _sample_numbers(of_group: Sequence[Ints], groups: int) -> list[Ints]:
    count, numbers = np.zeros(groups, np.int64), []
    for one in of_group:
        numbers.append(np.where(one != NONE, count, NONE))
        count = count + (one != NONE)
    return numbers


def _rows_in(now: GroupBatch, old: GroupBatch) -> Ints:
    """
    (n) the row of each present partition in an earlier batch, NONE where it has none.

    A topic is the same by its id, or by name where no id is known.
    """
    table, then = now.partitions, old.partitions
    group_now = np.array([now.place.get(header.group, NONE) for header in old.headers], np.int64)
    unread = old.flags(lambda header: header.error is not None)
    group_now = np.where(unread, NONE, group_now)
    numbers = {
        key: number
        for number, key in enumerate(zip(now.topic_group.tolist(), table.topics, strict=True))
    }
    of_group = group_now[old.topic_group].tolist() if len(then.topics) else []
    same = [numbers.get(key, NONE) for key in zip(of_group, then.topics, strict=True)]
    same = [
        number if number != NONE and table.topic_ids[number] in (None, old_id) else NONE
        for number, old_id in zip(same, then.topic_ids, strict=True)
    ]
    topic = np.array([*same, NONE], np.int64)[then.topic]
    kept = np.flatnonzero(topic != NONE)
    rows = np.full(len(table), NONE, np.int64)
    if not len(kept):
        return rows
    codes = (topic[kept] << 32) + then.partition[kept]
    if bool((codes[1:] < codes[:-1]).any()):  # the groups stand in another order
        order = np.argsort(codes)
        codes, kept = codes[order], kept[order]
    wanted = (table.topic.astype(np.int64) << 32) + table.partition
    place = np.minimum(np.searchsorted(codes, wanted), len(codes) - 1)
    found = codes[place] == wanted
    rows[found] = kept[place[found]]
    return rows


@dataclass(frozen=True, kw_only=True, eq=False)
class Rate:
    """Offsets/s per partition (nan unknown), measured since *since_ms*."""

    per_second: Floats
    since_ms: Column


def rate(table: PartitionTable, past: Past, what: str, read_at: str) -> Rate:
    """
    Growth of a column from the oldest sample that it never fell below since, to now.

    Args:
        table: The present partitions.
        past: Their earlier samples.
        what: `end`, `begin` or `committed`.
        read_at: The column that says when that was read.
    """
    value: Column = getattr(table, what)
    moment: Column = getattr(table, read_at)
    first_value, first_at = value.values.copy(), moment.values.copy()
    rising = value.known & moment.known
    for sample in range(past.samples):
        old, old_at = past.column(what, sample), past.column(read_at, sample)
        present = old.known & old_at.known
        rising &= ~present | (old.values <= first_value)
        usable = rising & present & (old_at.values < first_at)
        first_value = np.where(usable, old.values, first_value)
        first_at = np.where(usable, old_at.values, first_at)
    seconds = (moment.values - first_at) / 1000
    known = value.known & moment.known & (seconds > 0)
    grown = (value.values - first_value) / np.where(known, seconds, 1)
    return Rate(per_second=np.where(known, grown, np.nan), since_ms=Column(first_at, known))


def deviation(table: PartitionTable, past: Past, what: str, read_at: str) -> Floats:
    """
    (n) how much a rate varies: the standard deviation (offsets/s) of the growth from one sample to the next.

    nan below two spans over which the growth is known; a column that fell was reset, and that span is left out.

    Args:
        table, past, what, read_at: As for `rate`.
    """
    value: Column = getattr(table, what)
    moment: Column = getattr(table, read_at)
    spans = []
    for sample in range(past.samples):
        old, old_at = past.column(what, sample), past.column(read_at, sample)
        seconds = (moment.values - old_at.values) / 1000
        known = value.known & moment.known & old.known & old_at.known & (seconds > 0)
        known &= old.values <= value.values
        grown = (value.values - old.values) / np.where(known, seconds, 1)
        spans.append(np.where(known, grown, np.nan))
        value, moment = old, old_at
    rates = np.array(spans).reshape(len(spans), len(table))
    known_spans = (~np.isnan(rates)).sum(axis=0)
    mean = np.nansum(rates, axis=0) / np.maximum(known_spans, 1)
    square = np.nansum((rates - mean) ** 2, axis=0) / np.maximum(known_spans, 1)
    return np.where(known_spans >= 2, np.sqrt(square), np.nan)


@dataclass(frozen=True, kw_only=True, eq=False)
class TimeLag:
    """Age in seconds of the record at the committed offset (nan unknown), and how it was found."""

    seconds: Floats
    basis: Labels[TimeLagBasis]


def time_lag(table: PartitionTable, past: Past, production: Rate) -> TimeLag:
    """
    When the log's end stood where the group's commit stands now.

    Interpolated between samples of (end, when read). A commit older than the oldest sample is extrapolated by the
    production rate, at most by one more span of the history: beyond that the age is *at least* so much.
    """
    committed, end, end_at = table.committed, table.end, table.end_at_ms
    usable = committed.known & end.known & end_at.known
    caught_up = usable & (committed.values >= end.values)
    at = np.where(caught_up, end_at.values, np.nan).astype(np.float64)
    newer_end, newer_at = end.values, end_at.values
    open_rows = usable & ~caught_up
    for sample in range(past.samples):
        old, old_at = past.column("end", sample), past.column("end_at_ms", sample)
        present = old.known & old_at.known & (old.values <= newer_end) & (old_at.values < newer_at)
        inside = open_rows & present & (committed.values >= old.values) & (newer_end > old.values)
        share = (committed.values - old.values) / np.maximum(newer_end - old.values, 1)
        at = np.where(inside, old_at.values + share * (newer_at - old_at.values), at)
        open_rows &= ~inside
        newer_end = np.where(present, old.values, newer_end)
        newer_at = np.where(present, old_at.values, newer_at)
    span = end_at.values - newer_at
    speed = production.per_second
    can = open_rows & (span > 0) & (np.nan_to_num(speed) > 0)
    back = (newer_end - committed.values) / np.where(can, speed, 1) * 1000
    at = np.where(can, newer_at - np.minimum(back, span), at)
    seconds = np.where(np.isnan(at), np.nan, (end_at.values - at) / 1000)
    capped = can & (back > span)
    basis = Labels.choose(
        TimeLagBasis,
        [caught_up, capped, can, ~np.isnan(at)],
        [
            TimeLagBasis.CAUGHT_UP,
            TimeLagBasis.AT_LEAST,
            TimeLagBasis.EXTRAPOLATED,
            TimeLagBasis.INTERPOLATED,
        ],
        TimeLagBasis.UNKNOWN,
    )
    return TimeLag(seconds=seconds, basis=basis)


def time_to_loss(
    table: PartitionTable, log_start: Rate, consumption: Rate, production: Rate, age: TimeLag
) -> Floats:
    """
    Seconds until what the group has not read yet begins to be removed; infinity if it never would be; nan unknown.

    Seen from the log start as it moves, and, where `retention.ms` is known, from the age of the record at the commit;
    the earlier counts. The group's own consumption carries its commit away from both and is taken into account; a
    commit that keeps pace with the log start (within `EVEN`) is never reached. 0 where records are lost already;
    infinity where all is read, so that nothing is left to lose.
    """
    return np.fmin(
        _until_log_start(table, log_start, consumption),
        _until_too_old(table, consumption, production, age),
    )


def _until_log_start(table: PartitionTable, log_start: Rate, consumption: Rate) -> Floats:
    begin, end, committed = table.begin, table.end, table.committed
    known = begin.known & committed.known & ~np.isnan(log_start.per_second)
    margin = np.maximum(committed.values - begin.values, 0)
    lost = known & (committed.values < begin.values)
    all_read = end.known & (committed.values >= end.values)
    closing = log_start.per_second - np.nan_to_num(consumption.per_second)
    gains = closing > EVEN * log_start.per_second
    never = known & ~lost & (all_read | ~gains)
    seconds: Floats = np.where(known & ~never, margin / np.where(closing > 0, closing, 1), np.nan)
    return np.where(never, np.inf, seconds)


def _until_too_old(
    table: PartitionTable, consumption: Rate, production: Rate, age: TimeLag
) -> Floats:
    """
    The same by age: a second later the record at the commit is older by the share that is not consumed.

    Kafka removes whole segments, so records may stay for longer.
    """
    kept = np.array([_kept_seconds(*of) for of in _cleanup(table)], np.float64)[table.topic]
    produced = production.per_second
    ageing = 1 - np.nan_to_num(consumption.per_second) / np.where(produced > 0, produced, np.nan)
    ageing = np.where(produced == 0, 1.0, ageing)
    read = table.end.known & table.committed.known & (table.committed.values >= table.end.values)
    left = np.maximum(kept - age.seconds, 0) / np.where(ageing > 0, ageing, np.nan)
    known = ~np.isnan(kept) & ~np.isnan(age.seconds) & ~np.isnan(ageing)
    seconds: Floats = np.where(known & ~read, np.where(ageing > 0, left, np.inf), np.nan)
    return seconds


def _cleanup(table: PartitionTable) -> Iterable[tuple[str | None, int | None]]:
    return zip(table.cleanup_policies, table.retention_ms, strict=True)


def _kept_seconds(policy: str | None, retention_ms: int | None) -> float:
    """How old a topic's records become at most; nan where age removes none, or that is not known."""
    if policy is None or retention_ms is None or retention_ms < 0 or "delete" not in policy:
        return math.nan
    return retention_ms / 1000
