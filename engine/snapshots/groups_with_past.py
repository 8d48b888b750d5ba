"""From the lake to groups with their past, a chunk of groups at a time: what every computing step reads."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import TypeVar

from ..config import Settings
from ..model.batch import GroupBatch, batch_of
from ..model.errors import LakeError, SnapshotNotFound
from ..model.groups import GroupSnapshot
from ..model.logs import logger
from ..model.states import places_tasks
from ..model.tables import Table, concat, empty
from ..ports import Lake
from . import (
    SNAPSHOT,
    STEPS,
    batch_of_tables,
    split_snapshot_id,
    stores_of,
    topics_named,
    with_nulls,
)
from .chunks import chunks_of, in_halves
from .learned import LEARNED, PEERS, Learned, Typical, learned_in, typical_of
from .validation import distrusted, rejected_as_a_whole, skipped_groups
from .walk_lake import WalkedLake

T = TypeVar("T")

_log = logger(__name__)


@dataclass(frozen=True, kw_only=True, eq=False)
class BatchWithPast:
    """
    Groups of a snapshot and what is known of them from before.

    Attributes:
        batch: The groups.
        earlier: Their earlier snapshots, newest first; each has those of the groups that it can be trusted with.
        withheld: Why a group is withheld from judgment, by group id.
        learned: What the newest metrics before had learned of a group, by group id.
        typical: What they say of all groups of the cluster.
    """

    batch: GroupBatch
    earlier: tuple[GroupBatch, ...]
    withheld: Mapping[str, str]
    learned: Mapping[str, Learned] = field(default_factory=dict)
    typical: Typical = field(default_factory=Typical)

    @classmethod
    def of(
        cls,
        group: GroupSnapshot,
        earlier: Sequence[GroupSnapshot] = (),
        withheld: str | None = None,
    ) -> BatchWithPast:
        """A single group, its earlier snapshots (newest first), and why it is withheld, if it is."""
        return cls(
            batch=batch_of([group]),
            earlier=tuple(batch_of([old]) for old in earlier),
            withheld={} if withheld is None else {group.group: withheld},
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupWithPast:
    """A group, its earlier snapshots (newest first), and why it is withheld from judgment, if it is."""

    group: GroupSnapshot
    earlier: tuple[GroupSnapshot, ...]
    withheld: str | None


@dataclass(frozen=True, kw_only=True, eq=False)
class Lookback:
    """
    Which snapshots are read for a step that looks back, and what of them cannot be trusted.

    Attributes:
        ids: The snapshot and the earlier ones it looks back on, newest first.
        withheld: Groups of the snapshot that validation withholds, and why.
        distrusted: (snapshot id, group) of earlier ones that it withheld.
        typical: As in `BatchWithPast`.
    """

    ids: tuple[str, ...]
    withheld: Mapping[str, str]
    distrusted: frozenset[tuple[str, str]]
    typical: Typical = field(default_factory=Typical)


def lookback_ids(lake: Lake, settings: Settings, snapshot_id: str) -> list[str]:
    """
    A snapshot and the earlier ones its metrics look back on, newest first.

    Rejected ones are passed over, and those of another Kafka cluster that answered under the same name.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot.
    """
    cluster, _ = split_snapshot_id(snapshot_id)
    ids = lake.snapshots(cluster, until=snapshot_id, limit=settings.lookback + 1)
    if not ids or ids[0] != snapshot_id:
        raise SnapshotNotFound(f"the lake holds no snapshot {snapshot_id}.")
    own = _kafka_cluster_id(lake, ids[0])

    def is_past(one: str) -> bool:
        is_other = len({own, _kafka_cluster_id(lake, one)} - {None}) > 1
        return not is_other and not rejected_as_a_whole(lake, one, "snapshot")

    return [ids[0], *(one for one, trusted in of_the_past(ids[1:], is_past) if trusted)]


def _kafka_cluster_id(lake: Lake, snapshot_id: str) -> str | None:
    known: str | None = lake.manifest("snapshot", snapshot_id).facts.get("kafka_cluster_id")
    return known


def of_the_past(ids: Iterable[str], read: Callable[[str], T]) -> Iterator[tuple[str, T]]:
    """What is read of earlier snapshots; one that is damaged costs the newest nothing but a line."""
    for snapshot_id in ids:
        try:
            found = read(snapshot_id)
        except LakeError as problem:
            _log.warning("%s is left out of the past: %s", snapshot_id, problem)
        else:
            yield snapshot_id, found


def lookback_of(
    lake: Lake, settings: Settings, snapshot_id: str, *, peers: bool = True
) -> Lookback:
    """
    What a step reads that looks back.

    Args:
        peers: Whether it needs to know what is typical of the cluster's groups, which only metrics say.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot.
    """
    ids = lookback_ids(lake, settings, snapshot_id)
    return Lookback(
        ids=tuple(ids),
        withheld=dict(skipped_groups(lake, snapshot_id)),
        distrusted=distrusted(lake, ids[1:]),
        typical=(_from_metrics(lake, ids[1:], PEERS, None, typical_of) if peers else None)
        or Typical(),
    )


def taken_at(lake: Lake, snapshot_id: str) -> datetime:
    """When the reading of a snapshot began."""
    return datetime.fromisoformat(lake.manifest("snapshot", snapshot_id).facts["started_at"])


OF_A_GROUP: Mapping[str, Sequence[str]] = {
    "members": tuple(
        name for name in SNAPSHOT["members"] if name not in ("metadata", "assignment")
    ),
}
"""What a group is made of; the bytes that members sent are only kept."""

OF_THE_PAST: Mapping[str, Sequence[str]] = {
    # all but the snapshot, which is known: the rest is mostly the same in the next one
    **{
        dataset: tuple(name for name in SNAPSHOT[dataset] if name != "snapshot_id")
        for dataset in ("groups", "brokers")
    },
    "members": (
        "group_id",
        "member_id",
        "position",
        "client_id",
        "client_host",
        "instance_id",
        "subscription",
        "generation",
        "assigned_topics",
        "assigned_partitions",
        # of threads of Kafka Streams, for what they restore
        *("process_id", "active_tasks", "standby_tasks", "warmup_tasks"),
        *("task_offsets", "task_end_offsets"),
    ),
    "commits": (
        *("group_id", "topic", "partition", "committed_offset", "reported_lag", "read_at"),
        "error",
    ),
    "partitions": (
        "topic",
        "topic_id",
        "partition",
        "begin_offset",
        "end_offset",
        "last_stable_offset",
        "begin_at",
        "end_at",
    ),
}
"""What says how a group moved since; what its logs weighed and where they lay is of no interest afterwards."""


def read_batch(
    lake: Lake,
    settings: Settings,
    snapshot_id: str,
    names: Sequence[str],
    *,
    whole: bool = True,
    like: GroupBatch | None = None,
) -> GroupBatch:
    """
    Some groups of one snapshot; those that it does not have are left out.

    Args:
        names: Their ids, which decide their order.
        whole: Whether all of it is read, or the columns `OF_THE_PAST` alone, and no changelogs of Kafka Streams
            applications; all else is unknown then.
        like: The same groups in another snapshot, not whole either: what is the same is taken from there.
    """
    # a walk asks for the same step after step, and for the same past snapshot after snapshot
    known = lake.batches if isinstance(lake, WalkedLake) else {}
    key = (snapshot_id, whole, tuple(names))
    if key not in known:
        known[key] = _read_batch(lake, settings, snapshot_id, names, whole=whole, like=like)
    return known[key]


def _read_batch(
    lake: Lake,
    settings: Settings,
    snapshot_id: str,
    names: Sequence[str],
    *,
    whole: bool,
    like: GroupBatch | None,
) -> GroupBatch:
    cluster, _ = split_snapshot_id(snapshot_id)

    def read(
        dataset: str,
        *,
        groups: Collection[str] | None = None,
        topics: Collection[str] | None = None,
    ) -> Table:
        columns = (OF_A_GROUP if whole else OF_THE_PAST).get(dataset)
        rows = lake.read(dataset, [snapshot_id], groups=groups, topics=topics, columns=columns)
        return rows if columns is None else with_nulls(rows, SNAPSHOT[dataset])

    tables = {name: read(name, groups=names) for name in ("groups", "members", "commits")}
    topics = set(topics_named(tables["members"], tables["commits"]))
    if whole:
        topics |= _stores(lake, snapshot_id, tables["groups"])
    tables["partitions"] = read("partitions", topics=topics)
    tables["brokers"] = read("brokers")

    def read_committed(group: str) -> bool:
        return settings.rule(cluster, group).isolation == "read_committed"

    when = taken_at(lake, snapshot_id)
    return batch_of_tables(tables, when, read_committed, names, like=like, of=snapshot_id)


def known_by_name(lake: Lake, snapshot_id: str, name: str) -> GroupSnapshot:
    """A group as its row of the dataset `groups` has it, without members and partitions: for one that is broken."""
    tables = {dataset: empty(schema) for dataset, schema in SNAPSHOT.items()}
    tables["groups"] = lake.read("groups", [snapshot_id], groups=[name])
    [group] = batch_of_tables(tables, taken_at(lake, snapshot_id)).groups
    return group


def _stores(lake: Lake, snapshot_id: str, groups: Table) -> set[str]:
    """The topics that keep stores of those groups that are Kafka Streams applications."""
    names, *kinds = (groups[name].to_pylist() for name in ("group_id", "group_type", "assignor"))
    places = [name for name, *kind in zip(names, *kinds, strict=True) if places_tasks(*kind)]
    if not places:
        return set()
    topics = lake.read("partitions", [snapshot_id], columns=["topic"])["topic"].used().words
    ascending = sorted(topics)
    return {topic for name in places for topic in stores_of(name, ascending)}


def read_with_past(
    lake: Lake, settings: Settings, lookback: Lookback, names: Sequence[str], *, whole: bool = True
) -> BatchWithPast:
    """Some groups of a snapshot, *whole* as for `read_batch`, with their earlier ones."""
    newest, *before = lookback.ids
    earlier: list[GroupBatch] = []

    def read(one: str) -> GroupBatch:
        trusted = [name for name in names if (one, name) not in lookback.distrusted]
        like = earlier[-1] if earlier else None
        return read_batch(lake, settings, one, trusted, whole=False, like=like)

    for _, batch in of_the_past(before, read):
        earlier.append(batch)
    return BatchWithPast(
        batch=read_batch(lake, settings, newest, names, whole=whole),
        earlier=tuple(earlier),
        withheld={name: lookback.withheld[name] for name in names if name in lookback.withheld},
        learned=learned_before(lake, before, names),
        typical=lookback.typical,
    )


def learned_before(lake: Lake, before: Sequence[str], names: Sequence[str]) -> dict[str, Learned]:
    """What the metrics of the newest earlier snapshot that has some had learned of groups, by their ids."""
    return _from_metrics(lake, before, LEARNED, names, learned_in) or {}


def _from_metrics(
    lake: Lake,
    before: Sequence[str],
    columns: Sequence[str],
    names: Sequence[str] | None,
    read: Callable[[Table], T],
) -> T | None:
    """What the metrics of the newest earlier snapshot say that has some; None where none has."""
    for snapshot_id in before:
        # without metrics, or with damaged ones
        with suppress(LakeError):
            rows = lake.read("group_metrics", [snapshot_id], groups=names, columns=columns)
            return read(rows)
    return None


def left_out(name: str, problem: Exception) -> None:
    """Log that a group cannot be worked on."""
    _log.warning("group %r is left out: %s: %s", name, type(problem).__name__, problem)


def of_each(
    lake: Lake,
    snapshot_id: str,
    work: Callable[[Sequence[str]], Sequence[T]],
    pattern: str = "*",
    tell: Callable[[str, Exception], object] = left_out,
) -> list[T]:
    """
    What is made of the groups of a snapshot, chunk by chunk in listing order; a broken group costs the others nothing.

    Args:
        lake: Where the snapshot is.
        snapshot_id: The snapshot.
        work: Makes something of groups, by their ids.
        pattern: Shell pattern of group ids.
        tell: Is called with a group that is left out, and why.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot.
    """

    def alone(name: str, problem: Exception) -> Sequence[T]:
        tell(name, problem)
        return ()

    return [
        each
        for chunk in chunks_of(lake, snapshot_id, pattern)
        for part in in_halves(chunk.groups, work, alone)
        for each in part
    ]


def groups_at(
    lake: Lake,
    settings: Settings,
    snapshot_id: str,
    pattern: str = "*",
    tell: Callable[[str, Exception], object] = left_out,
) -> list[GroupSnapshot]:
    """The groups of one snapshot in listing order; *pattern* and *tell* as for `of_each`."""

    def work(names: Sequence[str]) -> list[GroupSnapshot]:
        return [*read_batch(lake, settings, snapshot_id, names).groups]

    return of_each(lake, snapshot_id, work, pattern, tell)


def groups_with_past(
    lake: Lake,
    settings: Settings,
    snapshot_id: str,
    pattern: str = "*",
    tell: Callable[[str, Exception], object] = left_out,
) -> list[GroupWithPast]:
    """
    The groups of a snapshot in listing order, each with its earlier snapshots and its verdict.

    Args:
        lake, settings, snapshot_id, pattern: Which groups.
        tell: As for `of_each`.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot.
    """
    lookback = lookback_of(lake, settings, snapshot_id)

    def work(names: Sequence[str]) -> list[GroupWithPast]:
        each = read_with_past(lake, settings, lookback, names)
        return [_with_past(group, each) for group in each.batch.groups]

    return of_each(lake, snapshot_id, work, pattern, tell)


def _with_past(group: GroupSnapshot, of: BatchWithPast) -> GroupWithPast:
    found = ((old, old.place.get(group.group)) for old in of.earlier)
    return GroupWithPast(
        group=group,
        earlier=tuple(old.groups[at] for old, at in found if at is not None),
        withheld=of.withheld.get(group.group),
    )


def with_others(
    lake: Lake, snapshot_id: str, step: str, tables: Mapping[str, Table], pattern: str
) -> dict[str, Table]:
    """
    Tables computed for the groups of a pattern, and below them the rows the lake has of all other groups.

    So a run by hand for a few groups takes nothing away from the rest.
    """
    if pattern == "*":
        return dict(tables)
    others = rows_of_others(lake, snapshot_id, step, pattern)
    return {name: concat([table, others[name]]) for name, table in tables.items()}


def rows_of_others(lake: Lake, snapshot_id: str, step: str, pattern: str) -> dict[str, Table]:
    """The rows that the lake has from a step of all groups but those of a shell pattern."""
    kept = {}
    for name, schema in STEPS[step].items():
        try:
            names = lake.read(name, [snapshot_id], columns=["group_id"])["group_id"].used().words
            other = [one for one in names if not fnmatch.fnmatchcase(one, pattern)]
            kept[name] = lake.read(name, [snapshot_id], groups=other)
        except SnapshotNotFound:
            kept[name] = empty(schema)
    return kept
