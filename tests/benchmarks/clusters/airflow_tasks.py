"""
`python -m tests.benchmarks.clusters.airflow_tasks [TASKS]`: what Airflow itself takes for a task that does nothing.

An Airflow with Postgres and LocalExecutor on this machine runs a DAG with so many mapped tasks, four at a time, then a
DAG of five tasks one after another, twice: the second time counts. Processor time is that of scheduler, DAG processor,
API server and tasks, without what they take when idle.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from tests.benchmarks.measure import show
from tests.stage.airflow import PARTS, AirflowApi, LocalAirflow
from tests.stage.postgres import EmbeddedPostgres
from tests.stage.process import wait_until

TASKS = 40
IDLE_SECONDS = 20
CHAIN = 5
DAGS = f"""\
from airflow.sdk import dag, task

@task
def nothing(number): return None

@dag(schedule=None)
def side_by_side():
    nothing.expand(number=list(range({{tasks}})))

@dag(schedule=None)
def chain():
    before = nothing(0)
    for number in range(1, {CHAIN}):
        after = nothing.override(task_id=f"nothing_{{{{number}}}}")(number)
        before >> after
        before = after

side_by_side(), chain()
"""


def processor_seconds(airflow: LocalAirflow) -> float:
    """Of all its processes so far, those included that have ended."""
    return sum(sum(each.cpu_times()[:4]) for part in PARTS for each in airflow.processes(part))


def run(api: AirflowApi, dag_id: str) -> list[dict[str, Any]]:
    """Run a DAG to its end; its task instances."""
    name = api.trigger(dag_id)
    path = f"dags/{dag_id}/dagRuns/{name}"
    wait_until(lambda: api.call("GET", path)["state"] == "success", 600, dag_id, interval=1)
    return list(api.call("GET", f"{path}/taskInstances?limit=1000")["task_instances"])


def seconds(one: dict[str, Any], first: str, last: str) -> float:
    """From one moment of a task instance to another."""
    return (datetime.fromisoformat(one[last]) - datetime.fromisoformat(one[first])).total_seconds()


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and print; returns the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.clusters.airflow_tasks", description=__doc__
    )
    parser.add_argument("tasks", type=int, nargs="?", default=TASKS, help="mapped tasks")
    tasks = parser.parse_args(arguments).tasks
    with (
        TemporaryDirectory() as name,
        EmbeddedPostgres(Path(name) / "postgres") as server,
    ):
        server.create_database("airflow", "airflow")
        database = server.url("airflow", "airflow")
        home = Path(name) / "airflow"
        (home / "dags").mkdir(parents=True)
        (home / "dags" / "nothing.py").write_text(DAGS.format(tasks=tasks))
        url = "postgresql+psycopg2" + database[database.index("://") :]
        airflow = LocalAirflow(home, url, home=home, dags=home / "dags")
        airflow.migrate()
        try:
            airflow.start()
            api = airflow.api
            wait_until(lambda: api.call("GET", "dags")["total_entries"] == 2, 300, "the DAGs")
            for dag_id in ("side_by_side", "chain"):
                run(api, dag_id)
            before = processor_seconds(airflow)
            time.sleep(IDLE_SECONDS)
            idle = (processor_seconds(airflow) - before) / IDLE_SECONDS
            before, began = processor_seconds(airflow), time.monotonic()
            run(api, "side_by_side")
            took = time.monotonic() - began
            each = (processor_seconds(airflow) - before - idle * took) / tasks
            chained = sorted(run(api, "chain"), key=lambda one: one["start_date"])
        finally:
            airflow.stop()
    inside = sum(seconds(one, "start_date", "end_date") for one in chained) / CHAIN
    whole = seconds({"a": chained[0]["start_date"], "b": chained[-1]["end_date"]}, "a", "b")
    headings = (
        "tasks",
        "CPU s each",
        "s each, four at a time",
        "s each, in a row",
        "of these in the task",
        "idle CPU %",
    )
    row = [tasks, each, took / tasks, whole / CHAIN, inside, 100 * idle]
    cells = [str(row[0]), *(f"{value:.2f}" for value in row[1:])]
    show("A task that does nothing", headings, [cells])
    return 0


if __name__ == "__main__":
    sys.exit(main())
