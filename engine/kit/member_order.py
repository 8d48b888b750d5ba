"""
The order of members within Kafka's range and roundrobin: static members first.

Source: `AbstractPartitionAssignor.MemberInfo` of Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from evenkeel.engine.assignor import GroupSpec
from evenkeel.engine.kit.java_order import map_order, sort_keys
from evenkeel.engine.model import Indices


def member_order(group: GroupSpec) -> Indices:
    """
    The members (M indices): static ones by instance id, then dynamic ones by member id, in Java's
    string order.

    Two members with one instance id, which a broker does not let be, stay in the order of the map
    they come in.

    >>> from evenkeel.engine.assignor import spec
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
        arrived = map_order(group.members).tolist()
    ordered = sorted(arrived, key=keys.__getitem__)
    if static:
        ordered.sort(key=lambda member: instances[member] is None)
    return np.array(ordered, np.int32)
