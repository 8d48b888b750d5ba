"""
The orders in which Kafka's assignors go through members.

Source of `member_order`: `AbstractPartitionAssignor.MemberInfo` of Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...model.arrays import Indices, Ints
from ..interface import GroupSpec, once
from .java_order import map_order, sort_keys, string_order


@once
def member_order(group: GroupSpec) -> Indices:
    """
    The members (M indices): static ones by instance id, then dynamic ones by member id, in Java's
    string order.

    Two members with one instance id, which a broker does not let be, stay in the order of the map
    they come in.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": [], "b": [], "c": []}, {}, instance_ids={"c": "host-2", "b": "host-9"})
    >>> [group.members[m] for m in member_order(group)]
    ['c', 'b', 'a']
    """
    instances = group.instance_ids
    names = [m if i is None else i for m, i in zip(group.members, instances, strict=True)]
    keys = sort_keys(names)
    arrived: Sequence[int] = range(len(keys))
    static = [instance for instance in instances if instance is not None]
    if len(set(static)) < len(static):
        arrived = hash_order(group).tolist()
    ordered = sorted(arrived, key=keys.__getitem__)
    if static:
        ordered.sort(key=lambda member: instances[member] is None)
    return np.array(ordered, np.int32)


@once
def members_by_id(group: GroupSpec) -> Ints:
    """The members (M indices) in Java's string order of their ids."""
    return string_order(group.members)


@once
def hash_order(group: GroupSpec) -> Ints:
    """The members (M indices) as a Java `HashMap` by member id is walked."""
    return map_order(group.members)


@once
def topics_by_name(group: GroupSpec) -> Ints:
    """The topics (T indices) in Java's string order of their names."""
    return string_order(group.topics)
