"""
Kafka's uniform assignor where members subscribe to different topics: keep, fill up, balance topic by topic.

A topic is balanced from the fullest members to the emptiest. All subscribers stand in one row, from the fewest
partitions to the most. A low range at its start takes, a high range at its end gives; each has a level, and grows by
those who stand beside it at exactly that level. Both work on the same row, so what one does shows in the other, and the
order of steps in `balance_topic` is Kafka's own.

Source: `UniformHeterogeneousAssignmentBuilder` of Kafka 4.3 (since 4.0, KAFKA-17710).
"""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from ....model.arrays import NONE, Flags, Indices, Ints
from ....model.assignments import Assignment
from ....model.errors import Infeasible
from ...interface import GroupSpec, picked
from ...kit.java_order import Uuids, uuid_order
from ...kit.kernels import at_work, kernel
from ...kit.members import subscribers_in_order, subscribes
from ...kit.orders import places, stable_order
from .target import MemberPartitions, answer_of_sets, refusals


@kernel
def balance_topic(row: Any, size: Any, first: Any, end: Any, given: Any, taker: Any) -> int:
    """
    Move partitions of one topic until the fullest and the emptiest are at most one apart.

    Args:
        row: (n) the subscribers 0 ... n-1 in this order; changed.
        size: (n) what each owns in total, ascending; changed.
        first: (n) where each subscriber's partitions of this topic begin.
        end: (n) where they end; changed: who gives loses the last.
        given: Filled with the position of each partition moved, in turn; long enough for all.
        taker: Filled with the subscriber that gets it.

    Returns:
        How many partitions moved.

    >>> given, taker = [0] * 3, [0] * 3
    >>> moved = balance_topic([0, 1], [0, 3], [0, 0], [0, 3], given, taker)
    >>> given[:moved], taker[:moved]
    ([2], [0])
    """
    count = len(row)
    low_level, low_end, low_next = size[0] - 1, 0, 0
    high_level, high_start, high_end, high_next = size[count - 1] + 1, count, count, count - 1
    moved = 0
    while True:
        if high_next < high_start:
            if high_end == 0:
                return moved
            if high_end <= high_start:
                high_level = size[row[high_start - 1]]
            else:
                high_level -= 1
            while high_start > 0 and size[row[high_start - 1]] == high_level:
                high_start -= 1
            high_next = high_end - 1
        giver = row[high_next]
        high_next -= 1
        if end[giver] == first[giver]:
            high_end -= 1
            row[high_next + 1] = row[high_end]
            row[high_end] = giver
            continue
        end[giver] -= 1
        if low_next >= low_end:
            low_level += 1
            while low_end < count and size[row[low_end]] == low_level:
                low_end += 1
            low_next = 0
        if high_level - low_level <= 1:
            return moved
        taking = row[low_next]
        low_next += 1
        given[moved], taker[moved] = end[giver], taking
        moved += 1
        size[giver] -= 1
        size[taking] += 1


def moves_between(size: Ints, first: Ints, end: Ints, *, steps: int = 0) -> tuple[Ints, Ints]:
    """
    What `balance_topic` moves among the subscribers 0 ... n-1: the positions given, and who takes each.

    Args:
        size: (n) what each owns in total, ascending.
        first: (n) where each subscriber's partitions of the topic begin.
        end: (n) where they end.
        steps: About how much there is to do, in all; much is worth compiling.

    >>> [moves.tolist() for moves in moves_between(np.array([0, 3]), np.array([0, 0]), np.array([0, 3]))]
    [[2], [0]]
    """
    room = np.zeros(int((end - first).sum()), np.int64)
    arrays = (np.arange(len(size)), size.copy(), first, end.copy(), room, room.copy())
    run = at_work(balance_topic, steps)
    if run is not balance_topic:
        moved = run(*arrays)
        return arrays[4][:moved], arrays[5][:moved]
    lists = [array.tolist() for array in arrays]  # faster to walk than arrays
    moved = balance_topic(*lists)
    return np.array(lists[4][:moved], np.int64), np.array(lists[5][:moved], np.int64)


