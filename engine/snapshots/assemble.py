"""How the rows of a snapshot become groups: one reader for the command line, recordings and Spark."""

from __future__ import annotations

import itertools
import json
from bisect import bisect_left
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cached_property
from typing import Any

import numpy as np

from ..model.arrays import ragged_entries
from ..model.batch import OF_HEADERS, GroupBatch, count_by
from ..model.groups import (
    GroupHeader,
    GroupSnapshot,
    Member,
    MemberCounts,
    MemberTasks,
    PartitionTable,
    Roster,
)
from ..model.states import GroupType
from ..model.tables import Table
from .cluster import ClusterTables
from .partitions import SnapshotRows, rows_of_groups, tables_of_topics

_OF_PARTITIONS = ("assigned_topics", "assigned_partitions", "target_topics", "target_partitions")


def members_of(rows: Table) -> list[Member]:
    """One member per row."""
    assigned = rows["assigned_topics"].lengths.tolist()
    # threads of Kafka Streams: their tasks stand beside the partitions that they read
    is_thread = rows["process_id"].known
    threads = iter(rows.filter(is_thread).to_pylist())
    others = iter(rows.without(*_OF_PARTITIONS).filter(~is_thread).to_pylist())
    plain = [next(threads if told else others) for told in is_thread.tolist()]
    return [
        Member(
            id=row["member_id"] or "",
            client_id=row["client_id"] or "",
            host=row["client_host"] or "",
            instance_id=row["instance_id"],
            rack=row["rack"],
            rack_source=row["rack_source"],
            # a topic has a name, whatever a damaged row says
            subscription=None
            if row["subscription"] is None
            else tuple(filter(None, row["subscription"])),
            subscription_regex=row["subscription_regex"],
            generation=row["generation"],
            process_id=row["process_id"],
            kind=row["kind"],
            user_data=row["user_data"],
            follows=row["follows"],
            assigned_user_data=row["assigned_user_data"],
            tasks=_tasks(row),
            shares=count if row["kind"] == GroupType.SHARE else None,
        )
        for row, count in zip(plain, assigned, strict=True)
    ]


def _tasks(row: Mapping[str, Any]) -> MemberTasks | None:
    """A Streams thread's tasks; rows from before a column was added know less."""
    if row["process_id"] is None:
        return None
    of = row["assigned_tasks"] or ()
    pairs = zip(row["assigned_topics"] or (), row["assigned_partitions"] or (), strict=False)
    return MemberTasks(
        active=tuple(row["active_tasks"] or ()),
        standby=tuple(row["standby_tasks"] or ()),
        warmup=tuple(row["warmup_tasks"] or ()),
        reads=tuple((task, *pair) for task, pair in zip(of, pairs, strict=False)),
        offsets=_from_json(row["task_offsets"]),
        ends=_from_json(row["task_end_offsets"]),
        tags=_from_json(row["client_tags"]) or {},
    )


