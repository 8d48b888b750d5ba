"""Expectations from the declaration of a record: ranges, allowed values and required columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import compress

import great_expectations.expectations as gxe
import numpy as np

from evenkeel.engine.model.arrays import Flags
from evenkeel.engine.model.columns import ColumnSpec, columns_of
from evenkeel.engine.model.tables import TEXT, Series, Table, column, nulls
from evenkeel.expectations.suite import expect

UNSOUND = "unsound"
"""The helper column of `unsound`."""


def ranges(record: type, example: str) -> list[gxe.Expectation]:
    """
    One expectation per column with a range or allowed values, and one for required columns.

    Args:
        record: The record of a row.
        example: Name of a row, a format string over its columns; the value follows it.
    """
    of_columns = [_of(spec, f"{example}: {{{spec.name}}}") for spec in _checked(record)]
    known = expect(
        gxe.ExpectColumnValuesToBeNull,
        "Required values are present, and unknown values are null, never NaN.",
        "a value is missing or not a number",
        f"{example}: {{{UNSOUND}}}",
        column=UNSOUND,
    )
    return [known, *of_columns]


def in_range(record: type, name: str, example: str) -> gxe.Expectation:
    """The expectation for the range or values of a column; *example* formats a row and its value."""
    (spec,) = (each for each in columns_of(record) if each.name == name)
    return _of(spec, example)


def unsound(table: Table, record: type) -> Series:
    """Per row, the names of required columns that are null, and of columns that are NaN; null if there are none."""
    # most columns have none
    faults = [(name, bad) for name, bad in _faults(table, record) if bad.any()]
    if not faults:
        return nulls(len(table), TEXT)
    rows = zip(*(bad.tolist() for _, bad in faults), strict=True)
    names = [name for name, _ in faults]
    return column([", ".join(compress(names, row)) or None for row in rows], TEXT)


def _faults(table: Table, record: type) -> Iterator[tuple[str, Flags]]:
    for spec in columns_of(record):
        if spec.meaning.generated:
            continue
        if not spec.nullable:
            yield spec.name, ~table[spec.name].known
        if spec.kind is float:
            own = table[spec.name]
            yield spec.name, own.known & np.isnan(own.values)


def _checked(record: type) -> Sequence[ColumnSpec]:
    return [
        spec
        for spec in columns_of(record)
        if spec.values or spec.meaning.at_least is not None or spec.meaning.at_most is not None
    ]


def _of(spec: ColumnSpec, example: str) -> gxe.Expectation:
    if spec.values:
        return among(spec.name, spec.values, example)
    low, high = spec.meaning.at_least, spec.meaning.at_most
    if high is None and low == 0:
        holds, broken = "is not negative", "is negative"
    elif high is None:
        holds, broken = f"is at least {low:g}", f"is below {low:g}"
    else:
        holds, broken = f"is between {low:g} and {high:g}", f"is not between {low:g} and {high:g}"
    return expect(
        gxe.ExpectColumnValuesToBeBetween,
        f"{spec.name} {holds}.",
        f"{spec.name} {broken}",
        example,
        column=spec.name,
        min_value=low,
        max_value=high,
    )


def among(column: str, values: Sequence[str], example: str) -> gxe.Expectation:
    """Expect one of these values, or null."""
    return expect(
        gxe.ExpectColumnValuesToBeInSet,
        f"The {column} is a known value.",
        f"the {column} is not a known value",
        example,
        column=column,
        value_set=list(values),
    )


__all__ = ["UNSOUND", "among", "in_range", "ranges", "unsound"]
