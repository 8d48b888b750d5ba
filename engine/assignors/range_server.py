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

from ..model.arrays import NONE, Indices, Ints, ragged_entries, starts_of
from ..model.assignments import Assignment, Deployment
from .interface import USUAL_PROMISES, Answers, GroupSpec, Promise
from .kafka.group_coordinator import homogeneous
from .kit.members import member_order, subscribers_by_member_order
from .kit.orders import numbered
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
        start, member, of_topic = _lists(groups)
        # topics of one size with the same subscribers have the same owners
        sizes = int(groups.topic_size.max(initial=0)) + 1
        names, alike = numbered(of_topic * sizes + groups.topic_size, (len(start) - 1) * sizes)
        which, size = np.divmod(names, sizes)
        begin, entries = ragged_entries(start, which)
        count = np.diff(begin)
        base, extra = np.divmod(size, count)
        turn = np.arange(len(entries)) - begin[:-1].repeat(count)
        owners = member[entries].repeat(base.repeat(count) + (turn < extra.repeat(count)))
        places = ragged_entries(starts_of(size), alike)[1]
        return Answers(assignment=Assignment(owner=owners[places]))

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """Its share, and the range it is in; nothing without subscribers."""
        start, member, of_topic = _lists(group)
        of = int(of_topic[group.topic_of[partition]])
        order = member[start[of] : start[of + 1]].tolist()
        return () if order == [NONE] else in_ranges(group, partition, order)


def _lists(groups: GroupSpec) -> tuple[Ints, Indices, Ints]:
    """Lists of subscribers in order: where they begin, their members, and (T) which is a topic's; the last is NONE."""
    if homogeneous(groups):
        start, member, of_topic = groups.member_start, member_order(groups), groups.group_of_topic
        some = np.zeros(len(groups.topic_size), np.bool_)
        named = ragged_entries(groups.subscription_start, start[:-1][np.diff(start) > 0])[1]
        some[groups.subscription_topic[named]] = True
    else:
        subscribers = subscribers_by_member_order(groups)
        start, member = subscribers.start, subscribers.member
        some, of_topic = subscribers.count > 0, np.arange(len(groups.topics))
    of_topic = np.where(some, of_topic, len(start) - 1)
    return np.append(start, start[-1] + 1), np.append(member, np.int32(NONE)), of_topic
