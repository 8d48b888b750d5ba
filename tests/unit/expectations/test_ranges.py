"""What a record declares of its columns is what is expected of them."""

from __future__ import annotations

import enum
from typing import Any

import great_expectations as gx
import pytest

from evenkeel.engine.model.columns import Int32, column, record
from evenkeel.engine.model.tables import Table
from evenkeel.engine.records import schema_of
from evenkeel.expectations.frames import Frame
from evenkeel.expectations.ranges import UNSOUND, ranges, unsound
from evenkeel.expectations.run import check

pytestmark = pytest.mark.slow


class Word(enum.StrEnum):
    """The values of a column."""

    YES = "yes"
    NO = "no"


@record
class Row:
    """A record with a column of each sort."""

    group_id: str = column("Its group.")
    count: Int32 | None = column("A count.", at_least=0)
    share: float | None = column("A share.", at_least=0, at_most=1)
    skew: float | None = column("A skew.", at_least=1 - 1e-9)
    word: Word | None = column("A word.")
    kind: str | None = column("Another one.", one_of=("a", "b"))
    free: float | None = column("Anything.")
    must: str = column("What must be known.")


UNKNOWN = dict.fromkeys(["count", "share", "skew", "word", "kind", "free"])
FINE = {"count": 0, "share": 1.0, "skew": 1.0, "word": "yes", "kind": "b", "free": -9.0}
SAID = {
    "count": (-1, "count is negative: a row: -1"),
    "share": (1.5, "share is not between 0 and 1: a row: 1.5"),
    "skew": (0.5, "skew is below 1: a row: 0.5"),
    "word": ("magic", "the word is not a known value: a row: magic"),
    "kind": ("c", "the kind is not a known value: a row: c"),
}


def said(*rows: dict[str, Any]) -> dict[str | None, set[str]]:
    """The reasons for which each group is withheld."""
    table = Table.from_rows([*rows], schema_of(Row))
    frame = Frame(name="x", table=table.replaced(**{UNSOUND: unsound(table, Row)}))
    suite = gx.ExpectationSuite("x", ranges(Row, "a row"))
    found: dict[str | None, set[str]] = {}
    for row in check({"x": frame}, {"x": suite}):
        if not row["success"]:
            assert row["severity"] == "critical"
            found.setdefault(row["group_id"], set()).add(row["reason"])
    return found


def row(name: str, **values: Any) -> dict[str, Any]:
    """A row of a group in which all that is not said is unknown."""
    return {"group_id": name, "must": "x", **UNKNOWN, **values}


def test_a_value_out_of_its_declared_range_withholds_its_group_with_the_reason():
    """Counts, shares, other numbers and words; what is unknown, or has no range, is fine."""
    wrong = row("wrong", **{name: value for name, (value, _) in SAID.items()})
    assert said(row("unknown"), row("fine", **FINE), wrong) == {
        "wrong": {text for _, text in SAID.values()}
    }


def test_what_must_be_known_and_what_is_no_number_withhold_their_groups():
    """All such columns of a row stand in one reason."""
    nan = float("nan")
    assert said(row("a", must=None, share=nan), row("b", free=nan), row("c")) == {
        "a": {"a value is missing or not a number: a row: share, must"},
        "b": {"a value is missing or not a number: a row: free"},
    }
