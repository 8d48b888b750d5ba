"""
Tables into tables of the database through COPY, in its binary format and a column at a time.

Postgres documents that format with the command COPY. A struct and a list of structs are JSON.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import groupby
from typing import Any

import numpy as np
import numpy.typing as npt
import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from psycopg.sql import SQL, Identifier
from sqlalchemy import (
    ARRAY,
    REAL,
    BigInteger,
    Boolean,
    Connection,
    DateTime,
    Double,
    Integer,
    SmallInteger,
    Text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeEngine

from ...model.arrays import Flags, Ints, starts_of
from ...model.columns import columns_of
from ...model.tables import INT16, INT32, MOMENT, Lists, Numbers, Series, Table, Texts
from ...records import PartitionBlock
from ...records.tables import METADATA
from ..arrow import to_arrow

CHUNK_VALUES = 50_000
"""Rows, and values that a column lists, that are encoded at a time: memory grows with it, not with the table."""

_COPY = SQL("COPY {target} ({columns}) FROM STDIN (FORMAT binary)")
_START, _END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"
_NULL = b"\xff\xff\xff\xff"

_FORMS: Mapping[type, tuple[str, int]] = {
    SmallInteger: (">i2", 21),
    Integer: (">i4", 23),
    BigInteger: (">i8", 20),
    REAL: (">f4", 700),
    Double: (">f8", 701),
    Boolean: (">u1", 16),
    DateTime: (">i8", 1184),
    Text: ("", 25),
}
"""By type of the database: the values in bytes, and the type's number among Postgres's own."""

_FROM_2000 = 946_684_800_000
"""Postgres counts moments from 2000 on; in milliseconds since the epoch."""

NUL, INSTEAD = "\x00", "\ufffd"
"""A client may call itself anything, but Postgres stores no NUL."""

WORST = 20
"""How many partitions of each group are kept of every snapshot."""

BLOCK = 32
"""Partitions in a row at most: the arrays are short, so any value is found at once."""

_SAME_IN_BLOCK = [spec.name for spec in columns_of(PartitionBlock) if spec.kind is str]


def load(connection: Connection, table: Table, target: str) -> None:
    """Add the rows of a table to that of the database; columns that it lacks get their default."""
    # numbers beside each other are encoded in one go
    table = table.select(sorted(table.names, key=lambda name: not isinstance(table[name], Numbers)))
    driver: Any = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    columns = SQL(", ").join(map(Identifier, table.names))
    command = _COPY.format(target=Identifier(target), columns=columns)
    types = {column.name: column.type for column in METADATA.tables[target].columns}
    with driver.cursor() as cursor, cursor.copy(command) as copy:
        copy.write(_START)
        for encoded in _ahead(lambda piece: as_binary(piece, types), pieces(table, CHUNK_VALUES)):
            copy.write(encoded)
        copy.write(_END)


def _ahead(encode: Callable[[Table], memoryview], parts: Iterable[Table]) -> Iterator[memoryview]:
    """Encode each part while the server takes the one before."""
    with ThreadPoolExecutor(1) as pool:
        coming: deque[Future[memoryview]] = deque()
        for part in parts:
            coming.append(pool.submit(encode, part))
            if len(coming) > 1:
                yield coming.popleft().result()
        yield from (each.result() for each in coming)


def pieces(table: Table, most: int) -> Iterator[Table]:
    """
    A table in parts of about so many rows and values in a column of lists; a row with more is a part of its own.

    >>> from evenkeel.engine.model.tables import column, list_of
    >>> table = Table({"a": column([[1], [1, 2, 3, 4], None, []], list_of(INT32))})
    >>> [len(part) for part in pieces(table, 3)]
    [1, 2, 1]
    """
    lists = [each.lengths for each in table.columns.values() if isinstance(each, Lists)]
    part = np.cumsum(1 + np.max([np.zeros(len(table), np.int64), *lists], axis=0)) // most
    ends = [*(np.flatnonzero(np.diff(part)) + 1).tolist(), len(table)] if len(table) else []
    start = 0
    for end in ends:
        yield table.slice(start, end)
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


def blocks(partitions: Table, most: int = BLOCK) -> Table:
    """
    Partitions of a topic of a group beside each other as one row: lists of numbers, and of the places of texts.

    >>> from evenkeel.engine.model.tables import TEXT
    >>> schema = {"group_id": TEXT, "topic": TEXT, "partition": INT32, "member_id": TEXT}
    >>> rows = [("a", "t", 0, None), ("a", "t", 1, "m-1"), ("a", "t", 2, "m-1")]
    >>> owned = Table.from_rows([dict(zip(schema, row)) for row in rows], schema)
    >>> blocks(owned, 2).without("group_id", "topic").to_pylist()[0]
    {'first_partition': 0, 'words': ['m-1'], 'partition': [0, 1], 'member_id': [None, 1]}
    """
    names = [name for name in partitions.names if name in _SAME_IN_BLOCK]
    place = np.arange(len(partitions))
    begins = _changes(*(partitions[name].places for name in names))
    begins |= (place - np.maximum.accumulate(np.where(begins, place, 0))) % most == 0
    first, row = np.flatnonzero(begins), np.cumsum(begins) - 1
    start, key = np.append(first, len(partitions)), partitions.select(names).take(first)
    listed = partitions.without(*names).columns
    texts = {name: each for name, each in listed.items() if isinstance(each, Texts)}
    all_words = [word for each in texts.values() for word in each.words]
    # most partitions have the text of the one before; a number for each text of a block, the first for none
    new = {name: begins | _changes(each.places) for name, each in texts.items()}
    before = starts_of([len(each.words) for each in texts.values()])
    numbers = [
        (row * (len(all_words) + 1) + np.where(each.known, each.places + least + 1, 0))[new[name]]
        for (name, each), least in zip(texts.items(), before, strict=False)
    ]
    used, at = np.unique(np.concatenate(numbers), return_inverse=True)
    block, word = np.divmod(used, len(all_words) + 1)
    is_word = word > 0
    word_start = np.searchsorted(block[is_word], np.arange(len(first) + 1))
    nth = np.cumsum(is_word) - word_start[block]
    parts = np.split(nth[at], np.cumsum([len(each) for each in numbers])[:-1])
    places = {
        name: Numbers(part[np.cumsum(new[name]) - 1], INT16, texts[name].known)
        for name, part in zip(texts, parts, strict=True)
    }
    return key.replaced(
        first_partition=partitions["partition"].take(first),
        words=Lists(word_start, Texts(word[is_word] - 1, all_words)),
        **{name: Lists(start, each) for name, each in {**listed, **places}.items()},
    )


def _changes(*columns: npt.NDArray[Any]) -> Flags:
    """(n) whether a row differs from the one before, as the first does."""
    changes = np.ones(len(columns[0]), np.bool_)
    changes[1:] = np.any([each[1:] != each[:-1] for each in columns], axis=0)
    return changes


def as_binary(table: Table, types: Mapping[str, TypeEngine[Any]]) -> memoryview:
    """
    Rows in the binary format of COPY; all of them must stay under 2 GiB.

    Args:
        table: The rows.
        types: The type of each column in the database.

    >>> from evenkeel.engine.model.tables import TEXT, column
    >>> table = Table({"a": column(["x", None], TEXT), "b": column([1, 2], INT32)})
    >>> bytes(as_binary(table, {"a": Text(), "b": SmallInteger()})).hex()
    '000200000001780000000200010002ffffffff000000020002'
    """
    count = np.tile(_big(len(table.names), ">i2"), (len(table), 1))
    fields = [_ragged(count)]
    of_numbers = groupby(table.names, lambda name: isinstance(table[name], Numbers))
    for are_numbers, names in of_numbers:
        if are_numbers:
            fields.append(_numbers([(table[name], types[name]) for name in names]))
        else:
            fields += [_fields(table[name], types[name]) for name in names]
    return memoryview(_bytes(_joined(*fields, b"")))


def _fields(column: Series, kind: TypeEngine[Any]) -> pa.Array:
    """Each value with its length before it."""
    # the version of its format goes before JSON
    mark = b"\x01" if isinstance(kind, JSONB) else b""
    if isinstance(column, Texts):
        return _texts(column, mark)
    if isinstance(column, Numbers):
        return _numbers([(column, kind)])
    if isinstance(column, Lists) and isinstance(kind, ARRAY):
        fields = _arrays(column, kind.item_type)
    else:
        values = as_json(to_arrow(Table({"of": column}))["of"].combine_chunks())
        fields = _sized(values.cast(pa.binary()), mark)
    return pc.if_else(pa.array(column.known), fields, _NULL) if column.null_count else fields


def _numbers(columns: Sequence[tuple[Series, TypeEngine[Any]]]) -> pa.Array:
    """The values of a row of some columns of numbers, each with its length before it."""
    forms = [_FORMS[type(kind)][0] for _, kind in columns]
    parts = [part for i, form in enumerate(forms) for part in ((f"size{i}", ">i4"), (f"{i}", form))]
    rows = np.empty(len(columns[0][0]), parts)
    shape, end = (len(rows), rows.dtype.itemsize), 0
    kept: Flags | None = None
    for i, (column, _) in enumerate(columns):
        assert isinstance(column, Numbers)
        size, is_moment = rows.dtype[f"{i}"].itemsize, column.kind == MOMENT
        end += 4 + size
        rows[f"size{i}"] = np.where(column.known, size, -1) if column.null_count else size
        with np.errstate(invalid="ignore"):
            rows[f"{i}"] = (column.values - _FROM_2000) * 1000 if is_moment else column.values
        if column.null_count:
            kept = np.ones(shape, np.bool_) if kept is None else kept
            kept[:, end - size : end] = column.known[:, None]
    return _ragged(rows.view(np.uint8).reshape(shape), kept)


def _texts(column: Texts, mark: bytes) -> pa.Array:
    """Names come again and again, so each is encoded once."""
    column = column.used() if len(column) < len(column.words) else column
    words = pa.array(column.words, pa.string())
    if (np.frombuffer(_bytes(words), np.uint8) == 0).any():
        words = pc.replace_substring(words, NUL, INSTEAD)
    fields = pa.concat_arrays([_sized(words.cast(pa.binary()), mark), pa.array([_NULL])])
    return fields.take(pa.array(np.where(column.known, column.places, len(words))))


def _arrays(column: Lists, kind: TypeEngine[Any]) -> pa.Array:
    entries = _fields(column.entries, kind)
    lengths = column.lengths
    # dimensions, a flag, the type of values, their number, and the first index; of no values only three of these
    head = np.array([1, 0, _FORMS[type(kind)][1], 0, 1], ">i4")
    numbers = np.tile(head, (len(column), 1))
    numbers[:, 0], numbers[:, 3] = lengths > 0, lengths
    kept = np.arange(20) < np.where(lengths > 0, 20, 12)[:, None]
    heads = _ragged(numbers.view(np.uint8).reshape(-1, 20), kept)
    return _sized(_joined(heads, _spans(entries, column.start), b""))


def _spans(texts: pa.Array, start: Ints) -> pa.Array:
    """The bytes of the values from each place up to the next, which lie beside each other."""
    _, ends, data = texts.buffers()
    places = np.frombuffer(ends, np.int32, len(texts) + 1, 4 * texts.offset)[start]
    return pa.Array.from_buffers(pa.binary(), len(start) - 1, [None, pa.py_buffer(places), data])


def _sized(values: pa.Array, mark: bytes = b"") -> pa.Array:
    """Values with a mark, and with the length of both before it."""
    sizes = pc.add(pc.binary_length(values), len(mark)).to_numpy().astype(">i4")
    return _joined(_ragged(sizes.view(np.uint8).reshape(-1, 4)), mark, values, b"")


def _ragged(rows: npt.NDArray[np.uint8], kept: Flags | None = None) -> pa.Array:
    """The bytes of each row; of *kept*, which has their shape, only those that it names."""
    if kept is None:
        ends = np.arange(len(rows) + 1, dtype=np.int32) * rows.shape[1]
    else:
        rows, ends = rows[kept], np.append(0, np.cumsum(kept.sum(axis=1))).astype(np.int32)
    data = [None, pa.py_buffer(ends), pa.py_buffer(np.ascontiguousarray(rows))]
    return pa.Array.from_buffers(pa.binary(), len(ends) - 1, data)


def _big(number: int, form: str = ">i4") -> npt.NDArray[np.uint8]:
    return np.frombuffer(np.array(number, form).tobytes(), np.uint8)


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


def _bytes(texts: pa.Array) -> Any:
    """The bytes of a column, one value after the other."""
    _, places, data = texts.buffers()
    if data is None or not len(texts):
        return pa.py_buffer(b"")
    ends = np.frombuffer(places, np.int32)[texts.offset : texts.offset + len(texts) + 1]
    return data.slice(int(ends[0]), int(ends[-1] - ends[0]))


def _joined(*texts: Any, **options: Any) -> Any:
    """The texts of each row in one; the last of *texts* stands between them."""
    return pc.binary_join_element_wise(*texts, **options)
