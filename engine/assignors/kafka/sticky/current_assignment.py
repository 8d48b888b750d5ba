"""
What a general plan works on: who could have what, who holds what while it is made, and what takes part in reassigning.

A kept partition is handed out a second time when it sorts behind one that has vanished
(`plan.unassigned_partitions`). Then the copy that was kept stays where it is, in the list and in its length, and only
the other one moves.

Source: the constructor of `GeneralAssignmentBuilder`, `canTopicParticipateInReassignment` and
`canConsumerParticipateInReassignment` of Kafka 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model.arrays import NONE, Flags, Indices, Ints, ragged_entries
from ...interface import GroupSpec
from ...kit.members import members_by_id, partition_order, subscribers_by_id, topics_by_name
from ...kit.orders import places, stable_order
from .plan import OwnedPartitions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PotentialConsumers:
    """
    N assignable topics in the order in which Kafka assigns them, by (mentions, name), and who subscribes to them.

    A subscription that names a topic twice mentions it twice.

    Attributes:
        by_id: (M) the members by id.
        topics: (N) the assignable topics, in order.
        place: (T) the place of each topic among them, N for one that is not assignable.
        mentions: (N) how often members name each.
        start: (N + 1) where each one's subscribers begin.
        subscriber: (pairs) the distinct subscribers, by id.
        partitions: (all of these) the partitions, by (topic in order, number).
        max_assignment_size: (M) how many partitions Kafka takes for the most a member can have.
    """

    by_id: Ints
    topics: Ints
    place: Ints
    mentions: Ints
    start: Ints
    subscriber: Ints
    partitions: Ints
    max_assignment_size: Ints

    def among(self, topic: int) -> Ints:
        """The subscribers of the topic at that place of the order, by id."""
        return self.subscriber[self.start[topic] : self.start[topic + 1]]


def potential_consumers(group: GroupSpec, owned: OwnedPartitions) -> PotentialConsumers:
    """Work out who could have what."""
    by_id = members_by_id(group)
    mentions = np.bincount(group.subscription_topic, minlength=len(group.topics))
    assignable = np.flatnonzero(owned.assignable)
    topics = assignable[
        np.lexsort((places(topics_by_name(group))[assignable], mentions[assignable]))
    ]
    place = np.full(len(group.topics), len(topics))
    place[topics] = np.arange(len(topics))
    subscribers = subscribers_by_id(group)
    start, entries = ragged_entries(subscribers.start, topics)
    return PotentialConsumers(
        by_id=by_id,
        topics=topics,
        place=place,
        mentions=mentions[topics],
        start=start,
        subscriber=subscribers.member[entries].astype(np.int64),
        partitions=partition_order(group, topics),
        max_assignment_size=_max_assignment_size(group, owned),
    )


def _max_assignment_size(group: GroupSpec, owned: OwnedPartitions) -> Ints:
    """
    (M) the most partitions each member could have, as Kafka counts.

    Each mention counts, and whoever makes as many mentions as there are topics is taken to subscribe to all.
    """
    members = len(group.members)
    sizes = group.topic_size
    member = np.repeat(np.arange(members), np.diff(group.subscription_start))
    useful = owned.assignable[group.subscription_topic]
    named = np.bincount(member[useful], minlength=members)
    of_named = sizes[group.subscription_topic[useful]]
    total = np.bincount(member[useful], weights=of_named, minlength=members).astype(np.int64)
    return np.where(named == owned.assignable.sum(), sizes[owned.assignable].sum(), total)


class CurrentAssignment:
    """
    The state of a general plan, changed as it goes on.

    Attributes:
        owner: (P) who holds each partition, NONE for nobody.
        size: (M) the length of each member's list.
        copies: Partition handed out though it was kept -> who kept it.
    """

    def __init__(
        self, owned: OwnedPartitions, member: Ints, partition: Ints, unassigned: Ints
    ) -> None:
        """
        Args:
            owned: What members say they own.
            member, partition: (kept) the partitions members keep, each member's in the order of its list.
            unassigned: What will be handed out.
        """
        self.size: Ints = np.bincount(member, minlength=len(owned.hash_order))
        self.owner: Indices = np.full(owned.size, NONE, np.int32)
        self._since: Ints = np.zeros(owned.size, np.int64)
        self._clock = len(partition)
        arrived = np.arange(len(partition))
        gone = partition >= owned.size
        self._gone = member[gone], partition[gone], arrived[gone]
        self.owner[partition[~gone]] = member[~gone]
        self._since[partition[~gone]] = arrived[~gone]
        twice = unassigned[self.owner[unassigned] != NONE]
        self.copies: dict[int, int] = dict(
            zip(twice.tolist(), self.owner[twice].tolist(), strict=True)
        )
        self._copied_since = dict(zip(twice.tolist(), self._since[twice].tolist(), strict=True))

    def give(self, members: Ints, partitions: Ints) -> None:
        """Hand out partitions, in this order."""
        self.owner[partitions] = members
        self._since[partitions] = self._clock + np.arange(len(partitions))
        self._clock += len(partitions)
        self.size += np.bincount(members, minlength=len(self.size))

    def move(self, partition: int, target: int) -> None:
        """Move a partition from the list it is in to the end of another's."""
        source = int(self.owner[partition])
        if self.copies.get(partition) == source:  # of two in one list the first is taken out
            self._copied_since[partition] = int(self._since[partition])
        self.owner[partition] = target
        self._since[partition] = self._clock
        self._clock += 1
        self.size[source] -= 1
        self.size[target] += 1

    def lists(self) -> tuple[Ints, Ints]:
        """All lists as they are now: members, ascending, and their partitions in order."""
        held = np.flatnonzero(self.owner != NONE)
        gone_member, gone, gone_since = self._gone
        keepers, twice, twice_since = (
            np.array(list(values), np.int64)
            for values in (self.copies.values(), self.copies, self._copied_since.values())
        )
        member = np.concatenate([self.owner[held], gone_member, keepers])
        partition = np.concatenate([held, gone, twice])
        order = np.argsort(np.concatenate([self._since[held], gone_since, twice_since]))
        order = order[stable_order(member[order])]
        return member[order], partition[order]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Participants:
    """
    S topics and their partitions, in the order in which Kafka assigns them.

    Attributes:
        place: (T) the place of each topic among the S, S for one that does not take part.
        start: (S + 1) where each one's subscribers begin.
        subscriber: (pairs) the distinct subscribers, by id.
        partitions: The partitions of these topics.
        fixed: (M) members that hold all they could, and nothing of these topics (Kafka's fixedAssignments).
        has_fixed_subscriber: (S) topics with a fixed subscriber all the same; only partitions that have vanished bring
            that about.
    """

    place: Ints
    start: Ints
    subscriber: Ints
    partitions: Ints
    fixed: Flags
    has_fixed_subscriber: Flags

    def among(self, place: int) -> Ints:
        """The subscribers of a topic."""
        return self.subscriber[self.start[place] : self.start[place + 1]]

    def within(self, partitions: Ints, owned: OwnedPartitions) -> Ints:
        """Those of the partitions that take part."""
        return partitions[self.place[owned.topic[partitions]] < len(self.has_fixed_subscriber)]


