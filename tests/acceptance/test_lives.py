"""The exact calls that Slack gets over the life of an incident of each kind, through the real DAG."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.model import Diagnosis
from tests.helpers.dagbag import show_dags
from tests.helpers.life_calls import CALLS
from tests.helpers.lives import CLUSTER, COUNT, LIVES, SETTINGS, write_lives
from tests.helpers.replayed_cluster import IN_THE_DAGS, SOURCE
from tests.helpers.slack_calls import LATER, RecordedWorkspace
from tests.stage import slack

pytest_plugins = ("tests.helpers.postgres_fixtures",)

pytestmark = [
    pytest.mark.nightly,
    pytest.mark.airflow,
    pytest.mark.postgres,
    pytest.mark.slow,
    # all runs count as part of the first test
    pytest.mark.timeout(3600),
]

ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Told:
    """What Slack was asked to do, and where the history is."""

    workspace: RecordedWorkspace
    database_url: str


@pytest.fixture(scope="module")
def told(module_database_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Told]:
    """A run of `snapshot_offsets` for every snapshot of all lives, one after another."""
    home = tmp_path_factory.mktemp("airflow")
    write_lives(FileLake(home / "source"))
    shown = show_dags(home / "dags") / "evenkeel_dags.py"
    shown.write_text(IN_THE_DAGS + shown.read_text())
    workspace = RecordedWorkspace(clock=lambda: LATER)
    with slack.running(workspace) as server:
        connection = {
            "conn_type": "slack",
            "password": "xoxb-local",
            "extra": {"base_url": server.base_url},
        }
        environment = {
            "AIRFLOW_HOME": str(home),
            "AIRFLOW__CORE__DAGS_FOLDER": str(home / "dags"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
            "AIRFLOW_CONN_EVENKEEL_POSTGRES": module_database_url,
            "AIRFLOW_CONN_EVENKEEL_SLACK": json.dumps(connection),
            "EVENKEEL_CLUSTERS": json.dumps({CLUSTER: {"bootstrap": "b:9092"}}),
            "EVENKEEL_RULES": json.dumps(
                [rule.model_dump(mode="json", exclude_unset=True) for rule in SETTINGS.rules]
            ),
            "EVENKEEL_LAKE": str(home / "lake"),
            "PYTHONPATH": str(ROOT),
            SOURCE: str(home / "source"),
        }
        done = subprocess.run(
            [sys.executable, "-m", "tests.helpers.replayed_cluster", str(COUNT)],
            env=os.environ | environment,
            cwd=home,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=3000,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-5000:]
        yield Told(workspace, module_database_url)


@pytest.mark.parametrize("cause", list(LIVES), ids=lambda cause: cause.name.lower())
def test_a_life_is_told_in_exactly_these_calls(told: Told, cause: Diagnosis) -> None:
    """As by the step alone: nothing of what Airflow adds doubles, loses or delays a word."""
    group = LIVES[cause].name
    writes = [call for call in told.workspace.writes if f"/{group}/" in call.key]
    (incident,) = {call.key.split()[1] for call in writes}
    assert [call.about(incident) for call in writes] == CALLS[cause]


def test_every_snapshot_was_watched_and_nothing_else_is_told(told: Told) -> None:
    """Each run took the next one; nobody hears of the healthy group."""
    with psycopg.connect(told.database_url) as connection:
        found = connection.execute("select step, outcome, count(*) from step_run group by 1, 2")
        runs = {(step, outcome): count for step, outcome, count in found}
    assert {outcome for _, outcome in runs} == {"ok"}
    assert runs["take_snapshot", "ok"] == runs["watch_groups", "ok"] == COUNT
    groups = {call.key.split("/")[1] for call in told.workspace.writes}
    assert groups == {life.name for life in LIVES.values()}
