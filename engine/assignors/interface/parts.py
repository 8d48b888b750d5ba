"""Some of many groups apart from the others, and their answers put back among those of all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from ...model.arrays import NONE, Indices, Ints, ragged_entries
from ...model.assignments import Assignment
from .group import Bounds, GroupSpec
from .many import Answers

T = TypeVar("T")


def picked(groups: GroupSpec, numbers: Sequence[int] | Ints) -> GroupSpec:
    """
    Some of many groups.

    Args:
        groups: All of them.
        numbers: Which, ascending and at least one.

    >>> from evenkeel.engine.assignors.interface import spec, together
    >>> some = [spec({"a": ["t"]}, {"t": 2}), spec({"a": ["u"]}, {"u": 1}, owned={"a": [("u", 0)]})]
    >>> one = picked(together(some), [1])
    >>> one.members, one.topics, one.owner.tolist(), one.subscription_topic.tolist(), one.owned_topic.tolist()
    (('a',), ('u',), [0], [0], [0])
    """
    if len(numbers) == groups.group_count:
        return groups
    rows = np.asarray(numbers, np.int64)
    member_start, members = ragged_entries(groups.member_start, rows)
    topics_start, topics = ragged_entries(groups.topics_start, rows)
    bounds = Bounds(members=member_start, topics=topics_start) if len(rows) > 1 else None
    return arranged(groups, members, topics, bounds)


def each(groups: GroupSpec) -> Sequence[GroupSpec]:
    """The groups one by one, for who does not look at what members report: as they came."""
    parts: Sequence[GroupSpec] | None = vars(groups).get("parts")
    if groups.group_count == 1:
        return (groups,)
    return parts or [picked(groups, [number]) for number in range(groups.group_count)]


def arranged(group: GroupSpec, members: Ints, topics: Ints, bounds: Bounds | None) -> GroupSpec:
    """
    A group of these members and topics of another, in this order; what others own there is nobody's.

    Args:
        group: The other, or many.
        members, topics: Which, by their places there.
        bounds: Where each of many begins then.
    """
    partitions = ragged_entries(group.topic_start, topics)[1]
    member_place = _places(members, len(group.members))
    topic_place = _places(topics, len(group.topics))
    subscription_start, subscriptions = ragged_entries(group.subscription_start, members)
    replica_start, replicas = ragged_entries(group.replica_start, partitions)
    owned_start, owned = ragged_entries(group.owned_start, members)
    user_data_start, user_data = ragged_entries(group.user_data_start, members)
    return replace(
        group,
        members=_picked(group.members, members),
        instance_ids=_picked(group.instance_ids, members),
        member_rack=group.member_rack[members],
        known_rack=group.known_rack[members],
        topics=_picked(group.topics, topics),
        topic_ids=_picked(group.topic_ids, topics),
        topic_exists=group.topic_exists[topics],
        topic_start=ragged_entries(group.topic_start, topics)[0],
        subscription_start=subscription_start,
        subscription_topic=topic_place[group.subscription_topic[subscriptions]],
        replica_start=replica_start,
        replica_rack=group.replica_rack[replicas],
        leader_rack=group.leader_rack[partitions],
        owner=member_place[group.owner[partitions]],
        owned_start=owned_start,
        owned_topic=topic_place[group.owned_topic[owned]],
        owned_partition=group.owned_partition[owned],
        generation=group.generation.take(members),
        user_data_start=user_data_start,
        user_data_topic=topic_place[group.user_data_topic[user_data]],
        user_data_partition=group.user_data_partition[user_data],
        user_data_generation=group.user_data_generation.take(members),
        user_data=_picked(group.user_data, members),
        lag=group.lag.take(partitions),
        rate=group.rate[partitions],
        bytes_per_record=group.bytes_per_record[partitions],
        capacity=group.capacity[members],
        config=_picked(group.config, members) if group.config else (),
        backlog=None if group.backlog is None else group.backlog[partitions],
        bounds=bounds,
    )


def put(groups: GroupSpec, answers: Answers, numbers: Ints, newer: Answers) -> Answers:
    """
    The answers of many groups, those of some of them replaced.

    Args:
        groups: All groups.
        answers: Their answers.
        numbers: Which are replaced, ascending and at least one.
        newer: The answers of these (`picked`).
    """
    if len(numbers) == groups.group_count:
        return newer
    _, partitions = ragged_entries(groups.partition_start, numbers)
    _, members = ragged_entries(groups.member_start, numbers)
    name = np.append(members, NONE).astype(np.int32)
    old, new = answers.assignment, newer.assignment

    def owners(before: Indices | None, after: Indices | None) -> Indices:
        given = np.full(groups.partition_count, NONE, np.int32) if before is None else before.copy()
        given[partitions] = NONE if after is None else name[after]
        return given

    def order() -> Ints:
        """Of those that have one; who has none has its lists sorted."""
        before, after = (
            groups.by_name if old.order is None else old.order,
            np.arange(len(partitions)) if new.order is None else new.order,
        )
        stays = np.ones(groups.partition_count, np.bool_)
        stays[partitions] = False
        both = np.concatenate([before[stays[before]], partitions[after]])
        return both[np.argsort(groups.group_of[both], kind="stable")]

    unordered = old.order is None and new.order is None
    at_once = old.transferring is None and new.transferring is None
    listed = numbers.tolist()
    others = set(range(groups.group_count)).difference(listed)
    return Answers(
        assignment=Assignment(
            owner=owners(old.owner, new.owner),
            order=None if unordered else order(),
            transferring=None if at_once else owners(old.transferring, new.transferring),
        ),
        problems={n: p for n, p in answers.problems.items() if n in others}
        | {listed[n]: p for n, p in newer.problems.items()},
        own={n: a for n, a in answers.own.items() if n in others}
        | {listed[n]: a for n, a in newer.own.items()},
    )


def _places(chosen: Ints, count: int) -> npt.NDArray[np.int32]:
    """(count + 1) where each one is among the chosen, NONE for others and for NONE."""
    place = np.full(count + 1, NONE, np.int32)
    place[chosen] = np.arange(len(chosen))
    return place


def _picked(values: tuple[T, ...], index: Ints) -> tuple[T, ...]:
    return tuple(values[i] for i in index.tolist())
