"""Tables in memory, beside lists of Python values and beside Arrow."""

from __future__ import annotations

import io
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.adapters.arrow import arrow_schema, from_arrow, to_arrow
from evenkeel.engine.adapters.recording.parquet import read_parquet, write_parquet
from evenkeel.engine.model.tables import (
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
    Table,
    Texts,
    column,
    concat,
    empty,
    list_of,
    nulls,
    repeated,
    struct_of,
)

START = datetime(2026, 1, 2, tzinfo=UTC)
PLAIN: dict[Kind, st.SearchStrategy[Any]] = {
    INT16: st.integers(-(2**15), 2**15 - 1),
    INT32: st.integers(-(2**31), 2**31 - 1),
    INT64: st.integers(-(2**63), 2**63 - 1),
    FLOAT64: st.floats(allow_nan=False),
    BOOL: st.booleans(),
    TEXT: st.sampled_from(["", "a", "b", "\0", "\x1b", "é", "orders"]),
    BYTES: st.binary(max_size=3),
    MOMENT: st.integers(0, 10**9).map(lambda ms: START + timedelta(milliseconds=ms)),
}
LISTED = (INT32, TEXT, FLOAT64)
STRUCT = struct_of({"topic": TEXT, "partition": INT32})


def values(kind: Kind) -> st.SearchStrategy[Any]:
    """What a column may hold."""
    if kind.of is not None:
        return st.none() | st.lists(values(kind.of), max_size=3)
    if kind.fields:
        return st.none() | st.fixed_dictionaries({name: values(of) for name, of in kind.fields})
    return st.none() | PLAIN[kind]


SCHEMA = {
    **{kind.name: kind for kind in PLAIN},
    **{f"{kind.name}s": list_of(kind) for kind in LISTED},
}
"""What a recording holds."""
NESTED = {**SCHEMA, "struct": STRUCT, "structs": list_of(STRUCT)}


def rows(schema: dict[str, Kind]) -> st.SearchStrategy[list[dict[str, Any]]]:
    """Rows of a table."""
    row = st.fixed_dictionaries({name: values(kind) for name, kind in schema.items()})
    return st.lists(row, max_size=6)


@given(rows(NESTED), st.data())
def test_a_table_holds_what_its_rows_hold(told: list[dict[str, Any]], data: st.DataObject) -> None:
    """Whole, in part, in another order, and below itself."""
    table = Table.from_rows(told, NESTED)
    assert table.schema == NESTED
    assert table.to_pylist() == told
    index = data.draw(st.lists(st.integers(0, max(len(told) - 1, 0)), max_size=4 * bool(told)))
    assert table.take(index).to_pylist() == [told[row] for row in index]
    mask = np.array(
        data.draw(st.lists(st.booleans(), min_size=len(told), max_size=len(told))), bool
    )
    kept = [row for row, own in zip(told, mask, strict=True) if own]
    assert table.filter(mask).to_pylist() == kept
    assert table.slice(1, 3).to_pylist() == told[1:3]
    assert concat([table.slice(0, 2), empty(NESTED), table.slice(2)]) == table
    for name, each in table.columns.items():
        assert each.null_count == sum(row[name] is None for row in told)


@given(rows(NESTED))
def test_arrow_gives_back_what_it_is_given(told: list[dict[str, Any]]) -> None:
    """Of a part as well, whose arrays begin in the middle of others."""
    table = Table.from_rows(told, NESTED)
    arrow = to_arrow(table)
    assert arrow.to_pylist() == told
    assert from_arrow(arrow) == table
    assert from_arrow(arrow.slice(1, 3)).to_pylist() == told[1:4]


@given(rows(SCHEMA))
def test_a_parquet_file_gives_back_what_it_is_given(told: list[dict[str, Any]]) -> None:
    """To us and to pyarrow."""
    table = Table.from_rows(told, SCHEMA)
    content = write_parquet(table)
    assert read_parquet(content) == table
    assert pq.read_table(io.BytesIO(content)).cast(arrow_schema(SCHEMA)).to_pylist() == told


@given(
    rows(SCHEMA),
    st.sampled_from(
        [{}, {"use_dictionary": False}, {"compression": "none"}, {"data_page_size": 1}]
    ),
    st.integers(1, 4),
)
def test_what_pyarrow_writes_is_read(
    told: list[dict[str, Any]], options: dict[str, Any], row_group_size: int
) -> None:
    """With dictionaries and without, packed and not, in many pages and row groups."""
    options = {"compression": "zstd", **options, "row_group_size": row_group_size}
    table, sink = Table.from_rows(told, SCHEMA), io.BytesIO()
    pq.write_table(to_arrow(table), sink, **options)
    assert read_parquet(sink.getvalue()) == table


