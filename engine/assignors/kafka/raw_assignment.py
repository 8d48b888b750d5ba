"""
From the lists a class of Kafka would send to an answer that says what is wrong with them.

Kafka's sticky and uniform assignors can give a partition to two members, keep one that is gone, or
hand a member what it never subscribed to. Such lists are kept as they are (`Assignment.raw_assignment`), and
the answer names what is wrong with them; flawless ones become plain owners and an order.
"""

from __future__ import annotations

import numpy as np

from ...model.arrays import NONE, Flags, Indices
from ...model.assignments import Assignment, Lists
from ...model.facts import Fact, finding
from ..interface import GroupSpec
from ..kit.members import subscribes


def answer_of(group: GroupSpec, lists: Lists, *, transferring: Indices | None = None) -> Assignment:
    """
    The answer that sends *lists*; of several holders of a partition the first in member order is its owner.

    Args:
        group: The group.
        lists: Each member's list; a partition number may be beyond its topic's end.
        transferring: As in `Assignment`.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 2})
    >>> twice = Lists(start=np.array([0, 2, 3]), topic=np.zeros(3, np.int32), partition=np.array([0, 1, 1]))
    >>> answer_of(group, twice).owner.tolist(), tuple(f.measure for f in answer_of(group, twice).findings)
    ([0, 0], ('given_twice',))
    """
    member = np.repeat(np.arange(len(group.members), dtype=np.int32), np.diff(lists.start))
    sizes = group.topic_size
    there = lists.partition < sizes[lists.topic]
    held = (group.topic_start[lists.topic] + lists.partition)[there]
    owner = np.full(group.partition_count, NONE, np.int32)
    owner[held[::-1]] = member[there][::-1]  # written last, the first holder stays
    twice = np.zeros(len(member), np.bool_)
    twice[there] = (np.bincount(held, minlength=group.partition_count) > 1)[held]
    foreign = ~subscribes(group, member, lists.topic)
    findings = (
        _finding(group, lists, ~there, "gone_but_kept"),
        _finding(group, lists, twice, "given_twice"),
        _finding(group, lists, foreign, "given_unsubscribed"),
    )
    plain = bool(there.all()) and not bool(twice.any())
    return Assignment(
        owner=owner,
        order=held if plain else None,
        transferring=transferring,
        raw_assignment=None if plain else lists,
        findings=tuple(f for f in findings if f),
    )


def _finding(group: GroupSpec, lists: Lists, which: Flags, measure: str) -> Fact | None:
    """How many partitions are so, and the first; None for none."""
    entries = np.flatnonzero(which)
    if not len(entries):
        return None
    pairs = set(zip(lists.topic[entries].tolist(), lists.partition[entries].tolist(), strict=True))
    topic, number = min(pairs)
    return finding(measure, [f"{group.topics[topic]}-{number}"], partitions=len(pairs))
