"""
Kafka's RoundRobinAssignor: all partitions dealt out one by one around the ring of members.

Promises, the first before the second:

1. When all members subscribe to the same topics, they own equally many partitions in total, give or
   take one.
2. Partitions of a topic are spread over its subscribers as evenly as one turn of the ring allows.

Members stand on the ring as static ones by instance id, then dynamic ones by member id; topics come
by name, partitions by number. A member that does not subscribe to the topic at hand is passed over
and loses its turn, so unequal subscriptions give uneven results:

>>> from evenkeel.engine.assignors.interface import spec
>>> group = spec({"C0": ["t0"], "C1": ["t0", "t1"], "C2": ["t0", "t1", "t2"]},
...              {"t0": 1, "t1": 2, "t2": 3})
>>> for member, owned in group.lists(RoundRobin().assign(group)).items():
...     print(member, owned)
C0 [('t0', 0)]
C1 [('t1', 0)]
C2 [('t1', 1), ('t2', 0), ('t2', 1), ('t2', 2)]

Cost: O(partitions + subscriptions + topics x log members), in arrays but for one step per topic.
Source: `RoundRobinAssignor` of Kafka 4.3, unchanged since 2.4.

What it does not do: it looks at no rack, no lag and no past ownership; one member more or less
moves almost everything. Without any member Kafka's class throws; here that is `Infeasible`.
"""

from __future__ import annotations

from bisect import bisect_left
from typing import ClassVar

import numpy as np

from ..model.arrays import NONE, Ints
from ..model.assignments import Assignment, Deployment
from ..model.errors import Infeasible
from ..model.facts import reason
from .interface import USUAL_PROMISES, Answers, GroupSpec, Promise
from .kit.members import (
    Subscribers,
    member_order,
    partition_order,
    subscribers_by_member_order,
    topics_by_name,
)
from .kit.why import Steps, name_of, names_of


class RoundRobin:
    """Kafka's `roundrobin`."""

    name: ClassVar[str] = "roundrobin"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset()
    deployment: ClassVar[Deployment] = Deployment.SETTING
    source: ClassVar[str] = "org.apache.kafka.clients.consumer.RoundRobinAssignor 4.3"
    promises: ClassVar[frozenset[Promise]] = USUAL_PROMISES | {Promise.EVEN_GROUP}

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition of a subscribed topic, and the order in which they were
            dealt.

        Raises:
            Infeasible: The group has no members.
        """
        return self.assign_many(group).one()

    def assign_many(self, groups: GroupSpec) -> Answers:
        """As `assign`, for each of many groups."""
        topics = topics_by_name(groups)
        subscribers, topic = subscribers_by_member_order(groups), groups.topic_of
        first = _first_places(groups, subscribers, topics)
        count = subscribers.count[topic]
        turn = (first[topic] + groups.number_of) % np.maximum(count, 1)
        members = np.append(subscribers.member, np.int32(NONE))  # what an unsubscribed topic reads
        pair = np.where(count > 0, subscribers.start[topic] + turn, -1)
        empty = np.flatnonzero(np.diff(groups.member_start) == 0)
        return Answers(
            assignment=Assignment(owner=members[pair], order=partition_order(groups, topics)),
            problems={number: _no_members() for number in empty.tolist()},
        )

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """Its place among all partitions, and whose turn it is; nothing without subscribers."""
        dealt = [
            p
            for p in partition_order(group, topics_by_name(group)).tolist()
            if group.subscribers[group.topic_of[p]].size
        ]
        if partition not in dealt:
            return ()
        place, ring = dealt.index(partition), member_order(group).tolist()
        begin = 0
        if place:
            before = int(self.assign(group).owner[dealt[place - 1]])
            begin = ring.index(before) + 1
        may = set(group.subscribers[group.topic_of[partition]].tolist())
        turns = [*ring[begin:], *ring[:begin]]
        passed = next(n for n, member in enumerate(turns) if member in may)
        return (
            reason("why_dealt_as", [name_of(group, partition)], after=place + 1, bound=len(dealt)),
            reason("why_turn", names_of(group, [turns[passed], *turns[:passed]])),
        )


def _no_members() -> Infeasible:
    return Infeasible(
        "roundrobin cannot assign to 0 members (Kafka: IllegalArgumentException).",
        fix="Start a member, or look at range, which then assigns nothing.",
    )


def _first_places(group: GroupSpec, subscribers: Subscribers, topics: Ints) -> Ints:
    """
    (T) where among its subscribers each topic's dealing begins.

    Within a topic the turn goes round its subscribers only, so the ring pointer matters once per
    topic. The places of a group's members are all behind those of the group before, so each begins with its first.
    """
    first = np.zeros(len(group.topics), np.int64)
    place = subscribers.place.tolist()
    start, sizes = subscribers.start.tolist(), group.topic_size.tolist()
    pointer = 0
    for topic in topics.tolist():
        begin, end = start[topic], start[topic + 1]
        if begin == end:
            continue
        found = bisect_left(place, pointer, begin, end)
        at = found - begin if found < end else 0
        first[topic] = at
        pointer = place[begin + (at + sizes[topic] - 1) % (end - begin)] + 1
    return first
