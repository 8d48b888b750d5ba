"""What the tasks do around the steps: one line per error, a note of each run, what is run again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.sdk import Connection
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowSkipException,
    AirflowTaskTimeout,
)

from evenkeel.dags import connections as airflow_connections
from evenkeel.dags import runtime
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Settings, load
from evenkeel.engine.datasets import SNAPSHOT
from evenkeel.engine.errors import ClusterBusy, ClusterUnreachable, ConfigError, HistoryUnreachable
from evenkeel.engine.ports import Lake, Manifest
from tests.helpers.outbox import OutboxHistory

pytestmark = pytest.mark.airflow


class History:
    """A history that keeps the notes on steps, and answers two questions."""

    def __init__(self, *, down: bool = False, waiting: Sequence[dict[str, Any]] = ()) -> None:
        self.down, self.waiting = down, waiting
        self.notes: list[dict[str, Any]] = []
        self.stored: list[str] = []
        self.busy = False

    def _answer(self) -> None:
        if self.down:
            raise HistoryUnreachable("no answer from db.")

    def record_step(self, **note: Any) -> None:
        """Keep a note."""
        self._answer()
        self.notes.append(note)

    def store_snapshot(self, manifest: Manifest, cluster_settings: Any) -> None:
        """Keep the id."""
        self._answer()
        self.stored.append(manifest.snapshot_id)

    def query(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """The snapshots that are known."""
        self._answer()
        assert name == "snapshot_health"
        return [{"snapshot_id": snapshot_id} for snapshot_id in self.stored]

    @contextmanager
    def lock(self, key: str) -> Iterator[None]:
        """Free, unless the test says that it is busy."""
        self._answer()
        if self.busy:
            raise ClusterBusy(f"{key} is still running.")
        yield

    def execute(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """The snapshots that wait for advice."""
        assert name == "snapshots_without_advice"
        due = datetime.now(tz=UTC) - timedelta(seconds=parameters["older_than_seconds"])
        return [row for row in self.waiting if row["started_at"] < due]


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch) -> History:
    """The history that every task gets."""
    found = History()
    monkeypatch.setattr(runtime, "settings", lambda: load(connections=CLUSTERS))
    monkeypatch.setattr(runtime.wiring, "history", lambda settings: found)
    return found


CLUSTERS = {"clusters": {"eu": {"bootstrap": "a:9092"}, "us": {"bootstrap": "b:9092"}}}


def test_an_error_of_the_engine_is_one_line(history: History) -> None:
    """Airflow gets one line with the fix and no chain of causes; the note says the same."""
    unreachable = ClusterUnreachable("no broker\nof a:9092 answered.", fix="Check it.")
    with pytest.raises(AirflowException) as raised, runtime.running("take_snapshot", cluster="eu"):
        raise unreachable from OSError("refused")
    assert str(raised.value) == "no broker of a:9092 answered. Check it."
    assert (raised.value.__cause__, raised.value.__suppress_context__) == (None, True)
    assert [(n["cluster"], n["outcome"], n["error"]) for n in history.notes] == [
        ("eu", "failed", "no broker of a:9092 answered. Check it.")
    ]


def test_a_step_that_went_well_is_noted(history: History) -> None:
    """The note says when, what, and ok."""
    with runtime.of_snapshot("advise", "eu-20260301T120000Z-0a1b2c"):
        pass
    (note,) = history.notes
    assert (note["cluster"], note["snapshot_id"], note["step"], note["outcome"]) == (
        "eu",
        "eu-20260301T120000Z-0a1b2c",
        "advise",
        "ok",
    )
    assert note["error"] is None
    assert note["started_at"] <= note["finished_at"]


def test_a_fault_of_ours_keeps_its_traceback(history: History) -> None:
    """What is no error of the engine is noted and raised as it is."""
    with pytest.raises(ZeroDivisionError), runtime.running("advise", cluster="eu"):
        _ = 1 / 0
    assert history.notes[0]["error"] == "ZeroDivisionError: division by zero"


def test_a_step_that_takes_too_long_is_noted_as_such(history: History) -> None:
    """Airflow's timeout is told as what it is, and still ends the task as a timeout."""
    with pytest.raises(AirflowTaskTimeout), runtime.running("take_snapshot", cluster="eu"):
        raise AirflowTaskTimeout("Timeout, PID: 1")
    assert [n["error"] for n in history.notes] == [
        "given up after 0 s, the time limit of the task."
    ]


def test_a_history_that_is_down_hides_nothing(history: History) -> None:
    """When the note cannot be written, the error that was to be noted still comes out."""
    history.down = True
    with (
        pytest.raises(AirflowException, match="no broker"),
        runtime.running("x", cluster="eu"),
    ):
        raise ClusterUnreachable("no broker answered.")


def test_what_is_no_snapshot_id_is_told() -> None:
    """A run by hand without a snapshot says what to set."""
    with (
        pytest.raises(AirflowException, match="Trigger the DAG with snapshot_id"),
        runtime.of_snapshot("advise", ""),
    ):
        pass


