"""Every view, query and statement against a real Postgres."""

from __future__ import annotations

import re
from typing import Any

import psycopg
import pytest

import sql
from engine.adapters.postgres import PostgresHistory
from engine.errors import InputError
from tests.helpers.history_rows import fill, manifest, metrics

pytest_plugins = ("tests.helpers.local.postgres_fixtures",)
pytestmark = pytest.mark.postgres

WIDE = {"hours": 10**7}
"""Looks back to the fixed moments of the test data."""


def ask(history: PostgresHistory, name: str, **given: object) -> list[dict[str, Any]]:
    """A query with its defaults, about the group of the test data where one is needed."""
    parameters = {p.name for p in sql.queries()[name].parameters}
    given |= {k: v for k, v in WIDE.items() if k in parameters}
    required = [p.name for p in sql.queries()[name].parameters if p.required]
    return history.query(name, **given, **dict.fromkeys(required, "orders-app"))


@pytest.fixture(scope="module")
def filled(module_database_url: str) -> PostgresHistory:
    """A history that no test may change: two clusters, an incident and a failed step each."""
    history = PostgresHistory(module_database_url)
    fill(history, 0, "demo")
    fill(history, 1, "demo")
    fill(history, 0, "other")
    with psycopg.connect(module_database_url) as connection:
        for cluster in ("demo", "other"):
            connection.execute(
                "INSERT INTO incident (cluster, kind, severity, opened_at, last_seen_at)"
                " VALUES (%s, 'late', 'warning', now(), now())",
                [cluster],
            )
            connection.execute(
                "INSERT INTO step_run (cluster, step, started_at, finished_at, outcome, error)"
                " VALUES (%s, 'advise', now(), now(), 'failed', 'no')",
                [cluster],
            )
    return history


def test_nothing_of_an_empty_history_has_rows(history: PostgresHistory, database_url: str) -> None:
    """Before the first snapshot every query and view runs and answers with nothing."""
    assert [name for name in sql.queries() if ask(history, name)] == []
    with psycopg.connect(database_url) as connection:
        for name in sql.views():
            assert connection.execute(f"SELECT * FROM {name}".encode()).fetchall() == []


@pytest.mark.parametrize("name", sorted(sql.queries()))
def test_a_query_has_rows_of_every_cluster_or_of_the_one_asked_for(
    filled: PostgresHistory, name: str
) -> None:
    """A filled history answers about all its clusters, and with a cluster named about no other."""
    assert {row["cluster"] for row in ask(filled, name)} == {"demo", "other"}
    assert {row["cluster"] for row in ask(filled, name, cluster="demo")} == {"demo"}


@pytest.mark.parametrize("name", list(sql.views()))
def test_a_view_has_rows_of_every_cluster(
    filled: PostgresHistory, module_database_url: str, name: str
) -> None:
    """Each view shows all clusters, also to a program that knows nothing of evenkeel."""
    with psycopg.connect(module_database_url) as connection:
        rows = connection.execute(f"SELECT DISTINCT cluster FROM {name}".encode()).fetchall()
    assert sorted(rows) == [("demo",), ("other",)]


@pytest.mark.parametrize("name", sorted(sql.statements()))
def test_every_statement_fits_the_schema(module_database_url: str, name: str) -> None:
    """Postgres can plan every part of every statement: no misspelt table, column or type."""
    staged = {
        "staged_group_metrics": "group_metrics",
        "staged_member_metrics": "member_metrics",
        "staged_partition_metrics": "partition_latest",
        "staged_candidates": "candidate",
    }
    with psycopg.connect(module_database_url) as connection:
        for temporary, table in staged.items():
            connection.execute(f"CREATE TEMPORARY TABLE {temporary} (LIKE {table})".encode())
        for part in sql.statements()[name].parts:
            numbered = part
            for number, parameter in enumerate(sorted(sql.bound(part)), start=1):
                numbered = re.sub(rf"(?<![:\w]):{parameter}\b", f"${number}", numbered)
            assert connection.execute(f"EXPLAIN (GENERIC_PLAN) {numbered}".encode()).fetchall()


def test_groups_are_sorted_with_the_worst_first(history: PostgresHistory) -> None:
    """A stopped group comes before an idle one with more lag; a pattern selects groups."""
    taken = manifest()
    history.store_snapshot(taken, {})
    tables = metrics(taken.snapshot_id, {"busy": [9], "idle": [1], "stuck": [5]})
    status = tables["group_metrics"].schema.get_field_index("status")
    tables["group_metrics"] = tables["group_metrics"].set_column(
        status, "status", [["OK", "OK", "STOP"]]
    )
    history.store_metrics(taken.snapshot_id, tables)
    assert [row["group_id"] for row in history.query("groups")] == ["stuck", "busy", "idle"]
    assert [row["group_id"] for row in history.query("groups", pattern="%u%y")] == ["busy"]


def test_a_limit_may_come_as_text(filled: PostgresHistory) -> None:
    """A command line gives text, and the query takes it as the type it describes."""
    assert len(filled.query("worst_partitions", limit="2")) == 2


def test_a_value_of_the_wrong_type_is_the_callers_error(filled: PostgresHistory) -> None:
    """What cannot be read as the parameter's type is named, not shown as a database failure."""
    with pytest.raises(InputError, match=r"worst_partitions: .*integer.*\"many\""):
        filled.query("worst_partitions", limit="many")


def test_rows_have_plain_values(filled: PostgresHistory) -> None:
    """No row has a value of a kind that JSON does not know, but for moments: a Decimal, say."""
    for name in sql.queries():
        for row in ask(filled, name):
            for value in row.values():
                assert type(value).__name__ in [
                    "NoneType",
                    "str",
                    "int",
                    "float",
                    "bool",
                    "datetime",
                    "list",
                    "dict",
                ]
