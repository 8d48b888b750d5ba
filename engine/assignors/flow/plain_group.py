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
from typing import Any

import numpy as np

from ...model.arrays import NONE, Flags, Indices, Ints, ragged_entries
from ...model.errors import Infeasible
from ...model.text import and_more, several
from ..interface import GroupSpec, once
from ..kit.kernels import kernel, work
from ..kit.members import Subscribers, member_order, subscribers_by_member_order
from ..kit.orders import by_appearance, distinct, numbered, row_keys
from .least_cost import ASKED, STEPS


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
    given, counts = held.copy(), np.zeros(members, np.int64) + beside
    order = (start[1:] - start[:-1]).argsort(kind="stable")
    arguments = (
        start,
        np.ascontiguousarray(member),
        size,
        order,
        given,
        np.zeros((2, members), np.int64),
    )
    work(level_out, STEPS * (len(member) + members), ASKED, arguments, counts)
    return counts


@kernel
def level_out(
    start: Any, member: Any, size: Any, order: Any, given: Any, space: Any, counts: Any
) -> None:
    """
    Pour classes in this order, over and over, while any can be poured more evenly.

    Args:
        start, member, size: As for `even_counts`.
        order: Of classes.
        given: (pairs) how many each one has; changed.
        space: Two rows of M, for its own use.
        counts: (M) how many others each has; changed to all that it has.
    """
    rest, then = space[0], space[1]
    for pair in range(len(member)):
        counts[member[pair]] += given[pair]
    changed = True
    while changed:
        changed = False
        for number in order:
            begin, those = start[number], start[number + 1] - start[number]
            poured, before, after = 0, 0, 0
            for this in range(those):
                rest[this] = counts[member[begin + this]] - given[begin + this]
                poured += given[begin + this]
            pour(those, begin, rest, given, size[number], then)
            for this in range(those):
                before += (rest[this] + given[begin + this]) ** 2
                after += (rest[this] + then[this]) ** 2
            if poured < size[number] or after < before:
                for this in range(those):
                    counts[member[begin + this]] += then[this] - given[begin + this]
                    given[begin + this] = then[this]
                changed = True


