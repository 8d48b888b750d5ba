"""
A consumer group as partitions to be placed on members in racks, each of whom gets an even number of them.

As in KIP-925 one missing rack switches the strategy off: that of a member that subscribes to a
partition, or of a broker that holds a replica of one.

Counts are even when nobody owns two more than somebody who could take one over (KIP-54), though not everybody
subscribes to everything. Topics with the same subscribers are a class. Class by class, its partitions are poured over
its subscribers like water over an uneven floor: whoever owns least of everything else gets most of it. That is repeated
until no class can be poured more evenly. What is even already stays exactly as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...model.arrays import NONE, Flags, Indices, Ints, ragged_entries
from ...model.errors import Infeasible
from ...model.text import listed, several
from ..interface import GroupSpec, once
from ..kafka.racks import replica_racks
from ..kit.members import member_order, subscribers_by_member_order
from ..kit.orders import by_appearance, numbered


def even_counts(
    start: Ints, member: Ints, held: Ints, size: Ints, members: int, *, beside: Ints | int = 0
) -> Ints:
    """
    (M) how many partitions each member gets.

    Args:
        start: (classes + 1) where the subscribers of each class begin in *member*.
        member: (pairs) a class's subscribers, ascending.
        held: (pairs) how many partitions of the class each of them owns now.
        size: (classes) partitions of the class, owned or not.
        members: M.
        beside: (M) how many others they have, which stay.

    Two classes of four; member 1 subscribes to both, and the first class is all member 0's:

    >>> even_counts(np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([4, 0, 0]), np.array([4, 4]), 2).tolist()
    [4, 4]
    """
    given = held.copy()
    counts = np.zeros(members, np.int64) + beside
    np.add.at(counts, member, given)
    spans = [slice(a, b) for a, b in pairwise(start.tolist())]
    order = sorted(range(len(size)), key=lambda number: spans[number].stop - spans[number].start)
    changed = True
    while changed:
        changed = False
        for number in order:
            who, now = member[spans[number]], given[spans[number]]
            rest = counts[who] - now
            then = _poured(rest, now, int(size[number]))
            if int(now.sum()) < size[number] or _uneven(rest + then) < _uneven(rest + now):
                counts[who] += then - now
                given[spans[number]] = then
                changed = True
    return counts


def _uneven(counts: Ints) -> int:
    return int((counts * counts).sum())


def _poured(beside: Ints, held: Ints, amount: int) -> Ints:
    """
    The evenest way to pour an amount.

    What does not divide goes to those who keep one more of their own with it, the first in order
    before the others.

    Args:
        beside: What each one has already.
        held: What each one has of this now.
        amount: What is poured.
    """
    floor = np.sort(beside)
    needed = floor * np.arange(1, len(floor) + 1) - np.cumsum(floor)  # to bring the first to here
    filled = int(np.searchsorted(needed, amount, side="right"))
    level, extra = divmod(amount + int(floor[:filled].sum()), filled)
    poured: Ints = np.maximum(level - beside, 0)
    reached = np.flatnonzero(beside <= level)
    keeps = held[reached] > poured[reached]
    poured[reached[np.argsort(~keeps, kind="stable")][:extra]] += 1
    return poured


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
    crosses = np.ones((group.partition_count, len(group.racks)), np.bool_)
    replicas = replica_racks(group)
    crosses[replicas.partition, replicas.rack] = False
    same_subscribers = by_appearance(subscriber[a:b].tobytes() for a, b in pairwise(start.tolist()))
    return PlainGroup(
        partition=partition,
        topic=topic,
        crosses=crosses[partition],
        previous_owner=previous_owner,
        member=member,
        rack=group.member_rack[member],
        start=start,
        subscriber=subscriber,
        same_subscribers=same_subscribers,
        count=_counts(topic, previous_owner, start, subscriber, same_subscribers, len(member)),
    )


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
            fix="Set client.rack on every member and broker.rack on every broker, to the same names.",
        )


def _names(group: GroupSpec, partitions: Ints) -> list[str]:
    topics, numbers = group.topic_of[partitions].tolist(), group.number_of[partitions].tolist()
    return [f"{group.topics[t]}-{n}" for t, n in zip(topics, numbers, strict=True)]


def _lacking(names: Sequence[str], of: int, what: str, lack: str) -> str | None:
    if not names:
        return None
    verb = "has" if len(names) == 1 else "have"
    return f"{len(names):,} of {several(of, what)} {verb} {lack} ({listed(names, _NAMED)})"
