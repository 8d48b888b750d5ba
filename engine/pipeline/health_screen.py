"""
Quick health check of groups, vectorized over columns of a few snapshots.

Most groups are healthy, and evaluating their whole past is slow. A group passes if it was readable, is stable and has
members that own all they subscribe to, and if all subscribed partitions with a commit are *current*: within the
hysteresis of the lag SLO now, within the lag SLO at earlier samples, and without data loss. `observe` finds no problem
in such a group, because the time behind is an age minus the commit interval, so it is within any limit that the age is
within. Groups that fail the check may be healthy, too. Groups with standby stores are always evaluated, because of the
racks of their copies (`streams.store_copies`), and so are groups whose members changed often, because of crash loops.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..config import Settings
from ..metrics.diagnosis.evidence import RECENT
from ..metrics.observe import OBJECTIVE
from ..metrics.rebalance_causes import RETURNS
from ..metrics.transactions import MARKERS
from ..model.arrays import NONE, Column, Flags, Floats, Ints
from ..model.states import REBALANCING
from ..model.tables import Series, Table, Texts, places_of
from ..ports import Lake
from ..snapshots import split_snapshot_id
from ..snapshots.arrays import among, distinct, ints_of, numbers_of
from ..snapshots.groups_with_past import Lookback, of_the_past
from .measure import INCIDENTS

SAMPLES = RECENT + 2
"""Snapshots that are looked at: the newest, those in which a jump may begin, and one more for the age in the last."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Sample:
    """
    (n) offsets and moments (seconds) of the partitions that are looked at, in one snapshot; nan unknown.

    *waits* is whether records lie behind an open transaction, up to which their group reads.
    """

    begin: Floats
    end: Floats
    at: Floats
    committed: Floats
    waits: Flags


def plainly_well(lake: Lake, settings: Settings, lookback: Lookback) -> set[str]:
    """
    The groups of a snapshot that pass, so that `observe` with their whole past would find them healthy.

    Args:
        lake: The lake.
        settings: The configuration.
        lookback: The snapshot and the earlier ones.
    """
    newest, *before = lookback.ids[:SAMPLES]
    if not before:
        return set()
    glance = _Glance(lake, settings, newest)
    glance.doubt(lookback.withheld)
    glance.doubt_churn(lookback.ids)
    samples = [glance.newest()]
    for snapshot_id in before:
        glance.doubt(group for of, group in lookback.distrusted if of == snapshot_id)
        samples.append(glance.before(snapshot_id, with_commits=len(samples) <= RECENT))
    glance.keep(_age(samples, 0) <= glance.band)
    glance.keep(~samples[0].waits | (samples[0].end > samples[1].end + MARKERS))
    for number, sample in enumerate(samples[: RECENT + 1]):
        glance.keep(~(sample.committed < sample.begin))
        if number:
            # without a commit it was at the end, or nobody knows where
            free = np.isnan(sample.committed) & ~glance.from_begin
            glance.keep(free | (_age(samples, number) <= glance.objective))
    return glance.names()


def _age(samples: Sequence[_Sample], number: int) -> Floats:
    """(n) seconds since the end stood where the commit stands, as `Samples.age`; nan beyond the sample before."""
    now = samples[number]
    age = np.where(now.committed >= now.end, 0.0, np.nan)
    if number + 1 == len(samples):
        return age
    before = samples[number + 1]
    inside = (now.committed < now.end) & (now.committed >= before.end) & (before.at < now.at)
    grown = np.where(inside, now.end - before.end, 1)
    share = (now.committed - before.end) / grown
    return np.where(inside, now.at - (before.at + share * (now.at - before.at)), age)


