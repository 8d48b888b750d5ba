"""The DAG `maintain_history`: one task that comes back until nothing is left."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from evenkeel.dags import maintain_history, runtime
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Settings
from tests.helpers.memory import MemoryHistory
from tests.helpers.snapshots import make_snapshot, store, topic

pytestmark = pytest.mark.airflow


def test_a_turn_is_not_the_last_while_something_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each turn of no time compacts a dataset of the day; the last one says that it is, and what it did."""
    lake, history = FileLake(tmp_path / "lake"), MemoryHistory()
    store(lake, *(make_snapshot(topics=[topic("t")], number=number) for number in (0, 1)))
    settings = Settings(lake=str(tmp_path / "lake"), keep_days=36_500, keep_whole_days=36_500)
    monkeypatch.setattr(runtime, "settings", lambda: settings)
    monkeypatch.setattr(runtime.wiring, "pipeline_history", lambda settings: history)
    monkeypatch.setattr(maintain_history, "BUDGET", timedelta(0))
    task = maintain_history.DAG.get_task("maintain")
    assert task.reschedule

    turns = [task.poke({})]
    while not turns[-1].is_done and len(turns) < 9:
        turns.append(task.poke({}))
    assert [turn.xcom_value["left"] for turn in turns] == [4, 3, 2, 1, 0]
    assert [turn.xcom_value["files"] for turn in turns] == [2] * 5
    assert [note.outcome for note in history.tables.steps] == ["ok"] * 5
