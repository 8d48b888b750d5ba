"""
Tables into tables of the database through COPY, a column at a time.

In the text that COPY reads a list of texts is an array literal; a struct and a list of structs are JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from psycopg.sql import SQL, Identifier
from sqlalchemy import Connection

from ...model.tables import INT32, Numbers, Table
from ..arrow import to_arrow

CHUNK_VALUES = 200_000
"""Rows and listed values that are made text at a time: memory grows with it, not with the table."""

_COPY = SQL("COPY {target} ({columns}) FROM STDIN")

_ESCAPES = (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n"), ("\r", "\\r"))
NUL, INSTEAD = "\x00", "\ufffd"
"""A client may call itself anything, but Postgres stores no NUL."""

_NULL = "\\N"
_BLANK, _BACKSLASH = ord(" "), ord("\\")

WORST = 20
"""How many partitions of each group are kept of every snapshot."""


def load(connection: Connection, table: Table, target: str) -> None:
    """Add the rows of a table to that of the database; columns that it lacks get their default."""
    driver: Any = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    columns = SQL(", ").join(map(Identifier, table.names))
    command = _COPY.format(target=Identifier(target), columns=columns)
    with driver.cursor() as cursor, cursor.copy(command) as copy:
        for piece in pieces(to_arrow(table), CHUNK_VALUES):
            copy.write(as_text(piece))


def pieces(table: pa.Table, most: int) -> Iterator[pa.Table]:
    """
    A table in parts of about so many rows and listed values; a row with more is a part of its own.

    >>> [len(part) for part in pieces(pa.table({"a": [[1], [1, 2, 3, 4], None, []]}), 3)]
    [1, 2, 1]
    """
    size = np.ones(len(table), np.int64)
    for column in table.columns:
        if pa.types.is_list(column.type):
            size += pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    part = np.cumsum(size) // most
    ends = [*(np.flatnonzero(np.diff(part)) + 1).tolist(), len(table)] if len(table) else []
    start = 0
    for end in ends:
        yield table.slice(start, end - start)
        start = end


def worst(partitions: Table, most: int = WORST) -> Table:
    """
    Each group's partitions of the largest lag, with their *place* from 1; unknown lag comes last.

    >>> from evenkeel.engine.model.tables import INT64, TEXT
    >>> schema = {"group_id": TEXT, "topic": TEXT, "partition": INT32, "lag": INT64}
    >>> rows = [("a", "t", 0, 1), ("a", "t", 1, None), ("b", "t", 0, 2)]
    >>> lags = Table.from_rows([dict(zip(schema, row)) for row in rows], schema)
    >>> worst(lags, 1).select(["group_id", "lag", "place"]).to_pylist()
    [{'group_id': 'a', 'lag': 1, 'place': 1}, {'group_id': 'b', 'lag': 2, 'place': 1}]
    """
    group, lag = partitions["group_id"].codes(), partitions["lag"]
    keys = (partitions["partition"].codes(), partitions["topic"].codes(), -lag.filled(0))
    order = np.lexsort((*keys, ~lag.known, group))
    sorted_group = group[order]
    place = np.arange(len(order)) - np.searchsorted(sorted_group, sorted_group) + 1
    kept = place <= most
    return partitions.take(order[kept]).replaced(place=Numbers(place[kept], INT32))


def as_text(table: pa.Table) -> memoryview:
    r"""
    Rows in the text format of COPY: tabs between values, `\N` for null.

    The text of all of them must stay under 2 GiB.

    >>> bytes(as_text(pa.table({"a": ["x", "", None], "b": [["y,"], [], None], "c": [1.5, 2, 3]}))).decode().split("\n")
    ['x\t{"y,"}\t1.5', '\t{}\t2', '\\N\t\\N\t3', '']
    """
    *values, last = (_escaped(_value(column.combine_chunks())) for column in table.columns)
    ended = _joined(pc.fill_null(last, _NULL), "", "\n")
    lines = _joined(*values, ended, "\t", null_handling="replace", null_replacement=_NULL)
    return memoryview(_bytes(lines))


def as_json(column: pa.Array) -> pa.Array:
    """
    Each value of a column as JSON, null among them; what JSON has no word for as `records.to_json` writes it.

    >>> as_json(pa.array([{"a": "é", "b": [1, None]}, None])).to_pylist()
    ['{"a":"é","b":[1,null]}', 'null']
    """
    kind = column.type
    if pa.types.is_struct(kind):
        keys = [f"{',' if i else '{'}{json.dumps(field.name)}:" for i, field in enumerate(kind)]
        texts = [as_json(field) for field in column.flatten()]
        pairs = [each for pair in zip(keys, texts, strict=True) for each in pair]
        text = _joined(*pairs, "}", "")
    elif pa.types.is_list(kind):
        text = _joined("[", _listed(column, as_json(column.flatten())), "]", "")
    elif pa.types.is_string(kind):
        text = _quoted(column)
    elif pa.types.is_floating(kind):
        text = _number(column)
    else:
        text = _plain(column)
        if pa.types.is_temporal(kind):
            text = _joined('"', text, '"', "")
    return pc.if_else(column.is_valid(), text, "null") if column.null_count else text


def _value(column: pa.Array) -> pa.Array:
    """A column as plain texts, null where it is."""
    kind = column.type
    if pa.types.is_string(kind):
        return column
    if pa.types.is_list(kind) and not pa.types.is_struct(kind.value_type):
        text = _joined("{", _listed(column, _elements(column.flatten())), "}", "")
    elif pa.types.is_nested(kind):
        text = as_json(column)
    else:
        return _plain(column)
    return pc.if_else(column.is_valid(), text, None) if column.null_count else text


def _plain(column: pa.Array) -> pa.Array:
    if not pa.types.is_temporal(column.type):
        return column.cast(pa.string())
    # writing a moment costs as much as ten numbers, and few are distinct: many offsets are read at once
    moments = column.dictionary_encode()
    return moments.dictionary.cast(pa.string()).take(moments.indices)


def _listed(column: pa.Array, texts: pa.Array) -> pa.Array:
    """For each list the texts of its values, with commas between them; a null list is empty."""
    lengths = pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)
    return pc.binary_join(pa.ListArray.from_arrays(offsets, texts), ",")


def _elements(values: pa.Array) -> pa.Array:
    """The values of array literals."""
    texts = values.cast(pa.string())
    for mark in ("\\", '"'):
        texts = pc.replace_substring(texts, mark, "\\" + mark)
    return pc.fill_null(_joined('"', texts, '"', ""), "NULL")


def _quoted(texts: pa.Array) -> pa.Array:
    """Texts in quotes; names come again and again, so each is written once."""
    names = texts.dictionary_encode()
    written = [
        json.dumps(name.replace(NUL, INSTEAD), ensure_ascii=False)
        for name in names.dictionary.to_pylist()
    ]
    return pa.array(written, pa.string()).take(names.indices)


def _number(numbers: pa.Array) -> pa.Array:
    text = numbers.cast(pa.string())
    if pc.all(pc.is_finite(numbers)).as_py() is not False:
        return text
    signed = pc.if_else(pc.greater(numbers, 0), '"Infinity"', '"-Infinity"')
    text = pc.if_else(pc.is_inf(numbers), signed, text)
    return pc.if_else(pc.is_nan(numbers), "null", text)


def _escaped(texts: pa.Array) -> pa.Array:
    data = np.frombuffer(_bytes(texts), np.uint8)
    if (data < _BLANK).any() or (data == _BACKSLASH).any():
        for mark, written in ((NUL, INSTEAD), *_ESCAPES):
            texts = pc.replace_substring(texts, mark, written)
    return texts


def _bytes(texts: pa.Array) -> Any:
    """The bytes of a column of texts, one after the other."""
    _, places, data = texts.buffers()
    if data is None or not len(texts):
        return pa.py_buffer(b"")
    ends = np.frombuffer(places, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return data.slice(int(ends[0]), int(ends[-1] - ends[0]))


def _joined(*texts: Any, **options: Any) -> Any:
    """The texts of each row in one; the last of *texts* stands between them."""
    return pc.binary_join_element_wise(*texts, **options)
