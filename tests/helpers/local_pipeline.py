"""A real Airflow with its DAGs paused, for tests that let some of them run: scheduler, API, a history."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psycopg
from psycopg.rows import dict_row

from tests.stage.airflow import AirflowApi, LocalAirflow
from tests.stage.process import wait_until

ROOT = Path(__file__).resolve().parents[2]
YEARLY = "0 0 1 1 *"
"""What the time limits of tasks follow from: none that a busy machine could miss."""

BY_HAND = """
# a schedule begins with the run that was due last: here only what a test asks for is run
from evenkeel.dags import defaults
defaults.schedule = lambda *_: None

"""
"""What comes before the code of the DAGs."""

READ_SECONDS = 300


@dataclass(frozen=True, kw_only=True)
class LocalPipeline:
    """
    An Airflow, and what its tasks use.

    Attributes:
        api: Its API.
        url: Address of the history.
        home: The folder of everything.
    """

    api: AirflowApi
    url: str
    home: Path

    def rows(self, statement: str, *parameters: Any) -> list[dict[str, Any]]:
        """What the history holds."""
        with psycopg.connect(self.url, row_factory=dict_row) as connection:
            return connection.execute(statement.encode(), parameters).fetchall()


@contextmanager
def paused_airflow(
    home: Path,
    dags: Path,
    *,
    history: str,
    empty_database: str,
    known: Set[str],
    environment: Mapping[str, str],
) -> Iterator[AirflowApi]:
    """
    Start Airflow, wait until it has read its DAGs, and end it; nothing runs by a schedule.

    Args:
        home: Its folder; the lake is in it.
        dags: The folder of the DAGs, in the file that `show_dags` writes.
        history: Address of the history.
        empty_database: Address of a database for Airflow itself.
        known: The DAGs that it must have read.
        environment: What its tasks need beside that.
    """
    shown = dags / "evenkeel_dags.py"
    shown.write_text(BY_HAND + shown.read_text())
    airflow = LocalAirflow(
        home,
        "postgresql+psycopg2" + empty_database[empty_database.index("://") :],
        environment={
            "AIRFLOW_CONN_EVENKEEL_POSTGRES": history,
            "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "True",
            "EVENKEEL_LAKE": str(home / "lake"),
            "EVENKEEL_SCHEDULE": YEARLY,
            "PYTHONPATH": str(ROOT),
            **environment,
        },
        home=home,
        dags=dags,
    )
    airflow.migrate({"spark": 1})
    try:
        airflow.start()
        api = airflow.api
        wait_until(
            lambda: known <= {each["dag_id"] for each in api.call("GET", "dags")["dags"]},
            READ_SECONDS,
            "Airflow to read the DAGs",
            interval=1,
        )
        assert api.call("GET", "importErrors")["import_errors"] == []
        yield api
    finally:
        airflow.stop()
