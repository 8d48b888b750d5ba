"""What every DAG and task must have: owner, tags, retries, timeout, a runbook."""

from __future__ import annotations

from importlib.metadata import entry_points
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowException

from evenkeel.dags import backfill_history, defaults, pool_priority, runtime, snapshot_offsets
from evenkeel.engine.config import ClusterSettings
from evenkeel.engine.model.text import printable
from evenkeel.engine.pipeline.snapshot import READING_SHARE
from tests.helpers import dagbag
from tests.helpers.dagbag import DAGS

pytestmark = pytest.mark.airflow

RUNBOOK = ("What it does.", "When it fails.", "How to run it again.", "Where to look.")


def _tasks(loaded: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {
        f"{dag_id}.{name}": task
        for dag_id, dag in loaded["dags"].items()
        for name, task in dag["tasks"].items()
    }


def test_the_docstring_of_a_dag_is_its_runbook(loaded: dict[str, Any]) -> None:
    """Each DAG shows, in Airflow, what it does, what to do when it fails, and where to look."""
    missing = {
        dag_id: [part for part in RUNBOOK if f"**{part}**" not in (dag["doc"] or "")]
        for dag_id, dag in loaded["dags"].items()
    }
    assert missing == {dag_id: [] for dag_id in loaded["dags"]}


def test_every_dag_can_be_found_by_its_tags(loaded: dict[str, Any]) -> None:
    """Each DAG carries the project's tag and one of its own."""
    assert all("evenkeel" in d["tags"] and len(d["tags"]) > 1 for d in loaded["dags"].values())


def test_missed_runs_are_not_caught_up_and_runs_do_not_overlap(loaded: dict[str, Any]) -> None:
    """No DAG catches up, and each has one run at a time; those that make advice wait for the pool instead."""
    assert {dag["catchup"] for dag in loaded["dags"].values()} == {False}
    found = {dag_id: dag["max_active_runs"] for dag_id, dag in loaded["dags"].items()}
    assert found == dict.fromkeys(found, 1) | {"advise_assignments": 16}


def test_every_task_has_an_owner_and_is_tried_again(loaded: dict[str, Any]) -> None:
    """Each task says whose it is and has at least one retry, after a while."""
    wrong = [
        name
        for name, task in _tasks(loaded).items()
        if task["owner"] != "evenkeel" or task["retries"] < 1 or task["retry_delay"] <= 0
    ]
    assert wrong == []


def test_every_task_is_given_up_at_last(loaded: dict[str, Any]) -> None:
    """Ten minutes at most; twice that for the task of two steps; turns end what they have begun by then."""
    most = {"maintain_history.maintain": 3600, "backfill_history.backfill": 3600}
    most |= {"advise_assignments.measure_and_propose": 1200}
    wrong = [
        name
        for name, task in _tasks(loaded).items()
        if not 0 < (task["timeout"] or 0) <= most.get(name, 600)
    ]
    assert wrong == []


def test_a_failed_task_says_why_in_its_last_line(caplog: pytest.LogCaptureFixture) -> None:
    """The whole reason on one line, outside the group of lines that Airflow's pages fold; so does one tried again."""
    reason = "cluster 'e\x1bu' did not answer.\n" + "Check its address. " * 60
    context = {"exception": AirflowException(reason), "task": SimpleNamespace(task_id="watch")}
    for callback in ("on_failure_callback", "on_retry_callback"):
        caplog.clear()
        with caplog.at_level("INFO"):
            defaults.TASK[callback](context)
        before, last = (record.getMessage() for record in caplog.records)
        assert before == "::endgroup::"
        assert last == f"watch failed: {printable(' '.join(reason.split()))}"


def test_every_task_says_why_it_failed(loaded: dict[str, Any]) -> None:
    """No task has callbacks of its own in place of these."""
    tells = [defaults.tell_failure.__name__, defaults.tell_reason.__name__]
    assert [n for n, task in _tasks(loaded).items() if task["tells"] != tells] == []


def test_spark_has_one_slot(loaded: dict[str, Any]) -> None:
    """The Spark task waits for the pool `spark`, the one before it, and the backfill, which all others pass."""
    found = {name for name, task in _tasks(loaded).items() if task["pool"] == "spark"}
    in_turn = {name for name, task in _tasks(loaded).items() if "InTurn" in task["weight_rule"]}
    waiting = ("validate_snapshot", "measure_and_propose")
    assert in_turn == {f"advise_assignments.{name}" for name in waiting}
    assert found == in_turn | {"backfill_history.backfill"}
    last = backfill_history.DAG.get_task("backfill")
    assert last.priority_weight == 1 < pool_priority.LATER
    assert "absolute" in str(last.weight_rule).lower()


def test_a_run_by_hand_goes_first_then_the_oldest() -> None:
    """By the id of the run, whoever made it; a repeated run stands where its snapshot stands."""
    runs = [
        "mine",
        "manual__2026-03-01T09:30:00+00:00",
        "operator_triggered__2026-03-01T09:31:00+00:00_a1",
        "again__eu-20260301T085900Z-0a1b2c__1",
        "asset_triggered__2026-03-01T09:00:00.123456+00:00_Xy",
        "asset_triggered__2026-03-01T09:05:00+00:00_Xz",
        "asset_triggered__2099-03-01T09:05:00+00:00_Xz",
    ]
    weights = [pool_priority.weight(run_id) for run_id in runs]
    assert weights == sorted(weights, reverse=True)
    assert len({*weights}) == len(runs)
    one = SimpleNamespace(run_id=runs[1], task_id="validate_snapshot")
    assert pool_priority.InTurn().get_weight(one) == weights[1] < 2**31


def test_a_started_run_goes_before_all_that_have_not_begun() -> None:
    """Else runs of the same second all claim their snapshots, which then grow old in the queue; a person goes first."""
    started = "asset_triggered__2026-03-01T09:05:00+00:00_Xz"
    claimed = SimpleNamespace(run_id=started, task_id="measure_and_propose")
    weight = pool_priority.InTurn().get_weight(claimed)
    others = [
        "asset_triggered__2026-03-01T09:00:00+00:00_Xy",
        "again__eu-20260101T000000Z-0a1b2c__1",
    ]
    assert all(weight > pool_priority.weight(other) for other in others)
    assert weight < pool_priority.weight("manual__2026-03-01T09:30:00+00:00")


def test_airflow_knows_the_rule(loaded: dict[str, Any]) -> None:
    """Installed, the package registers it, so that the DAG can be serialized; nothing else is in the plugin."""
    (found,) = entry_points(group="airflow.plugins", name="evenkeel")
    assert found.load() is pool_priority.TurnsPlugin
    assert loaded["errors"] == {}


@pytest.mark.parametrize(("schedule", "seconds"), [("*/5 * * * *", 300), ("40s", 40)])
def test_a_hanging_cluster_is_given_up_before_the_next_snapshot(
    schedule: str, seconds: int, tmp_path: Any
) -> None:
    """All tries of one snapshot, with the waits between them, end before the next run is due."""
    loaded = dagbag.load(DAGS, tmp_path, EVENKEEL_SCHEDULE=schedule)
    task = loaded["dags"]["snapshot_offsets"]["tasks"]["take_snapshot"]
    tries, waits = task["retries"] + 1, task["retries"]
    assert tries * task["timeout"] + waits * task["retry_delay"] < seconds


def test_a_snapshot_is_taken_within_the_limit_of_its_own_task(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The task hands on when Airflow ends it; at the default schedule the default time limit of a cluster fits in."""
    task: Any = snapshot_offsets.snapshot_offsets().task_dict["take_snapshot"]
    own = task.execution_timeout
    asked: list[dict[str, Any]] = []
    monkeypatch.setattr(runtime, "take_snapshot", lambda name, **more: asked.append(more) or "eu-1")
    events = {defaults.SNAPSHOT: SimpleNamespace(add_partitions=lambda ids: None)}
    context = {"run_id": "scheduled__1", "task": task, "outlet_events": events}

    assert task.python_callable("eu", **context) == "eu-1"
    assert asked == [{"run": "scheduled__1", "limit": own}]
    default = ClusterSettings(bootstrap="b:9092").timeout_seconds
    assert default <= READING_SHARE * own.total_seconds()


def test_each_instance_is_labelled_by_its_cluster() -> None:
    """The label finds the cluster where the task was given it: by name."""
    tasks: Any = snapshot_offsets.snapshot_offsets().task_dict
    for name in ("take_snapshot", "watch_groups", "heartbeat"):
        assert tasks[name].map_index_template == "{{ task.op_kwargs['cluster'] }}"
        assert "cluster" in tasks[name].op_kwargs


def test_a_person_can_run_one_cluster_or_some_groups(loaded: dict[str, Any]) -> None:
    """The DAGs that are started by hand have typed parameters for it."""
    found = {dag_id: dag["params"] for dag_id, dag in loaded["dags"].items() if dag["params"]}
    assert found == {
        "snapshot_offsets": ["cluster"],
        "advise_assignments": ["groups", "snapshot_id"],
        "backfill_history": ["candidates_every", "cluster", "from", "group", "to"],
    }
