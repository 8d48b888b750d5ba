"""
The heading of a column in a table, and its cells: both follow from the column's declaration (`records`).

Every verb that shows what is stored or measured takes heads and cells from here, so a number reads the same in all.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

from ...model.columns import ColumnSpec, Unit, columns_of
from ...model.formats import (
    NOTHING,
    UNKNOWN,
    brief,
    brief_duration,
    byte_rate,
    duration,
    number,
    percent,
    ratio,
    timestamp,
)
from .layout import plain_heading, wrap
from .tables import Table, text, to_json

_SAID: Mapping[Unit | None, Callable[[Any], str]] = {
    None: str,
    Unit.SECONDS: duration,
    Unit.SHARE: percent,
    Unit.RATIO: ratio,
    Unit.OFFSETS_PER_SECOND: ratio,
    Unit.BYTES_PER_SECOND: byte_rate,
    Unit.BYTES_PER_RECORD: ratio,
    Unit.MONEY_PER_MONTH: ratio,
}
"""
How a number of a unit reads; others have separators, a mean two decimals. A number without a unit is a name, as a
partition's.
"""

_ROUNDED: Mapping[Unit | None, Callable[[Any], str]] = {
    **_SAID,
    Unit.SECONDS: brief_duration,
    Unit.OFFSETS_PER_SECOND: brief,
}
"""The same where there is little room; all others as `brief` has them."""

_SAYS_ITSELF = {None, Unit.SECONDS, Unit.SHARE, Unit.RATIO, Unit.BYTES_PER_SECOND}
"""Units that the head leaves out: the cell has them, or there is none."""

_DROPPED = {
    Unit.SECONDS: "seconds",
    Unit.MILLISECONDS: "ms",
    Unit.OFFSETS_PER_SECOND: "per_second",
    Unit.OFFSET_SECONDS: "offset_seconds",
    Unit.BYTES_PER_SECOND: "per_second",
    Unit.MONEY_PER_MONTH: "per_month",
}
"""What of a column's name is its unit."""

_WIDTH = 12
"""A head is broken between words where it is longer."""


def pick(records: type | tuple[type, ...], *names: str) -> list[ColumnSpec]:
    """
    Columns of a record or of the first of several that has them, in the order of their names here.

    Raises:
        KeyError: None has such a column.
    """
    every = records if isinstance(records, tuple) else (records,)
    declared = {spec.name: spec for one in reversed(every) for spec in columns_of(one)}
    return [declared[name] for name in names]


def head(spec: ColumnSpec, currency: str | None = None) -> str:
    """
    The head of a column: its own or its name in words, with the unit; `>` before it aligns numbers to the right.

    >>> from evenkeel.engine.records import GroupMetrics
    >>> [head(spec) for spec in pick(GroupMetrics, "total_lag", "time_lag_seconds", "production_per_second")]
    ['>Lag\\n(offsets)', '>Time lag', '>Production\\n(offsets/s)']

    Args:
        spec: The column.
        currency: What an amount of money is in, where all rows have the same.
    """
    right = ">" if spec.kind in (int, float) else ""
    if currency and spec.meaning.unit is Unit.MONEY_PER_MONTH:
        return f"{right}{currency}\na month"
    return right + (spec.meaning.head or _derived(spec))


