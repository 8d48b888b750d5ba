"""
Even counts: how many partitions each member should own, when not everybody subscribes to everything.

Topics with the same subscribers are a class. Class by class, its partitions are poured over its
subscribers like water over an uneven floor: whoever owns least of everything else gets most of it.
That is repeated until no class can be poured more evenly; then nobody owns two more than somebody
who could take one over (KIP-54). What is even already stays exactly as it is.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from ....model.arrays import Ints


def even_counts(
    start: Ints, member: Ints, held: Ints, size: Ints, members: int, *, beside: Ints | int = 0
) -> Ints:
    """
    (M) how many partitions each member gets.

    Args:
        start: (classes + 1) where the subscribers of each class begin in *member*.
        member: (pairs) a class's subscribers, ascending.
        held: (pairs) how many partitions of the class each of them owns now.
        size: (classes) partitions of the class, owned or not.
        members: M.
        beside: (M) how many others they have, which stay.

    Two classes of four; member 1 subscribes to both, and the first class is all member 0's:

    >>> even_counts(np.array([0, 2, 3]), np.array([0, 1, 1]), np.array([4, 0, 0]), np.array([4, 4]), 2).tolist()
    [4, 4]
    """
    given = held.copy()
    counts = np.zeros(members, np.int64) + beside
    np.add.at(counts, member, given)
    spans = [slice(a, b) for a, b in pairwise(start.tolist())]
    order = sorted(range(len(size)), key=lambda number: spans[number].stop - spans[number].start)
    changed = True
    while changed:
        changed = False
        for number in order:
            who, now = member[spans[number]], given[spans[number]]
            rest = counts[who] - now
            then = _poured(rest, now, int(size[number]))
            if int(now.sum()) < size[number] or _uneven(rest + then) < _uneven(rest + now):
                counts[who] += then - now
                given[spans[number]] = then
                changed = True
    return counts


def _uneven(counts: Ints) -> int:
    return int((counts * counts).sum())


def _poured(beside: Ints, held: Ints, amount: int) -> Ints:
    """
    The evenest way to pour an amount.

    What does not divide goes to those who keep one more of their own with it, the first in order
    before the others.

    Args:
        beside: What each one has already.
        held: What each one has of this now.
        amount: What is poured.
    """
    floor = np.sort(beside)
    needed = floor * np.arange(1, len(floor) + 1) - np.cumsum(floor)  # to bring the first to here
    filled = int(np.searchsorted(needed, amount, side="right"))
    level, extra = divmod(amount + int(floor[:filled].sum()), filled)
    poured: Ints = np.maximum(level - beside, 0)
    reached = np.flatnonzero(beside <= level)
    keeps = held[reached] > poured[reached]
    poured[reached[np.argsort(~keeps, kind="stable")][:extra]] += 1
    return poured
