"""
The order of members within Kafka's range and roundrobin: static members first.

Source: `AbstractPartitionAssignor.MemberInfo` of Kafka 4.3.
"""

from __future__ import annotations

import numpy as np

from engine.assignor import GroupSpec
from engine.kit.java_order import map_order, utf16
from engine.model import Indices


def member_order(group: GroupSpec) -> Indices:
    """
    The members (M indices): static ones by instance id, then dynamic ones by member id, in Java's
    string order.

    Two members with one instance id, which a broker does not let be, stay in the order of the map
    they come in.

    >>> from engine.assignor import spec
    >>> group = spec({"a": [], "b": [], "c": []}, {}, instance_ids={"c": "host-2", "b": "host-9"})
    >>> [group.members[m] for m in member_order(group)]
    ['c', 'b', 'a']
    """
    keys = [
        (instance is None, utf16(member if instance is None else instance))
        for member, instance in zip(group.members, group.instance_ids, strict=True)
    ]
    arrived = range(len(keys))
    if len(set(keys)) < len(keys):
        arrived = map_order(group.members).tolist()
    return np.array(sorted(arrived, key=keys.__getitem__), np.int32)
