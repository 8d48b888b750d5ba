"""
Airflow is upgraded while runs are under way: an older version stops, its database is migrated, the next one goes on.

The cluster is a script, see `tests.helpers.scripted_cluster`, and so few groups need no Spark.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography.fernet import Fernet
from psycopg.conninfo import conninfo_to_dict
from psycopg.rows import dict_row

from evenkeel.dags import NAMES
from evenkeel.engine.adapters.lake import FileLake
from tests.helpers.dagbag import show_dags
from tests.helpers.local_pipeline import BY_HAND, ROOT, YEARLY
from tests.helpers.older_airflow import older_airflow
from tests.helpers.scripted_cluster import PLACE, Script
from tests.stage import slack
from tests.stage.airflow import AirflowApi, LocalAirflow
from tests.stage.process import wait_until
from tests.stage.slack_workspace import Workspace

pytest_plugins = ("tests.helpers.postgres_fixtures",)

pytestmark = [
    pytest.mark.airflow,
    pytest.mark.nightly,
    pytest.mark.postgres,
    pytest.mark.slow,
    pytest.mark.timeout(1500),
]

SECONDS = 600
CLUSTERS = ("eu", "us")
UNDER_WAY = ("snapshot_offsets", "advise_assignments")

SHOWN = """
# a script in place of brokers, which answers once a file is gone
import os, time
from datetime import timedelta
from evenkeel.dags import defaults
from evenkeel.engine import wiring
from tests.helpers.scripted_cluster import connect

def patient(settings, name):
    while os.path.exists(os.environ["HELD"]):
        time.sleep(0.2)
    return connect(settings, name)

wiring.cluster = patient
defaults.TASK["retry_delay"] = timedelta(seconds=1)

"""

CONFIG = """
slack_channel = "#team-orders"
stale_after_seconds = 86400
[clusters.eu]
bootstrap = "b:9092"
[clusters.us]
bootstrap = "b:9092"
"""


@dataclass(frozen=True)
class Place:
    """What outlives an Airflow: its database, DAGs and settings, the history, the lake."""

    home: Path
    database: str
    history: str
    environment: dict[str, str]

    @property
    def held(self) -> Path:
        """While this file is there, the cluster does not answer."""
        return self.home / "held"

    def script(self, **how: Any) -> None:
        """From now on the cluster is so."""
        place = self.home / "cluster.json"
        known = json.loads(place.read_text()) if place.exists() else {}
        Script(**known | how).write(place)

    def airflow(self, name: str, programs: Path | None = None) -> LocalAirflow:
        """An Airflow on all that."""
        return LocalAirflow(
            self.home / name,
            "postgresql+psycopg2" + self.database[self.database.index("://") :],
            environment=self.environment,
            home=self.home,
            dags=self.home / "dags",
            programs=programs,
        )

    def rows(self, statement: str) -> list[dict[str, Any]]:
        """What the history holds."""
        with psycopg.connect(self.history, row_factory=dict_row) as connection:
            return connection.execute(statement.encode()).fetchall()


@pytest.fixture
def workspace(tmp_path: Path) -> Iterator[Any]:
    """A server that speaks Slack's API."""
    with slack.running(Workspace(store=tmp_path / "slack.jsonl")) as server:
        yield server


@pytest.fixture
def place(database_url: str, empty_database: str, workspace: Any, tmp_path: Path) -> Place:
    """DAGs of a scripted cluster, and settings that both versions have."""
    dags = show_dags(tmp_path / "dags")
    shown = dags / "evenkeel_dags.py"
    shown.write_text(BY_HAND + SHOWN + shown.read_text())
    (tmp_path / "evenkeel.toml").write_text(CONFIG)
    messenger = {"conn_type": "slack", "password": "xoxb-local"}
    messenger |= {"extra": {"base_url": workspace.base_url}}
    environment = {
        "AIRFLOW__CORE__FERNET_KEY": Fernet.generate_key().decode(),
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "True",
        "AIRFLOW__CORE__PARALLELISM": "2",
        "AIRFLOW__SCHEDULER__ORPHANED_TASKS_CHECK_INTERVAL": "20",
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT": "60",
        "AIRFLOW__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT_DETECTION_INTERVAL": "5",
        "AIRFLOW_CONN_EVENKEEL_SLACK": json.dumps(messenger),
        "EVENKEEL_CONFIG": str(tmp_path / "evenkeel.toml"),
        "EVENKEEL_LAKE": str(tmp_path / "lake"),
        "EVENKEEL_SCHEDULE": YEARLY,
        "HELD": str(tmp_path / "held"),
        "PYTHONPATH": str(ROOT),
        PLACE: str(tmp_path / "cluster.json"),
    }
    return Place(tmp_path, empty_database, database_url, environment)


def states(api: AirflowApi, dag_id: str = "snapshot_offsets") -> list[str]:
    """The states of its runs, the oldest first."""
    return [run["state"] for run in reversed(api.runs(dag_id))]


