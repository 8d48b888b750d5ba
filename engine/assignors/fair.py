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
80 microseconds for each run of topics with the same subscribers. Source: KIP-49, which leaves the
last ties open (topic name, member id); they are broken as its author's `FairAssignor` does.

What it does not do: it looks at no rack, no lag and no past ownership. It never takes back a
partition it has dealt, so with overlapping subscriptions a more even assignment may exist. A topic
that a member names twice counts that member once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import ClassVar

import numpy as np

from ..model.arrays import NONE, Ints, ragged_entries, starts_of
from ..model.assignments import Assignment, Deployment
from ..model.facts import reason
from .interface import USUAL_PROMISES, Answers, GroupSpec, Promise
from .kit.members import (
    Subscribers,
    members_by_id,
    partition_order,
    subscriber_classes,
    subscribers_by_id,
    topics_by_name,
)
from .kit.orders import least_first, places, stable_order
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
        return self.assign_many(group).one()

    def assign_many(self, groups: GroupSpec) -> Answers:
        """As `assign`, for each of many groups."""
        by_id, subscribers = members_by_id(groups), subscribers_by_id(groups)
        deals, topics = _deals(groups, subscribers, _topics(groups, subscribers))
        owned = np.zeros(len(groups.members), np.int64)  # by place among the ids
        takers = [np.zeros(0, np.int64)]
        for among, start, counts in deals:
            taken = among[least_first(owned[among], counts, start)]
            owned += np.bincount(taken, minlength=len(owned))
            takers.append(taken)
        owner = np.full(groups.partition_count, NONE, np.int32)
        owner[partition_order(groups, topics)] = by_id[np.concatenate(takers)]
        return Answers(assignment=Assignment(owner=owner))

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
    """The topics with subscribers, group after group: those of fewest first, of these the largest, then by name."""
    rank = places(topics_by_name(group))
    topics = np.lexsort((rank, -group.topic_size, subscribers.count, group.group_of_topic))
    return topics[subscribers.count[topics] > 0]


def _deals(
    group: GroupSpec, subscribers: Subscribers, topics: Ints
) -> tuple[Iterator[tuple[Ints, Ints, Ints]], Ints]:
    """
    What is dealt at once: the first topics of all groups, then the next ones.

    Topics of a group that follow each other with the same subscribers are one run; one deal serves them all.

    Returns:
        Per deal, the places of the subscribers, where those of each run begin, and how many partitions each run has;
        and the topics in the order in which they are dealt.
    """
    classes = subscriber_classes(group, subscribers)[topics]
    new = np.diff(classes, prepend=NONE) != 0
    of_group = group.group_of_topic[topics[new]]
    turn = np.arange(len(of_group)) - np.searchsorted(of_group, of_group)
    counts = np.bincount(np.cumsum(new) - 1, group.topic_size[topics]).astype(np.int64)
    runs = stable_order(turn)
    start, pairs = ragged_entries(subscribers.start, topics[new][runs])
    among, counts = subscribers.place[pairs], counts[runs]
    deals = (
        (among[start[a] : start[b]], start[a : b + 1] - start[a], counts[a:b])
        for a, b in pairwise(starts_of(np.bincount(turn)).tolist())
    )
    return deals, topics[stable_order(turn[np.cumsum(new) - 1])]
