"""
The core of Kafka's `uniform` of the group coordinator (4.3), for the strategy and for ours that goes by its counts.

`target` reads what members should own. `homogeneous` serves a group whose members all subscribe to the same,
`heterogeneous` all others.
"""

from __future__ import annotations

import numpy as np

from ....model.arrays import NONE
from ....model.assignments import Assignment
from ...interface import Answers, GroupSpec
from ...kit.members import hash_order
from ..group_coordinator import alike, topic_ids_of_many
from .heterogeneous import assign_heterogeneous
from .homogeneous import assign_homogeneous
from .target import current_target

__all__ = ["uniform"]


def uniform(groups: GroupSpec) -> Answers:
    """
    Returns:
        An owner for each partition of a subscribed topic; a group without members owns nothing. No answer where
        Kafka's class throws: what members own contradicts the topics, or each other.
    """
    order = hash_order(groups).astype(np.int32)
    target = current_target(groups, order)
    ids, problems = topic_ids_of_many(groups)
    asked = np.diff(groups.member_start) > 0
    problems = {number: problem for number, problem in problems.items() if asked[number]}
    asked[list(problems)] = False
    equal, own = alike(groups), dict[int, Assignment]()
    owner = np.full(groups.partition_count, NONE, np.int32)
    if (asked & equal).any():
        problems |= assign_homogeneous(groups, asked & equal, order, target, ids, owner)
    if (asked & ~equal).any():
        refused, own = assign_heterogeneous(groups, asked & ~equal, order, target, ids, owner)
        problems |= refused
    return Answers(assignment=Assignment(owner=owner), problems=problems, own=own)
