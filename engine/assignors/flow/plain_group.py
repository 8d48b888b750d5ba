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

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model.arrays import NONE, Flags, Indices, Ints, ragged_entries, starts_of
from ...model.errors import Infeasible
from ...model.text import and_more, several
from ..interface import GroupSpec, once
from ..kit.kernels import kernel, work
from ..kit.members import (
    Subscribers,
    member_order,
    partition_order,
    subscriber_classes,
    subscribers_by_member_order,
    topics_by_name,
)
from ..kit.orders import by_first, distinct, found_at, numbered, row_keys
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
class PlainGroups:
    """
    Plain consumer groups, one behind the other: N partitions of subscribed topics, T topics, C members that subscribe
    to any; nothing of a group in which a rack is missing.

    Partitions are in the order of (topic name, number), members in Kafka's member order.

    Attributes:
        partition: (N) index among the groups' partitions.
        topic: (N) topic, numbered by name among those here.
        kind: (N) partitions of a group that are on the same of its members' racks have the same number.
        crosses: (kinds, R) whether the rack has no replica of such partitions; so it is where the group has no member.
        previous_owner: (N) the member that owns it now, NONE for nobody; it need not subscribe to the topic.
        member: (C) index among the groups' members.
        rack: (C) its rack.
        start, subscriber: Ragged, topic -> the members that subscribe to it, ascending.
        same_subscribers: (T) topics of a group with the same subscribers have the same number; they count up.
        count: (C) how many partitions the member gets.
        racks_matter: (G) whether any partition is nearer to one of its subscribers than to another.
        partitions, members, topics, kinds, classes: (G + 1) where those of each group begin.
        problems: Where a rack is missing, by the number of the group.
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
    racks_matter: Flags
    partitions: Ints
    members: Ints
    topics: Ints
    kinds: Ints
    classes: Ints
    problems: Mapping[int, Infeasible]


def plain_group(group: GroupSpec) -> PlainGroups:
    """
    One group.

    Raises:
        Infeasible: A rack is missing; the message names where.
    """
    found = plain_groups(group)
    for problem in found.problems.values():
        raise problem
    return found


@once
def plain_groups(groups: GroupSpec) -> PlainGroups:
    """Work out the above."""
    subscribers = subscribers_by_member_order(groups)
    subscribed = subscribers.count > 0
    problems = _lacking_racks(groups, subscribers, subscribed)
    subscribed &= ~np.isin(groups.group_of_topic, list(problems))
    topics = topics_by_name(groups)
    topics = topics[subscribed[topics]]
    topic = np.arange(len(topics)).repeat(groups.topic_size[topics])
    partition = partition_order(groups, topics)
    start, pair = ragged_entries(subscribers.start, topics)
    counting, subscriber = numbered(subscribers.place[pair], len(groups.members))
    member = member_order(groups)[counting]
    client = np.full(len(groups.members) + 1, NONE, np.int32)  # the last is what NONE reads
    client[member] = np.arange(len(member))
    previous_owner = client[groups.owner[partition]]
    rack = groups.member_rack[member].astype(np.int64)
    of_topic, of_member = groups.group_of_topic[topics], groups.group_of_member[member]
    of_kind, kind, crosses = _kinds(groups, partition, of_member, rack)
    sample, same_subscribers = by_first(subscriber_classes(groups, subscribers)[topics])
    return PlainGroups(
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
        count=_counts(
            topic, previous_owner, start, subscriber, sample, same_subscribers, len(member)
        ),
        racks_matter=np.diff(
            _starts(groups, of_kind[_mixed(topic, kind, start, rack[subscriber], crosses)])
        )
        > 0,
        partitions=_starts(groups, of_topic[topic]),
        members=_starts(groups, of_member),
        topics=_starts(groups, of_topic),
        kinds=_starts(groups, of_kind),
        classes=_starts(groups, of_topic[sample]),
        problems=problems,
    )


def _starts(groups: GroupSpec, of: Ints) -> Ints:
    """(G + 1) where those of each group begin, of things in the order of groups."""
    return starts_of(np.bincount(of, minlength=groups.group_count))


_MOST_BITS = 40
"""Of racks, that are told apart by the bits of a number."""


def _kinds(
    groups: GroupSpec, partition: Ints, of_member: Ints, rack: Ints
) -> tuple[Ints, Ints, Flags]:
    """The group of each kind, *kind* and *crosses* of `PlainGroups` whose members are in these groups and racks."""
    racks, of_partition = len(groups.racks), groups.group_of[partition]
    empty = np.ones((groups.group_count, racks), np.bool_)
    empty[of_member, rack] = False
    start, entries = ragged_entries(groups.replica_start, partition)
    rows = np.ones((len(partition), racks), np.bool_)
    rows[np.arange(len(partition)).repeat(np.diff(start)), groups.replica_rack[entries]] = False
    rows |= empty[of_partition]
    if racks > _MOST_BITS:
        keys, cells = row_keys(rows)
    else:
        keys, cells = rows @ (1 << np.arange(racks - 1, -1, -1)), 1 << racks
    names, kind = numbered(of_partition * cells + keys, groups.group_count * cells)
    sample = np.zeros(len(names), np.int64)
    sample[kind] = np.arange(len(kind))
    return of_partition[sample], kind, rows[sample]


def _mixed(topic: Ints, kind: Ints, start: Ints, rack: Ints, crosses: Flags) -> Ints:
    """
    Kinds of partitions that are nearer to one of their subscribers than to another.

    Args:
        topic, kind, start, crosses: As in `PlainGroups`.
        rack: Of each *subscriber*.
    """
    topics, (kinds, racks) = len(start) - 1, crosses.shape
    near = np.zeros((topics, racks), np.bool_)
    near[np.arange(topics).repeat(np.diff(start)), rack] = True
    of_topic, found = np.divmod(distinct(topic * kinds + kind, topics * kinds), max(kinds, 1))
    near, crosses = near[of_topic], crosses[found]
    return found[(near & crosses).any(axis=1) & (near & ~crosses).any(axis=1)]


def _counts(
    topic: Ints,
    previous_owner: Indices,
    start: Ints,
    subscriber: Ints,
    sample: Ints,
    same_subscribers: Ints,
    members: int,
) -> Ints:
    """What each member owns now, evened out where it is not even; *sample*: one topic of each class."""
    pairs = np.arange(len(start) - 1).repeat(np.diff(start)) * members + subscriber
    held = np.flatnonzero(previous_owner != NONE)
    pair = found_at(pairs, topic[held] * members + previous_owner[held])
    held, pair = held[pair != NONE], pair[pair != NONE]
    at, entries = ragged_entries(start, sample)
    kind = same_subscribers[topic]
    times = np.bincount(at[kind[held]] + pair - start[topic[held]], minlength=len(entries))
    size = np.bincount(kind, minlength=len(sample))
    return even_counts(at, subscriber[entries], times, size, members)


def _lacking_racks(
    groups: GroupSpec, subscribers: Subscribers, subscribed: Flags
) -> dict[int, Infeasible]:
    """Where a rack is missing, by the number of the group."""
    size, counts = np.diff(groups.replica_start), subscribed[groups.topic_of]
    unknown, bare = counts & (size == 0), np.zeros(len(size), np.bool_)
    bare[np.repeat(np.arange(len(size)), size)[groups.replica_rack == NONE]] = True
    bare &= counts
    able = np.zeros(len(groups.members), np.bool_)
    able[subscribers.member] = True
    silent = able & (groups.member_rack == NONE)
    lacking = np.zeros(groups.group_count, np.bool_)
    lacking[groups.group_of[unknown | bare]] = True
    lacking[groups.group_of_member[silent]] = True
    problems = {}
    for number in np.flatnonzero(lacking).tolist():
        members = member_order(groups)[slice(*groups.member_start[number : number + 2])]
        partitions = groups.by_name[slice(*groups.partition_start[number : number + 2])]
        reasons = [
            _lacking(
                [groups.members[m] for m in members[silent[members]].tolist()],
                int(able[members].sum()),
                "member",
                "no rack",
            ),
            *(
                _lacking(
                    _names(groups, partitions[which[partitions]]),
                    int(counts[partitions].sum()),
                    "partition",
                    lack,
                )
                for which, lack in (
                    (unknown, "unknown replicas"),
                    (bare, "a replica on a broker without rack"),
                )
            ),
        ]
        problems[number] = Infeasible(
            f"a missing rack switches it off (KIP-925): {'; '.join(filter(None, reasons))}.",
            fix="Set client.rack on every member and broker.rack on every broker, to the same names.",
        )
    return problems


def _names(group: GroupSpec, partitions: Ints) -> list[str]:
    """Of partitions."""
    topics, numbers = group.topic_of[partitions].tolist(), group.number_of[partitions].tolist()
    return [f"{group.topics[t]}-{n}" for t, n in zip(topics, numbers, strict=True)]


def _lacking(names: Sequence[str], of: int, what: str, lack: str) -> str | None:
    """A reason, with the first few names; None where there is nothing."""
    if not names:
        return None
    verb = "has" if len(names) == 1 else "have"
    few = ", ".join(names[:_NAMED]) + and_more(len(names) - _NAMED)
    return f"{len(names):,} of {several(of, what)} {verb} {lack} ({few})"
