"""
What a group coordinator sees of a KIP-848 group: whether all subscribe to the same, and the ids of topics.

The first decides which way of assigning it takes. Order and hash of ids decide ties. Who has recorded no id gets a
stand-in made of the topic's name: the same name gives the same answer everywhere, and the answer is one Kafka could
give, but where a tie is broken by topic id it need not be the one that the cluster gives.

Source: `ModernGroup.subscriptionType` of Kafka 4.3.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from contextlib import suppress
from hashlib import md5
from uuid import UUID

import numpy as np

from ...model.arrays import Flags, Indices, Ints, ragged_entries
from ...model.errors import Infeasible
from ..interface import GroupSpec, once
from ..kit.java_order import Uuids, packed_halves, utf16
from ..kit.orders import distinct

_AT_ONCE = 1 << 16
"""So many subscriptions are compared at a time; ten millions at once would wait for memory."""


_BYTES = 16
"""Of a UUID."""


def homogeneous(group: GroupSpec) -> bool:
    """
    Whether all members name the same set of topics, existing or not.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> homogeneous(spec({"a": ["t", "u"], "b": ["u", "t", "u"]}, {"t": 1, "u": 1}))
    True
    >>> homogeneous(spec({"a": ["t"], "b": ["t", "gone"]}, {"t": 1}))
    False
    """
    return bool(alike(group).all())


@once
def alike(groups: GroupSpec) -> Flags:
    """
    (G) `homogeneous` of each of many groups.

    >>> from evenkeel.engine.assignors.interface import spec, together
    >>> some = [spec({"a": ["t"], "b": ["t"]}, {"t": 1}), spec({"a": [], "b": ["t"]}, {"t": 1})]
    >>> alike(together(some)).tolist()
    [True, False]
    """
    differing = _differing_as_sent(groups)
    if not differing.any():
        return ~differing
    topics, count = groups.subscription_topic, len(groups.topics)
    members = np.diff(groups.member_start)
    named = np.zeros(count, np.bool_)
    firsts = groups.member_start[:-1][members > 0]
    named[topics[ragged_entries(groups.subscription_start, firsts)[1]]] = True
    # somebody names what the first member does not
    differing_sets = np.zeros(groups.group_count, np.bool_)
    differing_sets[groups.group_of_topic[topics[~named[topics]]]] = True
    unsure = differing & ~differing_sets
    if unsure.any():
        rows = np.repeat(np.arange(len(groups.members)), np.diff(groups.subscription_start))
        asked = unsure[groups.group_of_topic[topics]]
        pairs = distinct(rows[asked] * count + topics[asked], len(groups.members) * count)
        found, wanted = (
            np.bincount(groups.group_of_topic[one], minlength=groups.group_count)
            for one in (pairs % count, named)
        )
        differing_sets |= unsure & (found != members * wanted)
    return ~differing_sets


def _differing_as_sent(groups: GroupSpec) -> Flags:
    """(G) whether a member's list is not, name by name, that of the member before it."""
    start, sent = groups.subscription_start, groups.subscription_topic
    sizes = np.diff(start)
    differing = np.ones(len(sizes), np.bool_)
    for size in np.flatnonzero(np.bincount(sizes)).tolist():
        members = np.flatnonzero(sizes == size)
        if len(members) == len(sizes):
            lists = sent.reshape(len(sizes), size)
        else:
            lists = sent[start[members][:, np.newaxis] + np.arange(size)]
        rows = max(_AT_ONCE // max(size, 1), 1)
        for at in range(1, len(members), rows):
            these = members[at : at + rows]
            before = slice(at - 1, at - 1 + len(these))
            other = lists[at : at + rows] != lists[before]
            differing[these] = members[before] + 1 < these
            differing[these[np.flatnonzero(other) // max(size, 1)]] = True
    differing[groups.member_start[:-1][np.diff(groups.member_start) > 0]] = False
    found = np.zeros(groups.group_count, np.bool_)
    found[groups.group_of_member[differing]] = True
    return found


def subscribed_topics(group: GroupSpec, member: int) -> Ints:
    """The existing topics that a member names, each once, in the order of first mention."""
    return topics_named(group, np.array([member]))


def topics_named(groups: GroupSpec, members: Ints | Indices) -> Ints:
    """The same of some members, of one group each, one after the other."""
    topics = groups.subscription_topic[ragged_entries(groups.subscription_start, members)[1]]
    first = np.zeros(len(groups.topics), np.int64)
    mention = np.arange(len(topics))
    first[topics[::-1]] = mention[::-1]  # written last, the first stays
    found: Ints = topics[(first[topics] == mention) & groups.topic_exists[topics]].astype(np.int64)
    return found


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
    ids, problems = topic_ids_of_many(group)
    for problem in problems.values():
        raise problem
    return ids


def topic_ids_of_many(groups: GroupSpec) -> tuple[Uuids, dict[int, Infeasible]]:
    """The same for many groups, and why a group has none, by its number."""
    problems: dict[int, Infeasible] = {}
    pairs = list(zip(groups.topics, groups.topic_ids, strict=True))
    digits = [_stand_in(name) if id is None else id.replace("-", "") for name, id in pairs]
    if set(map(len, digits)) <= {2 * _BYTES}:
        with suppress(ValueError):
            packed = bytes.fromhex("".join(digits))
            if len(packed) == _BYTES * len(digits):
                return packed_halves(packed), problems
    packed = b""
    for topic, (name, id) in enumerate(pairs):
        try:
            packed += bytes.fromhex(digits[topic]) if id is None else _id(name, id).bytes
        except Infeasible as problem:
            problems.setdefault(int(groups.group_of_topic[topic]), problem)
            packed += bytes(_BYTES)
    return packed_halves(packed), problems


def _stand_in(name: str) -> str:
    """The digits of a UUID of version 3, of the name alone."""
    digest = bytearray(md5(utf16(name), usedforsecurity=False).digest())
    digest[6] = digest[6] & 0x0F | 0x30
    digest[8] = digest[8] & 0x3F | 0x80
    return digest.hex()


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
