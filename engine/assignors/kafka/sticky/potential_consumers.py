"""
Who could have what in a group with unequal subscriptions.

Source: the constructor of `GeneralAssignmentBuilder` of Kafka 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model.arrays import Ints, ragged_entries
from ...interface import GroupSpec
from ...kit.member_order import members_by_id, topics_by_name
from ...kit.orders import places
from ...kit.permute import partition_order
from ...kit.subscribers import subscribers_by_id
from .owned_partitions import OwnedPartitions


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
