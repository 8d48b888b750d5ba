"""How the rows of a snapshot become `GroupSnapshot` values: one reader for the command line, recordings and Spark."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenkeel.engine.model import (
    NONE,
    Broker,
    Column,
    GroupSnapshot,
    GroupType,
    Indices,
    Ints,
    Member,
    MemberTasks,
    PartitionTable,
    places_tasks,
)

CHANGELOG = "-changelog"
"""How Kafka Streams ends the names of topics that keep its stores."""

_LISTS = ("assigned_topics", "assigned_partitions", "target_topics", "target_partitions")


@dataclass(frozen=True, slots=True)
class _Topic:
    """The rows of one topic, in partition order."""

    name: str
    topic_id: str | None
    cleanup_policy: str | None
    retention_ms: int | None
    rows: slice


class ClusterTables:
    """
    The cluster's partitions and brokers, indexed once, from which any number of groups are assembled.

    Args:
        partitions: Rows of the dataset `partitions` (any order; those of the topics needed are enough).
        brokers: Rows of the dataset `brokers`.
    """

    def __init__(self, partitions: pa.Table, brokers: pa.Table) -> None:
        rows = partitions.sort_by([("topic", "ascending"), ("partition", "ascending")])
        self.brokers = tuple(
            Broker(node_id=b["node_id"], host=b["host"], port=b["port"], rack=b["rack"])
            for b in brokers.to_pylist()
        )
        self.racks = tuple(sorted({b.rack for b in self.brokers if b.rack}))
        self.follower_fetching = _all(brokers["follower_fetching"].to_pylist())
        self.partition = _ints(rows["partition"]).astype(np.int32)
        self.begin, self.end = numbers_of(rows["begin_offset"]), numbers_of(rows["end_offset"])
        self.last_stable = numbers_of(rows["last_stable_offset"])
        self.log_bytes = numbers_of(rows["log_bytes"])
        self.begin_at, self.end_at = _moments(rows["begin_at"]), _moments(rows["end_at"])
        self.leader_rack = self._rack_of(_ints(pc.fill_null(rows["leader"], NONE)))
        self.replica_start, replicas = _ragged(rows["replicas"])
        self.replica_rack = self._rack_of(replicas)
        self.replica_in_sync = _in_sync(rows, self.replica_start, replicas)
        self.topics = {topic.name: topic for topic in _topics(rows)}

    def _rack_of(self, nodes: Ints) -> Indices:
        """Broker ids to rack indices; NONE for an unknown broker and for one without a rack."""
        index = {rack: i for i, rack in enumerate(self.racks)}
        known = {b.node_id: index[b.rack] for b in self.brokers if b.rack}
        distinct, inverse = np.unique(nodes, return_inverse=True)
        racks = np.array([known.get(node, NONE) for node in distinct.tolist()], np.int32)
        return racks[inverse] if len(distinct) else np.zeros(0, np.int32)


def _all(told: Sequence[bool | None]) -> bool | None:
    """Whether all do; None where nobody who is known does not, and somebody is not known."""
    if False in told:
        return False
    return None if None in told or not told else True


def _topics(rows: pa.Table) -> Iterator[_Topic]:
    """The runs of equal topic in sorted rows."""
    if not len(rows):
        return
    runs = pc.run_end_encode(rows["topic"].combine_chunks(), run_end_type=pa.int64())
    start, told = 0, ("topic_id", "cleanup_policy", "retention_ms")
    for name, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        topic_id, policy, retention = (rows[column][start].as_py() for column in told)
        yield _Topic(name, topic_id, policy, retention, slice(start, end))
        start = end


def _in_sync(rows: pa.Table, start: Ints, replicas: Ints) -> Any:
    """For each replica entry, whether it is among the partition's in-sync replicas."""
    isr_start, isr = _ragged(rows["in_sync"])
    row_of_isr = np.repeat(np.arange(len(isr_start) - 1), np.diff(isr_start))
    row_of_replica = np.repeat(np.arange(len(start) - 1), np.diff(start))
    return np.isin(row_of_replica * (1 << 32) + replicas, row_of_isr * (1 << 32) + isr)


def groups_of(
    tables: Mapping[str, pa.Table],
    taken_at: datetime,
    read_committed: Callable[[str], bool] = lambda group: False,
) -> Iterator[GroupSnapshot]:
    """
    The groups of one snapshot, in the order of the dataset `groups`.

    Args:
        tables: The five snapshot tables.
        taken_at: When the snapshot was taken.
        read_committed: Which groups read committed records only; their end is the last stable offset.
    """
    cluster = ClusterTables(tables["partitions"], tables["brokers"])
    members, commits = rows_by_group(tables["members"]), rows_by_group(tables["commits"])
    for header in tables["groups"].to_pylist():
        name = header["group_id"]
        yield assemble(
            header,
            members.get(name, tables["members"].slice(0, 0)),
            commits.get(name, tables["commits"].slice(0, 0)),
            cluster,
            taken_at,
            read_committed=read_committed(name),
        )


