"""
The sticky plans for groups with unequal subscriptions.

Members keep what they own, subscribe to and have on their rack. What is unassigned goes, topic by topic with the fewest
subscribers first, to the subscriber with least, of several to the first by member id. Then partitions are moved from
members with more to members with less until nobody could take one over from somebody with at least two more
(`reassignment`); if that has not improved the balance, it is undone.

Source: `GeneralAssignmentBuilder` of Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Iterable
from heapq import heapify, heapreplace
from itertools import pairwise

import numpy as np

from ....model.arrays import NONE, Flags, Ints, ragged_entries
from ....model.errors import Infeasible
from ...interface import GroupSpec
from ...kit.members import hash_order, subscribes
from ...kit.orders import distinct, least_first, places, stable_order
from ..racks import RackInfo
from .current_assignment import (
    CurrentAssignment,
    PotentialConsumers,
    participants_of,
)
from .plan import OwnedPartitions, StickyPlan, previous_owners, unassigned_partitions
from .reassignment import Balance, Reassignment, may_move


def general_plan(
    groups: GroupSpec,
    owned: OwnedPartitions,
    racks: RackInfo | None,
    potential: PotentialConsumers,
    chosen: Flags,
    others: StickyPlan,
) -> StickyPlan:
    """
    The plans for groups, beside those for others; a problem where Kafka's class throws.

    Args:
        groups: All groups.
        owned: What their members say they own.
        racks: Their racks where these matter.
        potential: Who could have what.
        chosen: (G) for which of them.
        others: The plans for the others.
    """
    of_member = groups.group_of_member
    valid = owned.valid & chosen[of_member[owned.member]]
    kept = valid & subscribes(groups, owned.member, owned.topic[owned.partition])
    if racks is not None:
        kept &= ~racks.mismatch(owned.member, owned.partition)
    keeps, revoked = np.zeros((2, groups.group_count), np.bool_)
    keeps[of_member[owned.member[kept]]] = True
    revoked[of_member[owned.member[valid & ~kept]]] = True
    member, partition = owned.member[kept], owned.partition[kept]
    wanted = potential.partitions
    unassigned = wanted[unassigned_partitions(groups, wanted, partition, owned, potential.place)]
    current = CurrentAssignment(owned, member, partition, unassigned)
    assign_unassigned(groups, unassigned, current, owned, potential, racks)
    lists = current.lists()
    undone, problems = _reassigned(
        groups, owned, racks, current, potential, lists, unassigned, keeps, revoked
    )
    if problems or not undone.all():
        fine = chosen & ~np.isin(np.arange(groups.group_count), list(problems))
        parts = (lists, fine & undone), (current.lists(), fine & ~undone)
        lists = _side_by_side(
            *((m[which[of_member[m]]], p[which[of_member[m]]]) for (m, p), which in parts)
        )
    member, partition = _side_by_side((others.member, others.partition), lists)
    return StickyPlan(
        member=member,
        partition=partition,
        transferring=others.transferring,
        untold=chosen[groups.group_of],
        problems={**others.problems, **problems},
    )


def _side_by_side(*lists: tuple[Ints, Ints]) -> tuple[Ints, Ints]:
    """Lists of different members as one: members, ascending, and their partitions."""
    member, partition = (np.concatenate(arrays) for arrays in zip(*lists, strict=True))
    order = stable_order(member)
    return member[order], partition[order]


def _reassigned(
    groups: GroupSpec,
    owned: OwnedPartitions,
    racks: RackInfo | None,
    current: CurrentAssignment,
    potential: PotentialConsumers,
    lists: tuple[Ints, Ints],
    unassigned: Ints,
    keeps: Flags,
    revoked: Flags,
) -> tuple[Flags, dict[int, Infeasible]]:
    """
    Move partitions in *current*.

    Args:
        groups, owned, racks, potential: As of `general_plan`.
        current: Where all is handed out, as in *lists*; *unassigned*: what was.
        lists: Members and partitions.
        keeps, revoked: (G) whether a member keeps something of what it owned, and whether one loses something.

    Returns:
        (G) where nothing is to be moved after all; the groups for which Kafka's class throws.
    """
    undone, problems = np.ones(groups.group_count, np.bool_), dict[int, Infeasible]()
    participants = participants_of(owned, potential, *lists)
    if not len(participants.topics):
        return undone, problems
    found = previous_owners(groups, owned)
    previous = found if (found != NONE).any() else None
    place = participants.place[owned.topic[participants.partitions]]
    everything = participants.partitions, place, slice(0, len(participants.topics))
    movable = participants.partitions[may_move(current, participants, previous, *everything)]
    hash_place, size = places(hash_order(groups)), current.size.copy()
    cuts = np.searchsorted(
        groups.group_of_topic[participants.topics], np.arange(groups.group_count + 1)
    ).tolist()
    for number in distinct(groups.group_of[movable], groups.group_count).tolist():
        inside = groups.group_of_member == number
        part = participants.part(cuts[number], cuts[number + 1], inside)
        balance = Balance(current, part, potential.max_assignment_size, hash_place)
        reassignment = Reassignment(
            groups, owned, current, part, balance, previous, hash_place, racks
        )
        before = size[~part.fixed]
        try:
            if not revoked[number]:  # newcomers first, so that what is owned need not move
                reassignment.run(part.within(unassigned, owned))
            moved = reassignment.run(part.partitions)
        except Infeasible as problem:
            problems[number] = problem
            continue
        worse = balance_score(current.size[~part.fixed]) >= balance_score(before)
        undone[number] = moved and worse and keeps[number]
    return undone, problems


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
    groups: GroupSpec,
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
        matter = np.zeros(groups.group_count, np.bool_)
        matter[groups.group_of_member[racks.member != NONE]] = True
        near = matter[groups.group_of[unassigned]]
        rest = _assign_rack_aware(unassigned[near], current, owned, potential, racks)
        left = ~near
        left[near] = rest
        unassigned = unassigned[left]
    size, taker = current.size.copy(), np.zeros(len(unassigned), np.int64)
    topic, start = _runs(unassigned, owned, potential)
    of_group = groups.group_of_topic[potential.topics[topic]]
    turn = np.arange(len(topic)) - np.searchsorted(of_group, of_group)
    order = stable_order(turn)
    # the first topics of all groups, then the second ones
    for now in np.split(order, np.flatnonzero(np.diff(turn[order])) + 1) if len(order) else ():
        counts = start[now + 1] - start[now]
        if len(now) == 1:
            subscribers = potential.among(int(topic[now[0]]))
            chosen = subscribers[least_first(size[subscribers], int(counts[0]))]
        else:
            begin, entries = ragged_entries(potential.start, topic[now])
            subscribers = potential.subscriber[entries]
            chosen = subscribers[least_first(size[subscribers], counts, begin)]
        size += np.bincount(chosen, minlength=len(size))
        taker[ragged_entries(start, now)[1]] = chosen
    current.give(taker, unassigned)


def _assign_rack_aware(
    unassigned: Ints,
    current: CurrentAssignment,
    owned: OwnedPartitions,
    potential: PotentialConsumers,
    racks: RackInfo,
) -> Flags:
    """Hand out what finds a subscriber on its racks; returns which of the partitions do not."""
    place, rack_of = places(potential.by_id), racks.member.tolist()
    start, rack = racks.replicas.start.tolist(), racks.replicas.rack.tolist()
    size = current.size.copy()
    takers = [np.zeros(0, np.int64)]
    topics, starts = _runs(unassigned, owned, potential)
    for topic, (first, last) in zip(topics.tolist(), pairwise(starts.tolist()), strict=True):
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
    rest: Flags = members == NONE
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


def _runs(
    unassigned: Ints, owned: OwnedPartitions, potential: PotentialConsumers
) -> tuple[Ints, Ints]:
    """The places of the topics, ascending, and where the partitions of each begin."""
    topic = potential.place[owned.topic[unassigned]]
    cuts = np.flatnonzero(np.diff(topic, prepend=-1, append=-1))
    return topic[cuts[:-1]], cuts
