"""Every question of the Grafana dashboard, put to a real Postgres."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from psycopg.rows import dict_row

from evenkeel.engine.adapters.postgres import PostgresHistory
from tests.helpers.grafana import filled_in, panels, variables
from tests.helpers.history_rows import FIRST, fill, manifest, metrics

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

PANELS = {panel["title"]: panel for panel in panels()}
GROUPS = ["orders-app", "it's odd"]


@pytest.fixture(scope="module")
def database(
    module_database_url: str, module_reader_url: str
) -> Iterator[psycopg.Connection[dict[str, Any]]]:
    """A history of two days, for who only reads: what crossed racks, advice, a past and an open incident."""
    history = PostgresHistory(module_database_url)
    crossing = {
        "cross_rack_bytes_per_second": 1e6,
        "cross_rack_cost_per_month": 720.0,
        "currency": "EUR",
        "delay_seconds": 4.0,
        "diagnosis": "skewed load",
    }
    for number in (-1450, -1440):
        taken = manifest(number)
        history.store_snapshot(taken)
        tables = metrics(taken.snapshot_id, {group: [5] for group in GROUPS}, **crossing)
        history.store_metrics(taken.snapshot_id, tables)
    fill(history)
    with psycopg.connect(module_database_url) as connection:
        for closed in (None, FIRST):
            connection.execute(
                "INSERT INTO incident (cluster, group_id, kind, severity, opened_at, last_seen_at, closed_at)"
                " VALUES ('demo', 'orders-app', 'no members', 'critical', %s, %s, %s)",
                [FIRST - timedelta(hours=1), FIRST, closed],
            )
    with psycopg.connect(module_reader_url, row_factory=dict_row) as connection:
        yield connection


def ask(
    database: psycopg.Connection[dict[str, Any]],
    query: str,
    until: datetime = FIRST + timedelta(hours=1),
    **chosen: Any,
) -> list[dict[str, Any]]:
    """What the database answers about three days, of all groups unless others are chosen."""
    values = {"cluster": ["demo"], "group": GROUPS, "per": "hour"} | chosen
    since = until - timedelta(days=3)
    return database.execute(filled_in(query, since, until, values).encode()).fetchall()


@pytest.mark.parametrize("title", PANELS)
def test_a_panel_shows_what_the_history_has(
    database: psycopg.Connection[dict[str, Any]], title: str
) -> None:
    """Rows of the columns that its kind needs; a line or bar is a number over a moment, under a name."""
    for target in PANELS[title]["targets"]:
        rows = ask(database, target["rawSql"])
        assert rows
        if target["format"] == "time_series":
            assert all(isinstance(row.pop("time"), datetime) for row in rows)
            assert all(isinstance(row.pop("metric"), str) for row in rows)
            values = [value for row in rows for value in row.values()]
            assert {type(value) for value in values if value is not None} <= {int, float}


@pytest.mark.parametrize("title", PANELS)
def test_units_and_colors_are_of_columns_that_are_there(
    database: psycopg.Connection[dict[str, Any]], title: str
) -> None:
    """What is named in a panel's overrides is a column of its answer; another name would change nothing, silently."""
    (target,) = PANELS[title]["targets"]
    named = {each["matcher"]["options"] for each in PANELS[title]["fieldConfig"]["overrides"]}
    assert named <= set(ask(database, target["rawSql"])[0])


@pytest.mark.parametrize("title", PANELS)
def test_a_panel_is_of_the_groups_clusters_and_the_time_that_are_chosen(
    database: psycopg.Connection[dict[str, Any]], title: str
) -> None:
    """Another cluster, or another time where it asks for one, shows nothing; a stat counts none."""
    (target,) = PANELS[title]["targets"]
    query = target["rawSql"]
    nothing = [ask(database, query, cluster=["other"])]
    if "$group" in query:
        nothing.append(ask(database, query, group=["nobody"]))
    if "$__timeFilter" in query:
        nothing.append(ask(database, query, FIRST - timedelta(days=30)))
    for rows in nothing:
        assert {value for row in rows for value in row.values()} <= {0, None}


@pytest.mark.parametrize("per", ["hour", "day"])
def test_lag_is_shown_by_hour_or_day(
    database: psycopg.Connection[dict[str, Any]], per: str
) -> None:
    """As the variable says, in the order of time; of an hour or day without a snapshot there is a gap."""
    (target,) = PANELS["Lag"]["targets"]
    rows = ask(database, target["rawSql"], per=per, group=["orders-app"])
    values = [row["value"] for row in rows]
    assert values == ([5, 5, *[None] * 23, 12] if per == "hour" else [5, 12])
    assert {row["metric"] for row in rows} == {"demo · orders-app"}


def test_variables_offer_what_there_is(database: psycopg.Connection[dict[str, Any]]) -> None:
    """Clusters, and the groups of those that are chosen."""
    offered = {
        name: [row[next(iter(row))] for row in ask(database, each["query"])]
        for name, each in variables().items()
        if each["type"] == "query"
    }
    assert offered == {"cluster": ["demo"], "group": ["idle", "orders-app"]}
