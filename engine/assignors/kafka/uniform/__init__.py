"""
The core of Kafka's `uniform` of the group coordinator (4.3), for the strategy and for ours that goes by its counts.

`target` reads what members should own. `homogeneous` serves a group whose members all subscribe to the same,
`heterogeneous` all others.
"""

from __future__ import annotations

import numpy as np

from ....model.arrays import NONE
from ....model.assignments import Assignment
from ...interface import GroupSpec
from ...kit.members import hash_order
from .. import group_coordinator
from .heterogeneous import assign_heterogeneous
from .homogeneous import assign_homogeneous
from .target import current_target

__all__ = ["uniform"]


def uniform(group: GroupSpec) -> Assignment:
    """
    Returns:
        An owner for each partition of a subscribed topic; a group without members owns nothing.

    Raises:
        Infeasible: Kafka's class throws: what members own contradicts the topics, or each other.
    """
    if not group.members:
        return Assignment(owner=np.full(group.partition_count, NONE, np.int32))
    order = hash_order(group).astype(np.int32)
    target = current_target(group, order)
    assign = assign_homogeneous if group_coordinator.homogeneous(group) else assign_heterogeneous
    return assign(group, order, target)
