"""The DAG `backfill_history` as a person triggers it: Airflow and a history, and a lake of some hours."""

from __future__ import annotations

import json
from pathlib import Path

import psycopg
import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.postgres import PostgresHistory
from tests.helpers.cookbook_history import write
from tests.helpers.dagbag import run_airflow

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = [
    pytest.mark.airflow,
    pytest.mark.postgres,
    pytest.mark.timeout(900),
]

DAY = {"cluster": "example", "from": "2026-03-02", "to": "2026-03-02", "group": "search-*"}


def test_it_judges_and_says_what_differs(database_url: str, tmp_path: Path) -> None:
    """Its tasks find the snapshots, judge them and tell of the groups; advice, steps and alerts are what they were."""
    write(PostgresHistory(database_url), 18, FileLake(tmp_path / "lake"))
    lenient = [{"groups": "search-*", "lag_slo_seconds": 3600}]
    environment = {
        "AIRFLOW_CONN_EVENKEEL_POSTGRES": database_url,
        "EVENKEEL_CLUSTERS": json.dumps({"example": {"bootstrap": "127.0.0.1:1"}}),
        "EVENKEEL_RULES": json.dumps(lenient),
        "EVENKEEL_LAKE": str(tmp_path / "lake"),
    }
    before = _told(database_url)
    commands = [
        ["db", "migrate"],
        ["pools", "set", "spark", "1", "evenkeel"],
        ["dags", "test", "backfill_history", "--conf", json.dumps(DAY)],
    ]
    said = run_airflow(tmp_path, commands, **environment)
    assert "state=success" in said, said
    assert "18 snapshots of example to evaluate in schema rules_" in said
    assert "18 of 18 snapshots, through 2026-03-02 08:30 UTC" in said
    assert "1 of 2 groups have different results" in said
    assert (
        "group_id: search-suggest, what: diagnosis, then_was: skewed load, now_is: healthy" in said
    )
    assert _told(database_url) == before
    with psycopg.connect(database_url) as connection:
        (rules,) = connection.execute("SELECT newest_rules('example', 'rules_')").fetchone()
        kept = connection.execute(f"SELECT count(measured_at) FROM {rules}.snapshot").fetchone()
    assert kept == (18,)


def _told(url: str) -> list[tuple[object, ...]]:
    """How many rows there are of what a backfill must not add to."""
    with psycopg.connect(url) as connection:
        return connection.execute(
            "SELECT (SELECT count(*) FROM advice), (SELECT count(*) FROM alert),"
            " (SELECT count(*) FROM incident), (SELECT count(*) FROM step_run)"
        ).fetchall()
