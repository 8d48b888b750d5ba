"""Groups as strategies see them: from names, from parallel lists, from a snapshot."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evenkeel.engine.assignor.group import GroupSpec
from evenkeel.engine.assignor.rejoin import rejoining
from evenkeel.engine.model import NONE, Column, GroupSnapshot, GroupType, Indices, Ints, ragged


def spec(
    members: Mapping[str, Sequence[str]],
    topics: Mapping[str, int],
    *,
    racks: Mapping[str, str] | None = None,
    replicas: Mapping[str, Sequence[Sequence[str | None]]] | None = None,
    instance_ids: Mapping[str, str] | None = None,
    owned: Mapping[str, Sequence[tuple[str, int]]] | None = None,
    lags: Mapping[str, Sequence[int | None]] | None = None,
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

    >>> group = spec({"c0": ["t"], "c1": ["t"]}, {"t": 3})
    >>> group.partition_count, [s.tolist() for s in group.subscribers]
    (3, [[0, 1]])
    """
    names = [*topics, *dict.fromkeys(t for s in members.values() for t in s if t not in topics)]
    partitions = [(t, p) for t in names for p in range(topics.get(t, 0))]
    held = {pair: m for m, pairs in (owned or {}).items() for pair in pairs}
    order = list(members)
    of_replicas = [list((replicas or {}).get(t, [[]] * (p + 1))[p]) for t, p in partitions]
    return build_spec(
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
    )


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
    topic_start = np.zeros(len(topics) + 1, np.int64)
    np.cumsum([n or 0 for n in partition_counts], out=topic_start[1:])
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
    return GroupSpec(
        members=tuple(members),
        instance_ids=tuple(instance_ids),
        racks=tuple(rack_names),
        member_rack=np.array([rack_of.get(r, NONE) for r in member_racks], np.int32),
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
        rate=np.array([np.nan if r is None else r for r in rate or [None] * size], np.float64),
        config=tuple(config or [{}] * count),
    )


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


def spec_of(
    group: GroupSnapshot,
    lag: Column,
    rate: npt.NDArray[np.float64],
    config: Sequence[Mapping[str, Any]] | None = None,
) -> GroupSpec:
    """
    The strategies' input for a live group: its subscribed, existing partitions; members report what they own now.

    Of a KIP-848 group that is the target, each member's in the order in which its coordinator lists it.

    Args:
        group: The group as snapshot.
        lag: Per row of the group's partition table, as strategies shall see it.
        rate: Offsets/s produced per row, nan where unknown.
        config: Per member, what configuration says of it (weight, host ...).
    """
    table = group.partitions
    rows = np.flatnonzero(table.assignable)
    names = [table.topics[t] for t in table.topic[rows].tolist()]
    counts = Counter(names)  # in the order of the table
    topics = list(counts)
    missing = dict.fromkeys(
        t for m in group.members for t in m.subscription or () if t not in counts
    )
    ids = dict(zip(table.topics, table.topic_ids, strict=True))
    owner, order = table.owner[rows], None
    if group.type is GroupType.CONSUMER:
        owner, order = table.target_owner[rows], np.argsort(table.target_turn[rows], kind="stable")
    racks = np.array([*table.racks, None], dtype=object)
    bounds = zip(
        table.replica_start[rows].tolist(), table.replica_start[rows + 1].tolist(), strict=True
    )
    built = build_spec(
        members=[m.id for m in group.members],
        instance_ids=[m.instance_id for m in group.members],
        member_racks=[m.rack for m in group.members],
        subscriptions=[m.subscription or () for m in group.members],
        topics=[*topics, *missing],
        topic_ids=[ids.get(t) for t in [*topics, *missing]],
        partition_counts=[*counts.values(), *(None for _ in missing)],
        replica_racks=[racks[table.replica_rack[a:b]].tolist() for a, b in bounds],
        leader_racks=racks[table.leader_rack[rows]].tolist(),
        owner=owner.tolist(),
        lag=lag.take(rows),
        rate=[None if np.isnan(r) else r for r in rate[rows].tolist()],
        config=config,
    )
    return rejoining(built, built.owner, order=order)
