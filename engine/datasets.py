"""
The lake's tables: their Arrow schemas, and how the rows of a snapshot become `GroupSnapshot` values.

A snapshot is five tables: brokers, groups, members, partitions (of the cluster's topics) and commits (of groups).
Everything derived from it has a table of its own. One reader serves the command line and Spark, because both
hand it Arrow tables: the whole snapshot, or the rows of a single group.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from engine.errors import InputError
from engine.model import (
    NONE,
    Broker,
    Column,
    GroupSnapshot,
    GroupType,
    Indices,
    Ints,
    Member,
    PartitionTable,
    check_aware,
)

SCHEMA_VERSION = 1
"""Written into every manifest; a reader refuses a version it does not know."""

_MOMENT = pa.timestamp("ms", tz="UTC")
_TEXTS = pa.list_(pa.string())
_NUMBERS = pa.list_(pa.int32())


def _schema(**columns: pa.DataType) -> pa.Schema:
    """A dataset's schema; every row says which snapshot and cluster it belongs to."""
    return pa.schema({"snapshot_id": pa.string(), "cluster": pa.string(), **columns})


SNAPSHOT: Mapping[str, pa.Schema] = {
    "brokers": _schema(node_id=pa.int32(), host=pa.string(), port=pa.int32(), rack=pa.string()),
    "groups": _schema(
        group_id=pa.string(),
        group_type=pa.string(),
        state=pa.string(),
        protocol_type=pa.string(),
        assignor=pa.string(),
        coordinator=pa.int32(),
        epoch=pa.int32(),
        assignment_epoch=pa.int32(),
        topology=pa.string(),
        error=pa.string(),
    ),
    "members": _schema(
        group_id=pa.string(),
        position=pa.int32(),
        member_id=pa.string(),
        client_id=pa.string(),
        client_host=pa.string(),
        instance_id=pa.string(),
        rack=pa.string(),
        rack_source=pa.string(),
        kind=pa.string(),
        subscription=_TEXTS,
        subscription_regex=pa.string(),
        generation=pa.int32(),
        process_id=pa.string(),
        assigned_topics=_TEXTS,
        assigned_partitions=_NUMBERS,
        target_topics=_TEXTS,
        target_partitions=_NUMBERS,
        active_tasks=_TEXTS,
        standby_tasks=_TEXTS,
        warmup_tasks=_TEXTS,
        client_tags=pa.string(),
        metadata=pa.binary(),
        assignment=pa.binary(),
    ),
    "partitions": _schema(
        topic=pa.string(),
        topic_id=pa.string(),
        partition=pa.int32(),
        leader=pa.int32(),
        replicas=_NUMBERS,
        in_sync=_NUMBERS,
        begin_offset=pa.int64(),
        end_offset=pa.int64(),
        last_stable_offset=pa.int64(),
        begin_at=_MOMENT,
        end_at=_MOMENT,
        error=pa.string(),
    ),
    "commits": _schema(
        group_id=pa.string(),
        topic=pa.string(),
        partition=pa.int32(),
        committed_offset=pa.int64(),
        read_at=_MOMENT,
        error=pa.string(),
    ),
}
"""What `take_snapshot` writes. A null offset is unknown; a commit row without offset is a group without a commit."""

_KEY = {"group_id": pa.string(), "config_version": pa.string()}

METRICS: Mapping[str, pa.Schema] = {
    "group_metrics": _schema(
        **_KEY,
        group_type=pa.string(),
        state=pa.string(),
        assignor=pa.string(),
        status=pa.string(),
        members=pa.int32(),
        idle_members=pa.int32(),
        partitions=pa.int32(),
        unowned_partitions=pa.int32(),
        unsubscribed_partitions=pa.int32(),
        total_lag=pa.int64(),
        unknown_lag_partitions=pa.int32(),
        largest_partition_lag=pa.int64(),
        largest_member_lag=pa.int64(),
        lag_skew=pa.float64(),
        lag_floor=pa.int64(),
        lost_records=pa.int64(),
        partition_spread=pa.int32(),
        cross_rack_share=pa.float64(),
        cross_leader_share=pa.float64(),
        racks_left_out=pa.int32(),
        production_per_second=pa.float64(),
        consumption_per_second=pa.float64(),
        time_lag_seconds=pa.float64(),
        time_to_loss_seconds=pa.float64(),
        drain_seconds=pa.float64(),
        rates_since=_MOMENT,
        error=pa.string(),
        findings=_TEXTS,
    ),
    "member_metrics": _schema(
        **_KEY,
        member_id=pa.string(),
        identity=pa.string(),
        client_id=pa.string(),
        client_host=pa.string(),
        instance_id=pa.string(),
        rack=pa.string(),
        rack_source=pa.string(),
        partitions=pa.int32(),
        lag=pa.int64(),
        production_per_second=pa.float64(),
        consumption_per_second=pa.float64(),
        capacity_per_second=pa.float64(),
        capacity_basis=pa.string(),
        cross_rack_partitions=pa.int32(),
    ),
    "partition_metrics": _schema(
        **_KEY,
        topic=pa.string(),
        topic_id=pa.string(),
        partition=pa.int32(),
        subscribed=pa.bool_(),
        begin_offset=pa.int64(),
        end_offset=pa.int64(),
        committed_offset=pa.int64(),
        lag=pa.int64(),
        lag_basis=pa.string(),
        lost_records=pa.int64(),
        production_per_second=pa.float64(),
        consumption_per_second=pa.float64(),
        time_lag_seconds=pa.float64(),
        time_lag_basis=pa.string(),
        time_to_loss_seconds=pa.float64(),
        status=pa.string(),
        member_id=pa.string(),
        cross_rack=pa.bool_(),
        committed_at=_MOMENT,
        end_at=_MOMENT,
    ),
}
"""What `compute_metrics` writes."""