@kernel
def pour(those: int, begin: int, beside: Any, held: Any, amount: int, then: Any) -> None:
    """
    The evenest way to pour an amount over so many.

    What does not divide goes to those who keep one more of their own with it, the first in order
    before the others.

    Args:
        those: How many.
        begin: Where they begin in *held*.
        beside: What each one has already.
        held: What each one has of this now.
        amount: What is poured.
        then: Overwritten with what each one gets.
    """
    low = beside[0]
    for this in range(those):
        low = min(low, beside[this])
    high = low + amount + 1  # at least one gets more than that to come up to here
    while high - low > 1:
        middle = (low + high) // 2
        needed = 0
        for this in range(those):
            needed += max(middle - beside[this], 0)
        if needed <= amount:
            low = middle
        else:
            high = middle
    extra = amount
    for this in range(those):
        then[this] = max(low - beside[this], 0)
        extra -= then[this]
    for this in range(those):
        if extra > 0 and beside[this] <= low and held[begin + this] > then[this]:
            then[this] += 1
            extra -= 1
    for this in range(those):
        if extra > 0 and then[this] == low - beside[this]:
            then[this] += 1
            extra -= 1


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
        kind: (N) partitions on the same of the racks R in which members are have the same number.
        crosses: (kinds, R) whether the rack has no replica of such partitions.
        previous_owner: (N) the member that owns it now, NONE for nobody; it need not subscribe to the topic.
        member: (C) index in the group.
        rack: (C) its rack, numbered among those of members.
        start, subscriber: Ragged, topic -> the members that subscribe to it, ascending.
        same_subscribers: (T) topics with the same subscribers have the same number.
        count: (C) how many partitions the member gets.
        racks_matter: Whether any partition is nearer to one of its subscribers than to another.
    """

    partition: Ints
    topic: Ints
    kind: Ints
    crosses: Flags
    previous_owner: Indices
    member: Indices
    rack: Ints
    start: Ints
    subscriber: Ints
    same_subscribers: Ints
    count: Ints
    racks_matter: bool


@once
def plain_group(group: GroupSpec) -> PlainGroup:
    """
    Raises:
        Infeasible: A rack is missing; the message names where.
    """
    subscribers, by_name, names = subscribers_by_member_order(group), group.by_name, group.topics
    subscribed = subscribers.count > 0
    topics = np.array(sorted(subscribed.nonzero()[0].tolist(), key=names.__getitem__), np.int64)
    topic = np.arange(len(topics)).repeat(group.topic_size[topics])
    partition = by_name
    if len(topic) < len(by_name):
        partition = by_name[subscribed[group.topic_of[by_name]]]
    member, start, subscriber, same_subscribers = _subscribers(group, subscribers, topics)
    if lacking := _lacking_racks(group, partition, member):
        raise Infeasible(
            lacking,
            fix="Set client.rack on every member and broker.rack on every broker, to the same names.",
        )
    client = np.full(len(group.members) + 1, NONE, np.int32)  # the last is what NONE reads
    client[member] = np.arange(len(member))
    previous_owner = client[group.owner[partition]]
    used, rack = numbered(group.member_rack[member].astype(np.int64), len(group.racks))
    kind, crosses = _kinds(group, partition, used)
    return PlainGroup(
        partition=partition,
        topic=topic,
        kind=kind,
        crosses=crosses,
        previous_owner=previous_owner,
        member=member,
        rack=rack,
        start=start,
        subscriber=subscriber,
        same_subscribers=same_subscribers,
        count=_counts(topic, previous_owner, start, subscriber, same_subscribers, len(member)),
        racks_matter=_racks_matter(topic, kind, start, rack[subscriber], crosses),
    )


def _subscribers(
    group: GroupSpec, subscribers: Subscribers, topics: Ints
) -> tuple[Indices, Ints, Ints, Ints]:
    """*member*, *start*, *subscriber* and *same_subscribers* of a `PlainGroup` of these topics."""
    order, count = member_order(group), len(group.members)
    if (
        len(topics) and len(subscribers.place) == len(topics) * count
    ):  # everybody subscribes to everything
        start = np.arange(len(topics) + 1) * count
        return order, start, subscribers.place, np.zeros_like(topics)
    start, pair = ragged_entries(subscribers.start, topics)
    counting, subscriber = numbered(subscribers.place[pair], count)
    same = by_appearance(subscriber[a:b].tobytes() for a, b in pairwise(start.tolist()))
    return order[counting], start, subscriber, same


_MOST_BITS = 50
"""Of racks, that are told apart by the bits of a number."""


def _kinds(group: GroupSpec, partition: Ints, used: Ints) -> tuple[Ints, Flags]:
    """*kind* and *crosses* of a `PlainGroup` whose members are in the racks *used*."""
    table = np.ones((group.partition_count, len(group.racks)), np.bool_)
    size = group.replica_start[1:] - group.replica_start[:-1]
    table[np.arange(len(size)).repeat(size), group.replica_rack] = False
    rows, racks = table[partition], len(used)
    if racks < len(group.racks):
        rows = rows[:, used]
    if racks > _MOST_BITS:
        keys, cells = row_keys(rows)
    else:
        keys, cells = rows @ (1 << np.arange(racks - 1, -1, -1)), 1 << racks
    kinds, kind = numbered(keys, cells)
    sample = np.zeros(len(kinds), np.int64)
    sample[kind] = np.arange(len(kind))
    return kind, rows[sample]


def _racks_matter(topic: Ints, kind: Ints, start: Ints, rack: Ints, crosses: Flags) -> bool:
    """
    Whether a partition is nearer to one of its subscribers than to another.

    Args:
        topic, kind, start, crosses: As in `PlainGroup`.
        rack: Of each *subscriber*.
    """
    topics, (kinds, racks) = len(start) - 1, crosses.shape
    far = crosses.sum(axis=1)
    if not ((far > 0) & (far < racks)).any():
        return False
    near = np.zeros((topics, racks), np.bool_)
    near[np.arange(topics).repeat(np.diff(start)), rack] = True
    if near.all():
        return True
    found = distinct(topic * kinds + kind, topics * kinds)
    near, crosses = near[found // kinds], crosses[found % kinds]
    return bool(((near & crosses).any(axis=1) & (near & ~crosses).any(axis=1)).any())


def _counts(
    topic: Ints,
    previous_owner: Indices,
    start: Ints,
    subscriber: Ints,
    same_subscribers: Ints,
    members: int,
) -> Ints:
    """What each member owns now, evened out where it is not even."""
    if not same_subscribers.any():
        held = np.bincount(previous_owner + 1, minlength=members + 1)[1:]
        return even_counts(start[:2], np.arange(members), held, np.array([len(topic)]), members)
    kinds = int(same_subscribers.max(initial=-1)) + 1
    kind = same_subscribers[topic]
    sample = np.zeros(kinds, np.int64)
    sample[same_subscribers[::-1]] = np.arange(len(same_subscribers))[::-1]
    at, pair = ragged_entries(start, sample)
    who = subscriber[pair]
    held = np.bincount(kind * (members + 1) + previous_owner + 1, minlength=kinds * (members + 1))
    of_pair = np.repeat(np.arange(kinds), np.diff(at)) * (members + 1) + who + 1
    size = np.bincount(kind, minlength=kinds)
    return even_counts(at, who, held[of_pair], size, members)


def _lacking_racks(group: GroupSpec, partition: Ints, member: Indices) -> str | None:
    """Where a rack is missing; None where all are known."""
    size, rack = group.replica_start[1:] - group.replica_start[:-1], group.member_rack[member]
    if size.all() and group.replica_rack.min(initial=0) >= 0 and rack.min(initial=0) >= 0:
        return None
    entry = np.repeat(np.arange(len(size)), size)
    bare = np.bincount(entry[group.replica_rack == NONE], minlength=len(size)) > 0
    silent = member[rack == NONE]
    unknown, on_bare = partition[size[partition] == 0], partition[bare[partition]]
    reasons = [
        _lacking(
            [group.members[m] for m in silent.tolist()],
            len(silent),
            len(member),
            "member",
            "no rack",
        ),
        _lacking(
            _names(group, unknown), len(unknown), len(partition), "partition", "unknown replicas"
        ),
        _lacking(
            _names(group, on_bare),
            len(on_bare),
            len(partition),
            "partition",
            "a replica on a broker without rack",
        ),
    ]
    lacking = [reason for reason in reasons if reason]
    if not lacking:
        return None
    return f"a missing rack switches it off (KIP-925): {'; '.join(lacking)}."


def _names(group: GroupSpec, partitions: Ints) -> list[str]:
    """Of the first few."""
    few = partitions[:_NAMED]
    topics, numbers = group.topic_of[few].tolist(), group.number_of[few].tolist()
    return [f"{group.topics[t]}-{n}" for t, n in zip(topics, numbers, strict=True)]


def _lacking(names: Sequence[str], number: int, of: int, what: str, lack: str) -> str | None:
    """A reason, with the first few names; None where there is nothing."""
    if not number:
        return None
    verb = "has" if number == 1 else "have"
    few = ", ".join(names[:_NAMED]) + and_more(number - _NAMED)
    return f"{number:,} of {several(of, what)} {verb} {lack} ({few})"
