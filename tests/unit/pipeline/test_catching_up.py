"""Which snapshot a run advises on, and what it does on the way."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import ClusterSettings, Settings
from evenkeel.engine.model.errors import LakeError, SnapshotNotFound
from evenkeel.engine.model.tables import empty
from evenkeel.engine.pipeline import next_snapshot as catching_up
from evenkeel.engine.pipeline.next_snapshot import Turn
from evenkeel.engine.ports import Manifest
from evenkeel.engine.snapshots import METRICS
from tests.helpers.history_rows import checks, validation
from tests.helpers.memory import MemoryHistory
from tests.helpers.snapshots import group, make_snapshot, snapshot_id, store, topic

SETTINGS = Settings(clusters={"test": ClusterSettings(bootstrap="b:9092")})


class Pipeline:
    """A lake and a history of one cluster, and a validation that rejects what the test says."""

    def __init__(self, folder: Path) -> None:
        self.lake = FileLake(folder)
        self.history = MemoryHistory()
        self.bad: set[str] = set()
        self.checked: list[str] = []

    def take(self, count: int) -> list[str]:
        """So many snapshots, known to the history; their ids, oldest first."""
        for number in range(count):
            groups = [group("a", members=1, lag={"orders": number})]
            store(
                self.lake, make_snapshot(number=number, topics=[topic("orders", 1)], groups=groups)
            )
            self.history.store_snapshot(self.manifest(snapshot_id(number)))
        return [snapshot_id(number) for number in range(count)]

    def manifest(self, one: str) -> Manifest:
        """What the lake says of a snapshot."""
        return self.lake.manifest("snapshot", one)

    def accepts(self, one: str) -> bool:
        """Validate, and note the verdict."""
        self.checked.append(one)
        row = validation(None, success=one not in self.bad)
        self.history.store_validation(one, "snapshot", checks(row))
        return one not in self.bad

    def run(self, one: str, run_id: str) -> tuple[str | None, bool]:
        """What a run takes up."""
        turn = Turn(snapshot_id=one, run_id=run_id)
        return catching_up.take_turn(self.lake, self.history, SETTINGS, turn, self.accepts)


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    """An empty one."""
    return Pipeline(tmp_path)


@pytest.mark.parametrize(
    ("run_id", "by_hand", "again"),
    [
        ("asset_triggered__2026-03-01T09:00:00+00:00_ab", False, None),
        ("again__eu-1__2", False, "eu-1"),
        ("manual__2026-03-01T09:00:00+00:00", True, None),
        ("operator_triggered__2026-03-01T09:00:00+00:00", True, None),
        ("mine", True, None),
    ],
)
def test_who_started_a_run_is_known_by_its_id(
    run_id: str, by_hand: bool, again: str | None
) -> None:
    """A snapshot, the watch, or a person; a program of the user's is a person, too."""
    turn = Turn(snapshot_id="eu-1", run_id=run_id)
    assert (turn.by_hand, turn.again) == (by_hand, again)


def test_of_ten_that_wait_one_run_advises_the_newest(pipeline: Pipeline) -> None:
    """Whichever run comes first; the others find nothing to do, although one of them had failed before."""
    ids = pipeline.take(4)
    assert pipeline.run(ids[3], "asset_triggered__3") == (ids[3], True)
    ids = pipeline.take(10)
    assert pipeline.run(ids[4], "asset_triggered__4") == (ids[9], True)
    for number in (0, 1, 2, 5, 9):
        assert pipeline.run(ids[number], f"asset_triggered__{number}") == (None, False)
    turn = Turn(snapshot_id=ids[4], run_id="asset_triggered__4")
    superseded = ids[8::-1]
    assert catching_up.unvalidated(pipeline.history, turn, ids[9]) == [
        one for one in superseded if one != ids[3]
    ]
    for one in superseded:
        pipeline.accepts(one)
    assert catching_up.unvalidated(pipeline.history, turn, ids[9]) == []
    assert catching_up.unmeasured(pipeline.history, turn, ids[9]) == superseded
    assert catching_up.measured_now(pipeline.lake, pipeline.history, turn, ids[9]) == []
    nothing = {name: empty(schema) for name, schema in METRICS.items()}
    pipeline.lake.write("metrics", ids[2], nothing, {})
    assert catching_up.measured_now(pipeline.lake, pipeline.history, turn, ids[9]) == [ids[2]]


