"""`migrate`, `query` and `doctor` on a real Postgres."""

from __future__ import annotations

import pytest

from evenkeel import sql
from evenkeel.engine import steps
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.adapters.replay import Recording
from evenkeel.engine.config import Settings
from evenkeel.engine.datasets import VALIDATION, rows_to_table
from tests.helpers.snapshots import group, make_snapshot, store, topic
from tests.integration.cli.conftest import objects

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres


@pytest.fixture
def filled(database_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """A history that knows one snapshot of two groups, by the steps that fill it."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", database_url)
    lake, settings, history = Recording(), Settings(), PostgresHistory(database_url)
    snapshot = make_snapshot(
        cluster="prod",
        topics=[topic("orders", 4)],
        groups=[group("orders-app", members=2, lag={"orders": 5}), group("other")],
    )
    store(lake, snapshot)
    taken = snapshot.snapshot_id
    history.store_snapshot(lake.manifest("snapshot", taken), settings.version)
    steps.record_metrics(lake, taken, steps.compute_metrics(lake, settings, taken))
    steps.record_validation(lake, history, taken, "metrics", rows_to_table([], VALIDATION))
    return taken


def test_migrate_brings_an_empty_database_to_the_schema_and_can_be_repeated(
    run, empty_database, monkeypatch
):
    """A dry run says what would happen and does nothing; a second run has nothing to do."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", empty_database)
    names = [migration.name for migration in sql.migrations()]
    for _ in range(2):
        dry = run("migrate", "--dry-run")
        assert dry.stdout.splitlines() == [f"would apply {name}" for name in names]
    assert run("migrate").stdout.splitlines() == [f"applied {name}" for name in names]
    assert run("migrate").stdout.startswith("nothing to apply")


def test_an_empty_database_is_told_to_migrate(run, empty_database, monkeypatch):
    """A query fails with exit code 5 and the command that helps; doctor says the same."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", empty_database)
    result = run("query", "groups")
    assert result.exit_code == 5
    assert "evenkeel migrate" in result.stderr
    checked = run("doctor")
    line = next(one for one in checked.stdout.splitlines() if "  history " in one)
    assert line.startswith("FAIL")
    assert "Run `evenkeel migrate`." in line


def test_a_query_tells_people_and_machines_the_same(run, filled):
    """The rows of the history, as a table and as objects."""
    rows = {row["group_id"]: row for row in objects(run("query", "groups", "--json"))}
    assert rows["orders-app"]["total_lag"] == 20
    text = run("query", "groups", "--param", "cluster=prod").stdout
    line = next(one for one in text.splitlines() if " orders-app " in one)
    assert " 20 " in line


def test_a_pattern_of_groups_is_asked_group_by_group(run, filled):
    """Also where the query takes one group; a name that is nearly there is offered."""
    asked = ("query", "lag_history", "--param", "hours=1000000", "--json", "--param")
    assert [row["group_id"] for row in objects(run(*asked, "group=o*"))] == ["orders-app", "other"]
    rows = objects(run("query", "groups", "--param", "group=orders-*", "--json"))
    assert [row["group_id"] for row in rows] == ["orders-app"]
    result = run("query", "lag_history", "--param", "group=orders_app")
    assert (result.exit_code, "Did you mean orders-app?" in result.stderr) == (1, True)


@pytest.mark.parametrize("name", list(sql.queries()))
def test_every_named_query_runs_as_listed(run, filled, name):
    """Rows or none; never an error, with its required parameters given."""
    needed = [p.name for p in sql.queries()[name].parameters if p.required]
    result = run("query", name, *(f"--param={p}=orders-app" for p in needed))
    assert result.exit_code in (0, 1), result.stderr


def test_a_parameter_of_the_wrong_type_is_exit_code_2(run, filled):
    """What people type wrong is a usage error, in one line, before the database is asked."""
    result = run("query", "snapshot_health", "--param", "limit=many")
    assert result.exit_code == 2
    assert len(result.stderr.splitlines()) == 1


def test_doctor_finds_the_history_up_to_date(run, filled):
    """OK, with where it is."""
    row = next(row for row in objects(run("doctor", "--json")) if row["name"] == "history")
    assert row["outcome"] == "OK"
