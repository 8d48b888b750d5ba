"""Tables as Arrow tables, and back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..model.arrays import NONE, Flags, starts_of
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
    KindError,
    Lists,
    Numbers,
    Schema,
    Series,
    Structs,
    Table,
    Texts,
    list_of,
    nulls,
    struct_of,
)

_TYPES: Mapping[Kind, pa.DataType] = {
    **{INT16: pa.int16(), INT32: pa.int32(), INT64: pa.int64(), FLOAT64: pa.float64()},
    **{BOOL: pa.bool_(), TEXT: pa.string(), BYTES: pa.binary()},
    MOMENT: pa.timestamp("ms", tz="UTC"),
}
_KINDS: Mapping[pa.DataType, Kind] = {type_: kind for kind, type_ in _TYPES.items()}


def type_of(kind: Kind) -> pa.DataType:
    """The Arrow type of a kind."""
    if kind.of is not None:
        return pa.list_(type_of(kind.of))
    if kind.fields:
        return pa.struct([(name, type_of(each)) for name, each in kind.fields])
    return _TYPES[kind]


def arrow_schema(schema: Schema) -> pa.Schema:
    """A schema as Arrow's; every column may have nulls."""
    return pa.schema([(name, type_of(kind)) for name, kind in schema.items()])


def kind_of(type_: pa.DataType) -> Kind:
    """
    The kind of values of an Arrow type.

    Raises:
        KindError: There is none.
    """
    type_ = _plain(type_)
    if pa.types.is_list(type_):
        return list_of(kind_of(type_.value_type))
    if pa.types.is_struct(type_):
        return struct_of({field.name: kind_of(field.type) for field in type_})
    if type_ not in _KINDS:
        raise KindError(f"there are no columns of Arrow's {type_}")
    return _KINDS[type_]


def to_arrow(table: Table) -> pa.Table:
    """An Arrow table of the same values; texts are plain."""
    arrays = [_array(each) for each in table.columns.values()]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(table.schema))


def _array(column: Series) -> pa.Array:
    if isinstance(column, Texts):
        used = column.used()
        words = pa.array(used.words, type_of(column.kind))
        return words.take(pa.array(used.places, mask=~used.known))
    if isinstance(column, Lists):
        starts = pa.array(column.start, pa.int32(), mask=np.append(~column.known, False))
        return pa.ListArray.from_arrays(starts, _array(column.entries), type_of(column.kind))
    if isinstance(column, Structs):
        fields = [_array(each) for each in column.table.columns.values()]
        unknown = pa.array(~column.known)
        return pa.StructArray.from_arrays(fields, fields=[*type_of(column.kind)], mask=unknown)
    assert isinstance(column, Numbers)
    mask = ~column.known if column.null_count else None
    values = pa.array(column.values, mask=mask)
    return values if column.kind != MOMENT else values.cast(_TYPES[MOMENT])


def from_arrow(table: pa.Table, schema: Schema | None = None) -> Table:
    """
    The same values as a table.

    Args:
        table: The Arrow table.
        schema: Kinds of columns that may have come in another type of Arrow's, such as large texts.

    Raises:
        KindError: A column has a type that no kind stands for; the message names it.
        pa.ArrowException: One is not of the kind that its schema says.
    """
    columns: dict[str, Series] = {}
    for name, column in zip(table.schema.names, table.columns, strict=True):
        wanted = (schema or {}).get(name)
        if wanted is not None and _plain(column.type) != type_of(wanted):
            column = column.cast(type_of(wanted))
        try:
            columns[name] = _column(column, kind_of(column.type))
        except KindError as problem:
            raise KindError(f"column {name}: {problem}") from problem
    return Table(columns, len(table))


def _column(column: pa.ChunkedArray, kind: Kind) -> Series:
    if not len(column):
        return nulls(0, kind)  # to make a chunk where there is none, Arrow would import pandas
    first = column.chunk(0)
    array = first if column.num_chunks == 1 else column.combine_chunks()
    if pa.types.is_dictionary(array.type) and len(array.dictionary) > len(first.dictionary):
        return _texts(array, kind, is_joined=True)
    return _series(array, kind)


def _plain(type_: pa.DataType) -> pa.DataType:
    return type_.value_type if pa.types.is_dictionary(type_) else type_


def _series(array: Any, kind: Kind) -> Series:
    if kind in (TEXT, BYTES):
        return _texts(array, kind)
    known = _known(array)
    if kind.of is not None:
        lengths = _filled(pc.list_value_length(array), 0)
        return Lists(starts_of(lengths), _series(array.flatten(), kind.of), known)
    if kind.fields:
        fields = zip(kind.fields, array.flatten(), strict=True)
        return Structs(
            Table({name: _series(field, own) for (name, own), field in fields}, len(array)), known
        )
    plain = array.cast(pa.int64()) if kind == MOMENT else array
    return Numbers(_filled(plain, 0), kind, known)


def _known(array: Any) -> Flags:
    """(n) which values an array has."""
    if not array.null_count:
        return np.ones(len(array), np.bool_)
    return _bits(array.buffers()[0], array.offset, len(array))


def _filled(array: Any, unknown: int) -> Any:
    """(n) the numbers of an array, with one where there is none; Arrow's own `to_numpy` would import pandas."""
    count, offset, buffer = len(array), array.offset, array.buffers()[1]
    if not count:
        return np.zeros(0, np.int64)
    if pa.types.is_boolean(array.type):
        values = _bits(buffer, offset, count)
    else:
        values = np.frombuffer(buffer, np.dtype(str(array.type)))[offset : offset + count]
    if not array.null_count:
        return values
    return np.where(_known(array), values, np.array(unknown, values.dtype))


def _bits(buffer: Any, offset: int, count: int) -> Flags:
    bits = np.unpackbits(np.frombuffer(buffer, np.uint8), count=offset + count, bitorder="little")
    flags: Flags = bits[offset:].view(np.bool_)
    return flags


def _texts(array: Any, kind: Kind, *, is_joined: bool = False) -> Texts:
    """Texts; words that were *joined* of several chunks are different ones, in files of others they need not be."""
    encoded = array
    if not pa.types.is_dictionary(array.type):
        encoded = array.dictionary_encode()
    elif array.dictionary.null_count or not (is_joined or _are_different(array.dictionary)):
        encoded = array.cast(type_of(kind)).dictionary_encode()
    return Texts(_filled(encoded.indices, NONE), _Words(encoded.dictionary), kind)


def _are_different(words: pa.Array) -> bool:
    return len(words.unique()) == len(words)


class _Words(Sequence[Any]):
    """Texts of Arrow's that become Python's when one is looked at, since most columns are only compared."""

    def __init__(self, words: pa.Array) -> None:
        self._words = words

    @cached_property
    def _listed(self) -> list[Any]:
        listed: list[Any] = self._words.to_pylist()
        return listed

    def __arrow_array__(self, type: Any = None) -> pa.Array:
        return self._words if type is None else self._words.cast(type)

    def __len__(self) -> int:
        return len(self._words)

    def __getitem__(self, place: Any) -> Any:
        return self._listed[place] if "_listed" in vars(self) else self._words[place].as_py()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._listed)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, _Words):
            return bool(self._words.equals(other._words))
        return isinstance(other, Sequence) and self._listed == [*other]

    __hash__ = None  # type: ignore[assignment]
