"""
Conversions of records: schema, rows, tables and JSON.

A *row* is a dict by column name with plain values: enumerations are texts, tuples are lists, records in lists are
dicts. The JSON form has ISO texts for moments and the text Infinity for "never".
"""

from __future__ import annotations

import enum
import math
import operator
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields
from datetime import datetime
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar, get_args

import numpy as np

from ..model.arrays import Flags
from ..model.columns import ColumnSpec, Part, columns_of, parts_of
from ..model.tables import (
    BOOL,
    BYTES,
    FLOAT64,
    INT16,
    INT32,
    INT64,
    MOMENT,
    TEXT,
    Kind,
    Lists,
    Series,
    Structs,
    Table,
    column,
    empty,
    list_of,
    nulls,
    struct_of,
)

R = TypeVar("R")

_KINDS: Mapping[type, Kind] = {
    **{str: TEXT, float: FLOAT64, bool: BOOL, bytes: BYTES},
    datetime: MOMENT,
}


@cache
def schema_of(record: type) -> Mapping[str, Kind]:
    """
    The schema of a record: all columns except those that the database generates.

    Every value may be unknown; validation checks the required ones.
    """
    stored = [spec for spec in columns_of(record) if not spec.meaning.generated]
    return {spec.name: kind_of(spec) for spec in stored}


def kind_of(spec: ColumnSpec) -> Kind:
    """
    The kind of a column.

    Raises:
        TypeError: The lake doesn't store the type.
    """
    if spec.kind is tuple:
        return list_of(_kind_of(spec.item, spec.bits))
    return _kind_of(spec.kind, spec.bits)


def _kind_of(kind: Any, bits: int) -> Kind:
    if kind is int:
        return {16: INT16, 32: INT32}.get(bits, INT64)
    if kind in _KINDS:
        return _KINDS[kind]
    if isinstance(kind, type) and issubclass(kind, enum.StrEnum):
        return TEXT
    if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__"):
        return struct_of(schema_of(kind))
    raise TypeError(f"{kind!r} is not stored in the lake.")


def row_of(record: Any) -> dict[str, Any]:
    """A record as a row; an embedded record that is missing leaves null columns."""
    kind: Any = type(record)
    values, parts = _layout(kind)
    row: dict[str, Any] = {}
    for (name, part), value in zip(parts, values(record), strict=True):
        if part is None:
            row[name] = value
        elif part.column is not None:
            row[name] = _plain(value)
        elif value is None:
            row.update(dict.fromkeys(each.name for each in columns_of(part.record)))
        else:
            row.update(row_of(value))
    return row


_SCALARS = frozenset({str, int, float, bool, bytes, datetime})


@cache
def _layout(kind: Any) -> tuple[Callable[[Any], Any], tuple[tuple[str, Part | None], ...]]:
    """Getter of all values of a record, and per value its name, and its part unless the value is plain."""
    parts = parts_of(kind)
    names = [part.name for part in parts]
    values = operator.attrgetter(*names)
    plain = [part.column is not None and part.column.kind in _SCALARS for part in parts]
    return (
        values if len(names) > 1 else lambda record: (values(record),),
        tuple(
            (part.name, None if is_plain else part)
            for part, is_plain in zip(parts, plain, strict=True)
        ),
    )


def record_of(kind: type[R], row: Mapping[str, Any]) -> R:
    """
    The record of a row or of its JSON form; unknown columns are ignored.

    An optional embedded record is None if one of its required columns is null. A column that the row doesn't have gets
    its default.

    Raises:
        ValueError: A column that cannot be null is missing or null, or a value is not of its type.
    """
    record: Any = kind
    defaults = _defaults(record)
    return kind(
        **{
            part.name: _read(part, row)
            for part in parts_of(record)
            if part.name in row or part.name not in defaults
        }
    )


def columns_named(kind: Any, names: Collection[str]) -> list[str]:
    """The columns that hold some fields of a record; an embedded record has several."""
    chosen = (part for part in parts_of(kind) if part.name in names)
    return [
        name
        for part in chosen
        for name in (
            [part.name] if part.column is not None else [c.name for c in columns_of(part.record)]
        )
    ]


def fields_of(kind: Any, table: Table, names: Collection[str]) -> list[dict[str, Any]]:
    """
    Some fields of the records of a table, by name, as `record_of` reads them.

    Raises:
        ValueError: As `record_of`.
    """
    chosen = [part for part in parts_of(kind) if part.name in names]
    columns = [_read_column(part, table) for part in chosen]
    given = [part.name for part in chosen]
    return [dict(zip(given, row, strict=True)) for row in zip(*columns, strict=True)]


@cache
def _defaults(kind: Any) -> frozenset[str]:
    """The columns that have a default."""
    columns = {part.name for part in parts_of(kind) if part.column is not None}
    return frozenset(
        each.name
        for each in fields(kind)
        if each.name in columns
        and not (each.default is MISSING and each.default_factory is MISSING)
    )


def blank(kind: type[R], **known: Any) -> R:
    """A record with the values *known*; every other nullable column is None."""
    record: Any = kind
    unknown = (part.name for part in parts_of(record) if part.nullable and part.name not in known)
    return kind(**known, **dict.fromkeys(unknown))


def table_of(kind: type, records: Iterable[Any]) -> Table:
    """Records as a table, with the values of `row_of` by column."""
    own = list(records)
    return table_of_columns(kind, {name: _values(own, name) for name in _fields(kind)})


def table_of_columns(kind: type, values: Mapping[str, Sequence[Any]]) -> Table:
    """The same of the values of each field of the records."""
    columns = _columns(kind, values)
    return Table(
        {
            name: _structs(columns[name], of.of)
            if of.of is not None and of.of.fields
            else column(columns[name], of)
            for name, of in schema_of(kind).items()
        }
    )


