"""What the tasks do around the steps: one line per error, a note of each run, what is run again."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
from evenkeel.engine import pipeline
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Settings, load
from evenkeel.engine.model.errors import ClusterUnreachable, ConfigError
from tests.helpers.memory import MemoryCluster, MemoryHistory
from tests.helpers.outbox import take
from tests.helpers.pages import Trouble, page_server
from tests.helpers.snapshots import group, make_snapshot, store, topic

pytestmark = pytest.mark.airflow


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch) -> MemoryHistory:
    """The history that every task gets."""
    found = MemoryHistory()
    monkeypatch.setattr(runtime, "settings", lambda: load(connections=CLUSTERS))
    monkeypatch.setattr(runtime.wiring, "pipeline_history", lambda settings: found)
    return found


CLUSTERS = {"clusters": {"eu": {"bootstrap": "a:9092"}, "us": {"bootstrap": "b:9092"}}}


def test_an_error_of_the_engine_is_one_line(history: MemoryHistory) -> None:
    """Airflow gets one line with the fix and no chain of causes; the note says the same."""
    unreachable = ClusterUnreachable("no broker\nof a:9092 answered.", fix="Check it.")
    with pytest.raises(AirflowException) as raised, runtime.running("take_snapshot", cluster="eu"):
        raise unreachable from OSError("refused")
    assert str(raised.value) == "no broker of a:9092 answered. Check it."
    assert (raised.value.__cause__, raised.value.__suppress_context__) == (None, True)
    assert [(n.cluster, n.outcome, n.error) for n in history.tables.steps] == [
        ("eu", "failed", "no broker of a:9092 answered. Check it.")
    ]


def test_a_step_that_went_well_is_noted(history: MemoryHistory) -> None:
    """The note says when, what, and ok."""
    with runtime.of_snapshot("advise", "eu-20260301T120000Z-0a1b2c"):
        pass
    (note,) = history.tables.steps
    assert (note.cluster, note.snapshot_id, note.step, note.outcome) == (
        "eu",
        "eu-20260301T120000Z-0a1b2c",
        "advise",
        "ok",
    )
    assert note.error is None
    assert note.started_at <= note.finished_at


@pytest.mark.parametrize("told", [True, False])
def test_tries_of_a_run_have_one_place(
    history: MemoryHistory, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    """Also where Airflow is not told its own address: else two tries of one run were taken for two runs."""
    path = "/dags/snapshot_offsets/runs/r1/tasks/take_snapshot/mapped/0"
    monkeypatch.setattr(runtime.conf, "has_option", lambda *key: told)
    for number in (1, 2):
        task = SimpleNamespace(log_url=f"http://airflow:8080{path}?try_number={number}")
        monkeypatch.setattr(runtime, "get_current_context", lambda task=task: {"ti": task})
        with pytest.raises(AirflowException), runtime.running("take_snapshot", cluster="demo"):
            raise ClusterUnreachable("no broker answered.")
    assert {run.link for run in history.tables.steps} == {("http://airflow:8080" * told) + path}
    assert (runtime.link() is None) is not told


def test_a_fault_of_ours_keeps_its_traceback(
    history: MemoryHistory, caplog: pytest.LogCaptureFixture
) -> None:
    """It is logged and noted with names as text, and Airflow gets one line."""
    with pytest.raises(AirflowException) as raised, runtime.running("advise", cluster="eu"):
        raise ZeroDivisionError("of a\x1b[31m\nFATAL")
    assert str(raised.value) == "ZeroDivisionError: of a\\x1b[31m FATAL"
    assert raised.value.__suppress_context__
    assert history.tables.steps[0].error == str(raised.value)
    assert "\nZeroDivisionError: of a\\x1b[31m\n  | FATAL" in caplog.text
    assert "in test_a_fault_of_ours" in caplog.text


def test_what_airflow_raises_is_raised_as_it_is(history: MemoryHistory) -> None:
    """A skip stays a skip."""
    with pytest.raises(AirflowSkipException), runtime.running("advise", cluster="eu"):
        raise AirflowSkipException("Rejected.")


def test_a_step_that_takes_too_long_is_noted_as_such(history: MemoryHistory) -> None:
    """Airflow's timeout is told as what it is, and still ends the task as a timeout."""
    with pytest.raises(AirflowTaskTimeout), runtime.running("take_snapshot", cluster="eu"):
        raise AirflowTaskTimeout("Timeout, PID: 1")
    assert [n.error for n in history.tables.steps] == [
        "stopped after 0 s, the time limit of the task."
    ]


