"""
Groups whose members subscribe to different topics: which topics only some may take, and whether that is on its way.

KIP-49 is about such groups: a rolling restart in which some members have the new list of topics and the others not yet,
and groups that stay so. It is a remark, not a fault: Kafka assigns each topic among those who subscribe to it.

Cost: a comparison per group; only of groups with unequal subscriptions the topics are looked at, now and before.
Source: KIP-49, section Motivation.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np

from ..model.batch import GroupBatch, count_by, sum_by
from ..model.facts import MOMENT, Fact, finding, remark
from .past import Past

NAMED = 3
"""So many numbers of takers are told apart, the fewest first."""


def takers(subscriptions: Sequence[frozenset[str]]) -> dict[str, int]:
    """
    The topics that only some members subscribe to, and how many do; those of the fewest first.

    >>> takers([frozenset("ab"), frozenset("a"), frozenset("ac"), frozenset("ac")])
    {'b': 1, 'c': 2}
    """
    readers = Counter(topic for topics in subscriptions for topic in topics)
    some = [(n, topic) for topic, n in readers.items() if n < len(subscriptions)]
    return {topic: n for n, topic in sorted(some)}


def unequal_subscriptions(past: Past) -> Iterator[tuple[int, Fact]]:
    """
    The group and what is to be said of it, for each group of consumers whose members subscribe to different topics.

    A finding, and as its remarks how many members can take which topics, and since when it has been changing.
    """
    batch, members = past.now, past.now.members
    topics_of = np.array([len(topics) for topics in batch.topics], np.int64)
    # where subscriptions are equal, each member has all topics
    all_of_all = topics_of * count_by(members.subscribed > 0, members.start)
    apart = sum_by(members.subscribed, members.start) != all_of_all
    for group in np.flatnonzero(apart).tolist():
        subscriptions = _told(batch, group)
        if len(set(subscriptions)) > 1:
            yield group, _finding(batch, group, subscriptions)
            by_count: dict[int, list[str]] = {}
            for topic, number in takers(subscriptions).items():
                by_count.setdefault(number, []).append(topic)
            for number, topics in [*by_count.items()][:NAMED]:
                yield group, remark("topic_takers", topics, after=number, bound=len(subscriptions))
            changing = _changing(past, group, subscriptions)
            if changing is not None:
                yield group, changing


def _told(batch: GroupBatch, group: int) -> list[frozenset[str]]:
    """What members subscribe to; nothing of a group that rebalances, or whose leader deals tasks out."""
    header = batch.headers[group]
    if header.rebalancing or header.places_tasks:
        return []
    return batch.members.subscriptions(group)


def _finding(batch: GroupBatch, group: int, subscriptions: Sequence[frozenset[str]]) -> Fact:
    topics, table, rows = takers(subscriptions), batch.partitions, batch.rows(group)
    there = [table.topics[topic] in topics for topic in table.topic[rows].tolist()]
    return finding(
        "unequal_subscriptions",
        topics,
        after=len(set(subscriptions)),
        bound=len(subscriptions),
        partitions=int((table.exists[rows] & np.array(there, np.bool_)).sum()),
    )


def _changing(past: Past, group: int, now: Sequence[frozenset[str]]) -> Fact | None:
    """Since when some have another subscription than all had before; None where that is not seen, or nobody has it."""
    since = past.now.headers[group].taken_at
    for then, number in past.snapshots_of(group):
        before = _told(then, number)
        if len(before) < 2:
            continue
        if len(set(before)) == 1:
            old = before[0]
            changed = [topics for topics in now if topics != old]
            if len(changed) == len(now):
                return None
            differing = sorted(frozenset().union(*(topics ^ old for topics in changed)))
            return remark(
                "subscription_changing",
                differing,
                before=len(changed),
                bound=len(now),
                after=since.timestamp(),
                unit=MOMENT,
            )
        since = then.headers[number].taken_at
    return None
