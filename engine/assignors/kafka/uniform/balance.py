"""
One topic's balancing in Kafka's uniform assignor for unequal subscriptions: from the fullest members to the emptiest.

All subscribers stand in one row, from the fewest partitions to the most. A low range at its start takes, a high range
at its end gives; each has a level, and grows by those who stand beside it at exactly that level. Both work on the same
row, so what one does shows in the other, and the order of steps below is Kafka's own.
Source: `UniformHeterogeneousAssignmentBuilder` of Kafka 4.3 (since 4.0, KAFKA-17710).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....model.arrays import Ints
from ...kit.kernels import at_work, kernel


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