def _fields(kind: Any) -> list[str]:
    return [part.name for part in parts_of(kind)]


def _values(records: Sequence[Any], name: str) -> list[Any]:
    return list(map(operator.attrgetter(name), records))


def _columns(kind: Any, of: Mapping[str, Sequence[Any]]) -> dict[str, Sequence[Any]]:
    """The values of records by column, from those by field; lists of records are not converted."""
    columns: dict[str, Sequence[Any]] = {}
    for part in parts_of(kind):
        values = of[part.name]
        if part.column is None:
            there = np.array([value is not None for value in values], np.bool_)
            given = [value for value in values if value is not None]
            inner = _fields(part.record)
            own = _columns(part.record, {name: _values(given, name) for name in inner})
            columns |= {name: _spread(known, there) for name, known in own.items()}
        elif part.column.kind in _SCALARS or _is_as_stored(part.column.item):
            columns[part.name] = values
        else:
            columns[part.name] = [_plain(value) for value in values]
    return columns


def _is_as_stored(item: Any) -> bool:
    """Whether a list of such values needs no conversion: plain ones, or records."""
    return item in _SCALARS or hasattr(item, "__dataclass_fields__")


def _structs(lists: Sequence[Sequence[Any] | None], kind: Kind) -> Series:
    """Lists of records; a record that many rows share (as most facts) is converted once."""
    distinct: list[Any] = []
    place_of: dict[int, int] = {}
    places, starts = list[int](), [0]
    for listed in lists:
        for each in listed or ():
            place = place_of.setdefault(id(each), len(distinct))
            if place == len(distinct):
                distinct.append(each)
            places.append(place)
        starts.append(len(places))
    known = np.array([listed is not None for listed in lists], np.bool_)
    rows = table_of(type(distinct[0]), distinct) if distinct else empty(dict(kind.fields))
    structs = Structs(rows)
    return Lists(np.array(starts, np.int64), structs.take(np.array(places, np.int64)), known)


def records_of(kind: type[R], table: Table) -> list[R]:
    """
    The rows of a table as records, a column at a time.

    Raises:
        ValueError: As `record_of`.
    """
    record: Any = kind
    columns = {
        part.name: _read_column(part, table)
        for part in parts_of(record)
        if part.name in table.columns or part.name not in _defaults(record)
    }
    rows = zip(*columns.values(), strict=True)
    return [kind(**dict(zip(columns, row, strict=True))) for row in rows]


def _read_column(part: Part, table: Table) -> list[Any]:
    """The values of a part of a record, one per row, as `_read` gives them."""
    if part.column is None:
        inner = [each.name for each in columns_of(part.record) if not each.nullable]
        known = np.ones(len(table), np.bool_)
        for name in inner if part.nullable else ():
            known &= table[name].known if name in table.columns else False
        return _spread(records_of(part.record, table.filter(known)), known)
    stored = table.columns.get(part.name) or nulls(len(table), TEXT)
    if not part.nullable and stored.null_count:
        raise ValueError(f"{part.name} is missing.")
    kind, item = part.column.kind, part.column.item
    if isinstance(stored, Structs):
        return _spread(records_of(kind, stored.table.filter(stored.known)), stored.known)
    if isinstance(stored, Lists) and isinstance(stored.entries, Structs):
        entries, ends = records_of(item, stored.entries.table), stored.start.tolist()
        own = [tuple(entries[begin:end]) for begin, end in pairwise(ends)]
        return [
            one if known else None for one, known in zip(own, stored.known.tolist(), strict=True)
        ]
    values = stored.to_pylist()
    if kind is tuple:
        return [
            None if own is None else tuple(_value(item, each) for each in own) for own in values
        ]
    if kind in _SCALARS and _KINDS.get(kind, stored.kind) == stored.kind:
        return values
    read = {value: None if value is None else _value(kind, value) for value in {*values}}
    return [read[value] for value in values]


def _spread(values: Iterable[Any], known: Flags) -> list[Any]:
    """(n) the values where they are known, None elsewhere."""
    given = iter(values)
    return [next(given) if own else None for own in known.tolist()]


def to_json(record: Any) -> dict[str, Any]:
    """A record as JSON values; `record_of` reads it back."""
    return {name: _jsonable(value) for name, value in row_of(record).items()}


def _plain(value: Any) -> Any:
    if isinstance(value, enum.Enum):
        return value.value
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return row_of(value) if hasattr(value, "__dataclass_fields__") else value


def _jsonable(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {name: _jsonable(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_jsonable(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    return value.isoformat() if isinstance(value, datetime) else value


def _read(part: Part, row: Mapping[str, Any]) -> Any:
    if part.column is None:
        inner = columns_of(part.record)
        missing = any(not each.nullable and row.get(each.name) is None for each in inner)
        return None if part.nullable and missing else record_of(part.record, row)
    value = row.get(part.name)
    if value is None:
        if part.nullable:
            return None
        raise ValueError(f"{part.name} is missing.")
    if part.column.kind is tuple:
        return tuple(_value(part.column.item, each) for each in value)
    return _value(part.column.kind, value)


def _value(kind: Any, value: Any) -> Any:
    if kind is datetime and not isinstance(value, datetime):
        if not isinstance(value, str):
            raise ValueError(f"{value!r} is no moment.")
        return datetime.fromisoformat(value)
    if isinstance(kind, type) and hasattr(kind, "__dataclass_fields__"):
        return value if isinstance(value, kind) else record_of(kind, value)
    if isinstance(kind, types.UnionType):
        return next(each(value) for each in get_args(kind) if value in set(each))
    if kind is float or (isinstance(kind, type) and issubclass(kind, enum.Enum)):
        return kind(value)
    return value
