"""
The core of Kafka's sticky assignors (`AbstractStickyAssignor` of Kafka 4.3), cut into its ideas.

`plan` reads what members say they own and holds what comes out, `racks` (beside this folder) when racks matter.
`constrained` is for a group whose members all subscribe to the same (ConstrainedAssignmentBuilder), `general` for all
others (GeneralAssignmentBuilder): it keeps a `current_assignment`, and moves partitions by `reassignment`.
"""

from __future__ import annotations

import numpy as np

from ....model.arrays import NONE, Column, Ints
from ....model.assignments import Assignment
from ...interface import GroupSpec, once
from ...kit.why import Claims, Steps, by_racks, kept_or_given
from ..racks import rack_info
from .constrained import constrained_plan
from .general import general_plan
from .plan import MemberData, OwnedPartitions, StickyPlan, assignable_topics, owned_partitions


def sticky_plan(group: GroupSpec, member_data: MemberData) -> tuple[OwnedPartitions, StickyPlan]:
    """
    What members validly own, and what the sticky assignors decide.

    Raises:
        Infeasible: Kafka's class throws on this group; the message says what and why.
    """
    if not len(member_data.topic):
        return _from_nothing(group)
    return _planned(group, member_data)


@once
def _from_nothing(group: GroupSpec) -> tuple[OwnedPartitions, StickyPlan]:
    """Where nobody owns anything, generations do not matter, and both assignors decide the same."""
    nothing, count = np.zeros(0, np.int32), len(group.members)
    start = np.zeros(count + 1, np.int64)
    data = MemberData(
        start=start, topic=nothing, partition=nothing, generation=Column.unknown(count)
    )
    return _planned(group, data)


def _planned(group: GroupSpec, member_data: MemberData) -> tuple[OwnedPartitions, StickyPlan]:
    owned = owned_partitions(group, member_data)
    racks = rack_info(group, owned.assignable)
    if all_subscriptions_equal(group, owned.hash_order):
        return owned, constrained_plan(group, owned, racks)
    return owned, general_plan(group, owned, racks)


def explained(group: GroupSpec, partition: int, answer: Assignment, claims: Claims) -> Steps:
    """
    Why a partition goes where a sticky assignor gives it: its racks, where these make a difference, and who had it.

    Args:
        group: The group.
        partition: Which one.
        answer: What the assignor gives.
        claims: What members report, as the assignor reads it.
    """
    steps = kept_or_given(group, partition, answer, claims)
    owner = int(answer.owner[partition])
    if owner == NONE or rack_info(group, assignable_topics(group)) is None:
        return steps
    return *by_racks(group, partition, owner, group.member_rack), *steps


def all_subscriptions_equal(group: GroupSpec, hash_order: Ints) -> bool:
    """
    Whether Kafka takes all subscriptions for equal.

    The first member on its walk that names any topic sets the pattern; whoever comes later must name as many topics as
    the pattern has, all of them in it. So an empty subscription passes when it comes before the pattern, and one that
    names a topic twice may pass or not.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t", "u"], "b": [], "c": ["u", "u"]}, {"t": 1})
    >>> all_subscriptions_equal(group, np.array([1, 0, 2])), all_subscriptions_equal(group, np.array([0, 1, 2]))
    (True, False)
    """
    sizes = np.diff(group.subscription_start)
    named = np.flatnonzero(sizes[hash_order])
    if not len(named):
        return True
    pattern = np.zeros(len(group.topics), np.bool_)
    pattern[group.subscribed(int(hash_order[named[0]]))] = True
    later = hash_order[named[0] + 1 :]
    if (sizes[later] != pattern.sum()).any():
        return False
    compared = np.zeros(len(hash_order), np.bool_)
    compared[later] = True
    return bool(pattern[group.subscription_topic[np.repeat(compared, sizes)]].all())