@given(st.lists(st.tuples(values(TEXT), st.none() | st.integers(-3, 3)), max_size=8))
def test_rows_are_sorted_and_numbered_by_several_columns(told: list[tuple[Any, Any]]) -> None:
    """As Python does with tuples; unknown values come first."""
    schema = {"topic": TEXT, "partition": INT32}
    table = Table.from_rows([dict(zip(schema, row, strict=True)) for row in told], schema)
    expected = sorted(
        told, key=lambda row: [(each is not None, each or type(each)()) for each in row]
    )
    ordered = table.sorted_by("topic", "partition").to_pylist()
    assert [tuple(row.values()) for row in ordered] == expected
    first, number = table.numbered("topic", "partition")
    assert [told[row] for row in first] == [told[first[each]] for each in sorted({*number})]
    assert [told[first[each]] for each in number] == told
    assert len(first) == len({*told})


@pytest.mark.parametrize("far", [2**63 - 1, 2**62, -(2**63), 2**61])
def test_numbers_far_apart_keep_their_order(far: int) -> None:
    """Their distance may need more than 64 bits."""
    values = [-1, far, None, 0, far]
    known = sorted({-1, 0, far})
    codes = column(values, INT64).codes().tolist()
    assert codes[2] == -1
    ranks = [sorted({*codes} - {-1}).index(code) for code in codes if code != -1]
    assert ranks == [known.index(value) for value in values if value is not None]


@given(st.lists(values(TEXT)), st.lists(PLAIN[TEXT], unique=True))
def test_texts_are_looked_up_among_others(told: list[str | None], words: list[str]) -> None:
    """An unknown text is none of them; words that no row has are dropped where they are asked for."""
    texts = column([*told, "more"], TEXT).slice(0, len(told))
    assert isinstance(texts, Texts)
    assert texts.index_in(words).tolist() == [
        words.index(each) if each in words else -1 for each in told
    ]
    assert texts.is_in(words).tolist() == [each in words for each in told]
    assert texts.used().words == [*dict.fromkeys(each for each in told if each is not None)]
    assert texts.used().equals(texts)


@pytest.mark.parametrize(
    ("value", "kind"),
    [
        ("7", INT64),
        (7.5, INT32),
        (True, INT64),
        (2**31, INT32),
        (2**63, INT64),
        ("x", FLOAT64),
        (7, TEXT),
        ("x", BYTES),
        ("x", MOMENT),
        ([7], list_of(TEXT)),
        (7, list_of(INT32)),
        (datetime(2026, 1, 2), MOMENT),
    ],
)
def test_a_value_of_another_kind_is_refused(value: object, kind: Kind) -> None:
    """Nothing is made what it is not."""
    with pytest.raises(KindError, match="a value is no"):
        column([value], kind)


def test_columns_take_the_kind_that_is_asked_for_where_nothing_is_lost() -> None:
    """Narrower, wider, unknown; what does not fit is named."""
    table = Table({"n": column([1, None], INT64), "of": list_column(), "none": nulls(2, TEXT)})
    kinds = {"n": INT16, "of": list_of(INT64), "none": BOOL}
    assert table.cast(kinds).schema == kinds
    assert table.cast(kinds).to_pylist() == table.to_pylist()
    for name, kind in (("n", TEXT), ("of", INT32), ("gone", TEXT)):
        with pytest.raises(KindError, match=f"column {name}"):
            table.cast({name: kind})
    with pytest.raises(KindError, match="no int16, or too large"):
        Table({"n": column([2**15], INT64)}).cast({"n": INT16})


def list_column() -> Any:
    """Lists of small numbers."""
    return column([[1, 2], None], list_of(INT32))


def test_columns_of_different_length_are_no_table() -> None:
    """Nor are tables with other columns below each other."""
    with pytest.raises(ValueError, match="differ in length"):
        Table({"a": nulls(1, TEXT), "b": nulls(2, TEXT)})
    with pytest.raises(KindError, match="other columns"):
        concat([Table({"a": repeated("x", 1)}), Table({"b": repeated("x", 1)})])