def test_a_rejected_snapshot_is_passed_over(pipeline: Pipeline) -> None:
    """The newest that is accepted is advised on; the verdict on the last is told where none is."""
    ids = pipeline.take(3)
    pipeline.bad = {ids[2]}
    assert pipeline.run(ids[0], "asset_triggered__0") == (ids[1], True)
    assert pipeline.checked == [ids[2], ids[1]]


def test_where_all_are_rejected_the_verdict_is_the_result(pipeline: Pipeline) -> None:
    """The run ends well with what it saw last."""
    ids = pipeline.take(2)
    pipeline.bad = {*ids}
    assert pipeline.run(ids[0], "asset_triggered__0") == (ids[0], False)
    assert pipeline.checked == [ids[1], ids[0]]


def test_a_run_by_hand_does_its_own_and_nothing_else(pipeline: Pipeline) -> None:
    """A superseded snapshot as well; nobody else then takes up what it works on."""
    ids = pipeline.take(3)
    assert pipeline.run(ids[1], "mine") == (ids[1], True)
    assert (
        catching_up.unvalidated(pipeline.history, Turn(snapshot_id=ids[1], run_id="mine"), ids[1])
        == []
    )
    assert pipeline.run(ids[2], "manual__2") == (ids[2], True)
    assert pipeline.run(ids[2], "asset_triggered__2") == (None, False)


def test_a_failed_run_is_repeated(pipeline: Pipeline) -> None:
    """The repetition has the snapshot, the run that had it gets it no more."""
    ids = pipeline.take(2)
    assert pipeline.run(ids[1], "asset_triggered__1") == (ids[1], True)
    assert pipeline.run(ids[1], f"again__{ids[1]}__1") == (ids[1], True)
    assert pipeline.run(ids[0], "asset_triggered__0") == (None, False)
    assert pipeline.run(ids[1], "asset_triggered__1") == (None, False)


def test_a_snapshot_that_the_history_missed_is_noted_first(pipeline: Pipeline) -> None:
    """The lake had it while the history was down; one that the lake has not is an error."""
    ids = pipeline.take(2)
    del pipeline.history.tables.snapshots[ids[1]]
    assert pipeline.run(ids[1], "asset_triggered__1") == (ids[1], True)
    with pytest.raises(SnapshotNotFound):
        pipeline.run(snapshot_id(7), "asset_triggered__7")


def test_what_fails_on_the_way_holds_nobody_up() -> None:
    """It is told in a line, also what a library raises; a fault of ours is raised as it is."""
    said: list[str] = []
    done: list[str] = []

    def work(snapshot_id: str) -> None:
        if snapshot_id in failing:
            raise failing[snapshot_id]
        done.append(snapshot_id)

    failing = {"a": LakeError("no\nroom", fix="Make some."), "c": OSError("gone")}
    catching_up.on_the_way("abcd", work, timedelta(hours=1), said.append, OSError)
    assert done == ["b", "d"]
    assert said == ["superseded snapshot a: no room Make some.", "superseded snapshot c: gone"]
    with pytest.raises(OSError, match="gone"):
        catching_up.on_the_way("c", work, timedelta(hours=1), said.append, LakeError)


def test_the_next_run_goes_on_when_the_time_is_over() -> None:
    """None is begun after it, and that is told."""
    said: list[str] = []
    catching_up.on_the_way("ab", said.append, timedelta(seconds=-1), said.append, OSError)
    assert said == ["the next run continues with the other superseded snapshots"]
