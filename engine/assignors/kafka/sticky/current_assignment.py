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

from ....model.arrays import NONE, Flags, Indices, Ints, ragged_entries, starts_of
from ...interface import GroupSpec
from ...kit.members import (
    assignable_topics,
    members_by_id,
    partition_order,
    subscribers_by_id,
    topics_by_name,
)
from ...kit.orders import stable_order
from .plan import OwnedPartitions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PotentialConsumers:
    """
    N assignable topics of some groups in the order in which Kafka assigns them, by (group, mentions, name), and who
    subscribes to them.

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


def potential_consumers(group: GroupSpec, chosen: Flags) -> PotentialConsumers:
    """Work out who could have what, in the *chosen* (G) groups."""
    by_id = members_by_id(group)
    mentions = np.bincount(group.subscription_topic, minlength=len(group.topics))
    by_name = topics_by_name(group)
    topics = by_name[(assignable_topics(group) & chosen[group.group_of_topic])[by_name]]
    topics = topics[stable_order(group.group_of_topic[topics], mentions[topics])]
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
        max_assignment_size=_max_assignment_size(group),
    )


def _max_assignment_size(group: GroupSpec) -> Ints:
    """
    (M) the most partitions each member could have, as Kafka counts.

    Each mention counts, and whoever makes as many mentions as there are topics is taken to subscribe to all.
    """
    members, of_member = len(group.members), group.group_of_member
    assignable = assignable_topics(group)
    sizes, of_topic = group.topic_size, group.group_of_topic
    member = np.repeat(np.arange(members), np.diff(group.subscription_start))
    useful = assignable[group.subscription_topic]
    named = np.bincount(member[useful], minlength=members)
    of_named = sizes[group.subscription_topic[useful]]
    total = np.bincount(member[useful], weights=of_named, minlength=members)
    there = np.bincount(of_topic[assignable], minlength=group.group_count)
    everything = np.bincount(of_topic, weights=sizes * assignable, minlength=group.group_count)
    largest = np.where(named == there[of_member], everything[of_member], total)
    return largest.astype(np.int64)


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
        self.size: Ints = np.bincount(member, minlength=len(owned.generation))
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
        topics: (S) the topics.
        place: (T) the place of each topic among the S, S for one that does not take part.
        start: (S + 1) where each one's subscribers begin.
        subscriber: (pairs) the distinct subscribers, by id.
        partition_start: (S + 1) where each one's partitions begin.
        partitions: The partitions of these topics.
        fixed: (M) members that hold all they could, and nothing of these topics (Kafka's fixedAssignments).
        has_fixed_subscriber: (S) topics with a fixed subscriber all the same; only partitions that have vanished bring
            that about.
    """

    topics: Ints
    place: Ints
    start: Ints
    subscriber: Ints
    partition_start: Ints
    partitions: Ints
    fixed: Flags
    has_fixed_subscriber: Flags

    def among(self, place: int) -> Ints:
        """The subscribers of a topic."""
        return self.subscriber[self.start[place] : self.start[place + 1]]

    def within(self, partitions: Ints, owned: OwnedPartitions) -> Ints:
        """Those of the partitions that take part."""
        return partitions[self.place[owned.topic[partitions]] < len(self.topics)]

    def part(self, first: int, last: int, inside: Flags) -> Participants:
        """Those of one group: the topics from *first* to before *last*, and (M) the members *inside* it."""
        topics, place = slice(first, last), self.place - first
        pairs = slice(*self.start[[first, last]].tolist())
        partitions = slice(*self.partition_start[[first, last]].tolist())
        return Participants(
            topics=self.topics[topics],
            place=np.where((place < 0) | (place > last - first), last - first, place),
            start=self.start[first : last + 1] - pairs.start,
            subscriber=self.subscriber[pairs],
            partition_start=self.partition_start[first : last + 1] - partitions.start,
            partitions=self.partitions[partitions],
            fixed=self.fixed | ~inside,
            has_fixed_subscriber=self.has_fixed_subscriber[topics],
        )


def participants_of(
    owned: OwnedPartitions, potential: PotentialConsumers, member: Ints, partition: Ints
) -> Participants:
    """
    Narrow groups down.

    Args:
        owned: What members say they own.
        potential: Who could have what.
        member, partition: All lists as they are.
    """
    takes_part = potential.mentions >= 2
    topics = potential.topics[takes_part]
    place = np.full(len(owned.assignable), len(topics))
    place[topics] = np.arange(len(topics))
    sizes = np.diff(potential.start)
    start = starts_of(sizes[takes_part])
    subscriber = potential.subscriber[np.repeat(takes_part, sizes)]
    movable = place[owned.topic[partition]] < len(topics)
    fixed = np.bincount(member, minlength=len(owned.generation)) >= potential.max_assignment_size
    fixed[member[movable]] = False
    has_fixed_subscriber = np.zeros(len(topics), np.bool_)
    place_of = np.repeat(np.arange(len(topics)), sizes[takes_part])
    has_fixed_subscriber[place_of[fixed[subscriber]]] = True
    of_partition = place[owned.topic[potential.partitions]]
    taking_part = of_partition < len(topics)
    return Participants(
        topics=topics,
        place=place,
        start=start,
        subscriber=subscriber,
        partition_start=starts_of(np.bincount(of_partition[taking_part], minlength=len(topics))),
        partitions=potential.partitions[taking_part],
        fixed=fixed,
        has_fixed_subscriber=has_fixed_subscriber,
    )