def read(api: AirflowApi) -> None:
    """Wait until Airflow has read the DAGs, without an error."""
    known = {*NAMES}
    dags = lambda: {each["dag_id"] for each in api.call("GET", "dags")["dags"]}  # noqa: E731
    wait_until(lambda: known <= dags(), SECONDS, "Airflow to read the DAGs", interval=1)
    assert api.call("GET", "importErrors")["import_errors"] == []


def settled(api: AirflowApi, *dag_ids: str) -> bool:
    """Whether no run of these is under way."""
    return not any(api.runs(dag_id, "queued", "running") for dag_id in dag_ids)


def connect(api: AirflowApi, url: str) -> None:
    """Keep the history's address as a connection, and a variable as the tasks do."""
    parts = conninfo_to_dict(url)
    connection = {"connection_id": "evenkeel_postgres", "conn_type": "postgres"}
    connection |= {"host": parts["host"], "login": parts["user"], "schema": parts["dbname"]}
    api.call("POST", "connections", connection)
    api.call("POST", "variables", {"key": "evenkeel_outages", "value": "{}"})


def kept(api: AirflowApi) -> dict[str, Any]:
    """What was set in Airflow for us."""
    connection = api.call("GET", "connections/evenkeel_postgres")
    return {
        "pool": api.call("GET", "pools/spark")["slots"],
        "connection": {name: connection[name] for name in ("conn_type", "host", "login", "schema")},
        "variable": api.call("GET", "variables/evenkeel_outages")["value"],
        "paused": {d["dag_id"]: d["is_paused"] for d in api.call("GET", "dags")["dags"]},
    }


def cut_off(place: Place, api: AirflowApi) -> None:
    """Two runs to their end, after which advice waits for a slot, and one that stands in the middle of its readings."""
    api.pause(UNDER_WAY, paused=False)
    for members in (2, 0):
        place.script(members=members)
        api.trigger("snapshot_offsets")
        wait_until(lambda: settled(api, "snapshot_offsets"), SECONDS, "a run", interval=1)
    place.held.touch()
    api.trigger("snapshot_offsets")
    path = "dags/snapshot_offsets/dagRuns/~/taskInstances?task_id=take_snapshot&state=running"
    wait_until(
        lambda: (
            len(api.call("GET", path)["task_instances"]) == len(CLUSTERS)
            and len(api.runs("advise_assignments")) == 2 * len(CLUSTERS)
        ),
        SECONDS,
        "two readings to be under way, and four runs to wait",
        interval=1,
    )


def go_on(place: Place, api: AirflowApi) -> None:
    """Let the readings end and give advice its slot; all that was under way comes to its end."""
    place.held.unlink()
    slot = {"name": "spark", "slots": 1, "include_deferred": False}
    api.call("PATCH", "pools/spark", slot)
    wait_until(
        lambda: (
            len(api.runs("advise_assignments")) == 3 * len(CLUSTERS) and settled(api, *UNDER_WAY)
        ),
        SECONDS,
        "the runs to end",
        interval=1,
    )
    ended = {dag_id: {*states(api, dag_id)} for dag_id in UNDER_WAY}
    assert ended == {dag_id: {"success"} for dag_id in UNDER_WAY}


def test_runs_go_on_after_an_upgrade_of_airflow(
    place: Place, workspace: Any, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """What was cut off is done again, what waited is done, each once, and what was set in Airflow is there."""
    old = place.airflow("old", older_airflow(tmp_path_factory.mktemp("older") / "venv"))
    # without a slot, advice waits
    old.migrate({"spark": 0})
    try:
        old.start()
        read(old.api)
        connect(old.api, place.history)
        cut_off(place, old.api)
        before = kept(old.api)
    finally:
        old.stop()
    new = place.airflow("new")
    new.migrate()
    try:
        new.start()
        read(new.api)
        assert kept(new.api) == before
        go_on(place, new.api)
    finally:
        new.stop()
    lake = FileLake(place.home / "lake")
    runs = [
        (cluster, lake.manifest("snapshot", one).facts["run"])
        for cluster in CLUSTERS
        for one in lake.snapshots(cluster, limit=9)
    ]
    snapshots = place.rows("select * from snapshot_health order by started_at")
    assert len(runs) == len({*runs}) == len(snapshots) == 3 * len(CLUSTERS)
    assert {one["state"] for one in snapshots} == {"advised", "superseded"}
    newest = {one["cluster"]: one["state"] for one in snapshots}
    assert newest == dict.fromkeys(CLUSTERS, "advised")
    incidents = place.rows("select cluster, kind from incident order by cluster")
    assert incidents == [{"cluster": cluster, "kind": "no members"} for cluster in CLUSTERS]
    assert len(workspace.workspace.messages) == len(CLUSTERS)
