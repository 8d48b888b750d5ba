"""
The sticky plan for a group with unequal subscriptions.

Members keep what they own, subscribe to and have on their rack. What is unassigned goes, topic by topic with the fewest
subscribers first, to the subscriber with least. Then partitions are moved from members with more to members with less
until nobody could take one over from somebody with at least two more (`reassignment`); if that has not improved the
balance, it is undone.

Source: `GeneralAssignmentBuilder` of Kafka 4.3.
"""

from __future__ import annotations

import numpy as np

from ....model.arrays import Ints
from ...interface import GroupSpec
from ...kit.subscribers import subscribes
from .assign_unassigned import assign_unassigned
from .balance import Balance
from .current_assignment import CurrentAssignment
from .owned_partitions import OwnedPartitions
from .participants import participants_of
from .plan import StickyPlan, unassigned_partitions
from .potential_consumers import potential_consumers
from .rack_info import RackInfo
from .reassignment import Reassignment


def general_plan(group: GroupSpec, owned: OwnedPartitions, racks: RackInfo | None) -> StickyPlan:
    """
    Raises:
        Infeasible: Kafka's class throws on this group.
    """
    potential = potential_consumers(group, owned)
    kept = owned.valid & subscribes(group, owned.member, owned.topic[owned.partition])
    if racks is not None:
        kept &= ~racks.mismatch(owned.member, owned.partition)
    member, partition = owned.member[kept], owned.partition[kept]
    revoked = int(owned.valid.sum()) > len(partition)
    unassigned = unassigned_partitions(potential.partitions, partition, owned, potential.place)
    current = CurrentAssignment(owned, member, partition, unassigned)
    assign_unassigned(unassigned, current, owned, potential, racks)
    lists = current.lists()
    participants = participants_of(owned, potential, *lists)
    before = current.size[~participants.fixed]
    balance = Balance(current, owned, participants, potential.max_assignment_size)
    reassignment = Reassignment(group, owned, current, participants, balance, racks)
    if not revoked:  # newcomers first, so that what is owned need not move
        reassignment.run(participants.within(unassigned, owned))
    moved = reassignment.run(participants.partitions)
    worse = balance_score(current.size[~participants.fixed]) >= balance_score(before)
    if not (moved and worse and len(partition)):
        lists = current.lists()
    return StickyPlan(member=lists[0], partition=lists[1], transferring=None)


def balance_score(sizes: Ints) -> int:
    """
    The sum of differences between all pairs of sizes, in Java's 32 bits.

    >>> balance_score(np.array([3, 1, 1])), balance_score(np.array([0] * 2 + [1 << 30]))
    (4, -2147483648)
    """
    ascending = np.sort(sizes)
    weights = 2 * np.arange(len(sizes)) - len(sizes) + 1
    total = int((ascending * weights).sum())
    return (total + (1 << 31)) % (1 << 32) - (1 << 31)