MOVE = pa.struct(
    {
        "topic": pa.string(),
        "partition": pa.int32(),
        "from_member": pa.string(),
        "to_member": pa.string(),
    }
)

CANDIDATES: Mapping[str, pa.Schema] = {
    "candidates": _schema(
        **_KEY,
        strategy=pa.string(),
        position=pa.int32(),
        reach=pa.string(),
        feasibility=pa.string(),
        reason=pa.string(),
        how=pa.string(),
        replay=pa.string(),
        partition_spread=pa.int32(),
        balanced=pa.bool_(),
        most_partitions=pa.int32(),
        fewest_partitions=pa.int32(),
        largest_member_lag=pa.int64(),
        lag_skew=pa.float64(),
        lag_floor=pa.int64(),
        lag_floor_equal_counts=pa.int64(),
        cross_rack_share=pa.float64(),
        cross_rack_rate_share=pa.float64(),
        cross_rack_in_sync_share=pa.float64(),
        cross_leader_share=pa.float64(),
        racks_left_out=pa.int32(),
        moves=pa.int32(),
        newly_owned=pa.int32(),
        unowned=pa.int32(),
        drain_seconds=pa.float64(),
        findings=_TEXTS,
        moved=pa.list_(MOVE),
    ),
}
"""What `propose_candidates` writes: one row per group and strategy. Infinity in drain_seconds means never."""

VALIDATION = _schema(
    stage=pa.string(),
    group_id=pa.string(),
    expectation=pa.string(),
    severity=pa.string(),
    success=pa.bool_(),
    unexpected_count=pa.int64(),
    checked_count=pa.int64(),
    reason=pa.string(),
)
"""
What the validation steps write. *stage* is `snapshot` or `candidates`; *group_id* is null for a check of the whole
snapshot. A failed row of severity `critical` withholds its group, or rejects the snapshot when it has no group.
"""

STEPS: Mapping[str, Mapping[str, pa.Schema]] = {
    "snapshot": SNAPSHOT,
    "validation": {"validation": VALIDATION},
    "candidate_validation": {"candidate_validation": VALIDATION},
    "metrics": METRICS,
    "candidates": CANDIDATES,
}
"""Which tables each writing step leaves in the lake, under one manifest per step."""


@dataclass(frozen=True, kw_only=True, eq=False)
class ClusterSnapshot:
    """
    One reading of one cluster: the five tables and how the reading went.

    *problems* lists what could not be read (groups, brokers, partitions) with its cause; any makes it partial.
    *requests* counts protocol requests by API name.
    """

    snapshot_id: str
    cluster: str
    kafka_cluster_id: str | None
    started_at: datetime
    finished_at: datetime
    tables: Mapping[str, pa.Table]
    problems: tuple[str, ...] = ()
    requests: Mapping[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_aware(self.started_at, "started_at")
        check_aware(self.finished_at, "finished_at")

    @property
    def partial(self) -> bool:
        """Whether something that should be in it could not be read."""
        return bool(self.problems)


def rows_to_table(rows: Sequence[Mapping[str, Any]], schema: pa.Schema) -> pa.Table:
    """Rows as dicts into a table of exactly this schema; a missing key is null."""
    return pa.Table.from_pylist(list(rows), schema=schema)


# How rows become groups.


@dataclass(frozen=True, slots=True)
class _Topic:
    """The rows of one topic, in partition order."""

    name: str
    topic_id: str | None
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
        self.partition = _ints(rows["partition"]).astype(np.int32)
        self.begin, self.end = _column(rows["begin_offset"]), _column(rows["end_offset"])
        self.last_stable = _column(rows["last_stable_offset"])
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


def _topics(rows: pa.Table) -> Iterator[_Topic]:
    """The runs of equal topic in sorted rows."""
    if not len(rows):
        return
    runs = pc.run_end_encode(rows["topic"].combine_chunks(), run_end_type=pa.int64())
    ids, start = rows["topic_id"], 0
    for name, end in zip(runs.values.to_pylist(), runs.run_ends.to_pylist(), strict=True):
        yield _Topic(name, ids[start].as_py(), slice(start, end))
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
    members, commits = _by_group(tables["members"]), _by_group(tables["commits"])
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
        partitions=_partition_table(rows, commits, cluster, read_committed),
    )


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
    )


