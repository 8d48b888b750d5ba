"""Arrow tables as the text that Postgres copies, and which partitions are."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.adapters.postgres.copy import as_json, as_text, pieces, worst
from evenkeel.engine.model.tables import INT32, INT64, TEXT, Table


def lines(**columns: object) -> list[str]:
    """The lines of a table."""
    return bytes(as_text(pa.table(columns))).decode().split("\n")[:-1]


def test_null_and_empty_text_stay_different() -> None:
    r"""Null is \N, an empty text is nothing, and a text that looks like null is none."""
    assert lines(a=["", None, "\\N"], b=[1, None, 2]) == ["\t1", "\\N\t\\N", "\\\\N\t2"]


def test_what_ends_a_value_or_a_line_is_escaped() -> None:
    """A tab, a line end and a backslash inside a text do not cut it."""
    assert lines(a=["x\ty\nz\r\\"]) == ["x\\ty\\nz\\r\\\\"]


def test_lists_become_array_literals() -> None:
    """Texts in a list keep quotes, backslashes and commas; a null list is null, an empty one is not."""
    column = [['a"b', "c\\d", "e,f", None], [], None]
    found = lines(a=column, n=[1, 2, 3])
    assert found[0].replace("\\\\", "\\") == '{"a\\"b","c\\\\d","e,f",NULL}\t1'
    assert found[1:] == ["{}\t2", "\\N\t3"]


def test_lists_of_structs_become_json() -> None:
    """Nested lists, nulls and quotes are what a JSON reader gives back."""
    rows = [
        [{"name": 'a"\\\n', "n": 1, "of": ["x", None]}, {"name": None, "n": None, "of": None}],
        [],
        None,
    ]
    found = lines(a=rows)
    assert [json.loads(line.replace("\\\\", "\\")) for line in found[:2]] == rows[:2]
    assert found[2] == "\\N"


def test_a_part_of_a_table_is_that_part() -> None:
    """Arrow keeps the whole column behind a slice: none of it gets into the text."""
    table = pa.table(
        {"a": [["x"], ["y"], ["z"]], "b": ["1", "2", "3"], "c": [{"n": i} for i in range(3)]}
    )
    assert bytes(as_text(table.slice(1, 1))).decode() == '{"y"}\t2\t{"n":1}\n'


def test_json_has_no_word_for_infinity() -> None:
    """It is a text, as in the JSON of records; not a number is null."""
    numbers = pa.array([1.5, float("inf"), float("-inf"), float("nan"), None])
    assert as_json(numbers).to_pylist() == ["1.5", '"Infinity"', '"-Infinity"', "null", "null"]


def test_a_nul_in_a_name_is_replaced() -> None:
    """Postgres stores no NUL, and a client may have one in its name: it must not cost the whole snapshot."""
    for column in (["x\x00y"], [["x\x00y"]], [[{"a": "x\x00y"}]]):
        (line,) = lines(a=column)
        assert "\x00" not in line
        assert "u0000" not in line
        assert "x\ufffdy" in line


@pytest.mark.parametrize("most", [1, 2, 3, 1000])
def test_pieces_are_the_whole_table(most: int) -> None:
    """Cut at any size, no row is lost, doubled or out of order; an empty table has no parts."""
    table = pa.table({"n": range(50), "of": [list(range(i % 7)) for i in range(50)]})
    parts = list(pieces(table, most))
    assert pa.concat_tables(parts) == table
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
