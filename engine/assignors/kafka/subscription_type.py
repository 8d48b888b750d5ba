"""
Whether a KIP-848 group is homogeneous: its coordinator picks a faster way of assigning by that.

Source: `ModernGroup.subscriptionType` of Kafka 4.3.
"""

from __future__ import annotations

import numpy as np

from ...model.arrays import Ints
from ..interface import GroupSpec
from ..kit.distinct import distinct

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
