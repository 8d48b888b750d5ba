"""Heads and cells that follow from the declaration of a column."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

from evenkeel.engine.cli.views.columns import cell, head, pick, table
from evenkeel.engine.model.columns import Unit, Where, column, columns_of, missing_where
from evenkeel.engine.model.columns import record as record_class
from evenkeel.engine.records import CandidateRow, GroupMetrics, MemberMetrics, PartitionMetrics


@record_class
class Inner:
    """A record inside another."""

    most: int = column("Most.", unit=Unit.PARTITIONS)
    least: int | None = column("Least.", unit=Unit.PARTITIONS)


@record_class
class Sample:
    """One column of each kind."""

    cross_rack_bytes_per_second: float | None = column("Bytes.", unit=Unit.BYTES_PER_SECOND)
    production_per_second: float | None = column("Rate.", unit=Unit.OFFSETS_PER_SECOND)
    seconds_to_advice: float | None = column("Time.", unit=Unit.SECONDS)
    cost_per_month: float | None = column("Cost.", unit=Unit.MONEY_PER_MONTH)
    failed_steps: int | None = column("Steps.", unit=Unit.STEPS)
    seen: int | None = column("How often.", unit=Unit.SNAPSHOTS)
    partition: int = column("A name.", head="Part.")
    is_live: bool | None = column("Whether.")
    opened_at: datetime | None = column("When.")
    who: tuple[str, ...] | None = column("Who.", none_where=(Where("seen", 0),))
    owner: str | None = column("Id of a member.", names_member=True, none=True)
    inner: Inner | None = missing_where("most", default=None)


SPECS = {spec.name: spec for spec in columns_of(Sample)}


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("cross_rack_bytes_per_second", ">Cross-rack\nbytes"),
        ("production_per_second", ">Production\n(offsets/s)"),
        ("seconds_to_advice", ">To advice"),
        ("cost_per_month", ">Cost\n(per 30 days)"),
        ("failed_steps", ">Failed steps"),
        ("seen", ">Seen\n(snapshots)"),
        ("partition", ">Part."),
        ("is_live", "Live"),
        ("opened_at", "Opened"),
    ],
)
def test_a_head_is_the_name_in_words_with_its_unit(name, told):
    """The unit once, and not where the cell or a word of the name says it; a short head stands as declared."""
    assert head(SPECS[name]) == told


def test_money_of_one_currency_says_which():
    """Where rows may differ the currency is a column of its own."""
    assert head(SPECS["cost_per_month"], "EUR") == ">EUR\na month"


@pytest.mark.parametrize(
    ("name", "value", "told"),
    [
        ("cross_rack_bytes_per_second", 1_234_000.0, "1.2 MB/s"),
        ("production_per_second", 1234.5, "1,234.50"),
        ("seconds_to_advice", 95.0, "1 min 35 s"),
        ("cost_per_month", 1234.5, "1,234.50"),
        ("failed_steps", 1234, "1,234"),
        ("partition", 1234, "1234"),
        ("is_live", False, "no"),
        ("opened_at", datetime(2026, 3, 1, 2, tzinfo=timezone(timedelta(hours=2))), "2026-03-01 00:00:00"),
        ("who", ["a", "b"], "a; b"),
        ("who", [], "-"),
        ("owner", "x-1", "x-1"),
    ],
)  # fmt: skip
def test_a_cell_says_its_value_as_its_unit_is_said(name, value, told):
    """Counts with separators, a partition's number as the name that it is, moments in UTC."""
    assert cell(SPECS[name], value) == told


@pytest.mark.parametrize(
    ("name", "row", "told"),
    [
        ("failed_steps", {}, "?"),
        ("owner", {}, "-"),
        ("opened_at", {}, "-"),
        ("partition", {}, "-"),
        ("who", {}, "?"),
        ("who", {"seen": None}, "?"),
        ("who", {"seen": 3}, "?"),
        ("who", {"seen": 0}, "-"),
        ("least", {"most": 3}, "?"),
        ("least", {"most": None}, "-"),
        ("least", {}, "?"),
    ],
)
def test_null_is_unknown_unless_its_declaration_says_none(name, row, told):
    """By itself, beside another value, or with the record that it is embedded with; a moment has not been."""
    assert cell(SPECS[name], None, row) == told


def test_no_cell_is_empty():
    """What must not be null and is empty text is not known: the state of a group that could not be read."""
    state, error = pick(GroupMetrics, "state", "error")
    assert (cell(state, ""), cell(error, "")) == ("?", "-")


def test_a_member_is_called_by_its_short_name():
    """Where a row names it beside what the row is about."""
    owner, own = *pick(PartitionMetrics, "member_id"), *pick(MemberMetrics, "member_id")
    assert cell(owner, "app-0a1b2c3d", names={"app-0a1b2c3d": "app"}) == "app"
    assert cell(own, "app-0a1b2c3d", names={"app-0a1b2c3d": "app"}) == "app-0a1b2c3d"


def test_a_candidate_without_score_has_nothing_to_show():
    """There are no numbers of what could not be asked, which is not the same as unknown ones."""
    columns = pick(CandidateRow, "largest_member_lag", "lag_skew", "moves")
    nothing = dict.fromkeys(("largest_member_lag", "lag_skew", "moves"))
    shown = table(columns, [nothing, nothing | {"moves": 0}])
    assert shown.headings == [head(one) for one in columns]
    assert shown.rows == [["-", "-", "-"], ["?", "?", "0"]]
