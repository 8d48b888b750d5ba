"""What frames are made of, held against the plain way to say it."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.model.tables import INT32, INT64, TEXT, Table, column, list_of
from evenkeel.expectations.columns import distinct, keys, paired, places, row_in, times

pytestmark = pytest.mark.slow

NAMES = st.sampled_from(["a", "b", None])
LISTS = st.none() | st.lists(st.integers(0, 9), max_size=4)


@given(st.lists(st.tuples(NAMES, st.sampled_from([0, 1, 2, 3, -1, None]))))
def test_numbers_stand_in_their_places_where_there_is_no_gap(
    rows: list[tuple[str | None, int | None]],
) -> None:
    """All rows of a name do when its numbers, in any order, are 0, 1, 2 ..., and else at least one does not."""
    names = column([name for name, _ in rows], TEXT)
    found = places(names, column([number for _, number in rows], INT32)).to_pylist()
    for name in {name for name, _ in rows}:
        own = [(number, p) for (n, number), p in zip(rows, found, strict=True) if n == name]
        assert sorted(place for _, place in own) == [*range(len(own))]
        whole = {number for number, _ in own} == {*range(len(own))}
        assert all(number == place for number, place in own) is whole


@given(st.lists(NAMES), st.lists(st.sampled_from("abc"), unique=True))
def test_what_a_row_refers_to_is_found_and_counted(
    wanted: list[str | None], there: list[str]
) -> None:
    """Null refers to nothing, nor does what is not there."""
    found = row_in(column(wanted, TEXT), column(there, TEXT))
    assert found.to_pylist() == [there.index(key) if key in there else None for key in wanted]
    assert times(found, len(there)).to_pylist() == [wanted.count(name) for name in there]


@given(st.lists(st.tuples(LISTS, LISTS)))
def test_lists_side_by_side_end_with_the_shorter(rows: list[tuple[Any, Any]]) -> None:
    """As Python's own zip has it; null is empty."""
    first, second = (column([row[i] for row in rows], list_of(INT32)) for i in (0, 1))
    row, a, b = paired(first, second)
    assert [*zip(row.tolist(), a.to_pylist(), b.to_pylist(), strict=True)] == [
        (i, *pair)
        for i, (one, other) in enumerate(rows)
        for pair in zip(one or (), other or (), strict=False)
    ]


@given(st.lists(st.tuples(NAMES, st.sampled_from([0, 2**40, None]))))
def test_equal_rows_have_one_key(rows: list[tuple[str | None, int | None]]) -> None:
    """A row that lacks a value has none, and is no different row."""
    names = column([name for name, _ in rows], TEXT)
    numbers = column([number for _, number in rows], INT64)
    found = dict(zip(rows, keys(names, numbers).tolist(), strict=True))
    whole = {row for row in rows if None not in row}
    assert len({found[row] for row in whole}) == len(whole)
    assert {found[row] for row in {*rows} - whole} <= {-1}
    once = distinct(Table({"name": names, "number": numbers})).to_pylist()
    assert sorted((row["name"], row["number"]) for row in once) == sorted(whole)
