"""
What a group coordinator sees of a KIP-848 group: whether all subscribe to the same, and the ids of topics.

The first decides which way of assigning it takes. Order and hash of ids decide ties. Who has recorded no id gets a
stand-in made of the topic's name: the same name gives the same answer everywhere, and the answer is one Kafka could
give, but where a tie is broken by topic id it need not be the one that the cluster gives.

Source: `ModernGroup.subscriptionType` of Kafka 4.3.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from hashlib import md5
from uuid import UUID

import numpy as np

from ...model.arrays import Ints
from ...model.errors import Infeasible
from ..interface import GroupSpec
from ..kit.java_order import Uuids, utf16, uuid_halves
from ..kit.orders import distinct

_AT_ONCE = 1 << 16
"""So many subscriptions are compared at a time; ten millions at once would wait for memory."""


def homogeneous(group: GroupSpec) -> bool:
    """
    Whether all members name the same set of topics, existing or not.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> homogeneous(spec({"a": ["t", "u"], "b": ["u", "t", "u"]}, {"t": 1, "u": 1}))
    True
    >>> homogeneous(spec({"a": ["t"], "b": ["t", "gone"]}, {"t": 1}))
    False
    """
    topics, sizes = len(group.topics), np.diff(group.subscription_start)
    if not len(sizes) or _equal_as_sent(group, sizes):
        return True
    named = np.zeros(topics, np.bool_)
    named[group.subscribed(0)] = True
    if not named[group.subscription_topic].all():
        return False  # somebody names what the first member does not
    pairs = np.repeat(np.arange(len(sizes)), sizes) * topics + group.subscription_topic
    return len(distinct(pairs, len(sizes) * topics)) == len(sizes) * int(named.sum())


def _equal_as_sent(group: GroupSpec, sizes: Ints) -> bool:
    if (sizes != sizes[0]).any():
        return False
    sent = group.subscription_topic.reshape(len(sizes), -1)
    rows = max(_AT_ONCE // max(int(sizes[0]), 1), 1)
    return all((sent[at : at + rows] == sent[0]).all() for at in range(0, len(sent), rows))


def subscribed_topics(group: GroupSpec, member: int) -> Ints:
    """The existing topics that a member names, each once, in the order of first mention."""
    named = dict.fromkeys(group.subscribed(member).tolist())
    return np.array([t for t in named if group.topic_exists[t]], np.int64)


def topic_ids(group: GroupSpec) -> Uuids:
    """
    The id of each topic (T), a stand-in where none is known.

    Raises:
        Infeasible: An id is neither a UUID nor Kafka's short form of one.

    >>> from dataclasses import replace
    >>> from evenkeel.engine.assignors.interface import spec
    >>> ids = ("f81d4fae-7dec-11d0-a765-00a0c91e6bf6", "-B1Prn3sEdCnZQCgyR5r9g", None)
    >>> same, again, stand_in = topic_ids(replace(spec({}, {"t": 1, "u": 1, "v": 1}), topic_ids=ids)).tolist()
    >>> same == again, same, stand_in
    (True, [-568210367123287600, -6384696206158828554], [4772353579196757375, -7292576561881665254])
    """
    named = zip(group.topics, group.topic_ids, strict=True)
    return uuid_halves(
        [
            UUID(bytes=md5(utf16(name), usedforsecurity=False).digest(), version=3)
            if known is None
            else _id(name, known)
            for name, known in named
        ]
    )


def _id(topic: str, text: str) -> UUID:
    """The id as Kafka's clients (32 hex digits) or its tools (22 characters) write it."""
    try:
        return UUID(text)
    except ValueError:
        pass
    try:
        return UUID(bytes=urlsafe_b64decode(text + "=="))
    except ValueError:
        raise Infeasible(
            f"topic {topic!r} has the id {text!r}, which is no topic id.",
            fix="Give it as a UUID, as Kafka's tools print it, or leave it out.",
        ) from None