def cell(
    spec: ColumnSpec,
    value: Any,
    row: Mapping[str, Any] | None = None,
    names: Mapping[str, str] | None = None,
    *,
    rounded: bool = False,
) -> str:
    """
    A value of a column, as people read it.

    Args:
        spec: The column.
        value: The value; enumerations may be their texts, moments are aware.
        row: The row it is in, by columns' names: null may mean another thing beside another value.
        names: Short names of members, by id.
        rounded: Whether large numbers, spans and moments are rounded.

    >>> from evenkeel.engine.records import GroupMetrics
    >>> skew, = pick(GroupMetrics, "lag_skew")
    >>> cell(skew, 1.5), cell(skew, None, {"total_lag": 7}), cell(skew, None, {"total_lag": 0})
    ('1.50', '?', '-')
    """
    if value is None:
        return NOTHING if spec.null_is_none(row or {}) else UNKNOWN
    if spec.meaning.names_member:
        return text((names or {}).get(value, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float) and math.isinf(value):
        return spec.meaning.infinite
    if isinstance(value, int | float | Decimal):
        plain = ratio if spec.kind is float else number
        forms = _ROUNDED if rounded else _SAID
        return forms.get(spec.meaning.unit, brief if rounded else plain)(value)
    if isinstance(value, datetime):
        return timestamp(value)[: -len(":00") if rounded else None]
    if isinstance(value, list | tuple) and all(isinstance(each, str) for each in value):
        return text("; ".join(value))
    if isinstance(value, list | dict):
        return text(to_json({"": value})[5:-1])
    return text(f"{value}", NOTHING if spec.meaning.none else UNKNOWN)


def named(spec: ColumnSpec) -> str:
    """
    What a column is called on one line, without its unit.

    >>> from evenkeel.engine.records import GroupMetrics
    >>> [named(spec) for spec in pick(GroupMetrics, "total_lag", "time_lag_seconds")]
    ['Lag', 'Time lag']
    """
    said = plain_heading(head(spec)).removeprefix(">")
    return said.removesuffix(f"({spec.meaning.unit})").strip()


_BAND = {"low": "p10", "expected": "p50", "high": "p90"}
"""Ends of a band, by the last word of a column's name."""

Shown = ColumnSpec | tuple[str, Callable[[Any], str]]
"""A column of a view: one that a record declares, or a head of its own and the cell of a row."""


def short(
    records: type | tuple[type, ...],
    headings: Mapping[str, str],
    stored: Callable[[Any], Mapping[str, Any]] = lambda row: row,
    names: Mapping[str, str] | None = None,
    exact: Container[str] = (),
) -> list[Shown]:
    """
    Columns of records under short headings, with rounded numbers.

    Args:
        records: The record, or several.
        headings: By columns' names, in their order.
        stored: The values of a row, by columns' names; without it the row itself.
        names: Short names of members, by id.
        exact: Names of columns that are not rounded.
    """

    def shown(spec: ColumnSpec) -> Shown:
        def told(row: Any) -> str:
            values, rounded = stored(row), spec.name not in exact
            return cell(spec, values[spec.name], values, names, rounded=rounded)

        return ">" * (spec.kind in (int, float)) + headings[spec.name], told

    return [shown(spec) for spec in pick(records, *headings)]


def table(
    columns: Sequence[Shown],
    rows: Iterable[Any],
    *,
    stored: Callable[[Any], Mapping[str, Any]] = lambda row: row,
    names: Mapping[str, str] | None = None,
    currency: str | None = None,
    **more: Any,
) -> Table:
    """
    A view: the cells of its columns for each row.

    >>> from evenkeel.engine.records import GroupMetrics
    >>> shown = [("Name", str.upper), *pick(GroupMetrics, "total_lag")]
    >>> view = table(shown, ["orders"], stored=lambda name: {"total_lag": 1200})
    >>> view.headings, view.rows
    (['Name', '>Lag\\n(offsets)'], [['ORDERS', '1,200']])

    Args:
        columns: In order.
        rows: One per line, of any kind.
        stored: The values of a row, by columns' names; without it the row itself.
        names: Short names of members, by id.
        currency: What amounts of money are in, where all rows have the same.
        more: Other attributes of the `Table`.
    """

    def line(row: Any) -> list[str]:
        values = stored(row)
        return [
            cell(one, values[one.name], values, names)
            if isinstance(one, ColumnSpec)
            else one[1](row)
            for one in columns
        ]

    headings = [head(c, currency) if isinstance(c, ColumnSpec) else c[0] for c in columns]
    return Table(headings=headings, rows=[line(row) for row in rows], **more)


@functools.cache
def _derived(spec: ColumnSpec) -> str:
    """The name of a column in words, broken into lines, and its unit below."""
    unit = spec.meaning.unit
    if spec.kind is bool:
        name = spec.name.removeprefix("is_")
    elif spec.kind is datetime:
        name = spec.name.removesuffix("_at")
    else:
        dropped = _DROPPED.get(unit) if unit else None
        first, _, last = spec.name.rpartition("_")
        name, end = (first, f"_{_BAND[last]}") if last in _BAND else (spec.name, "")
        name = name.removesuffix(f"_{dropped}").removeprefix(f"{dropped}_") + end
    words = " ".join(name.replace("cross_rack_", "cross-rack_").split("_"))
    lines = wrap(words[:1].upper() + words[1:], _WIDTH)
    if unit not in _SAYS_ITSELF and str(unit).removesuffix("s") not in words:
        lines.append(f"({unit})")
    return "\n".join(lines)
