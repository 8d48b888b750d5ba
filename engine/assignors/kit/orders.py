"""Orders as arrays of indices, and distinct whole numbers; `np.unique` takes ten times as long on a million."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from math import prod

import numpy as np
import numpy.typing as npt

from ...model.arrays import Flags, Ints

_SHORT = 1 << 16


def stable_order(*keys: npt.NDArray[np.signedinteger]) -> Ints:
    """
    The order that sorts by the first key, then the next; what is equal in all stays in its order.

    Args:
        keys: Arrays of one length, at least one.

    >>> stable_order(np.array([1, 0, 1]), np.array([5, 9, 4])).tolist()
    [1, 2, 0]
    """
    order = np.argsort(_short(keys[-1]), kind="stable")
    for key in keys[-2::-1]:
        order = order[np.argsort(_short(key)[order], kind="stable")]
    return order


def least_first(sizes: Ints, count: int) -> Ints:
    """
    Who gets each of *count* things when each goes to the one with least, the first of several.

    >>> least_first(np.array([2, 0, 1]), 5).tolist()
    [1, 1, 2, 0, 1]
    """
    ascending = np.sort(sizes)
    before = np.cumsum(ascending)
    # What it takes to bring the first n up to the size of the n-th; as many of them come level.
    levelled = np.searchsorted(ascending * np.arange(1, len(sizes) + 1) - before, count, "right")
    level, rest = divmod(count + int(before[levelled - 1]), int(levelled))
    turns = np.maximum(level - sizes, 0)
    taker = np.repeat(np.arange(len(sizes)), turns)
    ends = np.cumsum(turns)
    height = level - (ends[taker] - np.arange(len(taker)))
    order = stable_order(height - height.min(initial=0))
    return np.concatenate([taker[order], np.flatnonzero(sizes <= level)[:rest]])


def places(order: Ints) -> Ints:
    """
    Where each one stands in an order of all.

    >>> places(np.array([2, 0, 1])).tolist()
    [1, 2, 0]
    """
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place


def _short(key: npt.NDArray[np.signedinteger]) -> npt.NDArray[np.integer]:
    """The key in 16 bits where it fits: numpy then sorts digit by digit, many times faster."""
    fits = len(key) and 0 <= int(key.min()) and int(key.max()) < _SHORT
    return key.astype(np.uint16) if fits else key


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
        return np.flatnonzero(marked)
    ascending = np.sort(keys)
    found: Ints = ascending[np.diff(ascending, prepend=-1) != 0]
    return found


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


def by_appearance(keys: Iterable[Hashable]) -> Ints:
    """
    A number per key, equal where keys are; they count up as keys first appear.

    >>> by_appearance(["b", "a", "b"]).tolist()
    [0, 1, 0]
    """
    numbers: dict[Hashable, int] = {}
    return np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)


def row_keys(rows: Ints | Flags) -> tuple[Ints, int]:
    """
    A number per row (of numbers from 0), equal where rows are equal, and a bound above them all.

    >>> keys, cells = row_keys(np.array([[0, 1], [1, 1], [0, 1]]))
    >>> keys.tolist(), cells
    ([1, 3, 1], 4)
    """
    widths = (rows.max(axis=0, initial=0) + np.int64(1)).tolist()
    if prod(widths) <= _CELLS_PER_KEY * len(rows):
        weights = [prod(widths[column + 1 :]) for column in range(len(widths))]
        return rows @ np.array(weights, np.int64), prod(widths)
    keys, cells = np.zeros(len(rows), np.int64), 1
    for column in rows.T:
        width = int(column.max(initial=0)) + 1
        keys, cells = keys * width + column, cells * width
        if cells > _CELLS_PER_KEY * len(rows):  # the product must not outgrow 64 bits
            found, keys = numbered(keys, cells)
            cells = len(found)
    return keys, cells
