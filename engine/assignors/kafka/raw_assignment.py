"""
From the lists a class of Kafka would send to an answer that says what is wrong with them.

Kafka's sticky and uniform assignors can give a partition to two members, keep one that is gone, or
hand a member what it never subscribed to. Such lists are kept as they are (`Assignment.raw_assignment`), and
the answer names what is wrong with them; flawless ones become plain owners and an order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np

from ...model.arrays import NONE, Flags, Indices, Ints
from ...model.assignments import Assignment, Lists
from ...model.errors import Infeasible
from ...model.facts import Fact, finding
from ..interface import Answers, GroupSpec, picked
from ..kit.members import subscribes


def answers_of(
    groups: GroupSpec,
    member: Ints,
    partition: Ints,
    lists: Callable[[], Lists],
    *,
    transferring: Indices | None = None,
    problems: Mapping[int, Infeasible],
) -> Answers:
    """
    The answers that give members these partitions; of several holders of one the first in member order is its owner.

    Args:
        groups: The groups.
        member: (entries) who gets each partition, ascending.
        partition: (entries) which; P and more are partitions that are gone.
        lists: The same as lists.
        transferring: As in `Assignment`.
        problems: Why a group has no answer, by its number; nobody gets anything there, and nothing is transferring.
    """
    size = groups.partition_count
    if partition.max(initial=NONE) < size:
        owner = np.full(size, NONE, np.int32)
        owner[partition] = member
        once = np.count_nonzero(owner != NONE) == len(partition)
        if once and subscribes(groups, member, groups.topic_of[partition]).all():
            answer = Assignment(owner=owner, order=partition, transferring=transferring)
            return Answers(assignment=answer, problems=problems)
    return _answers_of(groups, lists(), transferring, problems)


def _answers_of(
    groups: GroupSpec,
    lists: Lists,
    transferring: Indices | None,
    problems: Mapping[int, Infeasible],
) -> Answers:
    """The same, of lists in which something may be wrong."""
    size = groups.partition_count
    member = np.repeat(np.arange(len(groups.members), dtype=np.int32), np.diff(lists.start))
    there = (lists.partition >= 0) & (lists.partition < groups.topic_size[lists.topic])
    entry = groups.topic_start[lists.topic] + lists.partition
    held = entry[there]
    owner = np.full(size, NONE, np.int32)
    owner[held[::-1]] = member[there][::-1]  # written last, the first holder stays
    twice = np.zeros(len(member), np.bool_)
    twice[there] = (np.bincount(held, minlength=size) > 1)[held]
    wrong = {
        "gone_but_kept": ~there,
        "given_twice": twice,
        "given_unsubscribed": ~subscribes(groups, member, lists.topic),
    }
    answer = Assignment(owner=owner, order=entry, transferring=transferring)
    odd = np.zeros(groups.group_count, np.bool_)
    for which in wrong.values():
        odd[groups.group_of_member[member[which]]] = True
    if not odd.any():
        return Answers(assignment=answer, problems=problems)
    if groups.group_count == 1:
        complete = not (~there | twice).any()
        found = [_finding(groups, lists, which, measure) for measure, which in wrong.items()]
        alone = replace(
            answer,
            order=entry if complete else None,
            raw_assignment=None if complete else lists,
            findings=tuple(each for each in found if each),
        )
        own = {0: alone}
    else:
        numbers = np.flatnonzero(odd).tolist()
        own = {number: _alone(groups, number, lists, transferring) for number in numbers}
    others = ~odd[groups.group_of]
    rest = Assignment(
        owner=np.where(others, owner, np.int32(NONE)),
        order=entry[~odd[groups.group_of_member[member]]],
        transferring=None
        if transferring is None
        else np.where(others, transferring, np.int32(NONE)),
    )
    return Answers(assignment=rest, problems=problems, own=own)


def _alone(
    groups: GroupSpec, number: int, lists: Lists, transferring: Indices | None
) -> Assignment:
    """The answer of one of the groups, with what is wrong with it."""
    first, last = groups.member_start[number : number + 2].tolist()
    entries = slice(*lists.start[[first, last]].tolist())
    if transferring is not None:
        own = transferring[slice(*groups.partition_start[number : number + 2].tolist())]
        transferring = np.where(own == NONE, NONE, own - first).astype(np.int32)
    return _answers_of(
        picked(groups, [number]),
        Lists(
            start=lists.start[first : last + 1] - entries.start,
            topic=(lists.topic[entries] - groups.topics_start[number]).astype(np.int32),
            partition=lists.partition[entries],
        ),
        transferring,
        {},
    ).one()


def answer_of(group: GroupSpec, lists: Lists) -> Assignment:
    """
    The answer of one group that sends *lists*, in which a partition number may be beyond its topic's end.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 2})
    >>> twice = Lists(start=np.array([0, 2, 3]), topic=np.zeros(3, np.int32), partition=np.array([0, 1, 1]))
    >>> answer_of(group, twice).owner.tolist(), tuple(f.measure for f in answer_of(group, twice).findings)
    ([0, 0], ('given_twice',))
    """
    return _answers_of(group, lists, None, {}).one()


def _finding(group: GroupSpec, lists: Lists, which: Flags, measure: str) -> Fact | None:
    """How many partitions are so, and the first; None for none."""
    entries = np.flatnonzero(which)
    if not len(entries):
        return None
    pairs = set(zip(lists.topic[entries].tolist(), lists.partition[entries].tolist(), strict=True))
    topic, number = min(pairs)
    return finding(measure, [f"{group.topics[topic]}-{number}"], partitions=len(pairs))
