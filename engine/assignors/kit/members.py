"""
The orders in which Kafka's assignors go through members and topics, and who subscribes to what.

Subscribers are one ragged array over all topics instead of a million small ones. Source of `member_order`:
`AbstractPartitionAssignor.MemberInfo` of Kafka 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ...model.arrays import NONE, Flags, Indices, Ints, ragged_entries, starts_of
from ...model.errors import Infeasible
from ...model.text import listed
from ..interface import GroupSpec, once
from ..interface.group import LIKE, Like, once_of_topics
from .java_order import Hashes, bucket_orders, string_hashes, string_order
from .orders import by_appearance, by_first, distinct, places, stable_order


@once
def member_order(group: GroupSpec) -> Indices:
    """
    The members (M indices), group after group: static ones by instance id, then dynamic ones by member id, in Java's
    string order.

    Two members with one instance id, which a broker does not let be, stay in the order of the map
    they come in.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": [], "b": [], "c": []}, {}, instance_ids={"c": "host-2", "b": "host-9"})
    >>> [group.members[m] for m in member_order(group)]
    ['c', 'b', 'a']
    """
    instances = group.instance_ids
    if instances.count(None) == len(instances):
        return members_by_id(group).astype(np.int32)
    static = group.static
    names = [m if i is None else i for m, i in zip(group.members, instances, strict=True)]
    ids = zip(
        group.group_of_member[static].tolist(), (i for i in instances if i is not None), strict=True
    )
    arrived = np.arange(len(names)) if len(set(ids)) == static.sum() else hash_order(group)
    by_name = arrived[string_order([names[m] for m in arrived.tolist()], group.member_start)]
    ordered = stable_order(2 * group.group_of_member + ~static[by_name])
    return by_name[ordered].astype(np.int32)


@once
def members_by_id(group: GroupSpec) -> Ints:
    """The members (M indices), group after group, in Java's string order of their ids."""
    like: Like | None = vars(group).get(LIKE)
    if like is None or len(like.new):
        return string_order(group.members, group.member_start)
    # some of those before: they stay in their order
    place = np.full(len(like.group.members), NONE, np.int64)
    place[like.places] = np.arange(len(like.places))
    ordered = place[members_by_id(like.group)]
    stay: Ints = ordered[ordered != NONE]
    return stay


@once
def _hashes(group: GroupSpec) -> Hashes:
    """(M) the hashes of the members' ids."""
    like: Like | None = vars(group).get(LIKE)
    if like is None:
        return string_hashes(group.members)
    hashes = _hashes(like.group)[like.places]
    hashes[like.new] = string_hashes([group.members[new] for new in like.new.tolist()])
    return hashes


@once
def hash_order(group: GroupSpec) -> Ints:
    """The members (M indices), group after group, as a Java `HashMap` by member id is walked."""
    return bucket_orders(_hashes(group), group.member_start)


@once_of_topics
def topics_by_name(group: GroupSpec) -> Ints:
    """The topics (T indices), group after group, in Java's string order of their names."""
    return string_order(group.topics, group.topics_start)


@once
def assignable_topics(group: GroupSpec) -> Flags:
    """(T) the topics Kafka looks at: with partitions, and named by some subscription."""
    subscribed = np.zeros(len(group.topics), np.bool_)
    subscribed[group.subscription_topic] = True
    assignable: Flags = subscribed & (group.topic_size > 0)
    return assignable


def partition_order(group: GroupSpec, topics: Ints) -> Ints:
    """(P) the partitions topic by topic in the given order of topics."""
    return ragged_entries(group.topic_start, topics)[1]


_CELLS = 1 << 24
"""Up to this many (member, topic) pairs, a table of all of them is the fastest way to look one up."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Subscribers:
    """
    The distinct subscribers of each topic that has partitions.

    Attributes:
        start: (T + 1) where each topic's pairs begin; a topic without partitions or subscribers has
            none.
        topic: (pairs) the topic of each pair, ascending.
        place: (pairs) the subscriber's place in the order asked for, ascending within a topic.
        member: (pairs) the subscriber.
    """

    start: Ints
    topic: Ints
    place: Ints
    member: Indices

    @property
    def count(self) -> Ints:
        """(T) number of subscribers."""
        return self.start[1:] - self.start[:-1]


@once
def subscribers_by_member_order(group: GroupSpec) -> Subscribers:
    """Each topic's subscribers in Kafka's order of members."""
    return subscribers_in_order(group, member_order(group))


@once
def subscribers_by_id(group: GroupSpec) -> Subscribers:
    """Each topic's subscribers in the order of member ids."""
    return subscribers_in_order(group, members_by_id(group).astype(np.int32))


