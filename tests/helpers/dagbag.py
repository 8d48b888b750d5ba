"""
Loading the DAGs as Airflow's DAG processor does, in a process of its own.

Run with a folder of DAGs as the only argument, it prints one JSON object: import errors by file,
what each DAG and task looks like, and which of the heavy modules were imported on the way.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[2]
DAGS = CHECKOUT / "dags"
"""The DAG folder of this checkout."""

HEAVY = (
    "pyspark",
    "great_expectations",
    "pandas",
    "pyarrow",
    "numpy",
    "matplotlib",
    "kafka",
    "confluent_kafka",
    "slack_sdk",
    "psycopg",
    "evenkeel.engine",
    "evenkeel.expectations",
    "evenkeel.spark_tasks",
)
"""What no DAG file may import before one of its tasks runs."""


def show_dags(folder: Path) -> Path:
    """A DAG folder of a user's own, made where it is missing, with the file that the page on Airflow names."""
    folder.mkdir(parents=True, exist_ok=True)
    shutil.copy(CHECKOUT / "docs/deploy/evenkeel_dags.py", folder)
    return folder


def packages_of_a_user(folder: Path) -> Path:
    """A folder for the import path with packages named as our folders are, each of which ends whoever imports it."""
    for name in ("dags", "engine", "expectations", "spark_tasks", "sql"):
        (folder / name).mkdir(parents=True)
        (folder / name / "__init__.py").write_text("raise ImportError('a package of the user')\n")
    return folder


def settings_of(home: Path, dags: Path) -> dict[str, str]:
    """An Airflow in a folder, with a database of its own, that shows the DAGs of another."""
    return {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(dags),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
    }


def run_airflow(home: Path, commands: Sequence[Sequence[str]], **environment: str) -> str:
    """What Airflow's commands print that run one after the other, of which the last is a run of a DAG to its end."""
    shown = show_dags(home / "dags")
    done = subprocess.run(
        [sys.executable, "-c", _COMMANDS, json.dumps(commands)],
        env={
            **os.environ,
            **settings_of(home, shown),
            "PYTHONPATH": str(CHECKOUT),
            **environment,
        },
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=800,
        check=False,
    )
    assert "DagRun Finished" in done.stdout, done.stdout
    return done.stdout


_COMMANDS = """
import json, sys
from airflow.cli.cli_parser import get_parser

for words in json.loads(sys.argv[1]):
    wanted = get_parser().parse_args(words)
    wanted.func(wanted)
"""
"""Several of Airflow's commands in one process, for each would be importing for seconds."""


def load(dags: Path, home: Path, **environment: str) -> dict[str, Any]:
    """
    What Airflow makes of a folder of DAGs.

    Args:
        dags: The folder.
        home: An empty folder for Airflow's own files.
        environment: Laid over this process's environment.

    Raises:
        AssertionError: The loading process itself failed.
    """
    answer = subprocess.run(
        [sys.executable, str(Path(__file__)), str(dags)],
        env={**os.environ, **settings_of(home, dags), **environment},
        cwd=home,
        capture_output=True,
        text=True,
        check=False,
    )
    assert answer.returncode == 0, answer.stderr
    return dict(json.loads(answer.stdout.splitlines()[-1]))


def _describe(folder: str) -> dict[str, Any]:
    from airflow.dag_processing.dagbag import DagBag

    bag = DagBag(dag_folder=folder)
    return {
        "errors": {str(file): str(text) for file, text in bag.import_errors.items()},
        "heavy": [name for name in HEAVY if name in sys.modules],
        "dags": {dag.dag_id: _describe_dag(dag) for dag in bag.dags.values()},
    }


def _describe_dag(dag: Any) -> dict[str, Any]:
    return {
        "file": Path(dag.fileloc).name,
        "doc": dag.doc_md,
        "tags": sorted(dag.tags),
        "schedule": type(dag.timetable).__name__,
        "catchup": dag.catchup,
        "max_active_runs": dag.max_active_runs,
        "params": sorted(dag.params),
        "tasks": {task.task_id: _describe_task(task) for task in dag.tasks},
    }


def _describe_task(task: Any) -> dict[str, Any]:
    timeout = task.execution_timeout
    return {
        "owner": task.owner,
        "retries": task.retries,
        "retry_delay": task.retry_delay.total_seconds(),
        "timeout": timeout.total_seconds() if timeout else None,
        "pool": task.pool,
        "weight_rule": str(task.weight_rule),
        "trigger_rule": str(getattr(task.trigger_rule, "value", task.trigger_rule)),
        "tells": [*_names(task.on_failure_callback), *_names(task.on_retry_callback)],
        "upstream": sorted(task.upstream_task_ids),
        "outlets": [asset.name for asset in task.outlets],
    }


def _names(callbacks: Any) -> list[str]:
    """A task has a list of them, a mapped one what its author wrote."""
    return [f.__name__ for f in (callbacks if isinstance(callbacks, list) else [callbacks])]


if __name__ == "__main__":
    print(json.dumps(_describe(sys.argv[1])))
