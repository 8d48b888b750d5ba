"""The rows that decide: an expectation fails for some of them exactly where it fails for some row at all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import great_expectations.expectations as gxe
import pytest
from great_expectations.expectations.row_conditions import Column
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.model.tables import FLOAT64, INT64, TEXT, Table
from evenkeel.expectations.deciding import deciding

pytestmark = pytest.mark.slow

Row = dict[str, Any]
NAN = float("nan")
SCHEMA = {"a": INT64, "b": INT64, "share": FLOAT64, "word": TEXT, "error": TEXT}
WORDS = st.sampled_from(["x", "y", None])
NUMBERS = st.sampled_from([-(2**63), -1, 0, 5, 2**63 - 1, None])
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            **dict.fromkeys("ab", NUMBERS),
            "share": st.sampled_from([-0.5, 0.0, 1.5, NAN, None]),
            **dict.fromkeys(("word", "error"), WORDS),
        }
    ),
    max_size=8,
)
WHERE = {
    "all rows": (None, lambda row: True),
    "null": (Column("error").is_null(), lambda row: row["error"] is None),
    "both": (
        (Column("error") == "x") & (Column("word") != "x"),
        lambda row: row["error"] == "x" and row["word"] != "x",
    ),
}
"""Conditions, and the same in Python."""


def is_known(value: Any) -> bool:
    """Whether a frame has a value there."""
    return value is not None and value == value


def one_by_one(fails: Callable[[Row], bool]) -> Callable[[list[Row]], bool]:
    """Whether some row fails by itself."""
    return lambda rows: any(map(fails, rows))


def twice(*names: str) -> Callable[[list[Row]], bool]:
    """Whether two rows without an unknown value are the same."""

    def fails(rows: list[Row]) -> bool:
        own = [tuple(row[name] for name in names) for row in rows]
        return any(count > 1 for key, count in Counter(own).items() if None not in key)

    return fails


def between(row: Row) -> bool:
    """Whether the share is out of its range."""
    return is_known(row["share"]) and not 0 <= row["share"] <= 1


KINDS: dict[type[gxe.Expectation], tuple[Row, Callable[[list[Row]], bool]]] = {
    gxe.ExpectColumnValuesToNotBeNull: (
        {"column": "share"},
        one_by_one(lambda row: not is_known(row["share"])),
    ),
    gxe.ExpectColumnValuesToBeNull: (
        {"column": "word"},
        one_by_one(lambda row: row["word"] is not None),
    ),
    gxe.ExpectColumnValuesToBeBetween: (
        {"column": "share", "min_value": 0, "max_value": 1},
        one_by_one(between),
    ),
    gxe.ExpectColumnValuesToBeInSet: (
        {"column": "word", "value_set": ["x"]},
        one_by_one(lambda row: row["word"] not in ("x", None)),
    ),
    gxe.ExpectColumnValuesToBeUnique: ({"column": "word"}, twice("word")),
    gxe.ExpectCompoundColumnsToBeUnique: ({"column_list": ["a", "word"]}, twice("a", "word")),
    gxe.ExpectColumnPairValuesToBeEqual: (
        {"column_A": "a", "column_B": "b"},
        one_by_one(lambda row: row["a"] != row["b"]),
    ),
    gxe.ExpectColumnPairValuesAToBeGreaterThanB: (
        {"column_A": "a", "column_B": "b", "or_equal": True},
        one_by_one(lambda row: None not in (row["a"], row["b"]) and row["a"] < row["b"]),
    ),
}


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("kind", KINDS)
@given(rows=ROWS)
def test_a_failure_shows_in_the_rows_that_decide(
    kind: type[gxe.Expectation], where: str, rows: list[Row]
) -> None:
    """Among the rows that meet the condition, whose number is told; the others decide nothing."""
    arguments, fails = KINDS[kind]
    condition, holds = WHERE[where]
    found = deciding(Table.from_rows(rows, SCHEMA), kind(**arguments, row_condition=condition))
    assert found is not None
    about = [row for row in rows if holds(row)]
    decide = [rows[place] for place in found.rows.tolist()]
    assert found.checked == len(about)
    assert all(map(holds, decide))
    assert fails(decide) is fails(about)


def test_few_rows_decide() -> None:
    """A thousand rows with nothing wrong come down to one or two for an expectation."""
    rows = [{"a": n, "b": n, "share": n / 1000, "word": "x", "error": None} for n in range(1000)]
    table = Table.from_rows(rows, SCHEMA)
    kinds = KINDS.keys() - {gxe.ExpectColumnValuesToBeUnique}
    found = [deciding(table, kind(**KINDS[kind][0])) for kind in kinds]
    assert all(each is not None and len(each.rows) <= 2 for each in found)


def test_the_number_of_rows_shows_in_all_of_them_only() -> None:
    """No rows decide it, nor an expectation of a column that is not there."""
    table = Table.from_rows([], SCHEMA)
    assert deciding(table, gxe.ExpectTableRowCountToEqual(value=0)) is None
    assert deciding(table, gxe.ExpectColumnValuesToBeNull(column="nowhere")) is None


def test_an_expectation_whose_deciding_rows_are_unknown_is_an_error() -> None:
    """None is passed over in silence."""
    table = Table.from_rows([{"word": "x"}], SCHEMA)
    with pytest.raises(TypeError, match="ExpectColumnValuesToMatchRegex"):
        deciding(table, gxe.ExpectColumnValuesToMatchRegex(column="word", regex="x"))