class _Glance:
    """The newest snapshot's groups, members and partitions as arrays, and earlier ones in their order."""

    def __init__(self, lake: Lake, settings: Settings, snapshot_id: str) -> None:
        self.lake, self.snapshot_id = lake, snapshot_id
        groups = self._read(snapshot_id, "groups", "group_id", "state", "error", "offset_reset")
        self.groups = groups["group_id"].to_pylist()
        self._place = places_of(self.groups)
        self.fine: Flags = ~(groups["state"].is_in(REBALANCING) | groups["error"].known)
        """(G) groups of which nothing is known yet that would have to be looked at."""
        self._rules(settings, groups["offset_reset"].to_pylist())
        self.cluster = _Partitions.of(self._partitions(snapshot_id))
        self._named: dict[tuple[Series, ...], tuple[Ints, Ints, Ints]] = {}
        self._choose()

    def _read(self, snapshot_id: str, dataset: str, *columns: str) -> Table:
        return self.lake.read(dataset, [snapshot_id], columns=columns)

    def _rules(self, settings: Settings, resets: Sequence[str | None]) -> None:
        """(G) what the configuration says of each group; *resets* are what brokers say of share groups."""
        cluster, _ = split_snapshot_id(self.snapshot_id)
        rules = settings.rules_of(cluster, self.groups)
        bands = [(rule.incidents or INCIDENTS).hysteresis for rule in rules]
        objective = [rule.lag_slo_seconds or OBJECTIVE for rule in rules]
        self._objective = np.array(objective, np.float64)
        self._band = np.array(bands, np.float64) * self._objective
        begins = [
            (rule.auto_offset_reset or told) not in (None, "latest")
            for rule, told in zip(rules, resets, strict=True)
        ]
        self._from_begin = np.array(begins, np.bool_)
        self._stable_only = np.array([r.isolation == "read_committed" for r in rules], np.bool_)

    def _choose(self) -> None:
        """Look at the subscribed partitions of groups of which all have a commit that could be read."""
        members = self._read(
            self.snapshot_id,
            "members",
            "group_id",
            "subscription",
            "standby_tasks",
            "assigned_partitions",
        )
        member_group = self._numbers(members["group_id"])
        copied = members["standby_tasks"].lengths > 0
        self.fine[member_group[copied & (member_group != NONE)]] = False
        lists = members["subscription"]
        topic = self.cluster.numbers_of(lists.entries)
        of = member_group[lists.rows]
        # group and topic that a member of it subscribes to in one number, distinct and ascending
        pairs = distinct(_pair(of, topic)[(topic != NONE) & (of != NONE)])
        of, topics = pairs >> 32, pairs & 0xFFFFFFFF
        self.fine[of[self.cluster.unread[topics] > 0]] = False
        group, topic, partition, committed = self._commits(self.snapshot_id)
        self.commits = self._keys(group, topic, partition)
        row = self.cluster.rows_of(topic, partition)
        counts = (row != NONE) & among(_pair(group, topic), pairs)
        subscribed = np.bincount(of, self.cluster.sizes[topics], len(self.groups))
        known = member_group != NONE
        owned = np.bincount(
            member_group[known], members["assigned_partitions"].lengths[known], len(self.groups)
        )
        self.fine &= owned >= subscribed
        there = np.bincount(group[counts], minlength=len(self.groups))
        self.fine &= (there > 0) & ((there == subscribed) | ~self._from_begin)
        chosen = np.flatnonzero(counts & self.fine[group])
        self.group, self.row, self.committed = group[chosen], row[chosen], committed[chosen]
        self.chosen = chosen
        # of the group of each: seconds that it may be behind, within how many it is well again, and where it begins
        self.objective, self.band = self._objective[self.group], self._band[self.group]
        self.from_begin: Flags = self._from_begin[self.group]

    def _keys(self, group: Ints, topic: Ints, partition: Ints) -> Ints:
        """Group, topic and partition as one number."""
        return _pair(group * len(self.cluster.topics) + topic, partition)

    def _numbers(self, names: Texts) -> Ints:
        """The number of each group, NONE where it is not among the newest."""
        return names.index_in(self._place)

    def _partitions(self, snapshot_id: str) -> Table:
        columns = ("topic", "topic_id", "partition", "begin_offset", "end_offset")
        return self._read(snapshot_id, "partitions", *columns, "last_stable_offset", "end_at")

    def _commits(self, snapshot_id: str) -> tuple[Ints, Ints, Ints, Floats]:
        """The group, topic, partition and offset of each commit of a group and topic that the newest snapshot has."""
        columns = ("group_id", "topic", "partition", "committed_offset", "error")
        commits = self._read(snapshot_id, "commits", *columns)
        # a file that is written as another was has its very columns
        of = tuple(commits[name] for name in columns[:3])
        if of not in self._named:
            numbers = self._numbers(commits["group_id"]), self.cluster.numbers_of(commits["topic"])
            self._named = {of: (*numbers, ints_of(commits["partition"]))}
        group, topic, partition = self._named[of]
        offset = numbers_of(commits["committed_offset"])
        known = offset.known & ~commits["error"].known
        kept = (group != NONE) & (topic != NONE) & (partition != NONE)
        kept &= known | commits["error"].known
        committed = np.where(known, offset.values, np.nan)
        if kept.all():
            return group, topic, partition, committed
        return group[kept], topic[kept], partition[kept], committed[kept]

    def newest(self) -> _Sample:
        """The newest snapshot of the partitions that are looked at."""
        sample = self._sample(self.cluster, np.arange(len(self.cluster)), self.committed)
        self._need(sample)
        return sample

    def before(self, snapshot_id: str, *, with_commits: bool) -> _Sample:
        """An earlier snapshot of the same; groups it lacks, could not read or lost a commit of are in doubt."""
        groups = self._read(snapshot_id, "groups", "group_id", "error")
        there = self._numbers(groups.filter(~groups["error"].known)["group_id"])
        self.fine &= np.bincount(there[there != NONE], minlength=len(self.fine)) > 0
        then = _Partitions.of(self._partitions(snapshot_id), self.cluster)
        rows = np.arange(len(then))
        if then.topic is not self.cluster.topic:
            topic = then.numbers_of(self.cluster.topics)[self.cluster.topic]
            rows = then.rows_of(topic, self.cluster.partition)
            self.keep(then.same_topics(self.cluster)[self.cluster.topic[self.row]])
        committed = np.full(len(self.row), np.nan)
        if with_commits:
            group, topic, partition, offsets = self._commits(snapshot_id)
            keys = self._keys(group, topic, partition)
            self.fine[group[_places(keys, self.commits) == NONE]] = False
            committed = np.append(offsets, np.nan)[_places(self.commits, keys)[self.chosen]]
        sample = self._sample(then, rows, committed)
        self._need(sample)
        return sample

    def _sample(self, of: _Partitions, rows: Ints, committed: Floats) -> _Sample:
        """
        Args:
            of: The partitions of a snapshot.
            rows: The row in it of each partition of the newest one, NONE where it has none.
            committed: (n) of the partitions that are looked at.
        """
        at = rows[self.row]
        stable_only = self._stable_only[self.group]
        end = np.where(stable_only, of.last_stable[at], of.end[at])
        torn = of.begin[at] > end
        return _Sample(
            begin=np.where(torn, np.nan, of.begin[at]),
            end=np.where(torn, np.nan, end),
            at=of.end_at[at],
            committed=committed,
            waits=stable_only & (of.last_stable[at] < of.end[at]),
        )

    def _need(self, sample: _Sample) -> None:
        self.keep(~np.isnan(sample.begin + sample.end + sample.at))

    def doubt_churn(self, ids: Sequence[str]) -> None:
        """Groups whose members changed in as many intervals as a crash loop takes have to be looked at."""
        changes = np.zeros(len(self.groups), np.int64)
        newer: Ints | None = None
        seen: tuple[Series, ...] = ()

        def read(snapshot_id: str) -> Table:
            return self._read(snapshot_id, "members", "group_id", "member_id")

        for _, members in of_the_past(ids, read):
            # a file that is written as the one after it was has its very columns
            if seen == (seen := (members["group_id"], members["member_id"])):
                continue
            group, ids_of = self._numbers(members["group_id"]), members["member_id"]
            own = np.append([*map(hash, ids_of.words)], 0).astype(np.int64)[ids_of.places]
            marks = np.zeros(len(self.groups) + 1, np.int64)  # the last is of groups that are gone
            np.add.at(marks, group, own)
            if newer is not None:
                changes += marks[:-1] != newer[:-1]
            newer = marks
        self.fine &= changes < RETURNS

    def doubt(self, groups: Iterable[str]) -> None:
        """These groups have to be looked at."""
        doubted = set(groups)
        self.fine &= np.array([name not in doubted for name in self.groups], np.bool_)

    def keep(self, partitions: Flags) -> None:
        """(n) groups one of whose partitions is not among these have to be looked at."""
        self.fine[self.group[~partitions]] = False

    def names(self) -> set[str]:
        """The groups that need not be looked at."""
        return {self.groups[number] for number in np.flatnonzero(self.fine).tolist()}