def assemble(
    header: Mapping[str, Any],
    members: pa.Table,
    commits: pa.Table,
    cluster: ClusterTables,
    taken_at: datetime,
    *,
    read_committed: bool = False,
) -> GroupSnapshot:
    """
    One group from its own rows: *header* of `groups`, its `members` and `commits`, and the cluster's tables.

    Partitions are those of subscribed topics that exist, those owned and those committed, sorted by (topic, partition).
    """
    rows = members.sort_by("position").to_pylist()
    return GroupSnapshot(
        snapshot_id=header["snapshot_id"],
        cluster=header["cluster"],
        taken_at=taken_at,
        group=header["group_id"],
        type=GroupType(header["group_type"]),
        state=header["state"],
        protocol_type=header["protocol_type"],
        assignor=header["assignor"],
        epoch=header["epoch"],
        error=header["error"],
        topology=header["topology"],
        members=tuple(_member(row) for row in rows),
        partitions=_trusted(_partition_table(rows, commits, cluster, read_committed)),
        stores=_stores(header, commits, cluster),
        follower_fetching=cluster.follower_fetching,
    )


def is_store_of(group: str, topic: str) -> bool:
    """Whether a topic is a changelog of a Kafka Streams application by its name; the group is its application id."""
    return topic.startswith(f"{group}-") and topic.endswith(CHANGELOG)


def _stores(
    header: Mapping[str, Any], commits: pa.Table, cluster: ClusterTables
) -> PartitionTable | None:
    """The changelog partitions of a Streams application; None for any other group."""
    if not places_tasks(header["group_type"], header["assignor"]):
        return None
    named = [topic for topic in cluster.topics if is_store_of(header["group_id"], topic)]
    of_all = {"subscription": named, **dict.fromkeys(_LISTS)}
    return _partition_table([of_all], commits.slice(0, 0), cluster, read_committed=False)


def _member(row: Mapping[str, Any]) -> Member:
    return Member(
        id=row["member_id"],
        client_id=row["client_id"] or "",
        host=row["client_host"] or "",
        instance_id=row["instance_id"],
        rack=row["rack"],
        rack_source=row["rack_source"],
        subscription=None if row["subscription"] is None else tuple(row["subscription"]),
        subscription_regex=row["subscription_regex"],
        generation=row["generation"],
        process_id=row["process_id"],
        kind=row["kind"],
        user_data=row["user_data"],
        tasks=_tasks(row),
    )


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


def _partition_table(
    members: Sequence[Mapping[str, Any]],
    commits: pa.Table,
    cluster: ClusterTables,
    read_committed: bool,
) -> PartitionTable:
    owner = _claims(members, "assigned")
    target = _claims(members, "target")
    turn = {key: i for i, key in enumerate(target)}
    rows_of = {(c["topic"], c["partition"]): c for c in commits.to_pylist()}
    committed = {key: c for key, c in rows_of.items() if c["error"] is None}
    unread = rows_of.keys() - committed.keys()
    subscribed = {topic for m in members for topic in m["subscription"] or ()}
    picked = _pick_rows(cluster, subscribed, owner.keys() | target.keys() | rows_of.keys())
    topics, topic, partition, row = picked
    keys = list(zip([topics[t] for t in topic.tolist()], partition.tolist(), strict=True))
    at = np.maximum(row, 0)
    exists = row >= 0
    start, replica_rack, in_sync = _pick_replicas(cluster, row)

    def of_cluster(column: Column) -> Column:
        if not len(column):
            return Column.unknown(len(row))
        return Column(column.values[at], column.known[at] & exists)

    def of_commits(field_name: str) -> Column:
        found = (committed.get(key) for key in keys)
        return Column.of(None if c is None else _number(c[field_name]) for c in found)

    told = [cluster.topics.get(name) for name in topics]
    return PartitionTable(
        topics=topics,
        topic_ids=tuple(t.topic_id if t else None for t in told),
        cleanup_policies=tuple(t.cleanup_policy if t else None for t in told),
        retention_ms=tuple(t.retention_ms if t else None for t in told),
        racks=cluster.racks,
        topic=topic,
        partition=partition,
        exists=exists,
        subscribed=np.array([topics[t] in subscribed for t in topic.tolist()], np.bool_),
        owner=np.array([owner.get(key, NONE) for key in keys], np.int32),
        target_owner=np.array([target.get(key, NONE) for key in keys], np.int32),
        target_turn=np.array([turn.get(key, NONE) for key in keys], np.int32),
        begin=of_cluster(cluster.begin),
        end=of_cluster(cluster.last_stable if read_committed else cluster.end),
        committed=of_commits("committed_offset"),
        log_bytes=of_cluster(cluster.log_bytes),
        begin_at_ms=of_cluster(cluster.begin_at),
        end_at_ms=of_cluster(cluster.end_at),
        committed_at_ms=of_commits("read_at"),
        commit_unread=np.array([key in unread for key in keys], np.bool_),
        leader_rack=np.where(exists, cluster.leader_rack[at], NONE).astype(np.int32)
        if len(cluster.leader_rack)
        else np.full(len(row), NONE, np.int32),
        replica_start=start,
        replica_rack=replica_rack,
        in_sync=in_sync,
    )


