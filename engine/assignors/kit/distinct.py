"""Distinct whole numbers, and the place of each among them; `np.unique` takes ten times as long on a million."""

from __future__ import annotations

import numpy as np

from ...model.arrays import Ints

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


def row_keys(rows: Ints) -> tuple[Ints, int]:
    """
    A number per row (of numbers from 0), equal where rows are equal, and a bound above them all.

    >>> keys, cells = row_keys(np.array([[0, 1], [1, 1], [0, 1]]))
    >>> keys.tolist(), cells
    ([1, 3, 1], 4)
    """
    keys, cells = np.zeros(len(rows), np.int64), 1
    for column in rows.T:
        width = int(column.max(initial=0)) + 1
        keys, cells = keys * width + column, cells * width
        if cells > _CELLS_PER_KEY * len(rows):  # the product must not outgrow 64 bits
            found, keys = numbered(keys, cells)
            cells = len(found)
    return keys, cells
