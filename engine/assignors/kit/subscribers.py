"""Who subscribes to what, as one ragged array over all topics instead of a million small ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model.arrays import Flags, Indices, Ints
from ..interface import GroupSpec, once
from .distinct import distinct
from .member_order import member_order, members_by_id

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
    members, topics = len(group.members), len(group.topics)
    place = np.zeros(members, np.int64)
    place[order] = np.arange(members)
    of_pair = place.repeat(np.diff(group.subscription_start))
    useful = group.topic_size[group.subscription_topic] > 0
    keys = group.subscription_topic[useful].astype(np.int64) * members + of_pair[useful]
    topic, at = np.divmod(distinct(keys, members * topics), max(members, 1))
    return Subscribers(
        start=np.searchsorted(topic, np.arange(topics + 1)).astype(np.int64),
        topic=topic,
        place=at,
        member=order[at].astype(np.int32),
    )


def subscribes(group: GroupSpec, member: Ints | Indices, topic: Ints | Indices) -> Flags:
    """
    Pair by pair, whether a member subscribes to a topic.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t", "u"], "b": ["t"]}, {"t": 2, "u": 1})
    >>> subscribes(group, np.array([0, 1, 1]), np.array([1, 1, 0])).tolist()
    [True, False, True]
    """
    topics = len(group.topics)
    keys = member.astype(np.int64) * topics + topic
    who = np.repeat(np.arange(len(group.members)), np.diff(group.subscription_start))
    pairs = who * topics + group.subscription_topic
    cells = len(group.members) * topics
    if cells <= _CELLS:
        table = np.zeros(cells, np.bool_)
        table[pairs] = True
        found: Flags = table[keys]
        return found
    ascending = np.append(np.sort(pairs), cells)
    found = ascending[np.searchsorted(ascending, keys)] == keys
    return found
