"""Groups whose members tell of a past, in the two ways the sticky strategies read it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from evenkeel.engine.assignors.interface import GroupSpec, build_spec
from evenkeel.engine.model.arrays import Column

Told = Mapping[str, tuple[str, int | None]]
"""Member -> what it owned, say `"t-0 u-1"`, and of which generation."""


def told_in_user_data(
    members: Mapping[str, Sequence[str]],
    topics: Mapping[str, int],
    told: Told,
    *,
    racks: Mapping[str, str] | None = None,
    replicas: Mapping[str, Sequence[Sequence[str]]] | None = None,
    subscription: Mapping[str, int] | None = None,
) -> GroupSpec:
    """
    A group as `sticky` reads it: the past stands in user data.

    Args:
        members: Member -> subscribed topics.
        topics: Topic -> number of partitions.
        told: The past; who is not there has no user data.
        racks: Member -> rack.
        replicas: Topic -> per partition the racks of its replicas.
        subscription: Member -> the generation its Subscription carries beside.
    """
    names = list(dict.fromkeys([*topics, *(t for s in members.values() for t in s)]))
    unknown = [[[]] * topics.get(t, 0) for t in names]
    located = [(replicas or {}).get(t, r) for t, r in zip(names, unknown, strict=True)]
    return build_spec(
        members=list(members),
        instance_ids=[None] * len(members),
        member_racks=[(racks or {}).get(m) for m in members],
        subscriptions=list(members.values()),
        topics=names,
        partition_counts=[topics.get(t) for t in names],
        replica_racks=[list(r) for of_topic in located for r in of_topic],
        generation=[(subscription or {}).get(m) for m in members],
        user_data=[
            {"owned": _pairs(told[m][0]), "generation": told[m][1]} if m in told else None
            for m in members
        ],
    )


def told_in_subscription(
    members: Mapping[str, Sequence[str]],
    topics: Mapping[str, int],
    told: Told,
    *,
    user_data: Mapping[str, int] | None = None,
    racks: Mapping[str, str] | None = None,
    replicas: Mapping[str, Sequence[Sequence[str]]] | None = None,
) -> GroupSpec:
    """
    A group as `cooperative-sticky` reads it: the past stands in the Subscription.

    Args:
        members: Member -> subscribed topics.
        topics: Topic -> number of partitions.
        told: The past; a generation of None is none in the Subscription.
        user_data: Member -> the generation in its user data.
        racks: Member -> rack.
        replicas: Topic -> per partition the racks of its replicas.
    """
    group = told_in_user_data(members, topics, told, racks=racks, replicas=replicas)
    data = [(user_data or {}).get(m) for m in members]
    return replace(
        group,
        owned_start=group.user_data_start,
        owned_topic=group.user_data_topic,
        owned_partition=group.user_data_partition,
        generation=group.user_data_generation,
        user_data_start=group.user_data_start * 0,
        user_data_topic=group.user_data_topic[:0],
        user_data_partition=group.user_data_partition[:0],
        user_data_generation=Column.of(data),
        user_data=tuple(None if g is None else {"generation": g} for g in data),
    )


def _pairs(text: str) -> list[tuple[str, int]]:
    split = (one.rpartition("-") for one in text.split())
    return [(topic, int(number)) for topic, _, number in split]