def test_a_cluster_whose_snapshot_is_under_way_is_skipped_and_late(history: History) -> None:
    """The lock is held: the task is skipped, which is noted as late."""

    history.busy = True
    with pytest.raises(AirflowSkipException):
        runtime.take_snapshot("eu", run="scheduled__1")
    assert [n["error"] for n in history.notes] == ["late: take_snapshot of eu is still running."]


class Cluster:
    """A cluster of which nobody knows what is in it."""

    def close(self) -> None:
        """Nothing to let go of."""


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileLake:
    """The lake that every task gets, in which each snapshot is one table of brokers."""
    found = FileLake(tmp_path)
    monkeypatch.setattr(runtime.wiring, "lake", lambda settings: found)
    monkeypatch.setattr(runtime.wiring, "cluster", lambda settings, name: Cluster())

    def take(cluster: Any, lake: Lake, history: History, *_: Any, facts: dict[str, Any]) -> str:
        number = len(found.snapshots("eu", limit=9))
        snapshot_id = f"eu-20260301T12000{number}Z-0a1b2c"
        tables = {name: schema.empty_table() for name, schema in SNAPSHOT.items()}
        manifest = lake.write("snapshot", snapshot_id, tables, facts)
        history.store_snapshot(manifest, {})
        return snapshot_id

    monkeypatch.setattr(runtime.steps, "take_snapshot", take)
    return found


def test_a_retry_returns_what_its_own_run_has_stored(lake: FileLake, history: History) -> None:
    """The lake had the snapshot, the history was down: the retry notes that one, takes no other."""
    history.down = True
    with pytest.raises(AirflowException, match="no answer from db"):
        runtime.take_snapshot("eu", run="scheduled__1")
    history.down = False
    stored = lake.snapshots("eu", limit=9)
    assert [runtime.take_snapshot("eu", run="scheduled__1")] == stored
    assert lake.snapshots("eu", limit=9) == history.stored == stored


def test_another_run_takes_another_snapshot(lake: FileLake, history: History) -> None:
    """What an earlier run has stored is not taken for this one's."""
    first = runtime.take_snapshot("eu", run="scheduled__1")
    assert runtime.take_snapshot("eu", run="scheduled__2") != first


def test_snapshots_that_the_history_missed_are_noted_by_the_next(
    lake: FileLake, history: History
) -> None:
    """With the history down for a whole run, the next run tells it of both."""
    history.down = True
    with pytest.raises(AirflowException):
        runtime.take_snapshot("eu", run="scheduled__1")
    history.down = False
    runtime.take_snapshot("eu", run="scheduled__2")
    assert sorted(history.stored) == sorted(lake.snapshots("eu", limit=9))


