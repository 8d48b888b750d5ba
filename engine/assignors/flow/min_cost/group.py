"""
A consumer group as partitions to be placed on members in racks.

As in KIP-925 one missing rack switches the strategy off: that of a member that subscribes to a
partition, or of a broker that holds a replica of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ....model.arrays import NONE, Flags, Indices, Ints, ragged_entries
from ....model.errors import Infeasible
from ....model.text import listed, several
from ...interface import GroupSpec, once
from ...kafka.racks import replica_racks
from ...kit.distinct import numbered
from ...kit.member_order import member_order
from ...kit.subscribers import subscribers_by_member_order
from .even_counts import even_counts

_NAMED = 3
"""As many names stand in a reason."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlainGroup:
    """
    A plain consumer group: N partitions of subscribed topics, T topics, and the C members that subscribe to any.

    Partitions are in the order of (topic name, number), members in Kafka's member order.

    Attributes:
        partition: (N) index in the group.
        topic: (N) topic, numbered by name among those here.
        crosses: (N, R) whether the rack has no replica of it.
        previous_owner: (N) the member that owns it now, NONE for nobody; it need not subscribe to the topic.
        member: (C) index in the group.
        rack: (C) its rack.
        start, subscriber: Ragged, topic -> the members that subscribe to it, ascending.
        same_subscribers: (T) topics with the same subscribers have the same number.
        count: (C) how many partitions the member gets.
    """

    partition: Ints
    topic: Ints
    crosses: Flags
    previous_owner: Ints
    member: Indices
    rack: Indices
    start: Ints
    subscriber: Ints
    same_subscribers: Ints
    count: Ints


@once
def plain_group(group: GroupSpec) -> PlainGroup:
    """
    Raises:
        Infeasible: A rack is missing; the message names where.
    """
    order = member_order(group)
    subscribers = subscribers_by_member_order(group)
    by_name = group.by_name
    partition = by_name[(subscribers.count > 0)[group.topic_of[by_name]]]
    topics = group.topic_of[partition]
    topics = topics[np.diff(topics, prepend=NONE) != 0]  # those of a topic stand together
    start, pair = ragged_entries(subscribers.start, topics)
    counting, subscriber = numbered(subscribers.place[pair], len(order))
    member = order[counting]
    _check_racks(group, partition, member)
    number = np.zeros(len(group.topics), np.int64)
    number[topics] = np.arange(len(topics))
    topic = number[group.topic_of[partition]]
    client = np.full(len(group.members) + 1, NONE, np.int64)  # the last is what NONE reads
    client[member] = np.arange(len(member))
    previous_owner = client[group.owner[partition]]
    same_subscribers = _same_subscribers(start, subscriber)
    return PlainGroup(
        partition=partition,
        topic=topic,
        crosses=_crosses(group)[partition],
        previous_owner=previous_owner,
        member=member,
        rack=group.member_rack[member],
        start=start,
        subscriber=subscriber,
        same_subscribers=same_subscribers,
        count=_counts(topic, previous_owner, start, subscriber, same_subscribers, len(member)),
    )


def _same_subscribers(start: Ints, subscriber: Ints) -> Ints:
    sets = [subscriber[a:b].tobytes() for a, b in pairwise(start.tolist())]
    numbers = {one: number for number, one in enumerate(dict.fromkeys(sets))}
    return np.array([numbers[one] for one in sets], np.int64)


def _counts(
    topic: Ints,
    previous_owner: Ints,
    start: Ints,
    subscriber: Ints,
    same_subscribers: Ints,
    members: int,
) -> Ints:
    """What each member owns now, evened out where it is not even."""
    kinds = int(same_subscribers.max(initial=-1)) + 1
    kind = same_subscribers[topic]
    sample = np.zeros(kinds, np.int64)
    sample[same_subscribers[::-1]] = np.arange(len(same_subscribers))[::-1]
    spans = [subscriber[start[t] : start[t + 1]] for t in sample.tolist()]
    at = np.cumsum([0, *(len(span) for span in spans)])
    who = np.concatenate([np.zeros(0, np.int64), *spans])
    owned = previous_owner != NONE
    held = np.bincount(kind[owned] * members + previous_owner[owned], minlength=kinds * members)
    of_pair = np.repeat(np.arange(kinds), np.diff(at)) * members + who
    size = np.bincount(kind, minlength=kinds)
    return even_counts(at, who, held[of_pair], size, members)


def _crosses(group: GroupSpec) -> Flags:
    """(P, R) whether no replica of a partition is in a rack."""
    crosses = np.ones((group.partition_count, len(group.racks)), np.bool_)
    replicas = replica_racks(group)
    crosses[replicas.partition, replicas.rack] = False
    return crosses


def _check_racks(group: GroupSpec, partition: Ints, member: Indices) -> None:
    """
    Raises:
        Infeasible: A rack is missing.
    """
    size = np.diff(group.replica_start)
    entry = np.repeat(np.arange(len(size)), size)
    bare = np.bincount(entry[group.replica_rack == NONE], minlength=len(size)) > 0
    silent = member[group.member_rack[member] == NONE]
    reasons = [
        _lacking([group.members[m] for m in silent.tolist()], len(member), "member", "no rack"),
        _lacking(
            _names(group, partition[size[partition] == 0]),
            len(partition),
            "partition",
            "unknown replicas",
        ),
        _lacking(
            _names(group, partition[bare[partition]]),
            len(partition),
            "partition",
            "a replica on a broker without rack",
        ),
    ]
    lacking = [reason for reason in reasons if reason]
    if lacking:
        raise Infeasible(
            f"a missing rack switches it off (KIP-925): {'; '.join(lacking)}.",
            fix="Set client.rack on every member and broker.rack on every broker.",
        )


def _names(group: GroupSpec, partitions: Ints) -> list[str]:
    topics, numbers = group.topic_of[partitions].tolist(), group.number_of[partitions].tolist()
    return [f"{group.topics[t]}-{n}" for t, n in zip(topics, numbers, strict=True)]


def _lacking(names: Sequence[str], of: int, what: str, lack: str) -> str | None:
    if not names:
        return None
    verb = "has" if len(names) == 1 else "have"
    return f"{len(names):,} of {several(of, what)} {verb} {lack} ({listed(names, _NAMED)})"
