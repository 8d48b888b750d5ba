"""The DAG `backfill_history` as a person triggers it: Airflow and a history, and a lake of some hours."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.postgres import PostgresHistory
from tests.helpers.airflow_run import AIRFLOW, ROOT
from tests.helpers.cookbook_history import write
from tests.helpers.dagbag import show_dags

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
    lenient = [{"groups": "search-*", "objective_seconds": 3600}]
    environment = {
        "AIRFLOW_HOME": str(tmp_path),
        "AIRFLOW__CORE__DAGS_FOLDER": str(show_dags(tmp_path / "dags")),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{tmp_path / 'airflow.db'}",
        "AIRFLOW_CONN_EVENKEEL_POSTGRES": database_url,
        "EVENKEEL_CLUSTERS": json.dumps({"example": {"bootstrap": "127.0.0.1:1"}}),
        "EVENKEEL_RULES": json.dumps(lenient),
        "EVENKEEL_LAKE": str(tmp_path / "lake"),
        "PYTHONPATH": str(ROOT),
    }
    before = _told(database_url)
    commands = [
        ["db", "migrate"],
        ["pools", "set", "spark", "1", "evenkeel"],
        ["dags", "test", "backfill_history", "--conf", json.dumps(DAY)],
    ]
    done = subprocess.run(
        [sys.executable, "-c", AIRFLOW, json.dumps(commands)],
        env=os.environ | environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=800,
        check=False,
    )
    assert "DagRun Finished" in done.stdout, done.stdout
    assert "state=success" in done.stdout, done.stdout
    assert "18 snapshots of example to judge in schema rules_" in done.stdout
    assert "18 of 18 snapshots, through 2026-03-02 08:30 UTC" in done.stdout
    assert "1 of 2 groups would have been told otherwise" in done.stdout
    assert "group_id: search-suggest, what: diagnosis, then_was: skewed load, now_is: keeps up" in (
        done.stdout
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
