"""
Kafka's server-side RangeAssignor: topic by topic, a contiguous range of partitions for each subscriber.

Promises:

1. Per topic, subscribers own equally many partitions; those first in member order own one more where it does not
   divide. Member order: static members by instance id, then dynamic ones by member id.
2. So topics with the same subscribers and equally many partitions are co-partitioned: partition p of each has one
   owner.

Three partitions of each topic, and the first member has the extra one of every topic:

>>> from evenkeel.engine.assignors.interface import spec
>>> group = spec({"C0": ["t0", "t1"], "C1": ["t0", "t1"]}, {"t0": 3, "t1": 3})
>>> for member, owned in group.lists(RangeServer().assign(group)).items():
...     print(member, owned)
C0 [('t0', 0), ('t0', 1), ('t1', 0), ('t1', 1)]
C1 [('t0', 2), ('t1', 2)]

Cost: O(partitions + subscriptions + members x log members), in arrays. Source: `RangeAssignor` of Kafka 4.3's group
coordinator, since 3.9 (KAFKA-16944); older ones kept what members had.

What it does not do: it looks at no rack (since 3.8), no lag and no past ownership, and never evens out over topics:
with many small topics the members first in order own everything.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from ..model.arrays import NONE, Indices, Ints
from ..model.assignments import Assignment, Deployment
from .interface import USUAL_PROMISES, Answers, GroupSpec, Promise
from .kafka.group_coordinator import homogeneous, subscribed_topics
from .kit.members import member_order, subscribers_by_member_order
from .kit.why import Steps, in_ranges


class RangeServer:
    """Kafka's `range` of the group coordinator."""

    name: ClassVar[str] = "range-server"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset()
    deployment: ClassVar[Deployment] = Deployment.SETTING
    source: ClassVar[str] = "org.apache.kafka.coordinator.group.assignor.RangeAssignor 4.3, KIP-848"
    promises: ClassVar[frozenset[Promise]] = USUAL_PROMISES | {Promise.EVEN_TOPICS}

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition of a subscribed topic; a group without members owns nothing.
        """
        return self.assign_many(group).one()

    def assign_many(self, groups: GroupSpec) -> Answers:
        """As `assign`, for each of many groups."""
        count, start, member = _subscribers(groups)
        topic = groups.topic_of
        base, extra = np.divmod(groups.topic_size, np.maximum(count, 1))
        place = start[topic] + turns(groups.number_of, base[topic], extra[topic])
        owners = np.append(member, np.int32(NONE))  # what a topic without subscribers reads
        owner = owners[np.where((count > 0)[topic], place, NONE)]
        return Answers(assignment=Assignment(owner=owner))

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """Its share, and the range it is in; nothing without subscribers."""
        count, start, member = _subscribers(group)
        topic = int(group.topic_of[partition])
        order = member[start[topic] : start[topic] + count[topic]].tolist()
        return in_ranges(group, partition, order) if order else ()


def _subscribers(group: GroupSpec) -> tuple[Ints, Ints, Indices]:
    """(T) how many subscribe to each topic, and where they begin in the third, the members in order."""
    order = member_order(group)
    if group.group_count > 1 or not group.members or not homogeneous(group):
        subscribers = subscribers_by_member_order(group)
        return subscribers.count, subscribers.start[:-1], subscribers.member
    count = np.zeros(len(group.topics), np.int64)
    count[subscribed_topics(group, 0)] = len(order)
    return count, np.zeros_like(count), order


def turns(number: Ints, base: Ints, extra: Ints) -> Ints:
    """
    Which of a topic's subscribers gets a partition, all arguments per partition.

    Args:
        number: The partition's number within its topic.
        base: What each subscriber gets at least.
        extra: How many, the first ones, get one more.

    >>> turns(np.arange(5), np.ones(5, np.int64), np.full(5, 2)).tolist()
    [0, 0, 1, 1, 2]
    """
    wide = extra * (base + 1)
    behind = number >= wide
    found: Ints = (number - wide * behind) // np.maximum(base + ~behind, 1) + extra * behind
    return found
