"""
The sticky plan for a group with unequal subscriptions.

Members keep what they own, subscribe to and have on their rack. What is free goes, topic by topic with the fewest
subscribers first, to the subscriber with least. Then partitions are moved from members with more to members with less
until nobody could take one over from somebody with at least two more (`reassign`); if that has not improved the
balance, it is undone.

Source: `GeneralAssignmentBuilder` of Kafka 4.3.
"""

from __future__ import annotations

import numpy as np

from evenkeel.engine.assignor import GroupSpec
from evenkeel.engine.kit.sticky.assign_unassigned import allot
from evenkeel.engine.kit.sticky.balance import Balance
from evenkeel.engine.kit.sticky.current_assignment import Holdings
from evenkeel.engine.kit.sticky.owned import Past
from evenkeel.engine.kit.sticky.participants import scope_of
from evenkeel.engine.kit.sticky.plan import Plan, unassigned
from evenkeel.engine.kit.sticky.potential_consumers import potential_of
from evenkeel.engine.kit.sticky.rack_info import StickyRacks
from evenkeel.engine.kit.sticky.reassignment import Reassignment
from evenkeel.engine.kit.subscribers import subscribes
from evenkeel.engine.model import Flags, Ints


def general_plan(group: GroupSpec, past: Past, racks: StickyRacks | None) -> Plan:
    """
    Raises:
        Infeasible: Kafka's class throws on this group.
    """
    potential = potential_of(group, past)
    stays = _stays(group, past, racks)
    member, partition = past.member[stays], past.partition[stays]
    revoked = int(past.counts.sum()) > len(partition)
    free = unassigned(potential.partitions, partition, past, potential.place)
    holdings = Holdings(past, member, partition, free)
    allot(free, holdings, past, potential, racks)
    lists = holdings.lists()
    scope = scope_of(past, potential, *lists)
    before = holdings.size[~scope.aside]
    balance = Balance(holdings, past, scope, potential.most)
    reassignment = Reassignment(group, past, holdings, scope, balance, racks)
    if not revoked:  # newcomers first, so that what is owned need not move
        reassignment.run(scope.within(free, past))
    moved = reassignment.run(scope.partitions)
    worse = imbalance(holdings.size[~scope.aside]) >= imbalance(before)
    if not (moved and worse and len(partition)):
        lists = holdings.lists()
    return Plan(member=lists[0], partition=lists[1], transferring=None)


def imbalance(sizes: Ints) -> int:
    """
    The sum of differences between all pairs of sizes, in Java's 32 bits.

    >>> imbalance(np.array([3, 1, 1])), imbalance(np.array([0] * 2 + [1 << 30]))
    (4, -2147483648)
    """
    ascending = np.sort(sizes)
    weights = 2 * np.arange(len(sizes)) - len(sizes) + 1
    total = int((ascending * weights).sum())
    return (total + (1 << 31)) % (1 << 32) - (1 << 31)


def _stays(group: GroupSpec, past: Past, racks: StickyRacks | None) -> Flags:
    """(C) the claims that count, of members that subscribe to the topic and live on a rack of the partition."""
    stays = past.counts & subscribes(group, past.member, past.topic[past.partition])
    if racks is not None:
        stays &= ~racks.mismatch(past.member, past.partition)
    return stays
