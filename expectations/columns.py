"""Computed columns of frames, vectorized."""

from __future__ import annotations

import numpy as np

from evenkeel.engine.model.arrays import NONE, Ints
from evenkeel.engine.model.tables import INT64, Lists, Numbers, Series, Table, Texts


def row_in(keys: Texts, names: Texts) -> Numbers:
    """
    The first row that each key refers to, unknown if there is none.

    >>> from evenkeel.engine.model.tables import TEXT, column
    >>> row_in(column(["b", "x", None], TEXT), column(["a", "b"], TEXT)).to_pylist()
    [1, None, None]
    """
    first = np.full(len(names.words) + 1, NONE)
    first[names.places[::-1]] = np.arange(len(names))[::-1]
    first[NONE] = NONE
    return referred(first[keys.index_in(names.words)])


def referred(rows: Ints) -> Numbers:
    """A column of rows, unknown where there is `NONE`."""
    return Numbers(rows, INT64, rows != NONE)


def times(rows: Numbers, kinds: int) -> Numbers:
    """
    The number of references to each row.

    >>> times(referred(np.array([1, -1, 1])), 3).to_pylist()
    [0, 2, 0]
    """
    return Numbers(np.bincount(rows.values[rows.known], minlength=kinds), INT64)


def places(names: Texts, numbers: Numbers) -> Numbers:
    """
    The place of each row, from 0, among those of its name by number, unknown ones last.

    >>> from evenkeel.engine.model.tables import INT32, TEXT, column
    >>> places(column(["a", "b", "a"], TEXT), column([7, 0, 0], INT32)).to_pylist()
    [1, 0, 0]
    """
    name = names.places - NONE
    order = np.lexsort((numbers.filled(np.iinfo(np.int32).max), name))
    sizes = np.bincount(name)
    found = np.empty(len(name), np.int64)
    found[order] = np.arange(len(name)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return Numbers(found, INT64)


def paired(first: Lists, second: Lists) -> tuple[Ints, Series, Series]:
    """
    The row, and the values of two lists of it side by side, as long as both have some.

    >>> from evenkeel.engine.model.tables import INT32, TEXT, column, list_of
    >>> lists = column([["x"], None, ["y", "z"]], list_of(TEXT)), column([[1], [], [2]], list_of(INT32))
    >>> row, a, b = paired(*lists)
    >>> row.tolist(), a.to_pylist(), b.to_pylist()
    ([0, 2], ['x', 'y'], [1, 2])
    """
    if np.array_equal(first.start, second.start):
        return first.rows, first.entries, second.entries
    both = np.minimum(first.lengths, second.lengths)
    row = np.repeat(np.arange(len(both)), both)
    within = np.arange(len(row)) - np.repeat(np.cumsum(both) - both, both)
    ours, theirs = (each.entries.take(each.start[row] + within) for each in (first, second))
    return row, ours, theirs


def keys(*columns: Series) -> Ints:
    """
    (n) one number per row, the same for equal values of some columns; `NONE` where one is unknown.

    >>> from evenkeel.engine.model.tables import INT32, TEXT, column
    >>> keys(column(["a", "b", "a", None], TEXT), column([1, 1, 1, 1], INT32)).tolist()
    [0, 1, 0, -1]
    """
    found = np.zeros(len(columns[0]), np.int64)
    known = np.ones(len(found), np.bool_)
    for each in columns:
        own = each.places.astype(np.int64) if isinstance(each, Texts) else each.codes()
        if (int(found.max(initial=0)) + 1) * (int(own.max(initial=0)) + 1) >= 2**62:
            own = np.unique(own, return_inverse=True)[1]
            found = np.unique(found, return_inverse=True)[1]
        found = found * (own.max(initial=0) + 1) + own
        known &= each.known
    return np.where(known, found, NONE)


def distinct(table: Table) -> Table:
    """Each different row once, without those with an unknown value."""
    found, first = np.unique(keys(*table.columns.values()), return_index=True)
    return table.take(first[found != NONE])
