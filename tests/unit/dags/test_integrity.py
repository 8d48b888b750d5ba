"""The DAGs load, there are exactly these, and their tasks are the steps."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from evenkeel.engine import pipeline
from tests.helpers import dagbag
from tests.helpers.dagbag import DAGS

pytestmark = pytest.mark.airflow

ADVISING = [
    "validate_snapshot",
    "measure_and_propose",
    "validate_candidates",
    "advise",
    "alert",
]


def test_no_dag_file_has_an_import_error(loaded: dict[str, Any]) -> None:
    """Every file of the folder can be imported by Airflow."""
    assert loaded["errors"] == {}


def test_each_dag_has_its_own_file(loaded: dict[str, Any]) -> None:
    """There are exactly these five DAGs, each in the file of its name."""
    assert {dag_id: dag["file"] for dag_id, dag in loaded["dags"].items()} == {
        "snapshot_offsets": "snapshot_offsets.py",
        "advise_assignments": "advise_assignments.py",
        "maintain_history": "maintain_history.py",
        "watch_pipeline": "watch_pipeline.py",
        "backfill_history": "backfill_history.py",
    }


def test_what_the_dags_share_is_not_parsed_as_a_dag() -> None:
    """Every file without a DAG is named in `.airflowignore`, and no DAG is."""
    ignored = {
        line for line in (DAGS / ".airflowignore").read_text().splitlines() if line[:1] != "#"
    }
    without_dag = {path.name for path in DAGS.glob("*.py") if "@dag(" not in path.read_text()}
    assert ignored == without_dag


def test_nothing_heavy_is_imported_when_the_dags_are_parsed(loaded: dict[str, Any]) -> None:
    """Parsing the DAGs, over and over, loads no client library, no Spark and no engine."""
    assert loaded["heavy"] == []


def test_the_steps_run_in_their_order(loaded: dict[str, Any]) -> None:
    """`advise_assignments` is the steps after the snapshot, one after the other."""
    tasks = loaded["dags"]["advise_assignments"]["tasks"]
    upstream = {name: task["upstream"] for name, task in tasks.items()}
    expected = {name: [before] for before, name in pairwise(ADVISING)}
    # of a rejection there is something to say, of a run without work there is not
    expected["alert"] = ["advise", "validate_snapshot"]
    assert upstream == {"validate_snapshot": []} | expected


def test_groups_are_watched_right_after_their_snapshot(loaded: dict[str, Any]) -> None:
    """Nothing stands between the two, and the asset that starts the advice is the snapshot's own."""
    tasks = loaded["dags"]["snapshot_offsets"]["tasks"]
    # the name of the cluster comes from the first
    assert {name: set(task["upstream"]) - {"list_clusters"} for name, task in tasks.items()} == {
        "list_clusters": set(),
        "take_snapshot": set(),
        "watch_groups": {"take_snapshot"},
        "heartbeat": {"watch_groups"},
    }
    assert {task["trigger_rule"] for task in tasks.values()} == {"all_success"}
    assert [name for name, task in tasks.items() if task["outlets"]] == ["take_snapshot"]


def test_a_task_is_named_as_its_step(loaded: dict[str, Any]) -> None:
    """One word names a step as task and as function; the task of two steps, a function of Spark's room."""
    from evenkeel.expectations import run
    from evenkeel.spark_tasks import measure_and_propose

    tasks = {name for dag in loaded["dags"].values() for name in dag["tasks"]}
    helpers = {"list_clusters", "heartbeat", "find_unadvised", "advise_again"}
    helpers |= {"find_snapshots", "tell_changes"}
    rooms = (pipeline, run, measure_and_propose)
    functions = {name for name in tasks - helpers if any(hasattr(room, name) for room in rooms)}
    assert functions == tasks - helpers


def test_a_rejected_snapshot_still_reaches_the_alert(loaded: dict[str, Any]) -> None:
    """`alert` runs after skipped steps, but not after failed ones, nor where the run had nothing to do."""
    rules = {
        name: task["trigger_rule"]
        for name, task in loaded["dags"]["advise_assignments"]["tasks"].items()
    }
    expected = dict.fromkeys(ADVISING, "all_success") | {"alert": "none_failed_min_one_success"}
    assert rules == expected


def test_the_file_of_the_readme_shows_every_dag_beside_folders_of_the_users_own(
    tmp_path: Path, loaded: dict[str, Any]
) -> None:
    """The three lines load all DAGs, also where the user has packages `dags`, `sql` and `engine` on the path."""
    folder = dagbag.show_dags(tmp_path / "dags")
    dagbag.packages_of_a_user(folder)
    (folder / ".airflowignore").write_text("/*/\n")
    elsewhere = dagbag.packages_of_a_user(tmp_path / "elsewhere")
    shown = dagbag.load(folder, tmp_path, PYTHONPATH=str(elsewhere))
    assert (shown["errors"], shown["heavy"]) == ({}, [])
    # the same DAGs, but for the file that Airflow found them in
    of_stub = {name: dag | {"file": f"{name}.py"} for name, dag in shown["dags"].items()}
    assert of_stub == loaded["dags"]
    assert {dag["file"] for dag in shown["dags"].values()} == {"evenkeel_dags.py"}
