"""
KIP-49's fair: each partition goes to whoever has fewest, the most constrained topics first.

Promises, the first before the second:

1. A partition goes to the subscriber that owns fewest partitions of all topics dealt so far; of
   several, to the first by member id.
2. Topics with fewest subscribers are dealt first, of those the ones with more partitions, then by
   topic name: what can go anywhere is kept for the end.

So where all members subscribe to the same topics, they own equally many partitions, give or take one.
The KIP's own example, in which round robin gives one member nothing:

>>> from evenkeel.engine.assignors.interface import spec
>>> five, three = ["T1", "T2", "T3", "T4", "T5"], ["T1", "T3", "T5"]
>>> group = spec({"C1": five, "C2": three, "C3": three, "C4": five},
...              {"T1": 2, "T2": 1, "T3": 2, "T4": 1, "T5": 2})
>>> for member, owned in group.lists(Fair().assign(group)).items():
...     print(member, owned)
C1 [('T2', 0), ('T3', 0)]
C2 [('T1', 0), ('T3', 1)]
C3 [('T1', 1), ('T5', 0)]
C4 [('T4', 0), ('T5', 1)]

Cost: O(partitions x log partitions + subscriptions x log members), in arrays, and a step of some
50 microseconds for each run of topics with the same subscribers. Source: KIP-49, which leaves the
last ties open (topic name, member id); they are broken as its author's `FairAssignor` does.

What it does not do: it looks at no rack, no lag and no past ownership. It never takes back a
partition it has dealt, so with overlapping subscriptions a more even assignment may exist. A topic
that a member names twice counts that member once.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import numpy as np

from ..model.arrays import NONE, Ints
from ..model.assignments import Assignment, Deployment
from ..model.facts import reason
from .interface import USUAL_PROMISES, GroupSpec, Promise
from .kit.members import (
    Subscribers,
    members_by_id,
    partition_order,
    subscribers_by_id,
    topics_by_name,
)
from .kit.orders import least_first, places
from .kit.why import Steps, names_of


class Fair:
    """KIP-49's `fair`."""

    name: ClassVar[str] = "fair"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset()
    deployment: ClassVar[Deployment] = Deployment.CLASS
    source: ClassVar[str] = "KIP-49"
    promises: ClassVar[frozenset[Promise]] = USUAL_PROMISES | {Promise.EVEN_GROUP}

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition of a subscribed topic; a group without members owns nothing.
        """
        by_id, subscribers = members_by_id(group), subscribers_by_id(group)
        topics = _topics(group, subscribers)
        owned = np.zeros(len(group.members), np.int64)  # by place among the ids
        takers = [np.zeros(0, np.int64)]
        for among, count in _runs(group, subscribers, topics):
            taken = among[least_first(owned[among], count)]
            owned += np.bincount(taken, minlength=len(owned))
            takers.append(taken)
        owner = np.full(group.partition_count, NONE, np.int32)
        owner[partition_order(group, topics)] = by_id[np.concatenate(takers)]
        return Assignment(owner=owner)

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """When its topic is dealt, and who has fewest partitions then; nothing without subscribers."""
        topics, topic = _topics(group, subscribers_by_id(group)), int(group.topic_of[partition])
        if topic not in topics:
            return ()
        dealt = partition_order(group, topics).tolist()
        so_far = self.assign(group).owner[dealt[: dealt.index(partition)]]
        owned = np.bincount(so_far, minlength=len(group.members))
        may = set(group.subscribers[topic].tolist())
        fewest = owned[list(may)].min()
        tied = [m for m in members_by_id(group).tolist() if m in may and owned[m] == fewest]
        return (
            reason(
                "why_topic_dealt_as",
                [group.topics[topic]],
                before=len(may),
                after=topics.tolist().index(topic) + 1,
                bound=len(topics),
            ),
            reason("why_fewest", names_of(group, tied), after=int(fewest)),
        )


def _topics(group: GroupSpec, subscribers: Subscribers) -> Ints:
    """The topics with subscribers: those of fewest first, of these the largest, then by name."""
    rank = places(topics_by_name(group))
    topics = np.lexsort((rank, -group.topic_size, subscribers.count))
    return topics[subscribers.count[topics] > 0]


def _runs(group: GroupSpec, subscribers: Subscribers, topics: Ints) -> Iterator[tuple[Ints, int]]:
    """
    The places of the subscribers of topics that follow each other with the same ones, and how many
    partitions these topics have together: one deal serves them all.
    """
    start, sizes = subscribers.start.tolist(), group.topic_size.tolist()
    known, count = np.zeros(0, np.int64), 0
    for topic in topics.tolist():
        among = subscribers.place[start[topic] : start[topic + 1]]
        if count and not np.array_equal(among, known):
            yield known, count
            count = 0
        known = among
        count += sizes[topic]
    if count:
        yield known, count
