"""Groups as strategies see them: from names, from parallel lists, from a snapshot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...metrics.racks import stray_members
from ...model.arrays import (
    NONE,
    Column,
    Flags,
    Floats,
    Indices,
    Ints,
    ragged,
    ragged_entries,
    starts_of,
)
from ...model.batch import GroupBatch, batch_of
from ...model.groups import CONFIGURED, GroupSnapshot, PartitionTable
from ...model.states import GroupType
from .group import Bounds, GroupSpec, nothing_reported
from .rejoin import rejoining


def spec(
    members: Mapping[str, Sequence[str]],
    topics: Mapping[str, int],
    *,
    racks: Mapping[str, str] | None = None,
    replicas: Mapping[str, Sequence[Sequence[str | None]]] | None = None,
    instance_ids: Mapping[str, str] | None = None,
    owned: Mapping[str, Sequence[tuple[str, int]]] | None = None,
    lags: Mapping[str, Sequence[int | None]] | None = None,
    rates: Mapping[str, Sequence[float | None]] | None = None,
    capacities: Mapping[str, float] | None = None,
    backlogs: Mapping[str, Sequence[float]] | None = None,
) -> GroupSpec:
    """
    A group from names, for doctests, tests and people.

    Args:
        members: Member id -> subscribed topics.
        topics: Topic -> number of partitions; a topic left out does not exist.
        racks: Member id -> rack.
        replicas: Topic -> per partition the racks of its replicas.
        instance_ids: Member id -> `group.instance.id`.
        owned: Member id -> (topic, partition) it owns now.
        lags: Topic -> per partition lag in offsets, None unknown.
        rates: Topic -> per partition offsets/s produced, None unknown.
        capacities: Member id -> offsets/s it can consume.
        backlogs: Topic -> per partition offsets of the lag beyond what waits for the next commit; of one left out 0.

    >>> group = spec({"c0": ["t"], "c1": ["t"]}, {"t": 3})
    >>> group.partition_count, [s.tolist() for s in group.subscribers]
    (3, [[0, 1]])
    """
    names = [*topics, *dict.fromkeys(t for s in members.values() for t in s if t not in topics)]
    partitions = [(t, p) for t in names for p in range(topics.get(t, 0))]
    held = {pair: m for m, pairs in (owned or {}).items() for pair in pairs}
    order = list(members)
    of_replicas = [list((replicas or {}).get(t, [[]] * (p + 1))[p]) for t, p in partitions]
    built = build_spec(
        members=order,
        instance_ids=[(instance_ids or {}).get(m) for m in order],
        member_racks=[(racks or {}).get(m) for m in order],
        subscriptions=[list(members[m]) for m in order],
        topics=names,
        partition_counts=[topics.get(t) for t in names],
        replica_racks=of_replicas,
        owner=[order.index(held[p]) if p in held else NONE for p in partitions],
        owned=[list((owned or {}).get(m, ())) for m in order],
        lag=Column.of([(lags or {}).get(t, [None] * (p + 1))[p] for t, p in partitions]),
        rate=[(rates or {}).get(t, [None] * (p + 1))[p] for t, p in partitions],
        capacity=[(capacities or {}).get(m) for m in order],
    )
    if backlogs is None:
        return built
    waits = [backlogs.get(t, [0] * (p + 1))[p] for t, p in partitions]
    return replace(built, backlog=np.array(waits, np.float64))


def build_spec(
    *,
    members: Sequence[str],
    instance_ids: Sequence[str | None],
    member_racks: Sequence[str | None],
    subscriptions: Sequence[Sequence[str]],
    topics: Sequence[str],
    partition_counts: Sequence[int | None],
    replica_racks: Sequence[Sequence[str | None]],
    topic_ids: Sequence[str | None] | None = None,
    leader_racks: Sequence[str | None] | None = None,
    owner: Sequence[int] | None = None,
    owned: Sequence[Sequence[tuple[str, int]]] | None = None,
    generation: Sequence[int | None] | None = None,
    user_data: Sequence[Mapping[str, Any] | None] | None = None,
    lag: Column | None = None,
    rate: Sequence[float | None] | None = None,
    bytes_per_record: Sequence[float | None] | None = None,
    capacity: Sequence[float | None] | None = None,
    config: Sequence[Mapping[str, Any]] | None = None,
) -> GroupSpec:
    """
    A group from parallel lists of names: one entry per member, per topic, or per partition in topic order.

    A topic with a partition count of None does not exist. Topics must include every name a subscription mentions.
    An empty rack string is no rack. Of user data, `owned` (pairs) and `generation` also become arrays.
    """
    rack_names = sorted(
        {r for r in member_racks if r}
        | {r for racks in replica_racks for r in racks if r}
        | {r for r in leader_racks or () if r}
    )
    rack_of: dict[str | None, int] = {name: i for i, name in enumerate(rack_names)}
    topic_of = {name: i for i, name in enumerate(topics)}
    count = len(members)
    topic_start = starts_of([n or 0 for n in partition_counts])
    size = int(topic_start[-1])
    subscription_start, subscription_topic = ragged(
        [[topic_of[t] for t in s] for s in subscriptions]
    )
    replica_start, replica_rack = ragged(
        [[rack_of.get(r, NONE) for r in racks] for racks in replica_racks]
    )
    owned_start, owned_topic, owned_partition = _pairs(owned or [()] * count, topic_of)
    user_data = user_data or [None] * count
    user_data_start, user_data_topic, user_data_partition = _pairs(
        [_reported(u, "owned", ()) for u in user_data], topic_of
    )
    member_rack = np.array([rack_of.get(r, NONE) for r in member_racks], np.int32)
    return GroupSpec(
        members=tuple(members),
        instance_ids=tuple(instance_ids),
        racks=tuple(rack_names),
        member_rack=member_rack,
        known_rack=member_rack,
        topics=tuple(topics),
        topic_ids=tuple(topic_ids or [None] * len(topics)),
        topic_exists=np.array([n is not None for n in partition_counts], np.bool_),
        topic_start=topic_start,
        subscription_start=subscription_start,
        subscription_topic=subscription_topic,
        replica_start=replica_start,
        replica_rack=replica_rack,
        leader_rack=np.array(
            [rack_of.get(r, NONE) for r in leader_racks or [None] * size], np.int32
        ),
        owner=np.full(size, NONE, np.int32) if owner is None else np.array(owner, np.int32),
        owned_start=owned_start,
        owned_topic=owned_topic,
        owned_partition=owned_partition,
        generation=Column.of(generation or [None] * count),
        user_data_start=user_data_start,
        user_data_topic=user_data_topic,
        user_data_partition=user_data_partition,
        user_data_generation=Column.of([_reported(u, "generation", None) for u in user_data]),
        user_data=tuple(user_data),
        lag=lag if lag is not None else Column.unknown(size),
        rate=_floats(rate, size),
        bytes_per_record=_floats(bytes_per_record, size),
        capacity=_floats(capacity, count),
        config=tuple(config or [{}] * count),
    )


def _floats(values: Sequence[float | None] | None, size: int) -> Floats:
    """Numbers, nan where unknown; *size* unknown ones where there are none."""
    return np.array([np.nan if v is None else v for v in values or [None] * size], np.float64)


def _reported(user_data: Mapping[str, Any] | None, name: str, missing: Any) -> Any:
    """A part of a member's user data; *missing* where it says nothing of it."""
    value = (user_data or {}).get(name)
    return missing if value is None else value


