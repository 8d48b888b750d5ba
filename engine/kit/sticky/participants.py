"""
What takes part in reassigning: topics with a choice, and members that could get or lose something.

Source: `canTopicParticipateInReassignment` and `canConsumerParticipateInReassignment` of Kafka 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenkeel.engine.kit.sticky.owned import Past
from evenkeel.engine.kit.sticky.potential_consumers import Potential
from evenkeel.engine.model import Flags, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scope:
    """
    S topics and their partitions, in the order in which they are dealt.

    Attributes:
        place: (T) the place of each topic among the S, S for one that does not take part.
        start: (S + 1) where each one's subscribers begin.
        subscriber: (pairs) the distinct subscribers, by id.
        partitions: The partitions of these topics.
        aside: (M) members that hold all they could, and nothing of these topics.
        strained: (S) topics with a subscriber that is set aside all the same; only partitions that have vanished
            bring that about.
    """

    place: Ints
    start: Ints
    subscriber: Ints
    partitions: Ints
    aside: Flags
    strained: Flags

    def among(self, place: int) -> Ints:
        """The subscribers of a topic."""
        return self.subscriber[self.start[place] : self.start[place + 1]]

    def within(self, partitions: Ints, past: Past) -> Ints:
        """Those of the partitions that take part."""
        return partitions[self.place[past.topic[partitions]] < len(self.strained)]


def scope_of(past: Past, potential: Potential, member: Ints, partition: Ints) -> Scope:
    """
    Narrow a group down.

    Args:
        past: What members say they own.
        potential: Who could have what.
        member, partition: All lists as they are.
    """
    takes_part = potential.mentions >= 2
    place = np.full(len(past.in_play), takes_part.sum())
    place[potential.topics[takes_part]] = np.arange(takes_part.sum())
    sizes = np.diff(potential.start)
    start = np.append(0, np.cumsum(sizes[takes_part]))
    subscriber = potential.subscriber[np.repeat(takes_part, sizes)]
    movable = place[past.topic[partition]] < len(start) - 1
    aside = np.bincount(member, minlength=len(past.walk)) >= potential.most
    aside[member[movable]] = False
    strained = np.zeros(len(start) - 1, np.bool_)
    strained[np.repeat(np.arange(len(strained)), sizes[takes_part])[aside[subscriber]]] = True
    wanted = potential.partitions
    return Scope(
        place=place,
        start=start,
        subscriber=subscriber,
        partitions=wanted[place[past.topic[wanted]] < len(strained)],
        aside=aside,
        strained=strained,
    )
