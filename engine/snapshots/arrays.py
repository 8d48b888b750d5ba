"""Columns of tables as the arrays that everything is computed with, and back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..model.arrays import NONE, Column, Flags, Floats, Indices, Ints
from ..model.labels import Labels
from ..model.tables import BOOL, FLOAT64, INT64, MOMENT, Kind, Lists, Numbers, Texts


def ints_of(column: Numbers, unknown: int = NONE) -> Ints:
    """A column of whole numbers, with one in place of those that are unknown."""
    values: Ints = column.filled(unknown).astype(np.int64, copy=False)
    return values


def numbers_of(column: Numbers) -> Column:
    """A column of whole numbers, or of moments in milliseconds since the epoch."""
    return Column(column.filled(0), column.known)


def floats_of(column: Numbers) -> Floats:
    """A column of numbers, nan where it is unknown."""
    values: Floats = column.values.astype(np.float64)
    return np.where(column.known, values, np.nan) if column.null_count else values


def truths_of(column: Numbers) -> Flags:
    """A column of truths, false where it is unknown."""
    truths: Flags = column.values & column.known
    return truths


def ragged_of(column: Lists) -> tuple[Ints, Ints]:
    """A column of lists of whole numbers as (start, values); an unknown list is an empty one."""
    assert isinstance(column.entries, Numbers)
    return column.start, ints_of(column.entries)


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


def numbers_to(column: Column, kind: Kind = INT64) -> Numbers:
    """Whole numbers as a column."""
    return Numbers(column.values, kind, column.known)


def moments_to(column: Column) -> Numbers:
    """Milliseconds since the epoch as moments."""
    return numbers_to(column, MOMENT)


def floats_to(values: Floats) -> Numbers:
    """Numbers as a column, unknown where nan."""
    return Numbers(values, FLOAT64, ~np.isnan(values))


def flags_to(values: Flags, known: Flags) -> Numbers:
    """Truths as a column."""
    return Numbers(values, BOOL, known)


def labels_to(labels: Labels[Any]) -> Texts:
    """Words as a column of text."""
    return Texts(labels.codes, [word.value for word in labels.words])


def named(index: Indices | Ints, names: Sequence[str | None]) -> Texts:
    """The name each index points at, unknown where it points at nobody; two indices may point at equal names."""
    place_of: dict[str, int] = {}
    places = [NONE if name is None else place_of.setdefault(name, len(place_of)) for name in names]
    return Texts(np.array([*places, NONE], np.int32)[index], [*place_of])
