"""
Small snapshots from short descriptions, and lakes of them.

>>> snapshot = make_snapshot(
...     topics=[topic("orders", 4, end=100)],
...     groups=[group("orders-app", members=2, lag={"orders": [0, 5, 5, None]})],
... )
>>> [g.group for g in groups(snapshot)], snapshot.tables["commits"]["committed_offset"].to_pylist()
(['orders-app'], [100, 95, 95, None])

Everything has a plain default: three brokers in three racks, every offset read at the same moment,
`members=2` deals the partitions out contiguously. A test then says only what it is about. Rows are
dictionaries of the datasets' columns, so any column can be overridden by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.lake.catalog import files_of, step_of
from evenkeel.engine.messages.wording import words
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.facts import Fact
from evenkeel.engine.model.groups import GroupSnapshot
from evenkeel.engine.model.tables import Table
from evenkeel.engine.ports import Compacted, Lake
from evenkeel.engine.snapshots import SNAPSHOT, facts_of, groups_of

FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)
"""When snapshot number 0 is taken."""

EVERY = timedelta(minutes=5)
"""How far two snapshots of consecutive numbers lie apart."""

Offsets = int | None | Sequence[int | None]
"""One for every partition, or one each; None is unknown (an end) or absent (a commit)."""

BROKERS: Mapping[int, str | None] = {0: "rack-a", 1: "rack-b", 2: "rack-c"}


@dataclass(frozen=True, kw_only=True)
class Group:
    """A described group: header row, members' rows, and commits as offsets or as lag."""

    header: Mapping[str, Any]
    members: Sequence[Mapping[str, Any]]
    committed: Mapping[str, Offsets]
    lag: Mapping[str, Offsets]
    deal: Sequence[str] = field(default=())
    commit_errors: Mapping[tuple[str, int], str] = field(default_factory=dict)


def topic(
    name: str,
    partitions: int = 1,
    *,
    end: Offsets = 1000,
    begin: Offsets = 0,
    last_stable: Offsets = None,
    replicas: Sequence[Sequence[int]] | None = None,
    in_sync: Sequence[Sequence[int]] | None = None,
    **columns: Any,
) -> list[dict[str, Any]]:
    """
    The rows of one topic.

    Args:
        replicas: Broker ids per partition, leader first; without it one each, brokers in turn.
        last_stable: As *end* when None.
        columns: Any other column of `partitions`, the same for every row.
    """
    placed = replicas or [[p % len(BROKERS)] for p in range(partitions)]
    synced = in_sync or placed
    stable = end if last_stable is None else last_stable
    return [
        {
            "topic": name,
            "topic_id": str(uuid5(NAMESPACE_URL, name)),
            "partition": p,
            "leader": placed[p][0] if placed[p] else None,
            "replicas": list(placed[p]),
            "in_sync": list(synced[p]),
            "begin_offset": _offset(begin, p),
            "end_offset": _offset(end, p),
            "last_stable_offset": _offset(stable, p),
        }
        | columns
        for p in range(partitions)
    ]


def member(
    member_id: str,
    subscription: Sequence[str] | None = None,
    owned: Mapping[str, Iterable[int]] | None = None,
    *,
    target: Mapping[str, Iterable[int]] | None = None,
    rack: str | None = None,
    **columns: Any,
) -> dict[str, Any]:
    """
    The row of one member.

    Args:
        subscription: Topic names; without it those it owns.
        owned: Topic -> partitions assigned to it.
        target: The same for a KIP-848 member's target assignment; without it as owned.
        columns: Any other column of `members`.
    """
    held, aimed = _pairs(owned or {}), _pairs(owned or {} if target is None else target)
    return {
        "member_id": member_id,
        "client_id": member_id,
        "client_host": "/10.0.0.1",
        "rack": rack,
        "rack_source": None if rack is None else "subscription",
        "kind": "classic",
        "subscription": list(owned or {}) if subscription is None else list(subscription),
        "assigned_topics": [t for t, _ in held],
        "assigned_partitions": [p for _, p in held],
        "target_topics": [t for t, _ in aimed],
        "target_partitions": [p for _, p in aimed],
    } | columns