MAX_ITERATIONS = 16
"""So often all topics are balanced at most."""

STEPS = 8
"""About how many elementary steps balancing takes per subscriber and per move."""


def assign_heterogeneous(
    groups: GroupSpec,
    which: Flags,
    order: Indices,
    target: MemberPartitions,
    ids: Uuids,
    owner: Indices,
) -> tuple[dict[int, Infeasible], dict[int, Assignment]]:
    """
    Let members keep what they still subscribe to, deal what is free, then even out.

    Args:
        groups: The groups.
        which: (G) those to assign.
        order: (M) the members by place; ties go to the lower place.
        target: What members should own at present.
        ids: The topics' ids.
        owner: (P) filled with who gets what, where that says all.

    Returns:
        By its number, why a group has no answer: a member has a partition that is no more. And the answer of a group
        in which each of two members that own one partition keeps it.
    """
    target = target.take(which[groups.group_of_topic[target.topic]])
    target = target.take(subscribes(groups, order[target.place], target.topic))
    problems = refusals(
        groups,
        target.take(target.number >= groups.topic_size[target.topic]),
        "is no more",
        "ArrayIndexOutOfBoundsException",
    )
    if problems:
        which = which & ~np.isin(np.arange(groups.group_count), list(problems))
        target = target.take(which[groups.group_of_topic[target.topic]])
    assignment = _TargetAssignment(groups, order, target)
    # those with most partitions per subscriber first, then with fewest subscribers, then by id
    subscribed = (assignment.subscribers.count > 0) & which[groups.group_of_topic]
    topics = np.flatnonzero(subscribed)
    count, size = assignment.subscribers.count[topics], groups.topic_size[topics]
    of_group, by_id = groups.group_of_topic[topics], places(uuid_order(ids))[topics]
    in_turn = topics[np.lexsort((by_id, count, -(size / count), of_group))].tolist()
    for topic in in_turn:
        assignment.fill(topic)
    for _, of_one in groupby(in_turn, groups.group_of_topic.tolist().__getitem__):
        _balance_topics(assignment, list(of_one))
    own = assignment.held_twice()
    owned = assignment.owner != NONE
    owned &= ~np.isin(groups.group_of, list(own))
    owner[owned] = order[assignment.owner[owned]]
    return problems, own


def _balance_topics(assignment: _TargetAssignment, topics: list[int]) -> None:
    """Balance all topics of a group in turn, until a whole round has changed nothing."""
    shared = [t for t in topics if assignment.subscribers.count[t] > 1]
    last = NONE
    for _ in range(MAX_ITERATIONS):
        for topic in shared:
            moved = assignment.balance(topic)
            if moved or last == NONE:
                last = topic
            elif topic == last:
                return


