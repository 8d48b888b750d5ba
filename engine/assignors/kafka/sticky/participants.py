"""
What takes part in reassigning: topics with a choice, and members that could get or lose something.

Source: `canTopicParticipateInReassignment` and `canConsumerParticipateInReassignment` of Kafka 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model.arrays import Flags, Ints
from .owned_partitions import OwnedPartitions
from .potential_consumers import PotentialConsumers


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