def _partition_table(
    members: Sequence[Mapping[str, Any]],
    commits: pa.Table,
    cluster: ClusterTables,
    read_committed: bool,
) -> PartitionTable:
    owner = _claims(members, "assigned")
    target = _claims(members, "target")
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

    has_ids = (cluster.topics.get(name) for name in topics)
    return PartitionTable(
        topics=topics,
        topic_ids=tuple(t.topic_id if t else None for t in has_ids),
        racks=cluster.racks,
        topic=topic,
        partition=partition,
        exists=exists,
        subscribed=np.array([topics[t] in subscribed for t in topic.tolist()], np.bool_),
        owner=np.array([owner.get(key, NONE) for key in keys], np.int32),
        target_owner=np.array([target.get(key, NONE) for key in keys], np.int32),
        begin=of_cluster(cluster.begin),
        end=of_cluster(cluster.last_stable if read_committed else cluster.end),
        committed=of_commits("committed_offset"),
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
    """Which member index holds which partition, according to the `assigned` or `target` lists."""
    held: dict[tuple[str, int], int] = {}
    for index, row in enumerate(members):
        topics, partitions = row[f"{what}_topics"] or (), row[f"{what}_partitions"] or ()
        # lists of unequal length are damage; validation withholds such a group, reading must not stop at it
        for pair in zip(topics, partitions, strict=False):
            held[pair] = index
    return held


def _by_group(table: pa.Table) -> dict[str, pa.Table]:
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


def _column(column: Any) -> Column:
    return Column(_ints(pc.fill_null(column, 0)), column.is_valid().to_numpy())


def _moments(column: Any) -> Column:
    return _column(column.cast(pa.int64()))


def _ragged(column: Any) -> tuple[Ints, Ints]:
    """A list column as (start, values); a null list is an empty one."""
    lists = pc.fill_null(pc.list_value_length(column), 0)
    start = np.zeros(len(column) + 1, np.int64)
    np.cumsum(_ints(lists), out=start[1:])
    return start, _ints(pc.list_flatten(column))


# How a snapshot is named, and what its manifest says of it.

_SNAPSHOT_ID = re.compile(r"([a-z0-9][a-z0-9_-]{0,39})-(\d{8}T\d{6}Z)-([0-9a-f]{6})")
_SECOND = "%Y%m%dT%H%M%SZ"


def new_snapshot_id(cluster: str, moment: datetime) -> str:
    """
    `<cluster>-<YYYYmmddTHHMMSSZ>-<6 hex>`: ids of one cluster sort by time.

    Args:
        cluster: The configured slug.
        moment: When the reading starts, aware.
    """
    check_aware(moment, "moment")
    return f"{cluster}-{moment.astimezone(UTC):{_SECOND}}-{secrets.token_hex(3)}"


def split_snapshot_id(snapshot_id: str) -> tuple[str, datetime]:
    """
    The cluster and the second (aware, UTC) a snapshot id was made of.

    >>> split_snapshot_id("eu-west-20260102T030405Z-0a1b2c")
    ('eu-west', datetime.datetime(2026, 1, 2, 3, 4, 5, tzinfo=datetime.timezone.utc))

    Raises:
        InputError: It is not a snapshot id.
    """
    match = _SNAPSHOT_ID.fullmatch(snapshot_id)
    try:
        if match:
            return match[1], datetime.strptime(match[2], _SECOND).replace(tzinfo=UTC)
    except ValueError:
        pass
    raise InputError(
        f"{snapshot_id!r} is not a snapshot id.",
        fix="Use <cluster>-<YYYYmmddTHHMMSSZ>-<6 hex digits>, as `evenkeel snapshot` prints it.",
    )


def facts_of(snapshot: ClusterSnapshot) -> dict[str, Any]:
    """What the manifest of a snapshot says of how it was taken, JSON-able."""
    return {
        "kafka_cluster_id": snapshot.kafka_cluster_id,
        "started_at": snapshot.started_at.isoformat(),
        "finished_at": snapshot.finished_at.isoformat(),
        "problems": list(snapshot.problems),
        "requests": dict(snapshot.requests),
    }


def snapshot_of(
    snapshot_id: str, facts: Mapping[str, Any], tables: Mapping[str, pa.Table]
) -> ClusterSnapshot:
    """The reading a manifest and its tables describe; the inverse of `facts_of`."""
    return ClusterSnapshot(
        snapshot_id=snapshot_id,
        cluster=split_snapshot_id(snapshot_id)[0],
        kafka_cluster_id=facts.get("kafka_cluster_id"),
        started_at=datetime.fromisoformat(facts["started_at"]),
        finished_at=datetime.fromisoformat(facts["finished_at"]),
        tables=tables,
        problems=tuple(facts.get("problems", ())),
        requests=dict(facts.get("requests", {})),
    )