def subscribers_in_order(group: GroupSpec, order: Indices) -> Subscribers:
    """
    Each topic's subscribers in a given order of all members (M indices); naming a topic twice
    counts once.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t", "u"], "b": ["t", "t", "gone"]}, {"t": 2, "u": 1})
    >>> pairs = subscribers_in_order(group, np.array([1, 0]))
    >>> pairs.start.tolist(), pairs.member.tolist()
    ([0, 2, 3, 3], [1, 0, 0])
    """
    # A cell for each topic and member of one group, topic after topic.
    cells = starts_of(np.diff(group.member_start)[group.group_of_topic])
    begin = cells[:-1] - group.member_start[group.group_of_topic]
    keys = begin[group.subscription_topic]
    keys += places(order).repeat(np.diff(group.subscription_start))
    if not group.topic_size.all():
        keys = keys[group.topic_size[group.subscription_topic] > 0]
    pairs = distinct(keys, int(cells[-1]))
    start = np.searchsorted(pairs, cells).astype(np.int64)
    topic = np.arange(len(group.topics)).repeat(np.diff(start))
    place = pairs - begin.repeat(np.diff(start))
    return Subscribers(start=start, topic=topic, place=place, member=order[place].astype(np.int32))


def subscriber_classes(group: GroupSpec, subscribers: Subscribers) -> Ints:
    """
    (T) a number for each topic, equal where the subscribers are the same; NONE where there are none.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t", "u", "v"], "b": ["t", "v"]}, {"t": 2, "u": 1, "v": 1})
    >>> subscriber_classes(group, subscribers_by_id(group)).tolist()
    [0, 1, 0]
    """
    count, member = subscribers.count, subscribers.member
    some = np.flatnonzero((count > 0) & (count < np.diff(group.member_start)[group.group_of_topic]))
    classes = np.where(count > 0, group.group_of_topic, NONE)  # who has all members of its group
    spans = zip(subscribers.start[some].tolist(), subscribers.start[some + 1].tolist(), strict=True)
    classes[some] = group.group_count + by_appearance(member[a:b].tobytes() for a, b in spans)
    return classes


class Seats(NamedTuple):
    """
    A group in canonical order, as strategies of ours search it: M members, N partitions, K classes of topics.

    Attributes:
        member: (M) index in the group, in Kafka's order of members.
        partition: (N) index in the group, by topic name and number; those that somebody subscribes to.
        topic_class: (N) class of the partition's topic.
        may: (K, M) who subscribes to the class.
        owner: (N) who owns it now, NONE for nobody.
        holder: (N) the same, NONE where the owner does not subscribe.
    """

    member: Indices
    partition: Ints
    topic_class: Ints
    may: Flags
    owner: Ints
    holder: Ints


