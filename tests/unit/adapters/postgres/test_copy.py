"""Tables as the bytes that Postgres copies, and which partitions are."""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import ARRAY, BigInteger, Boolean, DateTime, Double, Integer, SmallInteger, Text
from sqlalchemy.dialects.postgresql import JSONB

from evenkeel.engine.adapters.postgres.copy import as_binary, as_json, pieces, worst
from evenkeel.engine.model.tables import (
    BOOL,
    FLOAT64,
    INT32,
    INT64,
    MOMENT,
    TEXT,
    Kind,
    Numbers,
    Table,
    column,
    list_of,
    struct_of,
)

PIECE = struct_of({"name": TEXT, "n": INT64, "of": list_of(TEXT)})


def fields(data: bytes) -> Iterator[list[bytes | None]]:
    """The values of each row."""
    at = 0
    while at < len(data):
        (count,) = struct.unpack_from(">h", data, at)
        at += 2
        yield [*sized(data[at:], count)]
        at += sum(4 + max(size, 0) for size in sizes(data[at:], count))


def sizes(data: bytes, count: int) -> list[int]:
    """The lengths that stand before so many values."""
    found, at = list[int](), 0
    for _ in range(count):
        found += struct.unpack_from(">i", data, at)
        at += 4 + max(found[-1], 0)
    return found


def sized(data: bytes, count: int) -> Iterator[bytes | None]:
    """So many values, each behind its length."""
    at = 0
    for size in sizes(data, count):
        yield None if size < 0 else data[at + 4 : at + 4 + size]
        at += 4 + max(size, 0)


def encoded(values: list[Any], kind: Kind, stored: Any) -> list[bytes | None]:
    """The bytes of a column's values, beside another column."""
    table = Table({"a": column(values, kind), "b": column(["x"] * len(values), TEXT)})
    rows = [*fields(bytes(as_binary(table, {"a": stored, "b": Text()})))]
    assert [row[1:] for row in rows] == [[b"x"]] * len(values)
    return [row[0] for row in rows]


def elements(value: bytes | None) -> list[bytes | None]:
    """The values of an array of one dimension."""
    assert value is not None
    dimensions, flags, number = struct.unpack_from(">iii", value)
    assert (flags, number) == (0, 25)
    if not dimensions:
        assert len(value) == 12
        return []
    count, first = struct.unpack_from(">ii", value, 12)
    assert (dimensions, first) == (1, 1)
    return [*sized(value[20:], count)]


def test_null_and_empty_text_stay_different() -> None:
    """Null has no length, an empty text has none of its bytes, and any sign stays as it is."""
    values = ["", None, "\\N", "x\ty\nz", "é"]
    expected = [None if value is None else value.encode() for value in values]
    assert encoded(values, TEXT, Text()) == expected


@pytest.mark.parametrize(
    ("values", "kind", "stored", "form"),
    [
        ([1, None, -(2**15)], INT64, SmallInteger(), ">h"),
        ([1, None, -(2**31)], INT64, Integer(), ">i"),
        ([2**63 - 1, None], INT64, BigInteger(), ">q"),
        ([1.5, float("inf"), None], FLOAT64, Double(), ">d"),
        ([True, False, None], BOOL, Boolean(), ">?"),
    ],
)
def test_numbers_have_the_width_that_is_stored(
    values: list[Any], kind: Kind, stored: Any, form: str
) -> None:
    """Whatever the width of the table's own column."""
    expected = [None if value is None else struct.pack(form, value) for value in values]
    assert encoded(values, kind, stored) == expected


def test_a_moment_is_counted_from_2000() -> None:
    """In microseconds; earlier ones are negative."""
    start = datetime(2000, 1, 1, tzinfo=UTC)
    values = [start, start - timedelta(milliseconds=1), None]
    expected = [bytes(8), struct.pack(">q", -1000), None]
    assert encoded(values, MOMENT, DateTime(timezone=True)) == expected


def test_lists_become_arrays() -> None:
    """Texts in a list stay as they are, null among them; a null list is null, an empty one is not."""
    found = encoded([['a"b', "", "e,f", None], [], None], list_of(TEXT), ARRAY(Text()))
    assert elements(found[0]) == [b'a"b', b"", b"e,f", None]
    assert elements(found[1]) == []
    assert found[2] is None


