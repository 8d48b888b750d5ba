"""What helper columns are made of, held against the plain way to say it."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.expectations.columns import codes, paired, remarks, stacked, where, without_gap

pytestmark = pytest.mark.slow

NAMES = st.sampled_from(["a", "b", None])
LISTS = st.none() | st.lists(st.integers(0, 9), max_size=4)


def column(values: list[Any], kind: pa.DataType) -> pa.ChunkedArray:
    """A column in two chunks."""
    half = len(values) // 2
    return pa.chunked_array([pa.array(values[:half], kind), pa.array(values[half:], kind)])


@given(st.lists(st.tuples(NAMES, st.sampled_from([1, 2, None]), NAMES)))
def test_rows_have_one_code_when_they_have_the_same_values(rows: list[tuple[Any, ...]]) -> None:
    """Null is a value; codes run from 0 without a gap."""
    kinds = (pa.string(), pa.int32(), pa.string())
    columns = [column([row[i] for row in rows], kind) for i, kind in enumerate(kinds)]
    found = codes(*columns).tolist()
    assert len({*zip(rows, found, strict=True)}) == len({*rows}) == len({*found})
    assert {*found} == {*range(len({*rows}))}


@given(st.lists(st.tuples(NAMES, st.sampled_from([0, 1, 2, 3, -1, None]))))
def test_a_gap_is_one_of_the_whole_name(rows: list[tuple[str | None, int | None]]) -> None:
    """All rows of a name are well when its numbers, in any order, are 0, 1, 2 ..."""

    def well(name: str | None) -> bool:
        own = sorted(-1 if number is None else number for each, number in rows if each == name)
        return own == list(range(len(own)))

    names = column([name for name, _ in rows], pa.string())
    numbers = column([number for _, number in rows], pa.int32())
    assert without_gap(names, numbers).tolist() == [well(name) for name, _ in rows]


@given(st.lists(st.tuples(LISTS, LISTS)))
def test_lists_side_by_side_end_with_the_shorter(rows: list[tuple[Any, Any]]) -> None:
    """As Python's own zip has it; null is empty."""
    kind = pa.list_(pa.int32())
    first, second = (column([row[i] for row in rows], kind) for i in (0, 1))
    row, a, b = paired(first, second)
    assert [*zip(row.tolist(), a.to_pylist(), b.to_pylist(), strict=True)] == [
        (i, *pair)
        for i, (one, other) in enumerate(rows)
        for pair in zip(one or (), other or (), strict=False)
    ]


def test_what_is_said_of_a_row_is_all_that_is_wrong_with_it() -> None:
    """Sentences stand one after the other; a row without one has none."""
    low, high = pa.array([1, 5, None]), pa.array([9, 2, 3])
    over = where(
        (pc.greater(low, high)).fill_null(False).to_numpy(False), "over ", high.cast(pa.string())
    )
    unknown = where(low.is_null().to_numpy(False), "unknown")
    assert remarks(3, over, unknown, pa.array([None, "x", None])).to_pylist() == [
        None,
        "over 2; x",
        "unknown",
    ]


def test_columns_one_after_the_other_keep_their_chunks_type() -> None:
    """A table without rows has a column without chunks."""
    empty = pa.chunked_array([], pa.string())
    assert stacked(empty, empty).type == pa.string()
    assert stacked(empty, column(["a", "b"], pa.string())).to_pylist() == ["a", "b"]
