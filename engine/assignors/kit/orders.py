"""Orders as arrays of indices, and distinct whole numbers; `np.unique` takes ten times as long on a million."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import prod

import numpy as np
import numpy.typing as npt

from ...model.arrays import NONE, Flags, Indices, Ints, starts_of

_SHORT = 1 << 16
_LONG = 1 << 62


def stable_order(*keys: npt.NDArray[np.signedinteger]) -> Ints:
    """
    The order that sorts by the first key, then the next; what is equal in all stays in its order.

    Args:
        keys: Arrays of one length, at least one.

    >>> stable_order(np.array([1, 0, 1]), np.array([5, 9, 4])).tolist()
    [1, 2, 0]
    """
    order: Ints | None = None
    for key in reversed(keys):
        least, most = (int(key.min()), int(key.max())) if len(key) else (0, 0)
        if least == most:
            continue
        # numpy sorts 16 bits digit by digit, many times faster
        short = key.astype(np.uint16) if least >= 0 and most < _SHORT else key
        if order is None:
            order = np.argsort(short, kind="stable")
        else:
            order = order[np.argsort(short[order], kind="stable")]
    return np.arange(len(keys[0])) if order is None else order


def order_within(ascending: Ints | Indices, key: Ints) -> Ints:
    """
    As `stable_order` of both, where the first is in order already; many times faster for long keys.

    >>> order_within(np.array([0, 0, 7]), np.array([5, 2, 9])).tolist()
    [1, 0, 2]
    """
    least = int(key.min(initial=0))
    span = int(key.max(initial=0)) - least + 1
    if span * (int(ascending.max(initial=0)) + 1) >= _LONG:
        return stable_order(ascending, key)
    return np.argsort(ascending * np.int64(span) + (key - least), kind="stable")


def least_first(sizes: Ints, counts: Ints | int, start: Ints | None = None) -> Ints:
    """
    Who gets each of *counts* things when each goes to the one with least, the first of several.

    Args:
        sizes: What each has.
        counts: How many there are; of each of several lists where there is a *start*.
        start: Where each of several lists of sizes begins that lie behind each other, none of them empty, and where the
            last one ends. None: there is one.

    Returns:
        Places in *sizes*, list after list.

    >>> least_first(np.array([2, 0, 1]), 5).tolist()
    [1, 1, 2, 0, 1]
    >>> least_first(np.array([2, 0, 1]), np.array([3, 1]), np.array([0, 2, 3])).tolist()
    [1, 1, 0, 2]
    """
    if start is None:
        return _least_first(sizes, int(counts))
    begin, number = start[:-1], start[1:] - start[:-1]
    which = np.arange(len(number)).repeat(number)
    ascending = sizes[stable_order(which, sizes)]
    before = starts_of(ascending)
    so_far = before[1:] - before[begin][which]
    rank = np.arange(1, len(sizes) + 1) - begin[which]
    # What it takes to bring the first n up to the size of the n-th; as many of them come level.
    counts = np.atleast_1d(counts)
    levelled = np.bincount(which[ascending * rank - so_far <= counts[which]])
    level, rest = np.divmod(counts + before[begin + levelled] - before[begin], levelled)
    room = level[which] - sizes
    lowest = room >= 0
    turn = np.cumsum(lowest)
    more = lowest & (turn - (turn - lowest)[begin][which] <= rest[which])
    turns = np.maximum(room, 0) + more
    taker = np.arange(len(sizes)).repeat(turns)
    height = np.arange(len(taker)) + (sizes - np.cumsum(turns) + turns)[taker]
    return taker[stable_order(which[taker], height)]


def _least_first(sizes: Ints, count: int) -> Ints:
    """Of one list; a general sticky plan asks topic by topic, in a third of the time."""
    ascending = np.sort(sizes)
    before = np.cumsum(ascending)
    # What it takes to bring the first n up to the size of the n-th; as many of them come level.
    levelled = np.searchsorted(ascending * np.arange(1, len(sizes) + 1) - before, count, "right")
    level, rest = divmod(count + int(before[levelled - 1]), int(levelled))
    turns = np.maximum(level - sizes, 0)
    taker = np.repeat(np.arange(len(sizes)), turns)
    height = level - (np.cumsum(turns)[taker] - np.arange(len(taker)))
    order = stable_order(height - height.min(initial=0))
    return np.concatenate([taker[order], np.flatnonzero(sizes <= level)[:rest]])


def places(order: Ints | Indices) -> Ints:
    """
    Where each one stands in an order of all.

    >>> places(np.array([2, 0, 1])).tolist()
    [1, 2, 0]
    """
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place


_CELLS_PER_KEY = 16
"""Up to this many cells per key, a table of all cells beats sorting, and searching, the keys."""


def distinct(keys: Ints, cells: int) -> Ints:
    """
    The distinct *keys*, ascending; each is at least 0 and below *cells*.

    >>> distinct(np.array([3, 1, 3]), 4).tolist()
    [1, 3]
    """
    if cells <= _CELLS_PER_KEY * len(keys):
        marked = np.zeros(cells, np.bool_)
        marked[keys] = True
        return marked.nonzero()[0]
    ascending = np.sort(keys)
    found: Ints = ascending[np.diff(ascending, prepend=-1) != 0]
    return found


def counted(keys: Ints, cells: int) -> tuple[Ints, Ints]:
    """
    The distinct *keys*, ascending, and how often each is there; each is at least 0 and below *cells*.

    >>> [array.tolist() for array in counted(np.array([3, 1, 3]), 4)]
    [[1, 3], [1, 2]]
    """
    if cells <= _CELLS_PER_KEY * len(keys):
        times = np.bincount(keys, minlength=cells)
        found = np.flatnonzero(times)
        return found, times[found]
    ascending = np.sort(keys)
    first = np.flatnonzero(np.diff(ascending, prepend=-1))
    return ascending[first], np.diff(first, append=len(keys))


def numbered(keys: Ints, cells: int) -> tuple[Ints, Ints]:
    """
    The distinct *keys*, ascending, and the place of each key among them.

    Args:
        keys: At least 0.
        cells: More than any key.

    >>> [array.tolist() for array in numbered(np.array([7, 3, 7]), 8)]
    [[3, 7], [1, 0, 1]]
    """
    names = distinct(keys, cells)
    if cells > _CELLS_PER_KEY * len(keys):
        return names, np.searchsorted(names, keys).astype(np.int64)
    place = np.zeros(cells, np.int64)
    place[names] = np.arange(len(names))
    return names, place[keys]


def found_at(ascending: Ints, keys: Ints) -> Ints:
    """
    The place of each key among ascending ones, NONE where it is not there; all at least 0.

    >>> found_at(np.array([2, 5]), np.array([5, 3, 7, 2])).tolist()
    [1, -1, -1, 0]
    """
    at = np.searchsorted(ascending, keys)
    return np.where(np.append(ascending, NONE)[at] == keys, at, NONE)


def by_appearance(keys: Iterable[Hashable]) -> Ints:
    """
    A number per key, equal where keys are; they count up as keys first appear.

    >>> by_appearance(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def by_first(names: Ints) -> tuple[Ints, Ints]:
    """
    Where each name comes first, ascending; and names as numbers that count up as they come.

    >>> [array.tolist() for array in by_first(np.array([7, 3, 7]))]
    [[0, 1], [0, 1, 0]]
    """
    _, first, which = np.unique(names, return_index=True, return_inverse=True)
    return np.sort(first), places(np.argsort(first))[which]


def row_keys(rows: Ints | Flags) -> tuple[Ints, int]:
    """
    A number per row (of numbers from 0), equal where rows are equal, and a bound above them all.

    >>> keys, cells = row_keys(np.array([[0, 1], [1, 1], [0, 1]]))
    >>> keys.tolist(), cells
    ([1, 3, 1], 4)
    """
    widths = (rows.max(axis=0, initial=0) + np.int64(1)).tolist()
    keys: Ints
    if prod(widths) <= _CELLS_PER_KEY * len(rows):
        weights = [prod(widths[column + 1 :]) for column in range(len(widths))]
        keys = rows.astype(np.int64, copy=False) @ np.array(weights, np.int64)
        return keys, prod(widths)
    keys, cells = np.zeros(len(rows), np.int64), 1
    for column in rows.T:
        width = int(column.max(initial=0)) + 1
        keys, cells = keys * width + column, cells * width
        if cells > _CELLS_PER_KEY * len(rows):  # the product must not outgrow 64 bits
            found, keys = numbered(keys, cells)
            cells = len(found)
    return keys, cells
