"""
Target assignments of KIP-848 groups: how an assignor gets them, and answers made of them.

A target is one set of partitions per member, of one group or of many. The coordinator does not check it: two members
may have the same partition, and a topic that came back smaller leaves numbers that are no more.
Source: `GroupSpecImpl` and `MemberAssignment` of Kafka 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ....model.arrays import NONE, Flags, Indices, Ints, ragged_entries, starts_of
from ....model.assignments import Assignment, Lists
from ....model.errors import Infeasible
from ...interface import GroupSpec
from ...kit.orders import distinct, places, stable_order
from ..raw_assignment import answer_of


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemberPartitions:
    """
    Who holds what, entry by entry.

    Attributes:
        place: (entries) the holder's place in some order of members.
        topic: (entries) topic index.
        number: (entries) partition number within the topic; it may be one that does not exist.
        partition: (entries) `partitions_held_once`, where it is known.
    """

    place: Ints | Indices
    topic: Ints | Indices
    number: Ints | Indices
    partition: Ints | None = None

    def __len__(self) -> int:
        return len(self.place)

    def take(self, index: Ints | Flags) -> MemberPartitions:
        """The entries an index or mask selects."""
        if index.dtype == np.bool_ and index.all():
            return self
        return MemberPartitions(
            place=self.place[index],
            topic=self.topic[index],
            number=self.number[index],
            partition=None if self.partition is None else self.partition[index],
        )


def current_target(group: GroupSpec, order: Indices) -> MemberPartitions:
    """
    The target an assignor is given: what members are said to own, without topics that are gone.

    Args:
        group: The group.
        order: (M) the members in the order in which they shall come.

    Returns:
        Entries by place in *order*, then by topic as first mentioned, then as listed; none twice.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> owned = {"a": [("t", 1)], "b": [("t", 0), ("u", 0), ("t", 2), ("t", 0), ("gone", 1)]}
    >>> target = current_target(spec({"a": ["t"], "b": ["t"]}, {"t": 3, "u": 1}, owned=owned), np.array([1, 0]))
    >>> target.place.tolist(), target.topic.tolist(), target.number.tolist()
    ([0, 0, 0, 1], [0, 0, 1, 0], [0, 2, 0, 1])
    """
    start, entry = ragged_entries(group.owned_start, order)
    held = MemberPartitions(
        place=np.repeat(np.arange(len(order), dtype=np.int32), np.diff(start)),
        topic=group.owned_topic[entry],
        number=group.owned_partition[entry],
    )
    there = np.append(group.topic_exists, False)
    if not there[:-1].all() or held.topic.min(initial=0) == NONE:
        held = held.take(there[held.topic])  # NONE reads the last entry
    held = _by_topic(held, len(group.topics))
    partition = partitions_held_once(group, held)
    return _once(held) if partition is None else replace(held, partition=partition)


def _by_topic(held: MemberPartitions, topics: int) -> MemberPartitions:
    """Each member's entries of one topic together, where the topic is first mentioned."""
    begin = _runs(held.place, held.topic)
    runs = held.place[begin].astype(np.int64) * topics + held.topic[begin]
    if len(distinct(runs, int(runs.max(initial=0)) + 1)) == len(runs):
        return held
    keys = held.place.astype(np.int64) * topics + held.topic
    _, first, which = np.unique(keys, return_index=True, return_inverse=True)
    return held.take(stable_order(first[which]))


def _runs(*arrays: Ints | Indices) -> Ints:
    """Where entries begin that are equal in all arrays; neighbors mostly are."""
    begins = np.zeros(len(arrays[0]), np.bool_)
    begins[:1] = True
    for array in arrays:
        begins[1:] |= array[1:] != array[:-1]
    return np.flatnonzero(begins)


def _once(held: MemberPartitions) -> MemberPartitions:
    """Of an entry that is there twice, the first."""
    order = np.lexsort((held.number, held.topic, held.place))
    same = np.zeros(len(held), np.bool_)
    same[1:] = True
    for values in (held.place, held.topic, held.number):
        same[1:] &= np.diff(values[order]) == 0
    return held.take(np.sort(order[~same])) if same.any() else held


def answer_of_sets(group: GroupSpec, order: Indices, held: MemberPartitions) -> Assignment:
    """
    The answer that gives each member a set of partitions.

    Args:
        group: The group.
        order: (M) the members by place.
        held: Who gets what, in any order; what is there twice counts once.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 2})
    >>> numbers = MemberPartitions(place=np.array([0, 1, 1]), topic=np.zeros(3, np.int64), number=np.array([1, 0, 0]))
    >>> answer_of_sets(group, np.array([0, 1]), numbers).owner.tolist()
    [1, 0]
    """
    partition = partitions_held_once(group, held)
    if partition is not None:
        owner = np.full(group.partition_count, NONE, np.int32)
        owner[partition] = order[held.place]
        return Assignment(owner=owner)
    held = _once(held)
    names = sorted(range(len(group.topics)), key=group.topics.__getitem__)
    rank, member = places(np.array(names, np.int64)), order[held.place]
    entry = np.lexsort((held.number, rank[held.topic], member))  # as lists are elsewhere
    lists = Lists(
        start=starts_of(np.bincount(member, minlength=len(group.members))),
        topic=held.topic[entry].astype(np.int32),
        partition=held.number[entry].astype(np.int32),
    )
    return answer_of(group, lists)


def partitions_held_once(group: GroupSpec, held: MemberPartitions) -> Ints | None:
    """The partition (P index) of each entry; None when one is no more, or is held twice."""
    begin = _runs(held.topic)
    topic = held.topic[begin]
    if not bool((np.maximum.reduceat(held.number, begin) < group.topic_size[topic]).all()):
        return None
    found = group.topic_start[topic].repeat(np.diff(begin, append=len(held))) + held.number
    somebodys = np.zeros(group.partition_count, np.bool_)
    somebodys[found] = True
    return found if np.count_nonzero(somebodys) == len(found) else None


def held_wrongly(group: GroupSpec, held: MemberPartitions) -> Flags:
    """(entries) what is no more, or held by more than one."""
    sizes = group.topic_size[held.topic]
    keys = held.topic.astype(np.int64) * (int(held.number.max(initial=0)) + 1) + held.number
    _, which, times = np.unique(keys, return_inverse=True, return_counts=True)
    wrong: Flags = (held.number >= sizes) | (times > 1)[which]
    return wrong


def refusals(
    groups: GroupSpec, wrong: MemberPartitions, what: str, exception: str
) -> dict[int, Infeasible]:
    """
    Why a group has no answer where Kafka's uniform assignor throws, by the group's number.

    Args:
        groups: The groups.
        wrong: The entries that make it throw.
        what: What is wrong with them.
        exception: What it throws.
    """
    of_group = groups.group_of_topic[wrong.topic]
    return {
        number: _refusal(groups, wrong.take(of_group == number), what, exception)
        for number in sorted(set(of_group.tolist()))
    }


def _refusal(group: GroupSpec, wrong: MemberPartitions, what: str, exception: str) -> Infeasible:
    pairs = sorted(set(zip(wrong.topic.tolist(), wrong.number.tolist(), strict=True)))
    first = f"{group.topics[pairs[0][0]]}-{pairs[0][1]}"
    others = len(pairs) - 1
    more = f", and so {'is' if others == 1 else 'are'} {others:,} more" if others else ""
    return Infeasible(
        f"uniform was given {first} as owned, which {what}{more} (Kafka: {exception}).",
        fix="Kafka's coordinator fails like this too, until the members own something else.",
    )
