"""
Kafka's uniform assignor where members subscribe to different topics: keep, fill up, balance topic by topic.

Source: `UniformHeterogeneousAssignmentBuilder` of Kafka 4.3 (since 4.0, KAFKA-17710).
"""

from __future__ import annotations

import numpy as np

from ....model.arrays import NONE, Indices, Ints
from ....model.assignments import Assignment
from ...interface import GroupSpec
from ...kit.java_order import uuid_order
from ...kit.orders import places, stable_order
from ...kit.subscribers import Subscribers, subscribers_in_order, subscribes
from .balance import moves_between
from .target import MemberPartitions, answer_of_sets, refusal
from .topic_ids import topic_ids

MAX_ITERATIONS = 16
"""So often all topics are balanced at most."""

STEPS = 8
"""About how many elementary steps balancing takes per subscriber and per move."""


def assign_heterogeneous(group: GroupSpec, order: Indices, target: MemberPartitions) -> Assignment:
    """
    Let members keep what they still subscribe to, deal what is free, then even out.

    Args:
        group: The group.
        order: (M) the members by place; ties go to the lower place.
        target: What members should own at present.

    Returns:
        Who gets what. Of two members that own one partition, each may keep it.

    Raises:
        Infeasible: A member has a partition that is no more.
    """
    target = target.take(subscribes(group, order[target.place], target.topic))
    beyond = target.number >= group.topic_size[target.topic]
    if beyond.any():
        raise refusal(group, target.take(beyond), "is no more", "ArrayIndexOutOfBoundsException")
    assignment = _TargetAssignment(group, order, target)
    topics = _in_turn(group, assignment.subscribers)
    for topic in topics:
        assignment.fill(topic)
    _balance_topics(assignment, topics)
    return answer_of_sets(group, order, assignment.held())


def _in_turn(group: GroupSpec, subscribers: Subscribers) -> list[int]:
    """The topics with most partitions per subscriber first, then with fewest subscribers, then by id."""
    topics = np.flatnonzero(subscribers.count)
    count, size = subscribers.count[topics], group.topic_size[topics]
    by_id = places(uuid_order(topic_ids(group)))[topics]
    found: list[int] = topics[np.lexsort((by_id, count, -(size / count)))].tolist()
    return found


def _balance_topics(assignment: _TargetAssignment, topics: list[int]) -> None:
    """Balance all topics in turn, until a whole round has changed nothing."""
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
        owner: (P) place of the owner, NONE for nobody.
        size: (M) how many each place owns.
        second: What places had that others became the owners of; they keep it unless balancing brings it to them.
        moves: The (partitions, places) that balancing moved, where there is a second holder to know it.
        steps: How much work balancing has been so far; who has had much will have more.
    """

    def __init__(self, group: GroupSpec, order: Indices, target: MemberPartitions) -> None:
        self.group = group
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

    def held(self) -> MemberPartitions:
        """Every owner and what second holders kept."""
        owned = np.flatnonzero(self.owner != NONE)
        partition = self.group.topic_start[self.second.topic] + self.second.number
        moved = {
            pair for move in self.moves for pair in zip(*map(np.ndarray.tolist, move), strict=True)
        }
        kept = [
            pair not in moved
            for pair in zip(partition.tolist(), self.second.place.tolist(), strict=True)
        ]
        second = self.second.take(np.flatnonzero(kept))
        return MemberPartitions(
            place=np.concatenate([self.owner[owned], second.place]),
            topic=np.concatenate([self.group.topic_of[owned], second.topic]),
            number=np.concatenate([self.group.number_of[owned], second.number]),
        )


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
