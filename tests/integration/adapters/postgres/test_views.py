"""The views as people build on them; and what views and queries show, held against what is said of their columns."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import psycopg
import pytest
from sqlalchemy.dialects import postgresql

from evenkeel import sql
from evenkeel.engine.cli.views.columns import head
from evenkeel.engine.model.columns import ColumnSpec
from evenkeel.engine.records import columns_of_query, columns_of_view
from evenkeel.engine.records.tables import type_of
from tests.helpers.view_samples import VOLATILE, columns, doubt, noted, public, sample

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres


@pytest.fixture(scope="module")
def shown(module_cookbook_url: str) -> str:
    """The history that the page shows rows of."""
    doubt(module_cookbook_url)
    return module_cookbook_url


def test_every_public_view_is_noted() -> None:
    """Those that other views read are not promised to anybody."""
    assert sorted(noted()) == public()


@pytest.mark.parametrize("view", public())
def test_columns_of_a_view_keep_name_type_and_place(shown: str, view: str) -> None:
    """A new one comes at the end, and is noted by `python -m tests.helpers.view_samples`."""
    before = [(each["name"], each["type"]) for each in noted()[view]]
    assert columns(shown, view) == before


@pytest.mark.parametrize("view", public())
def test_a_view_shows_what_its_page_shows(shown: str, view: str) -> None:
    """The row of the page comes from a database, but for what is another each time."""
    row = sample(shown, view)
    assert row
    expected = {each["name"]: each["value"] for each in noted()[view]}
    assert lasting(row) == lasting(expected)


def lasting(row: Mapping[str, Any]) -> dict[str, Any]:
    """What is not another each time, as exact as every machine has it."""
    return {name: rounded(value) for name, value in row.items() if name not in VOLATILE}


def rounded(value: Any) -> Any:
    """The value, its fractions to six digits."""
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, dict):
        return {name: rounded(each) for name, each in value.items()}
    return [rounded(each) for each in value] if isinstance(value, list) else value


NOW = {
    "advice_scorecard": "checks have come due",
    **dict.fromkeys(
        ("advice_history", "incident_history", "message_history", "validation_history"), "what was"
    ),
    **dict.fromkeys(
        ("lag_history", "group_lag_trend", "strategy_wins", "rack_cost_daily", "churn_weekly"),
        "what was",
    ),
    "strategy_history": "what would have been",
    "snapshot_health": "has started_at",
    "partition_latest": "has end_at",
}
"""Views that do not tell of now, and why."""


@pytest.mark.parametrize("view", sorted(set(public()) - NOW.keys()))
def test_what_tells_of_now_says_how_old_it_is(view: str) -> None:
    """By the moment when its snapshot was taken, and by its age."""
    assert {"taken_at", "age_seconds"} <= {each["name"] for each in noted()[view]}


CATALOG = """
    SELECT attname, format_type(atttypid, atttypmod)
    FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"""


def type_in_sql(spec: ColumnSpec) -> str:
    """The type that a column is declared with."""
    return type_of(spec).compile(dialect=postgresql.dialect()).lower()


@pytest.mark.parametrize("view", sql.views())
def test_every_column_of_a_view_is_declared(module_database_url: str, view: str) -> None:
    """With the type that Postgres gives it; and what its file says is a column of its own is one."""
    with psycopg.connect(module_database_url) as connection:
        found = dict(connection.execute(CATALOG.encode(), (view,)).fetchall())
    declared = columns_of_view(view)
    assert found == {name: type_in_sql(declared[name]) for name in found}
    assert {each.name for each in sql.columns(sql.views()[view]).own} <= found.keys()


@pytest.mark.parametrize("query", sql.queries())
def test_every_column_of_a_query_is_declared(module_database_url: str, query: str) -> None:
    """With the type that Postgres gives it, and no two of a query under one head."""
    (code,) = sql.queries()[query].parts
    asked = re.sub(r"(?<![:\w]):\w+", "NULL", code.rstrip().removesuffix(";"))
    with psycopg.connect(module_database_url) as connection:
        connection.execute(f"CREATE TEMPORARY VIEW answer AS {asked}".encode())
        found = dict(connection.execute(CATALOG.encode(), ("answer",)).fetchall())
    declared = columns_of_query(query)
    assert found == {name: type_in_sql(declared[name]) for name in found}
    assert {each.name for each in sql.columns(sql.queries()[query].text).own} <= found.keys()
    assert len({head(declared[name]) for name in found}) == len(found)