def _from_json(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def _settings(text: str | None) -> Mapping[str, str] | None:
    """What was set for a group on the brokers; unknown where the column holds something else."""
    try:
        found = _from_json(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


FEW = 8
"""While so few groups of a chunk have members, those of another are made alone."""

CHANGELOG = "-changelog"
"""How Kafka Streams ends the names of topics that keep its stores."""


def batch_of_tables(
    tables: Mapping[str, Table],
    taken_at: datetime,
    read_committed: Callable[[str], bool] = lambda group: False,
    names: Sequence[str] | None = None,
    cluster: ClusterTables | None = None,
    like: GroupBatch | None = None,
    of: str | None = None,
) -> GroupBatch:
    """
    Groups of one snapshot.

    Args:
        tables: The five snapshot tables, or what they have of the groups wanted and their topics.
        taken_at: When the snapshot was taken.
        read_committed: Which groups read committed records only; their end is the last stable offset.
        names: Ids of the groups, in this order; those that the snapshot does not have are left out. Without it all,
            in the order of the dataset `groups`.
        cluster: The partitions and brokers, where they are indexed already.
        like: Some of the groups at another moment, with nothing known of disks and replicas then or now: if nothing but
            offsets differs, the rest is taken from there.
        of: The id of the snapshot; None: as the rows say.
    """
    there = dict.fromkeys(tables["groups"]["group_id"].to_pylist())
    order = [name for name in (there if names is None else names) if name in there]
    if like is not None and (same := _same(like, order, tables)):
        return _moved(like, same, tables, order, taken_at, of)
    cluster = cluster or ClusterTables(tables["partitions"], tables["brokers"])
    known = _headers(tables["groups"], order, taken_at, cluster, of)
    rows = SnapshotRows(
        cluster,
        rows_of_groups(tables["members"], order, "position"),
        rows_of_groups(tables["commits"], order),
        np.array([read_committed(name) for name in order], np.bool_),
        np.array([header.shares_partitions for header in known], np.bool_),
    )
    table, start = rows.partition_table()
    lazy = _Groups(rows=rows, headers=known, topics=[t.name for t in cluster.topics], tables=tables)
    batch = GroupBatch(
        headers=known,
        members=rows.members(),
        topics=rows.topics(),
        partitions=table,
        start=start,
        groups=lazy,
    )
    lazy.batch = batch
    return batch


def groups_of(
    tables: Mapping[str, Table],
    taken_at: datetime,
    read_committed: Callable[[str], bool] = lambda group: False,
) -> Iterator[GroupSnapshot]:
    """
    The groups of one snapshot one by one, in the order of the dataset `groups`.

    Partitions are those of subscribed topics that exist, those owned and those committed, sorted by (topic, partition).

    Args:
        tables, taken_at, read_committed: As for `batch_of_tables`.
    """
    yield from batch_of_tables(tables, taken_at, read_committed).groups


def stores_of(group: str, topics: Sequence[str]) -> list[str]:
    """Which topics, in ascending order, are changelogs of an application by their names; the group is its id."""
    own = f"{group}-"
    there = itertools.islice(topics, bisect_left(topics, own), None)
    named = itertools.takewhile(lambda topic: topic.startswith(own), there)
    return [topic for topic in named if topic.endswith(CHANGELOG)]


_STEADY = {
    "brokers": (
        "node_id",
        "rack",
        "follower_fetching",
        "group_assignors",
        "group_settings",
        "kafka_release",
    ),
    "commits": ("group_id", "topic", "partition"),
    "partitions": ("topic", "topic_id", "partition"),
}


def _same(like: GroupBatch, order: Sequence[str], tables: Mapping[str, Table]) -> _Groups | None:
    """The groups of another batch, if its rows differ from these in what moves alone; then in the same order."""
    before = like.groups
    if not isinstance(before, _Groups) or [*like.place] != order:
        return None
    if not before.tables["members"].equals(tables["members"]):
        return None
    for name, columns in _STEADY.items():
        if not before.tables[name].select(columns).equals(tables[name].select(columns)):
            return None
    return before if before.rows.of_commits.is_whole else None


def _moved(
    like: GroupBatch,
    same: _Groups,
    tables: Mapping[str, Table],
    order: Sequence[str],
    taken_at: datetime,
    of: str | None,
) -> GroupBatch:
    """The groups of *like* at another moment; where their own rows differ in nothing else, so do their headers."""
    groups = tables["groups"]
    before, now = (each.without("snapshot_id") for each in (same.tables["groups"], groups))
    stays = now.equals(before)
    snapshot_id = of or next(iter(groups["snapshot_id"].to_pylist()), "")
    headers: Sequence[GroupHeader] = (
        _Later(like.headers, snapshot_id, taken_at)
        if stays
        else _headers(groups, order, taken_at, same.rows.cluster, of)
    )
    rows, columns = same.rows.moved(tables["partitions"], tables["commits"])
    lazy = replace(same, rows=rows, headers=headers, made={}, manned={})
    partitions = replace(like.partitions, **columns)
    lazy.batch = replace(like, headers=headers, partitions=partitions, groups=lazy)
    if stays:
        vars(lazy.batch).update({name: getattr(like, name) for name in OF_HEADERS})
    return lazy.batch


class _Later(Sequence[GroupHeader]):
    """Headers as they are at another moment, each made when it is asked for."""

    def __init__(self, before: Sequence[GroupHeader], snapshot_id: str, taken_at: datetime) -> None:
        self._first: Sequence[GroupHeader] = getattr(before, "_first", before)
        self._moment = {"snapshot_id": snapshot_id, "taken_at": taken_at}

    def __len__(self) -> int:
        return len(self._first)

    def __getitem__(self, number: Any) -> Any:
        header = object.__new__(GroupHeader)
        vars(header).update(vars(self._first[number]), **self._moment)
        return header


def _headers(
    groups: Table,
    order: Sequence[str],
    taken_at: datetime,
    cluster: ClusterTables,
    of: str | None = None,
) -> tuple[GroupHeader, ...]:
    """The headers of some groups."""
    rows = {row["group_id"]: row for row in groups.to_pylist()}
    return tuple(_header(rows[name], taken_at, cluster, of) for name in order)


def _header(
    row: Mapping[str, Any], taken_at: datetime, cluster: ClusterTables, of: str | None
) -> GroupHeader:
    return GroupHeader(
        snapshot_id=of or row["snapshot_id"],
        cluster=row["cluster"],
        taken_at=taken_at,
        group=row["group_id"],
        type=GroupType(row["group_type"]),
        state=row["state"] or "",
        protocol_type=row["protocol_type"],
        assignor=row["assignor"],
        epoch=row["epoch"],
        coordinator_id=row["coordinator"],
        error=row["error"],
        topology=row["topology"],
        follower_fetching=cluster.follower_fetching,
        group_assignors=cluster.group_assignors,
        coordinator=cluster.coordinator,
        kafka_release=cluster.kafka_release,
        offset_reset=row["offset_reset"],
        settings=_settings(row["group_settings"]),
    )


@dataclass(kw_only=True, eq=False)
class _Groups(Sequence[GroupSnapshot]):
    """The groups of a batch one by one; each is made when it is asked for first, and kept."""

    rows: SnapshotRows
    headers: Sequence[GroupHeader]
    topics: Sequence[str]
    tables: Mapping[str, Table]
    batch: GroupBatch = field(init=False)
    made: dict[int, GroupSnapshot] = field(default_factory=dict)
    manned: dict[int, tuple[Member, ...]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.headers)

    def __getitem__(self, number: Any) -> Any:
        if isinstance(number, slice):
            return [self[each] for each in range(*number.indices(len(self)))]
        if not -len(self) <= number < len(self):
            raise IndexError(number)
        number %= len(self)
        if number not in self.made:
            self.made[number] = _Group.among(self, number)
        return self.made[number]

    def _members_of(self, numbers: Sequence[int]) -> dict[int, tuple[Member, ...]]:
        start, rows = ragged_entries(self.rows.of_members.start, np.array(numbers, np.int64))
        made = members_of(self.rows.of_members.rows.take(rows))
        spans = itertools.pairwise(start.tolist())
        return {n: tuple(made[a:b]) for n, (a, b) in zip(numbers, spans, strict=True)}

    def members(self, number: int) -> tuple[Member, ...]:
        """The members of a group: an application's with those of all, of a few others each alone, then of all."""
        if number not in self.manned:
            kind = self.headers[number].places_tasks
            others = (n for n, one in enumerate(self.headers) if one.places_tasks is kind)
            alone = not kind and len(self.manned) < FEW
            asked = [number] if alone else [n for n in others if n not in self.manned]
            self.manned.update(self._members_of(asked))
        return self.manned[number]

    @cached_property
    def stores(self) -> dict[int, PartitionTable]:
        """The changelogs of the Kafka Streams applications, by the number of the group."""
        named = {
            number: stores_of(header.group, self.topics)
            for number, header in enumerate(self.headers)
            if header.places_tasks
        }
        tables = tables_of_topics(self.rows.cluster, [*named.values()])
        return dict(zip(named, tables, strict=True))

    @cached_property
    def member_counts(self) -> list[MemberCounts]:
        """(G) as of a group."""
        rows, start = self.rows.of_members.rows, self.rows.of_members.start
        lists, topics = rows["subscription"], rows["subscription"].entries
        named = count_by(topics.known & ~topics.equal(""), lists.start) > 0
        patterns = rows["subscription_regex"].known & ~named
        counts = (np.diff(start), count_by(patterns, start), count_by(~lists.known, start))
        return [*map(MemberCounts, *(each.tolist() for each in counts))]


class _Group(GroupSnapshot):
    """A group whose members and partitions are made when they are asked for first: most are only looked through."""

    groups: _Groups
    number: int

    @classmethod
    def among(cls, groups: _Groups, number: int) -> _Group:
        """One of some groups."""
        own = object.__new__(cls)
        vars(own).update(vars(groups.headers[number]), groups=groups, number=number)
        return own

    @cached_property
    def members(self) -> tuple[Member, ...]:
        return self.groups.members(self.number)

    @cached_property
    def partitions(self) -> PartitionTable:
        return self.groups.batch.table_of(self.number)

    @cached_property
    def stores(self) -> PartitionTable | None:
        return self.groups.stores.get(self.number)

    @cached_property
    def roster(self) -> Roster:
        if "groups" not in vars(self):
            return super().roster
        return self.groups.batch.members.roster(self.number)

    @cached_property
    def member_counts(self) -> MemberCounts:
        if "groups" not in vars(self):
            return super().member_counts
        return self.groups.member_counts[self.number]