def _trusted(table: PartitionTable) -> PartitionTable:
    """
    The table without the two ends of a log whose start was read as lying beyond its end.

    They are read at two moments, and a topic recreated or truncated in between has its old start beside its new end.
    Which of the two a committed offset is to be compared with nobody knows: both are unknown then.
    """
    begin, end = table.begin, table.end
    torn = begin.known & end.known & (begin.values > end.values)
    return replace(
        table,
        begin=Column(begin.values, begin.known & ~torn),
        end=Column(end.values, end.known & ~torn),
    )


def _pick_rows(
    cluster: ClusterTables, subscribed: set[str], named: set[tuple[str, int]]
) -> tuple[tuple[str, ...], Indices, Indices, Ints]:
    """(topics, topic index, partition, row of the cluster's table or NONE) of the partitions that concern a group."""
    by_topic: dict[str, set[int]] = {}
    for mentioned, number in named:
        by_topic.setdefault(mentioned, set()).add(number)
    names: list[str] = []
    parts: list[Indices] = []
    rows: list[Ints] = []
    for name in sorted(by_topic.keys() | (subscribed & cluster.topics.keys())):
        known = cluster.topics.get(name)
        have = cluster.partition[known.rows] if known else np.zeros(0, np.int32)
        wanted = np.array(sorted(by_topic.get(name, ())), np.int32)
        chosen = np.union1d(have, wanted) if name in subscribed else wanted
        place = np.searchsorted(have, chosen)
        found = np.isin(chosen, have)
        names.append(name)
        parts.append(chosen.astype(np.int32))
        rows.append(np.where(found, place + (known.rows.start if known else 0), NONE))
    sizes = [len(p) for p in parts]
    topic = np.repeat(np.arange(len(names), dtype=np.int32), sizes)
    if not names:
        return (), topic, np.zeros(0, np.int32), np.zeros(0, np.int64)
    return tuple(names), topic, np.concatenate(parts), np.concatenate(rows).astype(np.int64)


def _pick_replicas(cluster: ClusterTables, row: Ints) -> tuple[Ints, Indices, Any]:
    """The ragged replica arrays of the chosen rows; none for a partition that does not exist."""
    at, exists = np.maximum(row, 0), row >= 0
    if not len(cluster.replica_rack):
        return np.zeros(len(row) + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.bool_)
    first = cluster.replica_start[at]
    size = np.where(exists, cluster.replica_start[at + 1] - first, 0)
    start = np.zeros(len(row) + 1, np.int64)
    np.cumsum(size, out=start[1:])
    entry = np.arange(start[-1]) - np.repeat(start[:-1], size) + np.repeat(first, size)
    return start, cluster.replica_rack[entry], cluster.replica_in_sync[entry]


def _claims(members: Sequence[Mapping[str, Any]], what: str) -> dict[tuple[str, int], int]:
    """Which member index holds which partition, according to the `assigned` or `target` lists, in their order."""
    held: dict[tuple[str, int], int] = {}
    for index, row in enumerate(members):
        topics, partitions = row[f"{what}_topics"] or (), row[f"{what}_partitions"] or ()
        # lists of unequal length are damage; validation withholds such a group, reading must not stop at it
        for pair in zip(topics, partitions, strict=False):
            held[pair] = index
    return held


def rows_by_group(table: pa.Table) -> dict[str, pa.Table]:
    """The rows of each group, as slices of one sorted table."""
    if not len(table):
        return {}
    rows = table.sort_by("group_id").combine_chunks()
    runs = pc.run_end_encode(rows["group_id"].combine_chunks(), run_end_type=pa.int64())
    ends = runs.run_ends.to_pylist()
    starts = [0, *ends[:-1]]
    names = runs.values.to_pylist()
    return {name: rows.slice(a, b - a) for name, a, b in zip(names, starts, ends, strict=True)}


def _number(value: Any) -> int | None:
    """An offset, or a moment as milliseconds."""
    return round(value.timestamp() * 1000) if isinstance(value, datetime) else value


def _ints(column: Any) -> Ints:
    values: Ints = column.to_numpy().astype(np.int64)
    return values


def numbers_of(column: Any) -> Column:
    """An Arrow column of whole numbers, unknown where it is null."""
    return Column(_ints(pc.fill_null(column, 0)), column.is_valid().to_numpy())


def _moments(column: Any) -> Column:
    return numbers_of(column.cast(pa.int64()))


def _ragged(column: Any) -> tuple[Ints, Ints]:
    """A list column as (start, values); a null list is an empty one."""
    lists = pc.fill_null(pc.list_value_length(column), 0)
    start = np.zeros(len(column) + 1, np.int64)
    np.cumsum(_ints(lists), out=start[1:])
    return start, _ints(pc.list_flatten(column))