@once
def seats(groups: GroupSpec) -> list[Seats]:
    """Those of each group; nothing that is worked out from these can depend on the order of the input."""
    members, of_member = groups.member_start, groups.group_of_member
    subscribers, by_name = subscribers_by_member_order(groups), topics_by_name(groups)
    topics = by_name[subscribers.count[by_name] > 0]
    sample, number = by_first(subscriber_classes(groups, subscribers)[topics])
    of_class = groups.group_of_topic[topics[sample]]
    classes = starts_of(np.bincount(of_class, minlength=groups.group_count))
    partition, topic_class = (
        partition_order(groups, topics),
        number.repeat(groups.topic_size[topics]),
    )
    of_partition = of_class[topic_class]
    # a cell for each class and member of one group
    cells = starts_of(np.diff(members)[of_class])
    start, pairs = ragged_entries(subscribers.start, topics[sample])
    may = np.zeros(int(cells[-1]), np.bool_)
    may[(cells[:-1] - members[of_class]).repeat(np.diff(start)) + subscribers.place[pairs]] = True
    order = member_order(groups)
    place = np.full(len(order) + 1, NONE, np.int64)  # the last entry is what NONE reads
    place[order] = np.arange(len(order)) - members[of_member]
    owner = place[groups.owner[partition]]
    holder, owned = np.full(len(owner), NONE, np.int64), np.flatnonzero(owner != NONE)
    owned = owned[may[cells[topic_class[owned]] + owner[owned]]]
    holder[owned] = owner[owned]
    arrays: tuple[Any, ...] = (
        (order - members[of_member]).astype(np.int32),
        partition - groups.partition_start[of_partition],
        topic_class - classes[of_partition],
        may,
        owner,
        holder,
    )
    partitions = starts_of(np.bincount(of_partition, minlength=groups.group_count))
    bounds = members, partitions, partitions, cells[classes], partitions, partitions
    spans = zip(*(pairwise(bound.tolist()) for bound in bounds), strict=True)
    found = [Seats(*(a[b:c] for a, (b, c) in zip(arrays, of, strict=True))) for of in spans]
    counts = zip(found, np.diff(members).tolist(), np.diff(classes).tolist(), strict=True)
    return [one._replace(may=one.may.reshape(k, m)) for one, m, k in counts]


_TOPICS_NAMED = 3


def unknown_lags(
    group: GroupSpec, subscribers: Subscribers, strategy: str
) -> dict[int, Infeasible]:
    """Why a strategy that has to know every lag cannot run on some of many groups, by number of the group."""
    subscribed = (subscribers.count > 0)[group.topic_of]
    unknown = subscribed & ~group.lag.known
    problems: dict[int, Infeasible] = {}
    for number in distinct(group.group_of[unknown], group.group_count).tolist():
        span = slice(*group.partition_start[number : number + 2].tolist())
        lacking, topic = unknown[span], group.topic_of[span]
        topics = sorted(group.topics[t] for t in set(topic[lacking].tolist()))
        problems[number] = Infeasible(
            f"{strategy} needs the lag of every partition; {int(lacking.sum()):,} of {int(subscribed[span].sum()):,} "
            f"are unknown, because an end or a commit could not be read (topics: {listed(topics, _TOPICS_NAMED)}).",
            fix="Read the offsets again, or look at a strategy that needs no lag.",
        )
    return problems


@once
def all_name_all(groups: GroupSpec) -> bool:
    """
    Whether each member names each topic of its group once; False where there are too many of both to find out.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> all_name_all(spec({"a": ["t", "u"], "b": ["u", "t"]}, {"t": 2, "u": 1}))
    True
    >>> all_name_all(spec({"a": ["t", "t"], "b": ["u", "t"]}, {"t": 2, "u": 1}))
    False
    """
    topics = np.diff(groups.topics_start)
    cells = int(np.diff(groups.member_start) @ topics)
    if cells != len(groups.subscription_topic) or cells > _CELLS:
        return False
    row = starts_of(topics[groups.group_of_member])
    begin = row[:-1] - groups.topics_start[groups.group_of_member]
    named = np.zeros(cells, np.bool_)
    named[begin.repeat(np.diff(groups.subscription_start)) + groups.subscription_topic] = True
    return bool(named.all())


def subscribes(group: GroupSpec, member: Ints | Indices, topic: Ints | Indices) -> Flags:
    """
    Pair by pair, whether a member subscribes to a topic.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t", "u"], "b": ["t"]}, {"t": 2, "u": 1})
    >>> subscribes(group, np.array([0, 1, 1]), np.array([1, 1, 0])).tolist()
    [True, False, True]
    """
    if all_name_all(group):
        return np.ones(len(member), np.bool_)
    width = np.diff(group.topics_start)[group.group_of_member]
    row = starts_of(width)  # members by the topics of their own group
    offset = row[:-1] - group.topics_start[group.group_of_member]
    keys = offset[member] + topic
    cells = int(row[-1])
    pairs = np.repeat(offset, np.diff(group.subscription_start)) + group.subscription_topic
    if cells <= _CELLS:
        table = np.zeros(cells, np.bool_)
        table[pairs] = True
        found: Flags = table[keys]
        return found
    ascending = np.append(np.sort(pairs), cells)
    found = ascending[np.searchsorted(ascending, keys)] == keys
    return found