def group(
    name: str,
    *,
    members: int | Sequence[Mapping[str, Any]] = 0,
    topics: Sequence[str] | None = None,
    committed: Mapping[str, Offsets] | None = None,
    lag: Mapping[str, Offsets] | None = None,
    commit_errors: Mapping[tuple[str, int], str] | None = None,
    **columns: Any,
) -> Group:
    """
    A group.

    Args:
        members: Rows made by `member`, or a number of members that share the topics contiguously.
        topics: What those numbered members subscribe to; else the topics of *committed* and *lag*.
        committed: Topic -> committed offsets, None for a partition without a commit.
        lag: The same as distance below the end; a topic stands in one of the two.
        commit_errors: (topic, partition) -> why its commit could not be read.
        columns: Any other column of `groups` (`error`, `state`, `group_type`, `assignor` ...).
    """
    commits, behind = dict(committed or {}), dict(lag or {})
    counted = isinstance(members, int)
    rows = [member(f"{name}-{i}") for i in range(members)] if counted else list(members)  # type: ignore[arg-type]
    shared = list(topics) if topics is not None else [*commits, *behind]
    header = {
        "group_id": name,
        "group_type": "classic",
        "state": "Stable" if rows else "Empty",
        "protocol_type": "consumer",
        "assignor": "range" if rows else None,
        "coordinator": 0,
    } | columns
    return Group(
        header=header,
        members=rows,
        committed=commits,
        lag=behind,
        deal=shared if counted else (),
        commit_errors=commit_errors or {},
    )


def make_snapshot(
    *,
    topics: Sequence[Sequence[Mapping[str, Any]]] = (),
    groups: Sequence[Group] = (),
    brokers: Mapping[int, str | None] = BROKERS,
    follower_fetching: bool | None = None,
    group_assignors: Sequence[str] | None = None,
    kafka_release: str | None = None,
    cluster: str = "test",
    number: int = 0,
    problems: Sequence[Fact] = (),
    notes: Sequence[Fact] = (),
) -> ClusterSnapshot:
    """
    A snapshot of these topics and groups.

    Args:
        topics: Made by `topic`.
        groups: Made by `group`.
        brokers: Node id -> rack.
        follower_fetching: Whether they let consumers read from followers; None unknown.
        group_assignors: What members of KIP-848 groups can ask them for; None unknown.
        kafka_release: Theirs; None unknown.
        number: Its place in a series: taken `number` times `EVERY` after `FIRST`.
    """
    moment = FIRST + number * EVERY
    key = {"snapshot_id": snapshot_id(number, cluster), "cluster": cluster}
    partitions = [dict(row) for rows in topics for row in rows]
    parts = {
        "brokers": [
            {
                "node_id": node,
                "host": f"broker-{node}",
                "port": 9092,
                "rack": rack,
                "follower_fetching": follower_fetching,
                "group_assignors": group_assignors,
                "kafka_release": kafka_release,
            }
            for node, rack in brokers.items()
        ],
        "groups": [one.header for one in groups],
        "members": [row for one in groups for row in _member_rows(one, partitions)],
        "partitions": [{"begin_at": moment, "end_at": moment} | row for row in partitions],
        "commits": [row for one in groups for row in _commit_rows(one, partitions, moment)],
    }
    return ClusterSnapshot(
        snapshot_id=key["snapshot_id"],
        cluster=cluster,
        kafka_cluster_id=f"kafka-id-of-{cluster}",
        started_at=moment,
        finished_at=moment + timedelta(seconds=1),
        tables={
            name: Table.from_rows([key | dict(row) for row in rows], SNAPSHOT[name])
            for name, rows in parts.items()
        },
        problems=tuple(problems),
        notes=tuple(notes),
        requests={"ListGroups": len(brokers)},
    )


def snapshot_id(number: int = 0, cluster: str = "test") -> str:
    """The id `make_snapshot` gives to a number of a series."""
    return f"{cluster}-{FIRST + number * EVERY:%Y%m%dT%H%M%SZ}-{number:06x}"


