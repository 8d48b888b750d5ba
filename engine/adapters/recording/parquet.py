"""Tables as Parquet files in memory, by small libraries: whoever has a lake reads and writes its files with pyarrow."""

from __future__ import annotations

import io
import itertools
from collections.abc import Mapping
from typing import Any

import arro3.core as arro
import arro3.io
import nanoarrow as na
import numpy as np

from ...model.arrays import NONE, Flags, starts_of
from ...model.tables import (
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
    Series,
    Table,
    Texts,
    concat,
    empty,
    list_of,
)

_TYPES: Mapping[Kind, Any] = {
    **{INT16: na.int16(), INT32: na.int32(), INT64: na.int64(), FLOAT64: na.float64()},
    **{BOOL: na.bool_(), TEXT: na.string(), BYTES: na.binary()},
    MOMENT: na.timestamp("ms", timezone="UTC"),
}
_KINDS: Mapping[Any, Kind] = {
    **{arro.DataType.int16(): INT16, arro.DataType.int32(): INT32, arro.DataType.int64(): INT64},
    **{arro.DataType.float64(): FLOAT64, arro.DataType.bool(): BOOL},
    **{arro.DataType.string(): TEXT, arro.DataType.binary(): BYTES},
    arro.DataType.timestamp("ms", tz="UTC"): MOMENT,
}
_CODED: Mapping[Kind, Any] = {
    TEXT: arro.DataType.dictionary(arro.DataType.int32(), arro.DataType.string()),
    BYTES: arro.DataType.dictionary(arro.DataType.int32(), arro.DataType.binary()),
}
"""Texts with each different one once."""


def write_parquet(table: Table) -> bytes:
    """A table of numbers, texts, and lists of them as a Parquet file; the same table gives the same bytes."""
    columns = {name: _array(each) for name, each in table.columns.items()}
    schema = na.struct({name: array.schema for name, array in columns.items()}, nullable=False)
    rows = na.c_array_from_buffers(schema, len(table), [None], children=[*columns.values()])
    sink = io.BytesIO()
    arro3.io.write_parquet(rows, sink, compression="zstd(19)", skip_arrow_metadata=True)
    return sink.getvalue()


def _array(column: Series) -> Any:
    known = None
    if column.null_count:
        known = np.packbits(column.known, bitorder="little")
    type_ = _TYPES.get(column.kind)
    if isinstance(column, Texts):
        words = [each.encode() if column.kind == TEXT else each for each in column.words]
        written = [*words, b""]
        lengths = np.array([len(each) for each in written], np.int64)[column.places]
        data = b"".join([written[place] for place in column.places.tolist()])
        places = starts_of(lengths).astype(np.int32)
        return na.c_array_from_buffers(type_, len(column), [known, places, data])
    if isinstance(column, Lists):
        entries = _array(column.entries)
        starts = column.start.astype(np.int32)
        return na.c_array_from_buffers(
            na.list_(entries.schema), len(column), [known, starts], children=[entries]
        )
    if not isinstance(column, Numbers):
        raise KindError(f"{column.kind} is not written")
    values = column.values
    if column.kind == BOOL:
        values = np.packbits(values, bitorder="little")
    return na.c_array_from_buffers(type_, len(column), [known, np.ascontiguousarray(values)])


def read_parquet(content: bytes, rows_at_once: int) -> Table:
    """
    A Parquet file as a table.

    Args:
        content: The file.
        rows_at_once: Rows that are unpacked together.

    Raises:
        KindError: A column has a type that no kind stands for.
        Exception: It is damaged; what the library raises has no class of its own.
    """
    reader = arro3.io.read_parquet(content, batch_size=rows_at_once)
    schema: Any = reader.schema
    kinds = {field.name: _kind(field.name, field.type) for field in schema}
    parts = [empty(kinds)]
    for batch in reader:
        read = {name: _read(batch.column(name), kind) for name, kind in kinds.items()}
        parts.append(Table(read, batch.num_rows))
    return concat(parts)


def _kind(name: str, type_: Any) -> Kind:
    if type_ in _KINDS:
        return _KINDS[type_]
    if not arro.DataType.is_list(type_):
        raise KindError(f"column {name} is of another type")
    return list_of(_kind(name, type_.value_type))


def _read(array: Any, kind: Kind) -> Series:
    coded = _CODED.get(kind.of or kind)
    if coded is not None:
        array = array.cast(
            coded if kind.of is None else arro.DataType.list(arro.Field("element", coded))
        )
    return _series(na.c_array(array).view(), kind)


def _series(view: Any, kind: Kind) -> Series:
    own = slice(view.offset, view.offset + view.length)
    known = np.ones(view.length, np.bool_) if not view.null_count else _bits(view.buffer(0), own)
    content = np.asarray(view.buffer(1))
    if kind.of is not None:
        start = content[own.start : own.stop + 1].astype(np.int64)
        entries = _series(view.child(0), kind.of).slice(int(start[0]), int(start[-1]))
        return Lists(start - start[0], entries, known)
    if kind in _CODED:
        words = view.dictionary
        ends, data = np.asarray(words.buffer(1)).tolist(), bytes(words.buffer(2))
        first = words.offset
        bounds = itertools.pairwise(ends[first : first + words.length + 1])
        texts = [data[a:b].decode() if kind == TEXT else data[a:b] for a, b in bounds]
        return Texts(np.where(known, content[own], NONE), texts, kind)
    # a copy: a slice would keep the rows of all columns that were read together
    values = _bits(view.buffer(1), own) if kind == BOOL else content[own].copy()
    return Numbers(values, kind, known)


def _bits(buffer: Any, own: slice) -> Flags:
    bits = np.unpackbits(np.asarray(buffer).view(np.uint8), bitorder="little")
    return bits[own].astype(np.bool_)