def participants_of(
    owned: OwnedPartitions, potential: PotentialConsumers, member: Ints, partition: Ints
) -> Participants:
    """
    Narrow a group down.

    Args:
        owned: What members say they own.
        potential: Who could have what.
        member, partition: All lists as they are.
    """
    takes_part = potential.mentions >= 2
    place = np.full(len(owned.assignable), takes_part.sum())
    place[potential.topics[takes_part]] = np.arange(takes_part.sum())
    sizes = np.diff(potential.start)
    start = np.append(0, np.cumsum(sizes[takes_part]))
    subscriber = potential.subscriber[np.repeat(takes_part, sizes)]
    movable = place[owned.topic[partition]] < len(start) - 1
    fixed = np.bincount(member, minlength=len(owned.hash_order)) >= potential.max_assignment_size
    fixed[member[movable]] = False
    has_fixed_subscriber = np.zeros(len(start) - 1, np.bool_)
    place_of = np.repeat(np.arange(len(has_fixed_subscriber)), sizes[takes_part])
    has_fixed_subscriber[place_of[fixed[subscriber]]] = True
    wanted = potential.partitions
    return Participants(
        place=place,
        start=start,
        subscriber=subscriber,
        partitions=wanted[place[owned.topic[wanted]] < len(has_fixed_subscriber)],
        fixed=fixed,
        has_fixed_subscriber=has_fixed_subscriber,
    )