def change(
    snapshot: ClusterSnapshot, dataset: str, edit: Callable[[list[dict[str, Any]]], Any]
) -> ClusterSnapshot:
    """
    The same snapshot with one table's rows edited: *edit* changes the list or returns another list.

    For what a healthy cluster never says: duplicate ids, negative offsets, missing rows.
    """
    rows = snapshot.tables[dataset].to_pylist()
    edited = edit(rows)
    table = Table.from_rows(edited if isinstance(edited, list) else rows, SNAPSHOT[dataset])
    return replace(snapshot, tables={**snapshot.tables, dataset: table})


def groups(
    snapshot: ClusterSnapshot, read_committed: Callable[[str], bool] = lambda group: False
) -> list[GroupSnapshot]:
    """The groups of a snapshot as values."""
    return list(groups_of(snapshot.tables, snapshot.started_at, read_committed))


def store(lake: Lake, *snapshots: ClusterSnapshot) -> list[str]:
    """Write snapshots as `take_snapshot` does; their ids in the order given."""
    for snapshot in snapshots:
        noted = facts_of(snapshot) | {
            "problems": [words(each) for each in snapshot.problems],
            "notes": [words(each) for each in snapshot.notes],
        }
        lake.write("snapshot", snapshot.snapshot_id, snapshot.tables, noted)
    return [snapshot.snapshot_id for snapshot in snapshots]


def paths_of(lake: FileLake, dataset: str, only: str) -> list[Path]:
    """The files in which the rows of a snapshot lie, by its manifest."""
    named = files_of(lake.manifest(step_of(dataset), only), dataset)
    return [Path(lake._catalog.place(dataset, only, file.name)) for file in named]


def compacted(lake: Lake, before: datetime, **hourly: Any) -> Compacted:
    """Compact every day that ended before a moment, *hourly* as `Lake.finished_days` says; what was done of all."""
    done = [lake.compact(day, before) for day in lake.finished_days(before, **hourly)]
    return Compacted(
        files=sum(each.files for each in done),
        into=sum(each.into for each in done),
        swept=sum(each.swept for each in done),
        thinned=sum(each.thinned for each in done),
    )


def _offset(offsets: Offsets, partition: int) -> int | None:
    return offsets[partition] if isinstance(offsets, Sequence) else offsets


def _pairs(held: Mapping[str, Iterable[int]]) -> list[tuple[str, int]]:
    return [(name, p) for name, partitions in held.items() for p in partitions]


def _member_rows(one: Group, partitions: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The rows with group and position, and each numbered member's contiguous share of topics."""
    rows = [dict(row) for row in one.members]
    for name in one.deal:
        numbers = [row["partition"] for row in partitions if row["topic"] == name]
        for i, row in enumerate(rows):
            share = numbers[len(numbers) * i // len(rows) : len(numbers) * (i + 1) // len(rows)]
            row["subscription"] = [*row["subscription"], name]
            for what in ("assigned", "target"):
                row[f"{what}_topics"] = [*row[f"{what}_topics"], *[name] * len(share)]
                row[f"{what}_partitions"] = [*row[f"{what}_partitions"], *share]
    key = {"group_id": one.header["group_id"]}
    return [key | {"position": i} | row for i, row in enumerate(rows)]


def _commit_rows(
    one: Group, partitions: Sequence[Mapping[str, Any]], moment: datetime
) -> list[dict[str, Any]]:
    ends = {(row["topic"], row["partition"]): row["end_offset"] for row in partitions}

    def row(name: str, p: int, offset: int | None) -> dict[str, Any]:
        error = one.commit_errors.get((name, p))
        return {
            "group_id": one.header["group_id"],
            "topic": name,
            "partition": p,
            "committed_offset": None if error else offset,
            "read_at": moment,
            "error": error,
        }

    rows = []
    for name, offsets in one.committed.items():
        rows += [row(name, p, _offset(offsets, p)) for p in _numbers(name, offsets, ends)]
    for name, offsets in one.lag.items():
        for p in _numbers(name, offsets, ends):
            behind = _offset(offsets, p)
            rows.append(row(name, p, None if behind is None else ends[name, p] - behind))
    return rows


def _numbers(name: str, offsets: Offsets, known: Iterable[tuple[str, int]]) -> list[int]:
    """The partition numbers a description speaks of: as many as it lists, or all of the topic."""
    if isinstance(offsets, Sequence):
        return list(range(len(offsets)))
    return [p for topic_name, p in known if topic_name == name]