@dataclass(frozen=True, kw_only=True, eq=False)
class _Partitions:
    """
    The partitions of a snapshot, by (topic, partition); one row more, of which nothing is known, for NONE.

    Attributes:
        steady: What they were read from, but for offsets and moments.
        topics: Their names, each once; *topic* points into them.
        topic_ids: (topics) of each.
        begin, end, last_stable, end_at: (rows + 1) nan unknown; moments in seconds.
        sizes: (topics) partitions of each.
    """

    steady: tuple[Series, ...]
    topics: Texts
    topic_ids: Texts
    topic: Ints
    partition: Ints
    begin: Floats
    end: Floats
    last_stable: Floats
    end_at: Floats
    sizes: Ints

    @classmethod
    def of(cls, rows: Table, like: _Partitions | None = None) -> _Partitions:
        """
        Args:
            rows: Of the dataset `partitions`.
            like: Those of another snapshot; where only offsets and moments differ, the rest is taken from there.
        """
        steady = tuple(rows[name] for name in ("topic", "topic_id", "partition"))
        if like is not None and steady == like.steady:
            return replace(like, **_offsets(rows))
        named = rows["topic"].used()
        topic, topics = named.places.astype(np.int64), named.words
        partition = ints_of(rows["partition"])
        codes = _pair(topic, partition)
        if bool((np.diff(codes) < 0).any()):
            order = np.argsort(codes)
            return cls.of(rows.take(order))
        count = len(topics)
        first = np.searchsorted(topic, np.arange(count))
        return cls(
            steady=steady,
            topics=Texts(np.arange(count), topics),
            topic_ids=rows["topic_id"].take(first),
            topic=topic,
            partition=partition,
            sizes=np.bincount(topic, minlength=count),
            **_offsets(rows),
        )

    def __len__(self) -> int:
        return len(self.topic)

    @cached_property
    def unread(self) -> Ints:
        """(topics) how many partitions there are of each of which begin or end is unknown."""
        known = (self.begin <= np.fmin(self.end, self.last_stable)) & ~np.isnan(self.end)
        return np.bincount(self.topic[~known[:-1]], minlength=len(self.topics))

    @cached_property
    def _place(self) -> dict[str, int]:
        return places_of(self.topics.words)

    def numbers_of(self, names: Texts) -> Ints:
        """The number of each topic, NONE where there is none of that name."""
        return names.index_in(self._place)

    def rows_of(self, topic: Ints, partition: Ints) -> Ints:
        """The row of each partition, NONE where there is none."""
        places = _places(_pair(topic, partition), _pair(self.topic, self.partition))
        return np.where(topic == NONE, NONE, places)

    def same_topics(self, newest: _Partitions) -> Flags:
        """(topics of the newest) whether each is the topic it was then, as far as an id is known, or was not there."""
        there = self.numbers_of(newest.topics)
        then = np.append(self.topic_ids.index_in(newest.topic_ids.words), NONE)[there]
        same = (then == newest.topic_ids.places) & (then != NONE)
        alike: Flags = same | ~newest.topic_ids.known | (there == NONE)
        return alike


def _offsets(rows: Table) -> dict[str, Any]:
    """What moves: (rows + 1) offsets and moments, as in `_Partitions`."""
    names = {"begin": "begin_offset", "end": "end_offset", "last_stable": "last_stable_offset"}
    found = {name: _known(numbers_of(rows[column])) for name, column in names.items()}
    return {**found, "end_at": _known(numbers_of(rows["end_at"])) / 1000}


def _known(column: Column) -> Floats:
    """The numbers of a column, nan where unknown and in one place more at the end."""
    return np.append(np.where(column.known, column.values, np.nan), np.nan)


def _pair(first: Ints, second: Ints) -> Ints:
    """Two numbers as one that sorts by both."""
    return (first << 32) | second


def _places(wanted: Ints, keys: Ints) -> Ints:
    """The place of each number among others that are there once each, NONE where it is none of them."""
    if len(wanted) == len(keys) and np.array_equal(wanted, keys):
        return np.arange(len(keys))
    if not len(keys):
        return np.full(len(wanted), NONE)
    order = np.argsort(keys, kind="stable")
    place = np.minimum(np.searchsorted(keys, wanted, sorter=order), len(keys) - 1)
    found = order[place]
    return np.where(keys[found] == wanted, found, NONE)