@pytest.mark.parametrize(
    ("configured", "limit", "gone", "seconds"),
    [
        (90, 120, 0, 90),
        (400, 120, 0, 90),
        (400, 120, 20.5, 69),
        (400, 120, 300, 1),
        (40, 120, 0, 40),
        (400, 16, 0, 12),
        (400, None, 0, 400),
    ],
)
def test_a_slow_cluster_is_given_up_before_airflow_ends_the_task(
    configured: float,
    limit: float | None,
    gone: float,
    seconds: float,
    lake: FileLake,
    history: History,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A quarter of the task's limit is left for writing, and what waiting for the lock took is counted."""
    eu = CLUSTERS["clusters"]["eu"] | {"timeout_seconds": configured}
    clusters = {"clusters": {**CLUSTERS["clusters"], "eu": eu}}
    monkeypatch.setattr(runtime, "settings", lambda: load(connections=clusters))
    clock = iter([1000, 1000 + gone])
    monkeypatch.setattr(runtime, "time", SimpleNamespace(monotonic=lambda: next(clock)))
    given: list[Settings] = []
    monkeypatch.setattr(
        runtime.wiring, "cluster", lambda settings, name: given.append(settings) or Cluster()
    )
    task_limit = None if limit is None else timedelta(seconds=limit)
    runtime.take_snapshot("eu", run="scheduled__1", limit=task_limit)
    (settings,) = given
    assert settings.cluster("eu").timeout_seconds == seconds
    assert settings.cluster("us").timeout_seconds == 90


@pytest.fixture
def refused(history: History, monkeypatch: pytest.MonkeyPatch) -> str:
    """The connection of the cluster `us` makes no sense; this is what is wrong with it."""
    connections = {
        name: Connection(conn_id=name, conn_type="kafka", extra=json.dumps(extra))
        for name, extra in {
            "evenkeel_eu": {"bootstrap.servers": "a:9092"},
            "evenkeel_us": {"bootstrap.servers": "b"},
        }.items()
    }
    monkeypatch.setenv("EVENKEEL_CLUSTERS", '{"eu": {}, "us": {}}')
    monkeypatch.setattr(airflow_connections, "_connection", connections.get)
    monkeypatch.setattr(runtime, "settings", airflow_connections.settings)
    with pytest.raises(ConfigError) as told:
        airflow_connections.settings().cluster("us")
    return str(told.value)


def test_a_connection_that_makes_no_sense_leaves_the_other_cluster_whole(
    lake: FileLake, history: History, refused: str
) -> None:
    """Both are listed; the one is read, the other's own task fails and is noted as failed, with exactly its error."""
    assert runtime.list_clusters() == ["eu", "us"]
    taken = runtime.take_snapshot("eu", run="scheduled__1")
    with pytest.raises(AirflowException) as raised:
        runtime.take_snapshot("us", run="scheduled__1", limit=timedelta(seconds=120))
    assert str(raised.value) == refused
    assert lake.snapshots("eu", limit=9) == history.stored == [taken]
    assert [(n["step"], n["cluster"], n["outcome"], n["error"]) for n in history.notes] == [
        ("list_clusters", None, "ok", None),
        ("take_snapshot", "eu", "ok", None),
        ("take_snapshot", "us", "failed", refused),
    ]


def test_a_connection_that_makes_no_sense_is_watched_like_any_cluster(
    history: History, refused: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its failing step opens an incident that quotes the error and stays open while it lasts."""
    now = datetime.now(tz=UTC)
    step = {"cluster": "us", "step": "take_snapshot", "failures": 3, "error": refused}
    step |= {"failing_since": now - timedelta(minutes=20), "last_failed_at": now}
    seen = OutboxHistory()
    seen.watched["steps"] = [step]
    monkeypatch.setattr(OutboxHistory, "record_step", lambda *_, **note: None, raising=False)
    monkeypatch.setattr(runtime.wiring, "history", lambda settings: seen)
    runtime.watch()
    runtime.watch()
    (incident,) = seen.incidents
    assert (incident["cluster"], incident["closed_at"]) == ("us", None)
    assert incident["facts"]["error"] == refused


def test_a_cluster_that_does_not_answer_leaves_the_other_whole(
    lake: FileLake, history: History, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One task fails with its cluster's error, the other's snapshot is stored, in whichever order they run."""

    def connect(settings: Settings, name: str) -> Cluster:
        if name == "us":
            raise ClusterUnreachable("no broker of b:9092 answered.", fix="Check it.")
        return Cluster()

    monkeypatch.setattr(runtime.wiring, "cluster", connect)
    for run in ("scheduled__1", "scheduled__2"):
        with pytest.raises(AirflowException, match="no broker of b:9092"):
            runtime.take_snapshot("us", run=run)
        assert runtime.take_snapshot("eu", run=run) == lake.snapshots("eu", limit=1)[0]
    assert sorted(history.stored) == sorted(lake.snapshots("eu", limit=9))
    assert [n["outcome"] for n in history.notes] == ["failed", "ok"] * 2


class Runs:
    """Airflow's counts of the runs of `advise_assignments`."""

    def __init__(self, *known: str, under_way: int = 0) -> None:
        self.known, self.under_way = known, under_way

    def get_dr_count(
        self,
        dag_id: str,
        *,
        run_ids: Sequence[str] | None = None,
        states: Sequence[str] | None = None,
    ) -> int:
        """As a task instance counts."""
        assert dag_id == "advise_assignments"
        if states:
            return self.under_way
        return sum(run_id in self.known for run_id in run_ids or ())


def waiting(cluster: str, hours: float) -> dict[str, Any]:
    """A snapshot without advice, taken so many hours ago."""
    at = datetime.now(tz=UTC) - timedelta(hours=hours)
    row = {"snapshot_id": f"{cluster}-{hours}", "cluster": cluster}
    return row | {"started_at": at}


def test_snapshots_without_advice_are_run_again_oldest_first(history: History) -> None:
    """Those of all clusters, as the history orders them; neither the very newest nor ancient ones."""
    history.waiting = [waiting("eu", hours) for hours in (25, 3, 1, 0.01)]
    history.waiting.insert(2, waiting("us", 2))
    found = runtime.runs_to_repeat(Runs())
    assert [run["conf"]["snapshot_id"] for run in found] == ["eu-3", "us-2"]
    assert found[0]["trigger_run_id"] == "again__eu-3__1"


def test_nothing_is_run_again_while_runs_are_under_way(history: History) -> None:
    """Runs that wait for their turn may be the very ones."""
    history.waiting = [waiting("eu", 3)]
    assert runtime.runs_to_repeat(Runs(under_way=1)) == []


def test_a_snapshot_is_run_again_a_few_times_only(history: History) -> None:
    """The next number is taken; after the third time a person has to look."""
    history.waiting = [waiting("eu", 3), waiting("us", 2)]
    tried = [f"again__eu-3__{n}" for n in (1, 2, 3)]
    found = runtime.runs_to_repeat(Runs(*tried, "again__us-2__1"))
    assert [run["trigger_run_id"] for run in found] == ["again__us-2__2"]


def test_not_all_are_run_again_at_once(history: History) -> None:
    """A long outage is made up for by and by."""
    history.waiting = [waiting("eu", hours) for hours in range(20, 1, -1)]
    assert len(runtime.runs_to_repeat(Runs())) == runtime.REPEATED_AT_ONCE
