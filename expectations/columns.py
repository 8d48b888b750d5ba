"""What helper columns are made of, a whole column at a time: no value becomes a Python object."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from evenkeel.engine.model import Flags, Ints

_MOST = 2**62


def codes(*columns: pa.ChunkedArray) -> Ints:
    """
    One number per row, the same where all columns have the same values; null is a value, too. They run from 0.

    >>> codes(pa.chunked_array([["a", None, "a", "a"]]), pa.chunked_array([[1, 1, 1, 2]])).tolist()
    [0, 1, 0, 2]
    """
    row_codes, kinds = np.zeros(len(columns[0]), np.int64), 1
    for column in columns:
        encoded = column.combine_chunks().dictionary_encode(null_encoding="encode")
        more = max(len(encoded.dictionary), 1)
        if kinds * more > _MOST:
            row_codes, kinds = _dense(row_codes), len(row_codes)
        row_codes = row_codes * more + encoded.indices.to_numpy()
        kinds *= more
    return row_codes if len(columns) == 1 else _dense(row_codes)


def _dense(row_codes: Ints) -> Ints:
    """Codes without gaps."""
    dense: Ints = pa.array(row_codes).dictionary_encode().indices.to_numpy().astype(np.int64)
    return dense


def stacked(*columns: pa.ChunkedArray) -> pa.ChunkedArray:
    """One column after the other."""
    return pa.chunked_array(
        [chunk for column in columns for chunk in column.chunks], columns[0].type
    )


def numbers(column: pa.ChunkedArray, unknown: int = 0) -> Ints:
    """Whole numbers, with one in place of null."""
    found: Ints = pc.fill_null(column.cast(pa.int64()), unknown).to_numpy()
    return found


def truths(column: pa.ChunkedArray, unknown: bool = False) -> Flags:
    """Truths, with one in place of null."""
    found: Flags = pc.fill_null(column, unknown).to_numpy().astype(np.bool_)
    return found


def flags(values: Flags) -> pa.Array:
    """Truths as a column."""
    return pa.array(values, pa.bool_())


def at_most(number: pa.ChunkedArray, limit: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whether a number is within a limit; a comparison with the unknown is fine."""
    return pc.fill_null(pc.less_equal(number, limit), True)


def among(column: pa.ChunkedArray, values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Whether each value is one of these."""
    return pc.is_in(column, value_set=values.combine_chunks())


def times(row_codes: Ints) -> Ints:
    """
    For each row how many have its code.

    >>> times(np.array([0, 1, 0])).tolist()
    [2, 1, 2]
    """
    return np.bincount(row_codes)[row_codes]


def without_gap(names: pa.ChunkedArray, places: pa.ChunkedArray) -> Flags:
    """Per row, whether the numbers under its name are 0, 1, 2 ... in any order."""
    name, place = codes(names), numbers(places, -1)
    order = np.lexsort((place, name))
    sizes = np.bincount(name)
    expected = np.arange(len(name)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    broken = name[order[place[order] != expected]]
    gaps = np.zeros(len(sizes), np.bool_)
    gaps[broken] = True
    return ~gaps[name]


def lengths(lists: pa.ChunkedArray) -> Ints:
    """How long each list is; null is empty."""
    return numbers(pc.list_value_length(lists))


def listed(lists: pa.ChunkedArray) -> pa.Array:
    """What all lists hold, one after the other."""
    return lists.combine_chunks().flatten()


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
        listed(lists).take(pa.array(np.repeat(np.cumsum(size) - size, both) + within))
        for lists, size in zip((first, second), sizes, strict=True)
    )
    return (row, *values)


def where(bad: Flags, *parts: Any) -> pa.Array:
    """
    Columns and texts joined, in the rows where something is bad; null elsewhere.

    >>> where(np.array([False, True]), "at ", pa.array(["x", "y"])).to_pylist()
    [None, 'at y']
    """
    if not bad.any():
        return pa.nulls(len(bad), pa.string())
    text = pc.if_else(flags(bad), pc.binary_join_element_wise(*parts, ""), None)
    return text.combine_chunks() if isinstance(text, pa.ChunkedArray) else text


def remarks(rows: int, *sentences: pa.Array, between: str = "; ") -> pa.Array:
    """
    What there is to say of each row, null for nothing.

    >>> remarks(2, pa.array(["a", None]), pa.array(["b", None])).to_pylist()
    ['a; b', None]
    """
    joined = pa.nulls(rows, pa.string())
    for sentence in sentences:
        # most have nothing to say
        if sentence.null_count < rows:
            both = pc.binary_join_element_wise(joined, sentence, between)
            joined = pc.coalesce(both, joined, sentence)
    return joined