def test_structs_become_json() -> None:
    """Nested lists, nulls and quotes are what a JSON reader gives back; a text is JSON already."""
    rows = [
        [{"name": 'a"\\\n', "n": 1, "of": ["x", None]}, {"name": None, "n": None, "of": None}],
        [],
        None,
    ]
    found = encoded(rows, list_of(PIECE), JSONB())
    assert [json.loads(value.removeprefix(b"\x01")) for value in found if value] == rows[:2]
    assert found[2] is None
    assert encoded(['{"a":1}', None], TEXT, JSONB()) == [b'\x01{"a":1}', None]


def test_a_part_of_a_table_is_that_part() -> None:
    """What a slice shares with the whole column does not get into it."""
    names = [[name] for name in "xyz"]
    table = Table(
        {
            "a": column(names, list_of(TEXT)),
            "b": column(["1", "2", "3"], TEXT),
            "c": column([{"name": name} for name in "xyz"], PIECE),
        }
    )
    types = {"a": ARRAY(Text()), "b": Text(), "c": JSONB()}
    whole = [*fields(bytes(as_binary(table, types)))]
    assert [*fields(bytes(as_binary(table.slice(1, 2), types)))] == whole[1:2]


def test_json_has_no_word_for_infinity() -> None:
    """It is a text, as in the JSON of records; not a number is null."""
    numbers = pa.array([1.5, float("inf"), float("-inf"), float("nan"), None])
    assert as_json(numbers).to_pylist() == ["1.5", '"Infinity"', '"-Infinity"', "null", "null"]


def test_a_nul_in_a_name_is_replaced() -> None:
    """Postgres stores no NUL, and a client may have one in its name: it must not cost the whole snapshot."""
    name = "x\x00y"
    for values, kind, stored in (
        ([name], TEXT, Text()),
        ([[name]], list_of(TEXT), ARRAY(Text())),
        ([[{"name": name}]], list_of(PIECE), JSONB()),
    ):
        (found,) = encoded(values, kind, stored)
        assert found is not None
        assert "x\ufffdy".encode() in found
        assert b"x\x00y" not in found
        assert b"u0000" not in found


@pytest.mark.parametrize("most", [1, 2, 3, 1000])
def test_pieces_are_the_whole_table(most: int) -> None:
    """Cut at any size, no row is lost, doubled or out of order; an empty table has no parts."""
    lists = [list(range(i % 7)) for i in range(50)]
    table = Table({"n": Numbers(np.arange(50), INT64), "of": column(lists, list_of(INT64))})
    parts = list(pieces(table, most))
    assert [row for part in parts for row in part.to_pylist()] == table.to_pylist()
    assert (len(parts) == 1) == (most == 1000)
    assert list(pieces(table.slice(0, 0), most)) == []


ROWS = st.lists(
    st.tuples(
        st.sampled_from("abc"),
        st.sampled_from(["t", "é", "u"]),
        st.integers(0, 9),
        st.none() | st.integers(0, 5),
    ),
    unique_by=lambda row: row[:3],
)


@given(ROWS, st.integers(1, 4))
def test_each_group_keeps_its_worst(
    rows: list[tuple[str, str, int, int | None]], most: int
) -> None:
    """As sorting each group by hand: largest lag first, unknown last, then topic and partition."""
    names = ("group_id", "topic", "partition", "lag")
    schema = dict(zip(names, (TEXT, TEXT, INT32, INT64), strict=True))
    table = Table.from_rows([dict(zip(names, row, strict=True)) for row in rows], schema)
    expected = []
    for group in sorted({row[0] for row in rows}):
        own = [row for row in rows if row[0] == group]
        own.sort(key=lambda row: (row[3] is None, -(row[3] or 0), row[1].encode(), row[2]))
        expected += [(*row, place) for place, row in enumerate(own[:most], 1)]
    found = worst(table, most).to_pylist()
    assert [tuple(row[name] for name in (*names, "place")) for row in found] == expected
