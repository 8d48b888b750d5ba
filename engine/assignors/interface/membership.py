"""The same group with other members: without one, with one more like the others, or with one back under a new id."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from uuid import NAMESPACE_OID, uuid5

import numpy as np

from ...model.arrays import NONE, Ints, ragged_entries
from .group import GroupSpec, nothing_reported

_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")


def with_members(group: GroupSpec, places: Sequence[int] | Ints, ids: Sequence[str]) -> GroupSpec:
    """
    The group with these members instead, of whom nobody owns or reports anything yet (`rejoining`).

    Args:
        group: The group.
        places: Which of its members each is like: racks, subscription, capacity and configuration are theirs.
        ids: What each is called. An instance id stays with the id that had it; another static member has its own.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t"], "b": ["t", "u"]}, {"t": 2, "u": 1}, racks={"b": "x"}, capacities={"b": 9})
    >>> other = with_members(group, [1, 1], ["b", "c"])
    >>> other.members, [s.tolist() for s in other.subscribers], other.member_rack.tolist()
    (('b', 'c'), [[0, 1], [0, 1]], [0, 0])
    >>> other.capacity.tolist()
    [9.0, 9.0]
    """
    rows = np.asarray(places, np.int64)
    start, entries = ragged_entries(group.subscription_start, rows)
    listed = rows.tolist()
    return replace(
        group,
        members=tuple(ids),
        instance_ids=tuple(
            _instance(group, place, name) for place, name in zip(listed, ids, strict=True)
        ),
        member_rack=group.member_rack[rows],
        subscription_start=start,
        subscription_topic=group.subscription_topic[entries],
        owner=np.full(group.partition_count, NONE, np.int32),
        **nothing_reported(len(rows)),
        user_data=tuple(group.user_data[place] for place in listed),
        capacity=group.capacity[rows],
        config=tuple(group.config[place] for place in listed) if group.config else (),
    )


def _instance(group: GroupSpec, place: int, name: str) -> str | None:
    instance = group.instance_ids[place]
    return instance if instance is None or group.members[place] == name else name


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
