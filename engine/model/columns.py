"""
Declaration of columns: each is a field of a record (a frozen dataclass) with its meaning.

    @record
    class GroupMetrics:
        total_lag: int | None = column("Lag of the group.", unit=Unit.OFFSETS, at_least=0)

The annotation is the type, with `| None` if the value may be unknown; `Int32` is a whole number that is stored in 32
bits. `evenkeel.engine.records` derives schemas, rows, JSON, checks and table headings.
"""

from __future__ import annotations

import enum
import functools
import operator
import types
from collections.abc import Mapping
from dataclasses import KW_ONLY, MISSING, Field, dataclass, field, fields, is_dataclass, replace
from datetime import datetime
from functools import cache
from typing import (
    Annotated,
    Any,
    TypeVar,
    Union,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
)

T = TypeVar("T")

_MEANING = "meaning"
_MISSING = "missing"

REQUIRED: Any = object()
"""The default of a column that has none."""

Int32 = Annotated[int, 32]
"""A whole number that is stored in 32 bits: a count, a partition number."""

Int16 = Annotated[int, 16]
"""A whole number that is stored in 16 bits: a count of an hour or a day."""

Float32 = Annotated[float, 32]
"""A number that is stored in 32 bits, where millions of rows are kept."""


class Unit(enum.StrEnum):
    """Unit of a number; its value is shown in table headings."""

    OFFSETS = "offsets"
    OFFSETS_PER_SECOND = "offsets/s"
    OFFSET_SECONDS = "offset-seconds"
    SECONDS = "s"
    MILLISECONDS = "ms"
    BYTES = "bytes"
    GIGABYTES = "GB"
    BYTES_PER_SECOND = "bytes/s"
    BYTES_PER_RECORD = "bytes/record"
    SHARE = "share"
    RATIO = "ratio"
    PARTITIONS = "partitions"
    MEMBERS = "members"
    GROUPS = "groups"
    BROKERS = "brokers"
    TASKS = "tasks"
    COST = "cost"
    ROWS = "rows"
    SNAPSHOTS = "snapshots"
    ATTEMPTS = "attempts"
    REQUESTS = "requests"
    STEPS = "steps"
    MONEY_PER_MONTH = "per 30 days"
    BY_CAUSE = "by cause"


_UNIT_OF_ENDING = {
    "offset_seconds": Unit.OFFSET_SECONDS,
    "seconds": Unit.SECONDS,
    "bytes_per_second": Unit.BYTES_PER_SECOND,
    "per_second": Unit.OFFSETS_PER_SECOND,
    "per_month": Unit.MONEY_PER_MONTH,
    "bytes": Unit.BYTES,
    "gigabytes": Unit.GIGABYTES,
    "share": Unit.SHARE,
    "utilization": Unit.RATIO,
    "lag": Unit.OFFSETS,
    "offsets": Unit.OFFSETS,
    "snapshots": Unit.SNAPSHOTS,
    "groups": Unit.GROUPS,
    "moves": Unit.PARTITIONS,
    "partitions": Unit.PARTITIONS,
    "members": Unit.MEMBERS,
}


def unit_in(name: str) -> Unit | None:
    """
    The unit in the name of a column; None without one.

    >>> [str(unit_in(name)) for name in ("saved_per_month", "seconds_to_advice", "held_up_offsets", "reason")]
    ['per 30 days', 's', 'offsets', 'None']
    """
    if name.startswith("seconds_"):
        return Unit.SECONDS
    endings = (each for each in _UNIT_OF_ENDING if f"_{name}".endswith(f"_{each}"))
    return next((_UNIT_OF_ENDING[each] for each in endings), None)


@dataclass(frozen=True, slots=True)
class Where:
    """Rows in which another column has a value: None, 0, or a type of group."""

    other: str
    value: int | str | None

    def holds(self, row: Mapping[str, Any]) -> bool:
        """Whether this is such a row; one without that column is not."""
        return self.other in row and row[self.other] == self.value


@dataclass(frozen=True, slots=True)
class Meaning:
    """
    The meaning of a column.

    Attributes:
        comment: One line; the comment of the column in the database.
        unit: Unit of a number, if its name doesn't contain it (`unit_in`); None for other values.
        at_least: Minimum.
        at_most: Maximum.
        one_of: Allowed texts; an enumeration as type declares them itself.
        generated: Whether the database generates the value; it is None before the row is stored.
        table: The table of a list of records that has one.
        head: Heading in tables, if the name of the column is too long or unclear; a line break is a possible break, and
            a hyphen before it is not part of the word.
        none: Whether null means none; otherwise it means unknown.
        none_where: Null also means none in rows like these.
        names_member: Whether it is the id of another member, which is shown as a short name.
        infinite: The word for infinity.
    """

    comment: str
    _: KW_ONLY
    unit: Unit | None = None
    at_least: float | None = None
    at_most: float | None = None
    one_of: tuple[str, ...] | None = None
    generated: bool = False
    table: str | None = None
    head: str | None = None
    none: bool = False
    none_where: tuple[Where, ...] = ()
    names_member: bool = False
    infinite: str = "never"


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnSpec:
    """
    A declared column.

    Attributes:
        name: Name of the field and of the stored column.
        kind: Its type without `None`: str, int, float, bool, bytes, datetime, an enumeration of texts or a union of
            some, Mapping, or tuple (then *item* is the type of its items, a dataclass for a list of records).
        item: Type of the items of a tuple; otherwise None.
        bits: 16, 32 or 64 for numbers (or listed ones).
        nullable: Whether it may be None.
        meaning: Its meaning.
        missing_where: Rows without the embedded record, which have no value.
        default: Default value, as in rows and files that don't have the column; REQUIRED without one.
    """

    name: str
    kind: Any
    item: Any
    bits: int
    nullable: bool
    meaning: Meaning
    missing_where: tuple[Where, ...] = ()
    default: Any = field(default=REQUIRED, compare=False)

    @property
    def values(self) -> tuple[str, ...] | None:
        """The texts it can be, None where any will do."""
        if isinstance(self.kind, type) and issubclass(self.kind, enum.Enum):
            return tuple(member.value for member in self.kind)
        return self.meaning.one_of

    def null_is_none(self, row: Mapping[str, Any]) -> bool:
        """
        Whether null means none in that row; otherwise it means unknown.

        A required column is null only if a joined row is missing, and a null moment has not occurred.
        """
        always = self.meaning.none or not self.nullable or self.kind is datetime
        return always or any(
            where.holds(row) for where in (*self.meaning.none_where, *self.missing_where)
        )


