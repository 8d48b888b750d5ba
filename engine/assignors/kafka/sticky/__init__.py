"""
The core of Kafka's sticky assignors (`AbstractStickyAssignor` of Kafka 4.3), cut into its ideas.

`plan` reads what members say they own and holds what comes out, `racks` (beside this folder) when racks matter.
`constrained` is for a group whose members all subscribe to the same (ConstrainedAssignmentBuilder), `general` for all
others (GeneralAssignmentBuilder): it keeps a `current_assignment`, and moves partitions by `reassignment`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ....model.arrays import NONE, Flags, Ints, ragged_entries
from ....model.assignments import Assignment
from ...interface import Answers, GroupSpec, once
from ...kit.members import all_name_all, hash_order
from ...kit.orders import places
from ...kit.why import Claims, Steps, by_racks, kept_or_given
from ..racks import rack_info
from ..raw_assignment import answers_of
from .constrained import constrained_plan
from .current_assignment import PotentialConsumers, potential_consumers
from .general import general_plan
from .plan import (
    MemberData,
    OwnedPartitions,
    StickyPlan,
    given_now,
    nothing_told,
    owned_partitions,
    transferring_of,
)


class Plans(NamedTuple):
    """What members of many groups validly own, and the plans for these."""

    owned: OwnedPartitions
    plan: StickyPlan


Told = Callable[[GroupSpec], MemberData | None]


def sticky_answers(groups: GroupSpec, told: Told, *, withheld: bool = False) -> Answers:
    """
    What the sticky assignors decide, for each of many groups.

    Args:
        groups: The groups.
        told: What their members say they own; None where nobody says anything.
        withheld: Whether nobody is given what somebody else must give up first.
    """
    data = told(groups)
    owned, plan = _from_nothing(groups) if data is None else _plans(groups, data)
    transferring = transferring_of(plan, owned) if withheld else None
    member, partition = given_now(plan, transferring)
    return answers_of(
        groups,
        member,
        partition,
        lambda: owned.lists(member, partition),
        transferring=transferring,
        problems=plan.problems,
    )


@once
def _from_nothing(groups: GroupSpec) -> Plans:
    """Where nobody owns anything, generations do not matter, and both assignors decide the same."""
    return _plans(groups, nothing_told(groups))


def _plans(groups: GroupSpec, told: MemberData) -> Plans:
    owned, racks, equal = owned_partitions(groups, told), rack_info(groups), _equal(groups)
    plan = constrained_plan(groups, owned, racks, equal)
    if not equal.all():
        plan = general_plan(groups, owned, racks, _potential(groups), ~equal, plan)
    return Plans(owned, plan)


@once
def _equal(groups: GroupSpec) -> Flags:
    """(G) whether Kafka takes all subscriptions of a group for equal."""
    if all_name_all(groups):
        return np.ones(groups.group_count, np.bool_)
    return all_subscriptions_equal(groups, hash_order(groups))


@once
def _potential(groups: GroupSpec) -> PotentialConsumers:
    """Who could have what, in groups with unequal ones."""
    return potential_consumers(groups, ~_equal(groups))


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
    if owner == NONE or rack_info(group) is None:
        return steps
    return *by_racks(group, partition, owner, group.member_rack), *steps


def all_subscriptions_equal(groups: GroupSpec, walk: Ints) -> Flags:
    """
    (G) whether Kafka takes all subscriptions of a group for equal.

    The first member on its walk that names any topic sets the pattern; whoever comes later must name as many topics as
    the pattern has, all of them in it. So an empty subscription passes when it comes before the pattern, and one that
    names a topic twice may pass or not.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t", "u"], "b": [], "c": ["u", "u"]}, {"t": 1})
    >>> all_subscriptions_equal(group, np.array([1, 0, 2])), all_subscriptions_equal(group, np.array([0, 1, 2]))
    (array([ True]), array([False]))
    """
    sizes, of_member = np.diff(groups.subscription_start), groups.group_of_member
    named = walk[sizes[walk] > 0][::-1]
    first = np.full(groups.group_count, NONE, np.int64)
    first[of_member[named]] = named  # written last, the first one stays
    pattern = np.zeros(len(groups.topics), np.bool_)
    topics = ragged_entries(groups.subscription_start, first[first != NONE])[1]
    pattern[groups.subscription_topic[topics]] = True
    in_pattern = np.bincount(groups.group_of_topic[pattern], minlength=groups.group_count)
    place = places(walk)
    later = place > np.append(place, len(place))[first][of_member]
    differs = sizes != in_pattern[of_member]
    strange = ~pattern[groups.subscription_topic]
    if strange.any():
        differs[np.repeat(np.arange(len(sizes)), sizes)[strange]] = True
    equal = np.ones(groups.group_count, np.bool_)
    equal[of_member[later & differs]] = False
    return equal
