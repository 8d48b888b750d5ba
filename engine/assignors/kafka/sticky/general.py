"""
The sticky plan for a group with unequal subscriptions.

Members keep what they own, subscribe to and have on their rack. What is unassigned goes, topic by topic with the fewest
subscribers first, to the subscriber with least, of several to the first by member id. Then partitions are moved from
members with more to members with less until nobody could take one over from somebody with at least two more
(`reassignment`); if that has not improved the balance, it is undone.

Source: `GeneralAssignmentBuilder` of Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heapreplace
from itertools import pairwise

import numpy as np

from ....model.arrays import NONE, Ints
from ....model.errors import Infeasible
from ...interface import GroupSpec
from ...kit.members import subscribes
from ...kit.orders import least_first, places
from ..racks import RackInfo
from .current_assignment import (
    CurrentAssignment,
    PotentialConsumers,
    participants_of,
    potential_consumers,
)
from .plan import OwnedPartitions, StickyPlan, unassigned_partitions
from .reassignment import Balance, Reassignment


def general_plan(group: GroupSpec, owned: OwnedPartitions, racks: RackInfo | None) -> StickyPlan:
    """The plan for one group, or none where Kafka's class throws."""
    try:
        member, partition = _planned(group, owned, racks)
    except Infeasible as problem:
        nothing = np.zeros(0, np.int64)
        return StickyPlan(
            member=nothing, partition=nothing, transferring=None, problems={0: problem}
        )
    return StickyPlan(member=member, partition=partition, transferring=None)


def _planned(group: GroupSpec, owned: OwnedPartitions, racks: RackInfo | None) -> tuple[Ints, Ints]:
    """Members, ascending, and their partitions; raises where Kafka's class throws."""
    potential = potential_consumers(group, owned)
    kept = owned.valid & subscribes(group, owned.member, owned.topic[owned.partition])
    if racks is not None:
        kept &= ~racks.mismatch(owned.member, owned.partition)
    member, partition = owned.member[kept], owned.partition[kept]
    revoked = int(owned.valid.sum()) > len(partition)
    wanted = potential.partitions
    unassigned = wanted[unassigned_partitions(group, wanted, partition, owned, potential.place)]
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
    return lists


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


def assign_unassigned(
    unassigned: Ints,
    current: CurrentAssignment,
    owned: OwnedPartitions,
    potential: PotentialConsumers,
    racks: RackInfo | None,
) -> None:
    """
    Hand out *unassigned* (in the order of the topics), where racks matter at first to members on a partition's racks.

    Members without a rack are on every rack.
    """
    if racks is not None:
        unassigned = _assign_rack_aware(unassigned, current, owned, potential, racks)
    size = current.size.copy()
    takers = [np.zeros(0, np.int64)]
    for topic, first, last in _by_topic(unassigned, owned, potential):
        subscribers = potential.among(topic)
        chosen = subscribers[least_first(size[subscribers], last - first)]
        size += np.bincount(chosen, minlength=len(size))
        takers.append(chosen)
    current.give(np.concatenate(takers), unassigned)


def _assign_rack_aware(
    unassigned: Ints,
    current: CurrentAssignment,
    owned: OwnedPartitions,
    potential: PotentialConsumers,
    racks: RackInfo,
) -> Ints:
    """Hand out what finds a subscriber on its racks; returns the rest."""
    place, rack_of = places(potential.by_id), racks.member.tolist()
    start, rack = racks.replicas.start.tolist(), racks.replicas.rack.tolist()
    size = current.size.copy()
    takers = [np.zeros(0, np.int64)]
    for topic, first, last in _by_topic(unassigned, owned, potential):
        subscribers = potential.among(topic)
        keys = size[subscribers] * len(place) + place[subscribers]
        queues: dict[int, list[int]] = {}
        for key, member in zip(keys.tolist(), subscribers.tolist(), strict=True):
            queues.setdefault(rack_of[member], []).append(key)
        for queue in queues.values():
            heapify(queue)
        fitting = (rack[start[p] : start[p + 1]] for p in unassigned[first:last].tolist())
        chosen = _least_on_racks(queues, fitting, len(place))
        found = chosen[chosen != NONE]
        takers.append(np.where(chosen == NONE, NONE, potential.by_id[chosen]))
        size += np.bincount(potential.by_id[found], minlength=len(size))
    members = np.concatenate(takers)
    current.give(members[members != NONE], unassigned[members != NONE])
    rest: Ints = unassigned[members == NONE]
    return rest


def _least_on_racks(queues: dict[int, list[int]], fitting: Iterable[list[int]], step: int) -> Ints:
    """
    Give partition after partition to the first in the queues of its racks, and of those without rack.

    Args:
        queues: Rack -> a heap of size x *step* + place.
        fitting: Per partition the racks it is on.
        step: Number of places.

    Returns:
        The place of each taker, NONE for nobody.
    """
    chosen = []
    everywhere = queues.get(NONE)
    for racks in fitting:
        best = everywhere
        for rack in racks:
            queue = queues.get(rack)
            if queue and (best is None or queue[0] < best[0]):
                best = queue
        if best is None:
            chosen.append(NONE)
        else:
            chosen.append(best[0] % step)
            heapreplace(best, best[0] + step)
    return np.array(chosen, np.int64)


def _by_topic(
    unassigned: Ints, owned: OwnedPartitions, potential: PotentialConsumers
) -> Iterator[tuple[int, int, int]]:
    """(place of the topic, first, behind last) of each run of partitions of one topic."""
    topic = potential.place[owned.topic[unassigned]]
    cuts = np.flatnonzero(np.diff(topic, prepend=-1, append=-1)).tolist()
    for first, last in pairwise(cuts):
        yield int(topic[first]), first, last