def column(
    comment: str, *, default: Any = MISSING, default_factory: Any = MISSING, **meaning: Any
) -> Any:
    """
    A field of a record that is a column.

    Args:
        comment: One line; the comment of the column in the database.
        default: Default of the dataclass field.
        default_factory: Default factory of the dataclass field.
        meaning: Other attributes of `Meaning`.
    """
    metadata = {_MEANING: Meaning(comment, **meaning)}
    return field(default=default, default_factory=default_factory, metadata=metadata)


def missing_where(other: str, *, default: Any = MISSING) -> Any:
    """The field of an embedded record that is missing where *other*, which it always has, is null."""
    return field(default=default, metadata={_MISSING: (Where(other, None),)})


def as_in(record: type, name: str, *, default: Any = MISSING) -> Any:
    """A field with the same meaning as a column of another record."""
    meaning = next(spec.meaning for spec in columns_of(record) if spec.name == name)
    return field(default=default, metadata={_MEANING: meaning})


@dataclass_transform(
    kw_only_default=True,
    frozen_default=True,
    field_specifiers=(field, column, missing_where, as_in),
)
def record(kind: type[T]) -> type[T]:
    """A frozen class whose fields are columns or records, with keyword arguments only."""
    return dataclass(frozen=True, slots=True, kw_only=True)(kind)


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """
    A field of a record: a column or an embedded record.

    Attributes:
        name: Name of the field.
        column: Its column; None for a record.
        record: The class of the record; None for a column.
        nullable: Whether the value may be None.
        missing_where: Rows without the record.
    """

    name: str
    column: ColumnSpec | None
    record: Any
    nullable: bool
    missing_where: tuple[Where, ...] = ()


@cache
def columns_of(record: Any) -> tuple[ColumnSpec, ...]:
    """
    The columns of a record class, in order, including those of embedded records.

    The columns of an optional embedded record are nullable.

    Raises:
        TypeError: A field is neither a column nor a record.
    """
    return tuple(
        replace(spec, nullable=spec.nullable or part.nullable, missing_where=part.missing_where)
        for part in parts_of(record)
        for spec in ([part.column] if part.column else columns_of(part.record))
    )


@cache
def parts_of(record: Any) -> tuple[Part, ...]:
    """
    The fields of a record's class, in order.

    Raises:
        TypeError: A field is neither a column nor a record.
    """
    hints = get_type_hints(record, include_extras=True)
    return tuple(_part(record, one, hints[one.name]) for one in fields(record))


def _part(record: type, declared: Field[Any], hint: Any) -> Part:
    kind, nullable = _without_none(hint)
    meaning = declared.metadata.get(_MEANING)
    if meaning is not None:
        kind, item, bits = _stored(kind)
        if meaning.unit is None and kind in (int, float):
            meaning = replace(meaning, unit=unit_in(declared.name))
        given = declared.default
        if declared.default_factory is not MISSING:
            given = declared.default_factory()
        spec = ColumnSpec(
            name=declared.name,
            kind=kind,
            item=item,
            bits=bits,
            nullable=nullable,
            meaning=meaning,
            default=REQUIRED if given is MISSING else given,
        )
        return Part(name=declared.name, column=spec, record=None, nullable=nullable)
    if isinstance(kind, type) and is_dataclass(kind):
        missing = declared.metadata.get(_MISSING, ())
        return Part(
            name=declared.name, column=None, record=kind, nullable=nullable, missing_where=missing
        )
    raise TypeError(f"{record.__name__}.{declared.name} declares no column.")


def _without_none(hint: Any) -> tuple[Any, bool]:
    if get_origin(hint) not in (Union, types.UnionType):
        return hint, False
    kinds = [each for each in get_args(hint) if each is not type(None)]
    return functools.reduce(operator.or_, kinds), len(kinds) < len(get_args(hint))


def _stored(kind: Any) -> tuple[Any, Any, int]:
    """(type, what it lists, bits) of an annotation without `None`."""
    if get_origin(kind) is Annotated:
        plain, bits = get_args(kind)
        return plain, None, bits
    if get_origin(kind) is tuple:
        item, _, bits = _stored(get_args(kind)[0])
        return tuple, item, bits
    if isinstance(kind, types.UnionType):
        return kind, None, 64
    return get_origin(kind) or kind, None, 64


__all__ = [
    "REQUIRED",
    "ColumnSpec",
    "Float32",
    "Int16",
    "Int32",
    "Meaning",
    "Part",
    "Unit",
    "Where",
    "as_in",
    "column",
    "columns_of",
    "missing_where",
    "parts_of",
    "record",
    "unit_in",
]
