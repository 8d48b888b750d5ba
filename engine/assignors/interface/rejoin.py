"""
The same group as its members come back, or with other members.

With what they own, without a past, or with racks as reads go; without one, with one more like the others, or with
one back under a new id.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import TypeVar
from uuid import NAMESPACE_OID, uuid5

import numpy as np

from ...model.arrays import NONE, Column, Flags, Indices, Ints, ragged_entries, starts_of
from .group import GroupSpec, like, nothing_reported, reporting

T = TypeVar("T")


def fresh(group: GroupSpec, reporting_nothing: Collection[str] | None = None) -> GroupSpec:
    """
    The group when members come back without a past, though *owner* still says what they have.

    Args:
        group: The group.
        reporting_nothing: Ids of the members that report nothing; None for all, as after a restart of every member.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 2}, owned={"a": [("t", 0)], "b": [("t", 1)]})
    >>> fresh(group).owned_partition.tolist(), fresh(group).owner.tolist()
    ([], [0, 1])
    >>> fresh(group, {"a"}).owned_start.tolist(), fresh(group, {"a"}).owned_partition.tolist()
    ([0, 0, 1], [1])
    """
    if reporting_nothing is not None and not reporting_nothing:
        return group
    told = reporting_nothing
    return telling(
        group, np.array([told is not None and m not in told for m in group.members], bool)
    )


def telling(group: GroupSpec, reports: Flags) -> GroupSpec:
    """The group when only some members (M) report what they own, though *owner* still says what all have."""
    if bool(reports.all()):
        return group
    if not bool(reports.any()):
        nothing = nothing_reported(len(group.members)) | {"user_data": (None,) * len(group.members)}
        return reporting(group, nothing)
    owned = np.repeat(reports, np.diff(group.owned_start))
    user_data = np.repeat(reports, np.diff(group.user_data_start))
    return reporting(
        group,
        {
            "owned_start": _kept_starts(group.owned_start, reports),
            "owned_topic": group.owned_topic[owned],
            "owned_partition": group.owned_partition[owned],
            "generation": _where(group.generation, reports),
            "user_data_start": _kept_starts(group.user_data_start, reports),
            "user_data_topic": group.user_data_topic[user_data],
            "user_data_partition": group.user_data_partition[user_data],
            "user_data_generation": _where(group.user_data_generation, reports),
            "user_data": tuple(map(_told, group.user_data, reports.tolist())),
        },
    )


def rejoining(
    group: GroupSpec, owner: Indices, generation: int | Ints = 1, order: Ints | None = None
) -> GroupSpec:
    """
    The group, or many, as members would rejoin while they own *owner*: all report that, with one generation.

    Both ways of reporting are filled in, the subscription's (`cooperative-sticky`, server side) and the user data's
    (`sticky`).

    Args:
        group: The group.
        owner: (P) who owns what when they rejoin, NONE for nobody.
        generation: What all of them report; (M) what each does, where groups differ.
        order: (P) the partitions in the order of the lists; None: by (topic, partition), as the Java client writes it.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 3})
    >>> again = rejoining(group, np.array([1, 0, 1]))
    >>> again.owned_start.tolist(), again.owned_partition.tolist(), again.generation.tolist()
    ([0, 1, 3], [1, 0, 2], [1, 1])
    """
    count = len(group.members)
    order = group.by_name if order is None else order
    held = order[owner[order] != NONE]
    # numpy sorts 16 bits digit by digit, many times faster
    short = np.uint16 if count <= 1 << 16 else np.int64
    held = held[np.argsort(owner[held].astype(short), kind="stable")]
    start = starts_of(np.bincount(owner[held], minlength=count))
    topic, partition = group.topic_of[held], group.number_of[held].astype(np.int32)
    generations = Column(np.full(count, generation, np.int64))
    return reporting(
        group,
        {
            "owned_start": start,
            "owned_topic": topic,
            "owned_partition": partition,
            "generation": generations,
            "user_data_start": start,
            "user_data_topic": topic,
            "user_data_partition": partition,
            "user_data_generation": generations,
        },
    )


def as_read(group: GroupSpec) -> GroupSpec:
    """
    The group with the racks that count when its members read: where they are known to be, and whence brokers serve.

    What goes by the cost of reading across racks sees this: the judge, plans, and whatever is proven to cross least.
    Kafka's own strategies never do.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t"]}, {"t": 1}, racks={"a": "x"}, replicas={"t": [["x", "y"]]})
    >>> as_read(group) is group
    True
    >>> silent = replace(group, member_rack=np.array([NONE]), leader_rack=np.array([1]), leaders_only=True)
    >>> silent.replica_rack.tolist(), as_read(silent).replica_rack.tolist(), as_read(silent).member_rack.tolist()
    ([0, 1], [1], [0])
    """
    if not group.leaders_only and np.array_equal(group.member_rack, group.known_rack):
        return group
    seen = replace(group, member_rack=group.known_rack)
    if not group.leaders_only:
        return seen
    return replace(
        seen,
        replica_start=np.arange(group.partition_count + 1, dtype=np.int64),
        replica_rack=group.leader_rack,
    )


def all_telling(group: GroupSpec) -> GroupSpec:
    """
    The group once each member whose rack is known sends it.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 1}, racks={"a": "x", "b": "y"})
    >>> all_telling(replace(group, member_rack=np.array([NONE, 1]))).member_rack.tolist()
    [0, 1]
    """
    told = group.member_rack != NONE
    return replace(group, member_rack=np.where(told, group.member_rack, group.known_rack))


def _kept_starts(start: Ints, kept: Flags) -> Ints:
    """Where each member's list begins once only some members have one."""
    return starts_of(np.diff(start) * kept)