class _TargetAssignment:
    """
    Who owns what while it changes.

    Attributes:
        subscribers: Per topic, ascending by place.
        order: (M) the members by place.
        owner: (P) place of the owner, NONE for nobody.
        size: (M) how many each place owns.
        second: What places had that others became the owners of; they keep it unless balancing brings it to them.
        moves: The (partitions, places) that balancing moved, where there is a second holder to know it.
        steps: How much work balancing has been so far; who has had much will have more.
    """

    def __init__(self, group: GroupSpec, order: Indices, target: MemberPartitions) -> None:
        self.group = group
        self.order = order
        self.subscribers = subscribers_in_order(group, order)
        self.size = np.bincount(target.place, minlength=len(group.members))
        self.owner = np.full(group.partition_count, NONE, np.int64)
        partition = group.topic_start[target.topic] + target.number
        self.owner[partition] = target.place  # of several, the last stays
        self.second = target.take(self.owner[partition] != target.place)
        self.moves: list[tuple[Ints, Ints]] = []
        self.steps = 0

    def _subscribing(self, topic: int) -> tuple[Ints, Ints]:
        """The places that subscribe to a topic, and what each owns in total."""
        start = self.subscribers.start
        row = self.subscribers.place[start[topic] : start[topic + 1]]
        return row, self.size[row]

    def _owners(self, topic: int) -> tuple[int, Ints]:
        """Where a topic's partitions begin, and who owns each."""
        start, end = self.group.topic_start[topic : topic + 2].tolist()
        return start, self.owner[start:end]

    def fill(self, topic: int) -> None:
        """Deal a topic's free partitions, each to who owns the fewest by then."""
        _, owner = self._owners(topic)
        free = np.flatnonzero(owner == NONE)
        if not free.size:
            return
        row, size = self._subscribing(topic)
        lowest = row[size == size.min()]
        if free.size <= lowest.size:
            owner[free] = lowest[: free.size]
            self.size[lowest[: free.size]] += 1
            return
        row, size = ranked(row, size)
        turns = lowest_first(size, free.size)
        owner[free] = row[turns]
        self.size[row] += np.bincount(turns, minlength=len(row))

    def balance(self, topic: int) -> int:
        """Move a topic's partitions from its fullest subscribers to its emptiest; returns how many."""
        row, size = self._subscribing(topic)
        if size.max() - size.min() <= 1:
            return 0
        row, size = ranked(row, size)
        start, owner = self._owners(topic)
        by_owner = stable_order(owner)
        first = np.searchsorted(owner[by_owner], row)
        end = np.searchsorted(owner[by_owner], row, side="right")
        given, taker = moves_between(size, first, end, steps=self.steps)
        self.steps += STEPS * (len(row) + len(given))
        partition, to = by_owner[given], row[taker]
        np.subtract.at(self.size, owner[partition], 1)
        np.add.at(self.size, to, 1)
        owner[partition] = to
        if len(self.second):
            self.moves.append((start + partition, to))
        return len(given)

    def held_twice(self) -> dict[int, Assignment]:
        """The answer of each group in which second holders keep something, by its number."""
        group, second = self.group, self.second
        partition = group.topic_start[second.topic] + second.number
        moved = {
            pair for move in self.moves for pair in zip(*map(np.ndarray.tolist, move), strict=True)
        }
        pairs = zip(partition.tolist(), second.place.tolist(), strict=True)
        second = second.take(np.array([pair not in moved for pair in pairs], np.bool_))
        of_group = group.group_of_topic[second.topic]
        return {
            number: self._alone(number, second.take(of_group == number))
            for number in sorted(set(of_group.tolist()))
        }

    def _alone(self, number: int, second: MemberPartitions) -> Assignment:
        """The answer of one group: every owner, and what second holders kept."""
        groups = self.group
        start, member, topic = (
            int(one[number])
            for one in (groups.partition_start, groups.member_start, groups.topics_start)
        )
        owner = self.owner[start : int(groups.partition_start[number + 1])]
        owned = start + np.flatnonzero(owner != NONE)
        held = MemberPartitions(
            place=np.concatenate([self.owner[owned], second.place]) - member,
            topic=np.concatenate([groups.topic_of[owned], second.topic]) - topic,
            number=np.concatenate([groups.number_of[owned], second.number]),
        )
        order = self.order[member : int(groups.member_start[number + 1])] - member
        return answer_of_sets(picked(groups, [number]), order, held)


def ranked(row: Ints, size: Ints) -> tuple[Ints, Ints]:
    """Places and what each owns, from few to many, then by place; they come by place."""
    order = stable_order(size - size.min())
    return row[order], size[order]


def lowest_first(size: Ints, count: int) -> Ints:
    """
    Who gets one, one after another, when it always goes to a member that has the fewest.

    Args:
        size: (n) what each has, ascending.
        count: How many there are to give.

    Returns:
        (count) indices into *size*: all on the lowest level in turn, then all on the next one with those who were
        there before, and so on.

    >>> lowest_first(np.array([0, 0, 2]), 8).tolist()
    [0, 1, 0, 1, 0, 1, 2, 0]
    """
    low, high = int(size[0]), int(size[-1])
    beyond = count - int((high - size).sum())
    levels = min(count, high - low + 1 + max(beyond, 0) // len(size))
    ends = np.searchsorted(size, np.arange(low, low + levels), side="right")
    starts = np.cumsum(ends) - ends
    return (np.arange(ends.sum()) - np.repeat(starts, ends))[:count]