def _pairs(
    lists: Sequence[Sequence[tuple[str, int]]], topic_of: Mapping[str, int]
) -> tuple[Ints, Indices, Indices]:
    """Lists of (topic, partition number) as ragged arrays; NONE for a topic that is not in the tables."""
    start, topics = ragged([[topic_of.get(t, NONE) for t, _ in pairs] for pairs in lists])
    return start, topics, ragged([[p for _, p in pairs] for pairs in lists])[1]


def spec_of(group: GroupSnapshot, lag: Column, rate: Floats) -> GroupSpec:
    """The strategies' input for a live group: see `specs_of`; configuration says nothing of its members."""
    built = specs_of(batch_of([group]), lag, rate)
    return replace(built, config=({},) * len(group.members))


def specs_of(
    batch: GroupBatch,
    lag: Column,
    rate: Floats,
    *,
    bytes_per_record: Floats | None = None,
    capacity: Floats | None = None,
) -> GroupSpec:
    """
    The strategies' input for live groups, behind each other: their subscribed, existing partitions; members report what
    they own now.

    Of a KIP-848 group that is the target, each member's in the order in which its coordinator lists it.

    Args:
        batch: The groups of a cluster, at least one; without what configuration says of members.
        lag: Per row of the partition table, as strategies shall see it.
        rate: Offsets/s produced per row, nan where unknown.
        bytes_per_record: Per row, nan where unknown; None: unknown of all.
        capacity: Offsets/s each member can consume, nan where unknown; None: unknown of all.
    """
    table, members = batch.partitions, batch.members
    rows = np.flatnonzero(table.assignable)
    topics = _topics(batch, rows)
    replica_start, entries = ragged_entries(table.replica_start, rows)
    replicas, leaders = table.replica_rack[entries], table.leader_rack[rows]
    racks, renamed = _racks(table, replicas, leaders, members.racks)
    place = {rack: number for number, rack in enumerate(racks)}
    told = np.array([place[rack] if rack else NONE for rack in members.racks], np.int32)
    configured = np.array([source == CONFIGURED for source in members.rack_sources], np.bool_)
    by_target = batch.flags(lambda header: header.type is GroupType.CONSUMER)[batch.group[rows]]
    turn = np.where(by_target, table.target_turn[rows], np.arange(len(rows)))
    built = GroupSpec(
        members=tuple(members.ids),
        instance_ids=tuple(members.instance_ids),
        racks=racks,
        member_rack=np.where(configured, NONE, told).astype(np.int32),
        known_rack=np.where(stray_members(batch), NONE, told).astype(np.int32),
        topics=topics.names,
        topic_ids=topics.ids,
        topic_exists=topics.exist,
        topic_start=topics.partition_start,
        subscription_start=topics.subscription_start,
        subscription_topic=topics.subscription,
        replica_start=replica_start,
        replica_rack=renamed[replicas],
        leader_rack=renamed[leaders],
        owner=np.where(by_target, table.target_owner[rows], table.owner[rows]),
        **nothing_reported(len(members)),
        user_data=(None,) * len(members),
        lag=lag.take(rows),
        rate=rate[rows],
        bytes_per_record=_floats(None, len(rows))
        if bytes_per_record is None
        else bytes_per_record[rows],
        capacity=_floats(None, len(members)) if capacity is None else capacity,
        leaders_only=batch.headers[0].follower_fetching is False,
        bounds=Bounds(members=members.start, topics=topics.start) if len(batch) > 1 else None,
    )
    return rejoining(built, built.owner, order=np.lexsort((turn, batch.group[rows])))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Topics:
    """
    The topics of a batch as strategies number them: of each group those that exist, then those that it only asks for.

    Attributes:
        names, ids, exist, partition_start: As in `GroupSpec`.
        start: (G + 1) where those of each group begin.
        subscription_start, subscription: As in `GroupSpec`.
    """

    names: tuple[str, ...]
    ids: tuple[str | None, ...]
    exist: Flags
    partition_start: Ints
    start: Ints
    subscription_start: Ints
    subscription: Indices


