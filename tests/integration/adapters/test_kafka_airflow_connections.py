"""Kafka connections of a real Airflow, to a broker that asks for a login."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenkeel.engine.adapters.lake import FileLake
from tests.helpers.airflow_run import DagRun
from tests.helpers.searched import file_text, history_text
from tests.helpers.secured_broker import READER_PASSWORD, SecuredBroker
from tests.helpers.secured_fixtures import DENIED

pytest_plugins = (
    "tests.helpers.postgres_fixtures",
    "tests.helpers.secured_fixtures",
    "tests.helpers.airflow_run",
)
pytestmark = [pytest.mark.airflow, pytest.mark.kafka, pytest.mark.slow]


def test_a_dag_run_reads_the_cluster_of_an_airflow_connection(dag_run: DagRun) -> None:
    """Stored in Airflow or given by the environment: what the reader may see is in the lake."""
    assert dag_run.states == {
        "eu": "success",
        "us": "success",
        "typo": "failed",
        "refused": "failed",
    }
    lake = FileLake(dag_run.home / "lake")
    assert set(lake.clusters()) == {"eu", "us"}
    for name in ("eu", "us"):
        rows = lake.read("groups", lake.snapshots(name)).to_pylist()
        errors = {row["group_id"]: row["error"] for row in rows}
        assert (errors["app"], errors["hidden"]) == (None, None)
        assert DENIED in errors["secret"], "it was logged in, with the rights of the reader"


def test_a_dag_run_says_what_is_wrong_with_an_airflow_connection(
    dag_run: DagRun, secured_broker: SecuredBroker
) -> None:
    """The unknown property by its name; a refused login with the properties to look at."""
    assert dag_run.error("typo") == (
        "cluster 'typo': property sasl.pasword is not supported. Did you mean sasl.password?"
    )
    refused = dag_run.error("refused")
    where = f"cluster 'refused' at {secured_broker.address('login')} refused the login: "
    assert refused.startswith(f"{where}SaslAuthenticationFailedError: ")
    assert refused.endswith(
        "Check sasl.mechanism, sasl.username and sasl.password of its connection."
    )


def test_a_dag_run_writes_no_password(dag_run: DagRun) -> None:
    """Not into the log of its tasks, Airflow's files and database, the lake or the history."""
    places = {str(path): file_text(path) for path in dag_run.home.rglob("*") if path.is_file()}
    assert {Path(place).suffix for place in places} >= {".parquet", ".db"}
    places |= {"log": dag_run.log, "history": history_text(dag_run.database_url)}
    assert [place for place, text in places.items() if READER_PASSWORD in text] == []
