"""Distinct whole numbers the fast way: `np.unique` takes ten times as long on a million."""

from __future__ import annotations

import numpy as np

from evenkeel.engine.model import Ints

_CELLS_PER_KEY = 16
"""Up to this many cells per key, marking a table of all cells beats sorting the keys."""


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
