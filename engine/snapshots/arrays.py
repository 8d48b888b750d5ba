"""Arrow columns as the arrays that everything is computed with, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..model.arrays import NONE, Column, Flags, Floats, Indices, Ints, starts_of
from ..model.labels import Labels
from ..records.derivation import MOMENT


def ints_of(column: Any) -> Ints:
    """An Arrow column of whole numbers without nulls."""
    values: Ints = column.to_numpy().astype(np.int64)
    return values


def numbers_of(column: Any) -> Column:
    """An Arrow column of whole numbers, unknown where it is null."""
    if not column.null_count:
        return Column(ints_of(column), np.ones(len(column), np.bool_))
    return Column(ints_of(pc.fill_null(column, 0)), column.is_valid().to_numpy())


def moments_of(column: Any) -> Column:
    """An Arrow column of moments as milliseconds since the epoch, unknown where it is null."""
    return numbers_of(column.cast(pa.int64()))


def floats_of(column: Any) -> Floats:
    """An Arrow column of numbers, nan where it is null."""
    values: Floats = pc.fill_null(column, np.nan).to_numpy()
    return values


def ragged_of(column: Any) -> tuple[Ints, Ints]:
    """A list column of whole numbers as (start, values); a null list is an empty one."""
    start = list_starts(column)
    return start, ints_of(pc.list_flatten(column))


def list_starts(column: Any) -> Ints:
    """(rows + 1) where each row's list begins in the flattened column; a null list is an empty one."""
    return starts_of(ints_of(pc.fill_null(pc.list_value_length(column), 0)))


def coded_of(column: Any) -> tuple[Ints, pa.Array]:
    """
    An Arrow column of texts as (rows) the number of each, NONE where it is null, and the texts, each once.

    >>> numbers, texts = coded_of(pa.chunked_array([["b", None], ["a", "b"]]))
    >>> numbers.tolist(), texts.to_pylist()
    ([0, -1, 1, 0], ['b', 'a'])
    """
    whole = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    encoded = whole.dictionary_encode()
    numbers, texts = ints_of(pc.fill_null(encoded.indices, NONE)), encoded.dictionary
    used = np.zeros(len(texts) + 1, np.bool_)  # one place more, for NONE
    used[numbers] = True
    if used[:-1].all():
        return numbers, texts
    place = np.where(used, np.cumsum(used) - 1, NONE)
    place[NONE] = NONE
    return place[numbers], texts.filter(pa.array(used[:-1]))


def distinct(codes: Ints) -> Ints:
    """
    Each number once, ascending; by sorting, which is faster than NumPy's hashing where much is in order already.

    >>> distinct(np.array([7, 3, 7])).tolist()
    [3, 7]
    """
    ordered = np.sort(codes)
    first = np.ones(len(ordered), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=first[1:])
    once: Ints = ordered[first]
    return once


def among(codes: Ints, ordered: Ints) -> Flags:
    """(n) which numbers are among some that ascend."""
    if not len(ordered):
        return np.zeros(len(codes), np.bool_)
    place = np.minimum(np.searchsorted(ordered, codes), len(ordered) - 1)
    there: Flags = ordered[place] == codes
    return there


def numbers_to(column: Column, kind: pa.DataType | None = None) -> pa.Array:
    """Whole numbers as an Arrow array, null where unknown."""
    return pa.array(column.values, kind or pa.int64(), mask=~column.known)


def moments_to(column: Column) -> pa.Array:
    """Milliseconds since the epoch as moments."""
    return numbers_to(column).cast(MOMENT)


def floats_to(values: Floats) -> pa.Array:
    """Numbers as an Arrow array, null where nan."""
    return pa.array(values, pa.float64(), mask=np.isnan(values))


def flags_to(values: Flags, known: Flags) -> pa.Array:
    """Truths as an Arrow array, null where unknown."""
    return pa.array(values, pa.bool_(), mask=~known)


def labels_to(labels: Labels[Any]) -> pa.Array:
    """Words as an Arrow array of text."""
    return named(np.asarray(labels.codes, np.int32), [word.value for word in labels.words])


def named(index: Indices | Ints, names: Sequence[str | None]) -> pa.Array:
    """The name each index points at, as an Arrow array; null where it points at nobody."""
    return pa.DictionaryArray.from_arrays(
        pa.array(index, pa.int32(), mask=index == NONE), pa.array(names, pa.string())
    ).cast(pa.string())