@pytest.fixture
def measured(history: MemoryHistory, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Any:
    """Puts the metrics of a snapshot into the lake of the tasks, made by some configuration."""
    lake = FileLake(tmp_path / "lake")
    monkeypatch.setattr(runtime.wiring, "lake", lambda settings: lake)
    (only,) = store(lake, make_snapshot(topics=[topic("t")], groups=[group("g")]))

    def made(settings: Settings, pattern: str = "*") -> None:
        tables = pipeline.compute_metrics(lake, settings, only)
        lake.write("metrics", only, tables, pipeline.made_by(settings, pattern))

    return SimpleNamespace(id=only, made=made)


RESULTS = ("metrics", "candidates")
NO_METRICS = [("compute_metrics", "failed", "no Java.")]
NO_CANDIDATES = [("compute_metrics", "ok", None), ("propose_candidates", "failed", "no Java.")]


@pytest.mark.parametrize(
    ("configured", "pattern", "notes"),
    [
        ({}, "*", NO_CANDIDATES),
        ({"lookback": 5}, "*", NO_METRICS),
        ({}, "g*", NO_METRICS),
        (None, "*", NO_METRICS),
    ],
)
def test_of_two_steps_in_one_process_the_one_that_failed_is_noted(
    history: MemoryHistory, measured: Any, configured: Any, pattern: str, notes: list[Any]
) -> None:
    """Metrics that are in the lake are done; those of another configuration, or of some groups, are not these."""
    if configured is not None:
        measured.made(load(connections=CLUSTERS).model_copy(update=configured), pattern)
    with (
        pytest.raises(AirflowException, match="no Java"),
        runtime.computing(measured.id, "*"),
    ):
        raise ConfigError("no Java.")
    assert [(n.step, n.outcome, n.error) for n in history.tables.steps] == notes
    assert all(n.started_at <= n.finished_at for n in history.tables.steps)


def test_both_steps_of_a_process_that_ends_well_are_noted(
    history: MemoryHistory, measured: Any
) -> None:
    """The second begins where the first ended; metrics of a try before are noted by this one, too."""
    measured.made(load(connections=CLUSTERS))
    with runtime.computing(measured.id, "*"):
        pass
    first, second = history.tables.steps
    assert [first.step, second.step] == ["compute_metrics", "propose_candidates"]
    assert [first.outcome, second.outcome] == ["ok", "ok"]
    assert first.started_at == first.finished_at == second.started_at <= second.finished_at


@pytest.mark.parametrize(("bound", "computed"), [(1, True), (0, False)])
def test_a_snapshot_up_to_the_bound_is_computed_in_the_task(
    measured: Any, bound: int, computed: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """One above is left to Spark; the log says which, and the setting."""
    configured = load(connections=CLUSTERS).model_copy(update={"spark_above": bound})
    ports = runtime.Ports(configured)
    caplog.set_level("INFO")
    assert runtime.compute_small(ports, measured.id, "*", []) is computed
    made = [pipeline.is_made(ports.lake, configured, s, measured.id) for s in RESULTS]
    assert made == [computed] * 2
    where = "in this task" if computed else "with Spark"
    assert f"a snapshot of size 1 is computed {where} (spark_above = {bound})" in caplog.text


def test_a_history_that_is_down_hides_nothing(history: MemoryHistory) -> None:
    """When the note cannot be written, the error that was to be noted still comes out."""
    history.down = True
    with (
        pytest.raises(AirflowException, match="no broker"),
        runtime.running("x", cluster="eu"),
    ):
        raise ClusterUnreachable("no broker answered.")


@pytest.mark.parametrize("handed_on", ["", None, {"snapshot_id": "eu"}])
def test_what_is_no_snapshot_id_is_told(handed_on: Any) -> None:
    """A run by hand without a snapshot says what to set, and so does one whose XCom is gone or another version's."""
    with (
        pytest.raises(AirflowException, match="Trigger the DAG with snapshot_id"),
        runtime.of_snapshot("advise", handed_on),
    ):
        pass


def test_a_cluster_whose_snapshot_is_under_way_is_skipped_and_late(history: MemoryHistory) -> None:
    """The lock is held: the task is skipped, which is noted as late."""

    history.tables.locks.add("take_snapshot of eu")
    with pytest.raises(AirflowSkipException):
        runtime.take_snapshot("eu", run="scheduled__1")
    assert [(n.outcome, n.error) for n in history.tables.steps] == [
        ("skipped", "take_snapshot of eu is still running. Let it finish.")
    ]


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FileLake:
    """The lake that every task gets, for snapshots of a cluster with one topic."""
    found = FileLake(tmp_path)
    read = make_snapshot(topics=[topic("orders", 1)], groups=[])
    monkeypatch.setattr(runtime.wiring, "lake", lambda settings: found)
    monkeypatch.setattr(runtime.wiring, "cluster", lambda settings, name: MemoryCluster(read))
    return found


def test_a_retry_finds_what_its_run_has_stored(lake: FileLake, history: MemoryHistory) -> None:
    """The lake had the snapshot, the history was down: the retry notes that one, takes no other."""
    history.down = True
    with pytest.raises(AirflowException, match="no answer from db"):
        runtime.take_snapshot("eu", run="scheduled__1")
    history.down = False
    stored = lake.snapshots("eu", limit=9)
    assert [runtime.take_snapshot("eu", run="scheduled__1")] == stored
    assert lake.snapshots("eu", limit=9) == [*history.tables.snapshots] == stored


def test_the_time_limit_of_the_task_reaches_the_cluster(
    lake: FileLake, history: MemoryHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What Airflow gives the task in all, the cluster is not given in full."""
    connect = runtime.wiring.cluster
    given: list[Settings] = []
    monkeypatch.setattr(runtime.wiring, "cluster", lambda *of: given.append(of[0]) or connect(*of))
    runtime.take_snapshot("eu", run="scheduled__1", limit=timedelta(seconds=8))
    assert 1 <= given[0].cluster("eu").timeout_seconds <= 6


@pytest.fixture
def refused(history: MemoryHistory, monkeypatch: pytest.MonkeyPatch) -> str:
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
    lake: FileLake, history: MemoryHistory, refused: str
) -> None:
    """Both are listed; the one is read, the other's own task fails and is noted as failed, with exactly its error."""
    assert runtime.list_clusters() == ["eu", "us"]
    taken = runtime.take_snapshot("eu", run="scheduled__1")
    with pytest.raises(AirflowException) as raised:
        runtime.take_snapshot("us", run="scheduled__1", limit=timedelta(seconds=120))
    assert str(raised.value) == refused
    assert lake.snapshots("eu", limit=9) == [*history.tables.snapshots] == [taken]
    assert [(n.step, n.cluster, n.outcome, n.error) for n in history.tables.steps] == [
        ("list_clusters", None, "ok", None),
        ("take_snapshot", "eu", "ok", None),
        ("take_snapshot", "us", "failed", refused),
    ]


def test_a_connection_that_makes_no_sense_is_watched_like_any_cluster(
    lake: FileLake, history: MemoryHistory, refused: str
) -> None:
    """Its failing step opens an incident that quotes the error and stays open while it lasts."""
    for run in ("scheduled__1", "scheduled__2"):
        with pytest.raises(AirflowException):
            runtime.take_snapshot("us", run=run, limit=timedelta(seconds=9))
    runtime.watch()
    runtime.watch()
    (incident,) = history.tables.incidents
    assert (incident.cluster, incident.closed_at) == ("us", None)
    assert incident.facts["error"] == refused


def test_a_cluster_that_does_not_answer_leaves_the_other_whole(
    lake: FileLake, history: MemoryHistory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One task fails with its cluster's error, the other's snapshot is stored, in whichever order they run."""

    answering = runtime.wiring.cluster

    def connect(settings: Settings, name: str) -> MemoryCluster:
        if name == "us":
            raise ClusterUnreachable("no broker of b:9092 answered.", fix="Check it.")
        return answering(settings, name)

    monkeypatch.setattr(runtime.wiring, "cluster", connect)
    for run in ("scheduled__1", "scheduled__2"):
        with pytest.raises(AirflowException, match="no broker of b:9092"):
            runtime.take_snapshot("us", run=run)
        assert runtime.take_snapshot("eu", run=run) in lake.snapshots("eu", limit=9)
    assert len(history.tables.snapshots) == len(lake.snapshots("eu", limit=9)) == 2
    assert [n.outcome for n in history.tables.steps] == ["failed", "ok"] * 2


class Runs:
    """Airflow's counts of the runs of `advise_assignments`."""

    def __init__(self, *known: str, under_way: Sequence[str] = ()) -> None:
        self.known, self.under_way = (*known, *under_way), under_way

    def get_dr_count(
        self,
        dag_id: str,
        *,
        run_ids: Sequence[str] | None = None,
        states: Sequence[str] | None = None,
    ) -> int:
        """As a task instance counts."""
        assert dag_id == "advise_assignments"
        of = self.under_way if states else self.known
        return sum(run_id in of for run_id in run_ids or ())


def test_the_newest_snapshot_without_advice_is_run_again(history: MemoryHistory) -> None:
    """It is an argument of the trigger: the run's id, and the snapshot; its run takes the older one along."""
    now = datetime.now(tz=UTC)
    for hours in (1, 3):
        take(history, f"eu-{hours}", at=now - timedelta(hours=hours), advised=False)
    found = runtime.runs_to_repeat(Runs("again__eu-1__1"))
    assert found == [{"trigger_run_id": "again__eu-1__2", "conf": {"snapshot_id": "eu-1"}}]


def test_a_failed_run_is_repeated_although_others_wait(history: MemoryHistory) -> None:
    """Only one whose own run is under way is left alone."""
    take(history, "eu-3", at=datetime.now(tz=UTC) - timedelta(hours=3), advised=False)
    history.take_up_by_hand("eu-3", "one")
    assert runtime.runs_to_repeat(Runs(under_way=["one", "another"])) == []
    found = runtime.runs_to_repeat(Runs("one", under_way=["another"]))
    assert [each["trigger_run_id"] for each in found] == ["again__eu-3__1"]


def test_a_good_run_is_heard_by_who_misses_us(
    history: MemoryHistory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Its cluster's own address; one that does not answer is a warning, and the run is as good as it was."""
    with page_server() as server:
        told = CLUSTERS | {"heartbeat_url": f"{server.url}/a-secret-uuid-{{cluster}}"}
        monkeypatch.setattr(runtime, "settings", lambda: load(connections=told))
        runtime.heartbeat("eu")
        server.pages.troubles.append(Trouble(status=404))
        runtime.heartbeat("us")
        assert [path for _, path in server.pages.calls] == [
            "/a-secret-uuid-eu",
            "/a-secret-uuid-us",
        ]
    assert [note.outcome for note in history.tables.steps] == ["ok", "ok"]
    assert "the heartbeat of us" in caplog.text
    assert "a-secret-uuid" not in caplog.text


def test_without_an_address_nobody_is_called(history: MemoryHistory) -> None:
    """As long as none is configured."""
    runtime.heartbeat("eu")
    assert [note.outcome for note in history.tables.steps] == ["ok"]