def _topics(batch: GroupBatch, rows: Ints) -> _Topics:
    table, members, count = batch.partitions, batch.members, len(batch)
    known, sizes = np.unique(table.topic[rows], return_counts=True)
    number = {name: place for place, name in enumerate(members.topic_names)}
    of_known = [number.setdefault(table.topics[t], len(number)) for t in known.tolist()]
    names = [*number]
    # group and name in one number, of what exists and of what is subscribed to
    there = batch.topic_group[known] * len(names) + np.array(of_known, np.int64)
    asked = np.repeat(members.group, members.subscribed) * len(names) + members.subscription_topic
    listed = members.subscription_topic != NONE
    new, first = np.unique(asked[listed & ~np.isin(asked, there)], return_index=True)
    new = new[np.argsort(first)]
    both = np.concatenate([there, new])
    group = both // max(len(names), 1)
    order = np.argsort(group, kind="stable")
    codes = both[order]
    by_code = np.argsort(codes)
    found = by_code[np.searchsorted(codes[by_code], asked[listed])] if len(codes) else asked[:0]
    member = np.repeat(np.arange(len(members)), members.subscribed)[listed]
    ids = [table.topic_ids[topic] for topic in known.tolist()] + [None] * len(new)
    sizes = np.concatenate([sizes, np.zeros(len(new), np.int64)])
    return _Topics(
        names=tuple(names[code % len(names)] for code in codes.tolist()),
        ids=tuple(ids[place] for place in order.tolist()),
        exist=order < len(known),
        partition_start=starts_of(sizes[order]),
        start=starts_of(np.bincount(group, minlength=count)),
        subscription_start=starts_of(np.bincount(member, minlength=len(members))),
        subscription=found.astype(np.int32),
    )


def _racks(
    table: PartitionTable, replicas: Indices, leaders: Indices, of_members: Sequence[str | None]
) -> tuple[tuple[str, ...], Indices]:
    """The racks of groups, by name: those of members and replicas; and what each of the table's is called then."""
    used = np.unique(np.concatenate([replicas, leaders]))
    names = {table.racks[rack] for rack in used.tolist() if rack != NONE}
    racks = tuple(sorted(names | {rack for rack in of_members if rack}))
    place = {rack: number for number, rack in enumerate(racks)}
    renamed = np.array([*(place.get(rack, NONE) for rack in table.racks), NONE], np.int32)
    return racks, renamed
