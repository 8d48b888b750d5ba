"""Computed columns of frames, vectorized."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenkeel.engine.model.arrays import Ints


def row_in(keys: pa.ChunkedArray, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """
    The row that each key refers to, null if there is none.

    >>> row_in(pa.chunked_array([["b", "x", None]]), pa.chunked_array([["a", "b"]])).to_pylist()
    [1, None, None]
    """
    return pc.index_in(keys, value_set=column.combine_chunks())


def times(rows: pa.ChunkedArray, kinds: int) -> pa.Array:
    """
    The number of references to each row.

    >>> times(pa.chunked_array([[1, None, 1]]), 3).to_pylist()
    [0, 2, 0]
    """
    return pa.array(np.bincount(rows.drop_null().to_numpy(), minlength=kinds))


def places(names: pa.ChunkedArray, numbers: pa.ChunkedArray) -> pa.Array:
    """
    The place of each row, from 0, among those of its name by number, nulls last.

    >>> places(pa.chunked_array([["a", "b", "a"]]), pa.chunked_array([[7, 0, 0]])).to_pylist()
    [1, 0, 0]
    """
    name = names.combine_chunks().dictionary_encode(null_encoding="encode").indices.to_numpy()
    order = np.lexsort((pc.fill_null(numbers, np.iinfo(np.int32).max).to_numpy(), name))
    sizes = np.bincount(name)
    found = np.empty(len(name), np.int64)
    found[order] = np.arange(len(name)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return pa.array(found)


def lengths(lists: pa.ChunkedArray) -> Ints:
    """The length of each list; null counts as empty."""
    found: Ints = pc.fill_null(pc.list_value_length(lists), 0).to_numpy()
    return found


def paired(first: pa.ChunkedArray, second: pa.ChunkedArray) -> tuple[Ints, pa.Array, pa.Array]:
    """
    The row, and the values of two lists of it side by side, as long as both have some.

    >>> row, a, b = paired(pa.chunked_array([[["x"], None, ["y", "z"]]]), pa.chunked_array([[[1], [], [2]]]))
    >>> row.tolist(), a.to_pylist(), b.to_pylist()
    ([0, 2], ['x', 'y'], [1, 2])
    """
    sizes = lengths(first), lengths(second)
    both = np.minimum(*sizes)
    row = np.repeat(np.arange(len(both)), both)
    within = np.arange(len(row)) - np.repeat(np.cumsum(both) - both, both)
    values = (
        lists.combine_chunks()
        .flatten()
        .take(pa.array(np.repeat(np.cumsum(size) - size, both) + within))
        for lists, size in zip((first, second), sizes, strict=True)
    )
    return (row, *values)
