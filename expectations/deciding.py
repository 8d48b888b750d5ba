"""
The rows that decide whether an expectation is met.

Great Expectations takes seconds for a million rows, and an expectation is nearly always met. Whether it is shows in a
few rows: the smallest and the largest value, each different text, a row without a value, two rows of the same key.
Great Expectations checks these first, and all rows only if one of these fails.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import great_expectations.expectations as gxe
import numpy as np

from evenkeel.engine.model.arrays import NONE, Flags, Ints
from evenkeel.engine.model.tables import FLOAT64, Numbers, Series, Table, Texts
from evenkeel.expectations.columns import keys

NO_ROWS: Ints = np.zeros(0, np.int64)


@dataclass(frozen=True, kw_only=True, eq=False)
class Deciding:
    """
    Rows of a table for an expectation.

    Attributes:
        rows: If it is met for these rows, it is met for all.
        checked: Number of rows that meet its condition.
    """

    rows: Ints
    checked: int


def deciding(table: Table, expectation: Any) -> Deciding | None:
    """The deciding rows of a table; None if only all rows can tell, such as their number."""
    columns = columns_of(expectation)
    if not columns or not {*columns} <= {*table.names}:
        return None
    own, places = table.select(columns), np.arange(len(table))
    if expectation.row_condition is not None:
        places = np.flatnonzero(_holds(own, expectation.row_condition))
        own = own.take(places)
    found = [NO_ROWS, *(_rows(own, expectation) if len(own) else ())]
    return Deciding(rows=places[np.concatenate(found)], checked=len(places))


def columns_of(expectation: Any) -> list[str]:
    """The columns of an expectation, including those of its condition."""
    own = (getattr(expectation, name, None) for name in ("column", "column_A", "column_B"))
    condition = getattr(expectation, "row_condition", None)
    of_condition = getattr(condition, "conditions", [condition] if condition else [])
    return [
        *(name for name in own if name is not None),
        *getattr(expectation, "column_list", ()),
        *(each.column.name for each in of_condition),
    ]


def _holds(table: Table, condition: Any) -> Flags:
    """Which rows meet a condition of Great Expectations: `==` and `!=` with a text, nullity, and these together."""
    if condition.type == "and":
        held: Flags = np.all([_holds(table, each) for each in condition.conditions], axis=0)
        return held
    own = table[condition.column.name]
    if condition.type == "nullity":
        known: Flags = ~own.known if condition.is_null else own.known
        return known
    equal: Flags = own.equal(condition.parameter)
    return equal if condition.operator == "==" else ~equal


def _rows(table: Table, expectation: Any) -> Iterator[Ints]:
    """
    Raises:
        TypeError: It is not known which rows decide this expectation.
    """
    match expectation:
        case gxe.ExpectColumnValuesToNotBeNull() | gxe.ExpectColumnValuesToBeNull():
            known = _known(table[expectation.column])
            yield from (_first(known), _first(~known))
        case gxe.ExpectColumnValuesToBeBetween():
            own = table[expectation.column]
            yield from _ends(own.values, _known(own))
        case gxe.ExpectColumnValuesToBeInSet():
            yield _different(table[expectation.column])
        case gxe.ExpectColumnValuesToBeUnique():
            yield _same(keys(table[expectation.column]))
        case gxe.ExpectCompoundColumnsToBeUnique():
            yield _same(keys(*(table[name] for name in expectation.column_list)))
        case gxe.ExpectColumnPairValuesToBeEqual() | gxe.ExpectColumnPairValuesAToBeGreaterThanB():
            a, b = table[expectation.column_A], table[expectation.column_B]
            yield _first(a.known != b.known)
            both = a.known & b.known
            for compared in (np.less, np.equal, np.greater):
                yield _first(both & compared(a.values, b.values))
        case _:
            raise TypeError(f"the rows that decide {type(expectation).__name__} are not known.")


def _known(column: Series) -> Flags:
    """Which values are known and numbers: not a number is null in a frame."""
    if isinstance(column, Numbers) and column.kind == FLOAT64:
        return column.known & ~np.isnan(column.values)
    return column.known


def _first(mask: Flags) -> Ints:
    """The first row of a mask, if there is one."""
    place = int(mask.argmax())
    return np.array([place]) if mask[place] else NO_ROWS


def _ends(values: Any, known: Flags) -> Iterator[Ints]:
    """A row with the smallest of the known values, and one with the largest."""
    if not known.all():
        rows = np.flatnonzero(known)
        values = values[rows]
    else:
        rows = np.arange(len(values))
    if len(rows):
        yield rows[[values.argmin(), values.argmax()]]


def _different(column: Series) -> Ints:
    """A row of each different value."""
    if not isinstance(column, Texts):
        return np.unique(column.codes(), return_index=True)[1]
    row = np.full(len(column.words) + 1, NONE)
    row[column.places] = np.arange(len(column))
    return row[row != NONE]


def _same(key: Ints) -> Ints:
    """Two rows of the same key, if there are some, and all rows that lack a part of it."""
    ordered = np.sort(key[key != NONE])
    again = ordered[1:][ordered[1:] == ordered[:-1]][:1]
    twice = np.flatnonzero(key == again)[:2] if len(again) else NO_ROWS
    return np.concatenate([np.flatnonzero(key == NONE), twice])
