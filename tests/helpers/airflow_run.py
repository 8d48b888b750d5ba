"""A run of a DAG by ``airflow dags test``, on connections to a secured broker, and what it left behind."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from cryptography.fernet import Fernet

from tests.helpers.dagbag import run_airflow
from tests.helpers.secured_broker import READER_PASSWORD, Properties, SecuredBroker
from tests.helpers.secured_fixtures import with_wrong_secret


@dataclass(frozen=True)
class DagRun:
    """What a run of the DAG `snapshot_offsets` left behind."""

    log: str
    home: Path
    database_url: str

    @property
    def states(self) -> dict[str, str]:
        """Cluster -> state in which Airflow's task for it ended."""
        query = (
            "select rendered_map_index, state from task_instance where task_id = 'take_snapshot'"
        )
        with closing(sqlite3.connect(self.home / "airflow.db")) as session:
            return dict(session.execute(query).fetchall())

    def error(self, cluster: str) -> str:
        """What the history was told of a failed task; the same stands in the task's log."""
        query = "select distinct error from step_run where cluster = %s and outcome = 'failed'"
        with psycopg.connect(self.database_url) as session:
            [(error,)] = session.execute(query, [cluster]).fetchall()
        assert f"AirflowException: {error}\n" in self.log
        return str(error)


@pytest.fixture(scope="module")
def dag_run(
    secured_broker: SecuredBroker,
    module_database_url: str,
    tmp_path_factory: pytest.TempPathFactory,
) -> DagRun:
    """
    `airflow dags test` on four Kafka connections to the broker: two of Airflow's own database, of
    which one has a property that librdkafka does not know, and two of the environment, of which
    one has a wrong password.
    """
    home, elsewhere = tmp_path_factory.mktemp("airflow"), tmp_path_factory.mktemp("connections")
    login = {"bootstrap.servers": secured_broker.address("login")} | secured_broker.by_password(
        "SCRAM-SHA-512"
    )
    stored = {"eu": login, "typo": login | {"sasl.pasword": READER_PASSWORD}}
    given = {"us": login, "refused": with_wrong_secret(login)}
    file = elsewhere / "connections.json"
    file.write_text(json.dumps({f"evenkeel_{name}": _kafka(stored[name]) for name in stored}))
    environment = {
        "AIRFLOW__CORE__FERNET_KEY": Fernet.generate_key().decode(),
        # its masks would hide what we tell
        "AIRFLOW__CORE__HIDE_SENSITIVE_VAR_CONN_FIELDS": "False",
        "AIRFLOW_CONN_EVENKEEL_POSTGRES": module_database_url,
        "EVENKEEL_CLUSTERS": json.dumps({name: {} for name in stored | given}),
        "EVENKEEL_LAKE": str(home / "lake"),
        "EVENKEEL_SCHEDULE": "2m",  # the second try of a task then comes after six seconds
    } | {f"AIRFLOW_CONN_EVENKEEL_{n.upper()}": json.dumps(_kafka(given[n])) for n in given}
    commands = [
        ["db", "migrate"],
        ["connections", "import", str(file)],
        ["dags", "test", "snapshot_offsets"],
    ]
    return DagRun(run_airflow(home, commands, **environment), home, module_database_url)


def _kafka(properties: Properties) -> dict[str, object]:
    """A connection as Airflow writes it in JSON."""
    return {"conn_type": "kafka", "extra": properties}