def _told(data: T, told: bool) -> T | None:
    return data if told else None


def _where(column: Column, kept: Flags) -> Column:
    return Column(column.values, column.known & kept)


_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def with_members(
    group: GroupSpec, places: Sequence[int] | Ints, ids: Sequence[str], start: Ints | None = None
) -> GroupSpec:
    """
    The group with these members instead, of whom nobody owns or reports anything yet (`rejoining`).

    Args:
        group: The group.
        places: Which of its members each is like: racks, subscription, capacity and configuration are theirs.
        ids: What each is called. An instance id stays with the id that had it; another static member has its own.
        start: Of many groups, where each one's members begin then.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t"], "b": ["t", "u"]}, {"t": 2, "u": 1}, racks={"b": "x"}, capacities={"b": 9})
    >>> other = with_members(group, [1, 1], ["b", "c"])
    >>> other.members, [s.tolist() for s in other.subscribers], other.member_rack.tolist()
    (('b', 'c'), [[0, 1], [0, 1]], [0, 0])
    >>> other.capacity.tolist()
    [9.0, 9.0]
    """
    rows = np.asarray(places, np.int64)
    subscription_start, entries = ragged_entries(group.subscription_start, rows)
    listed, bounds = rows.tolist(), group.bounds
    before = map(group.members.__getitem__, listed)
    new = [n for n, (was, name) in enumerate(zip(before, ids, strict=True)) if was != name]
    instances = [*map(group.instance_ids.__getitem__, listed)]
    for n in new:
        instances[n] = None if instances[n] is None else ids[n]
    made = replace(
        group,
        members=tuple(ids),
        instance_ids=tuple(instances),
        member_rack=group.member_rack[rows],
        known_rack=group.known_rack[rows],
        subscription_start=subscription_start,
        subscription_topic=group.subscription_topic[entries],
        owner=np.full(group.partition_count, NONE, np.int32),
        **nothing_reported(len(rows)),
        user_data=tuple(map(group.user_data.__getitem__, listed)),
        capacity=group.capacity[rows],
        config=tuple(map(group.config.__getitem__, listed)) if group.config else (),
        bounds=bounds if bounds is None or start is None else replace(bounds, members=start),
    )
    return like(made, group, rows, np.array(new, np.int64))


def another_id(member_id: str, number: int = 0) -> str:
    """
    What a member is called that comes after one of this id, or beside it: a new random part after the same client id.

    The same for the same member and number, and nowhere in particular among ids that begin with the same client id.

    >>> another_id("app-1-6dbf03ea-6f9d-4b2f-8a47-0d8a3b4f1f7b")[:6], another_id("app-1")[:6]
    ('app-1-', 'app-1-')
    """
    client = _UUID.sub("", member_id)
    prefix = client if client != member_id else f"{member_id}-"
    return f"{prefix}{uuid5(NAMESPACE_OID, f'{member_id}/{number}')}"
