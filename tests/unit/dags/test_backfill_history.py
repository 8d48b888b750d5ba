"""The DAG `backfill_history`: a task that works in turns until all snapshots are judged, and tells nobody."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from airflow.sdk.exceptions import AirflowException

from evenkeel.dags import backfill_history, backfills
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import ClusterSettings, Settings
from tests.helpers.memory import MemoryHistory, MemoryShelf
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


@pytest.fixture
def shelf(monkeypatch: pytest.MonkeyPatch) -> MemoryShelf:
    """Where it goes to, and a lake of two snapshots."""
    made, lake = MemoryShelf(), Recording()
    both = [
        make_snapshot(topics=[topic("t")], groups=[group("g")], number=number) for number in (0, 1)
    ]
    store(lake, *both)
    monkeypatch.setattr(backfills, "settings", lambda: SETTINGS)
    monkeypatch.setattr(backfills.wiring, "shelf", lambda settings, rules: made)
    monkeypatch.setattr(backfills.wiring, "lake", lambda settings: lake)
    return made


def test_a_turn_is_not_the_last_while_snapshots_are_left(
    shelf: MemoryShelf, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two turns it holds no slot; the result says how far it is, and what is done is not begun anew."""
    monkeypatch.setattr(backfill_history, "BUDGET", timedelta(0))
    task = backfill_history.DAG.get_task("backfill")
    assert task.reschedule
    turns: list[Any] = [task.poke({"params": PARAMS}) for _ in range(3)]
    assert [turn.is_done for turn in turns] == [False, True, True]
    assert [turn.xcom_value["left"] for turn in turns] == [1, 0, 0]
    assert len(shelf.tables.metrics) == 2
    assert shelf.tables.steps == []


def test_what_there_is_to_do_is_said_before(shelf: MemoryShelf) -> None:
    """Parameters that make no sense fail the first task, in one line; nothing is written."""
    ahead = backfills.find_snapshots(PARAMS)
    assert (ahead["snapshots"], ahead["left"]) == (2, 2)
    with pytest.raises(AirflowException, match="no cluster 'other' is configured") as failure:
        backfills.find_snapshots(PARAMS | {"cluster": "other"})
    assert "\n" not in str(failure.value)
    assert shelf.tables.snapshots == {}


def test_what_came_of_it_is_told(shelf: MemoryShelf, monkeypatch: pytest.MonkeyPatch) -> None:
    """Groups, how many of them differ, and how."""
    history, change = (
        MemoryHistory(),
        {"group_id": "g", "what": "diagnosis", "then_was": "healthy"},
    )
    change |= {"now_is": "skewed load", "snapshots": 2, "hours": 0.1}
    monkeypatch.setattr(history, "query", lambda name, **given: [{**change, **given}])
    monkeypatch.setattr(backfills.wiring, "history", lambda settings: history)
    told = backfills.tell_changes(PARAMS)
    assert told == {"groups": 1, "differing": 1, "changes": [change]}
