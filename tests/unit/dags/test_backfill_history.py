"""The DAG `backfill_history`: a task that works in turns until all snapshots are judged, and tells nobody."""

from __future__ import annotations

import sys
from dataclasses import replace
from datetime import timedelta
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowException

from evenkeel.dags import backfill_history, backfills, connections
from evenkeel.engine.adapters.replay import Recording
from evenkeel.engine.config import ClusterSettings, Settings
from evenkeel.engine.steps.backfill_plan import planned, question
from evenkeel.spark_tasks import backfill as spark_backfill
from tests.helpers.memory import MemoryHistory
from tests.helpers.snapshots import FIRST, group, make_snapshot, store, topic

pytestmark = pytest.mark.airflow

SETTINGS = Settings(clusters={"test": ClusterSettings(bootstrap="b:9092")})
PARAMS = {
    "cluster": "test",
    "from": f"{FIRST:%Y-%m-%d}",
    "to": f"{FIRST:%Y-%m-%d}",
    "group": "*",
    "candidates_every": "1h",
}

CONTEXT = {"params": PARAMS, "dag_run": SimpleNamespace(start_date=FIRST)}
"""As Airflow gives it to a task."""


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch) -> MemoryHistory:
    """A history, and a lake of two snapshots."""
    made, lake = MemoryHistory(), Recording()
    both = [
        make_snapshot(topics=[topic("t")], groups=[group("g")], number=number) for number in (0, 1)
    ]
    store(lake, *both)
    for module in (backfills, connections):
        monkeypatch.setattr(module, "settings", lambda: SETTINGS)
    monkeypatch.setattr(backfills.wiring, "history", lambda settings: made)
    monkeypatch.setattr(backfills.wiring, "lake", lambda settings: lake)
    return made


@pytest.fixture
def task(monkeypatch: pytest.MonkeyPatch) -> backfill_history.Backfill:
    """The task; its process is a program that succeeds."""
    made = backfill_history.DAG.get_task("backfill")
    monkeypatch.setattr(made, "command", lambda params: [sys.executable, "-c", ""])
    return made


def test_a_turn_is_not_the_last_while_snapshots_are_left(history: MemoryHistory, task: Any) -> None:
    """Between two turns it holds no slot; the result says how far it is."""
    assert task.reschedule
    lake = backfills.wiring.lake(SETTINGS)
    asked_for = question("test", PARAMS["from"], PARAMS["to"])
    row = planned(lake, history, SETTINGS, asked_for).row
    turns = []
    for done, finished in ((1, None), (2, FIRST + timedelta(hours=1))):
        history.keep_backfill(replace(row, done_snapshots=done, finished_at=finished))
        turns.append(task.poke(CONTEXT))
    assert [turn.is_done for turn in turns] == [False, True]
    assert [turn.xcom_value for turn in turns] == [
        {"done": 1, "snapshots": 2, "left": 1},
        {"done": 2, "snapshots": 2, "left": 0},
    ]
    assert history.tables.steps == []


def test_how_far_it_is_says_nothing_of_others(
    history: MemoryHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The lake may have lost these days by now; after others were judged, these are not taken for done."""
    lake = backfills.wiring.lake(SETTINGS)
    row = planned(lake, history, SETTINGS, question("test", PARAMS["from"], PARAMS["to"])).row
    history.keep_backfill(replace(row, done_snapshots=2, finished_at=FIRST))
    monkeypatch.setattr(backfills.wiring, "lake", lambda settings: Recording())
    assert backfills.progress(PARAMS)["left"] == 0
    assert backfills.tell_changes(PARAMS)["groups"] == 0
    history.keep_backfill(replace(row, groups="other-*", finished_at=FIRST))
    for ask in (backfills.progress, backfills.tell_changes):
        with pytest.raises(AirflowException, match="other days of test were judged, since"):
            ask(PARAMS)


def test_what_is_done_is_not_begun_anew_by_the_next_try(history: MemoryHistory, task: Any) -> None:
    """A try that fails after its last turn leaves nothing to do; what was done before the run is done again."""
    task.command = lambda params: [sys.executable, "-c", "exit(4)"]
    lake = backfills.wiring.lake(SETTINGS)
    row = planned(lake, history, SETTINGS, question("test", PARAMS["from"], PARAMS["to"])).row
    history.keep_backfill(replace(row, done_snapshots=2, finished_at=FIRST))
    assert task.poke(CONTEXT).is_done
    later = SimpleNamespace(start_date=FIRST + timedelta(seconds=1))
    with pytest.raises(AirflowException, match="code 4"):
        task.poke(CONTEXT | {"dag_run": later})


def test_a_turn_that_fails_says_why(history: MemoryHistory, task: Any) -> None:
    """In the last line that its process printed."""
    task.command = lambda params: [sys.executable, "-c", "print('no lake. Mount it.'); exit(4)"]
    with pytest.raises(AirflowException, match=r"^no lake\. Mount it\.$"):
        task.poke(CONTEXT)
    assert history.tables.steps == []


def test_a_turn_is_the_spark_task_with_what_was_asked_for() -> None:
    """Whatever signs the pattern begins with; for so long that the pipeline does not wait for the pool."""
    task = backfill_history.Backfill(task_id="backfill")
    command = task.command(PARAMS | {"group": "-odd*"})
    assert command[1:3] == ["-m", "evenkeel.spark_tasks.backfill"]
    read = vars(spark_backfill._parse(command[3:]))
    assert read == {
        "cluster": "test",
        "since": PARAMS["from"],
        "until": PARAMS["to"],
        "groups": "-odd*",
        "candidates_every": "1h",
        "seconds": 240,
    }


def test_what_there_is_to_do_is_said_before(history: MemoryHistory) -> None:
    """Parameters that make no sense fail the first task, in one line; nothing is written."""
    ahead = backfills.find_snapshots(PARAMS)
    assert (ahead["snapshots"], ahead["left"]) == (2, 2)
    with pytest.raises(AirflowException, match="no cluster 'other' is configured") as failure:
        backfills.find_snapshots(PARAMS | {"cluster": "other"})
    assert "\n" not in str(failure.value)
    assert history.backfills == {}
    assert history.tables.steps == []
