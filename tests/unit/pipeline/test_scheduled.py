"""What a schedule adds to the steps: one at a time, in time, tried again, and made up for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import count
from pathlib import Path

import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import ClusterSettings, Settings
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.errors import (
    ClusterBusy,
    ClusterChanged,
    ClusterUnreachable,
    EvenkeelError,
    HistoryError,
    HistoryUnreachable,
)
from evenkeel.engine.pipeline import snapshot
from evenkeel.engine.ports import WaitingSnapshot
from evenkeel.engine.snapshots.groups_with_past import lookback_ids
from tests.helpers.memory import MemoryCluster, MemoryHistory
from tests.helpers.outbox import NOW, take
from tests.helpers.snapshots import make_snapshot, topic

SETTINGS = Settings(
    clusters={name: ClusterSettings(bootstrap=f"{name}:9092") for name in ("eu", "us")}
)


@pytest.fixture
def lake(tmp_path: Path) -> FileLake:
    """An empty lake."""
    return FileLake(tmp_path)


@pytest.fixture
def history() -> MemoryHistory:
    """An empty history."""
    return MemoryHistory(clock=lambda: NOW)


@pytest.fixture
def cluster() -> MemoryCluster:
    """A cluster with one topic."""
    return MemoryCluster(make_snapshot(topics=[topic("orders", 1)], groups=[]))


def taken(
    lake: FileLake, history: MemoryHistory, cluster: MemoryCluster, run: str = "scheduled__1"
) -> str:
    """A snapshot of the cluster `eu`, taken without a time limit."""
    return snapshot.take_scheduled_snapshot(
        lambda settings: cluster, lake, history, SETTINGS, "eu", run=run, since=0.0, limit=None
    )


def test_a_clock_that_went_back_is_noted_with_the_snapshot(
    lake: FileLake,
    history: MemoryHistory,
    cluster: MemoryCluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The older snapshot looks newer; how far ahead it is stands in the notes of the one taken now."""
    ids = []
    for now in (NOW, NOW - timedelta(hours=2)):
        monkeypatch.setattr(snapshot, "utc_now", lambda now=now: now)
        ids.append(taken(lake, history, cluster, f"scheduled__{now}"))
    first, second = ids
    notes = [lake.manifest("snapshot", each).facts["notes"] for each in (first, second)]
    told = f"the clock of this machine went back: snapshot {first} is 2 h ahead"
    assert notes == [[], [f"{told}, so rates and time lag may be wrong"]]


@pytest.mark.parametrize(("run", "count"), [("scheduled__1", 1), ("scheduled__2", 2)])
def test_what_the_history_missed_is_noted_by_a_retry_and_by_the_next_run(
    lake: FileLake, history: MemoryHistory, cluster: MemoryCluster, run: str, count: int
) -> None:
    """The lake had the snapshot: a retry notes the one that its own run has stored, another run takes another."""
    history.down = True
    with pytest.raises(HistoryUnreachable):
        taken(lake, history, cluster)
    history.down = False
    found = taken(lake, history, cluster, run)
    stored = lake.snapshots("eu", limit=9)
    assert (len(stored), lake.manifest("snapshot", found).facts["run"]) == (count, run)
    assert {*history.tables.snapshots} == {*stored}
    assert {s.config_version for s in history.tables.snapshots.values()} == {SETTINGS.version}


def test_a_long_outage_leaves_no_gap(
    lake: FileLake, history: MemoryHistory, cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All snapshots of an outage come into the history, also those on which no step looks back any more."""
    history.down = True
    for number in range(SETTINGS.lookback + 3):
        now = NOW + number * timedelta(minutes=5)
        monkeypatch.setattr(snapshot, "utc_now", lambda now=now: now)
        with pytest.raises(HistoryUnreachable):
            taken(lake, history, cluster, f"scheduled__{number}")
    history.down = False
    taken(lake, history, cluster, "scheduled__again")
    assert {*history.tables.snapshots} == {*lake.snapshots("eu", limit=99)}


def test_a_retry_after_the_clock_leapt_back_takes_no_second_snapshot(
    lake: FileLake, history: MemoryHistory, cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """While the clock was ahead more were taken than a retry looks at: it finds its own all the same."""
    for number in range(5):
        ahead = NOW + timedelta(hours=1, minutes=5 * number)
        monkeypatch.setattr(snapshot, "utc_now", lambda ahead=ahead: ahead)
        taken(lake, history, cluster, f"scheduled__{number}")
    monkeypatch.setattr(snapshot, "utc_now", lambda: NOW)
    first = taken(lake, history, cluster, "scheduled__back")
    assert taken(lake, history, cluster, "scheduled__back") == first


def test_a_clock_that_leaps_during_a_reading_leaves_no_snapshot(
    lake: FileLake, history: MemoryHistory, cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its id would be of one clock and its moments of the other; a retry takes it by the clock as it is then."""
    now = [NOW]
    monkeypatch.setattr(snapshot, "utc_now", lambda: now[0])

    class Leaping(MemoryCluster):
        def take_snapshot(self, snapshot_id: str) -> ClusterSnapshot:
            now[0] -= timedelta(hours=2)
            return super().take_snapshot(snapshot_id)

    with pytest.raises(EvenkeelError, match="went 2 h back while cluster 'eu' was read"):
        taken(lake, history, Leaping(cluster.snapshot))
    assert lake.snapshots("eu") == []
    assert taken(lake, history, cluster) == lake.snapshots("eu")[0]


def test_another_cluster_under_the_name_is_over_with_its_address(
    lake: FileLake, history: MemoryHistory, cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was read of the other stays out of the history, and keeps nothing of the right one from it."""
    seconds = count()
    monkeypatch.setattr(snapshot, "utc_now", lambda: NOW + timedelta(seconds=next(seconds)))
    taken(lake, history, cluster)
    other = MemoryCluster(replace(cluster.snapshot, kafka_cluster_id="kafka-of-another"))
    for _ in range(2):
        with pytest.raises(ClusterChanged):
            taken(lake, history, other, "scheduled__2")
    newest = taken(lake, history, cluster, "scheduled__3")
    assert newest in history.tables.snapshots
    assert len(history.tables.snapshots) == 2
    assert len(lookback_ids(lake, SETTINGS, newest)) == 2


def test_a_damaged_manifest_costs_no_snapshot(
    lake: FileLake,
    history: MemoryHistory,
    cluster: MemoryCluster,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The next run takes its snapshot, and says in a line what is damaged."""
    damaged = taken(lake, history, cluster)
    history.tables.snapshots.clear()
    (manifest,) = (tmp_path / "_manifests").rglob(f"{damaged}.json")
    manifest.write_text("{")
    assert taken(lake, history, cluster, "scheduled__2") in history.tables.snapshots
    told = [record.getMessage() for record in caplog.records if damaged in record.getMessage()]
    assert told
    assert all("is damaged" in line and "\n" not in line for line in told)


def test_a_history_without_locks_costs_no_snapshot(
    lake: FileLake, history: MemoryHistory, cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that was never migrated, say: reading cannot be repeated."""

    def fail(key: str) -> None:
        raise HistoryError("not migrated.")

    monkeypatch.setattr(history, "lock", fail)
    assert taken(lake, history, cluster) in lake.snapshots("eu")


def test_a_cluster_is_closed_however_its_reading_ends(
    lake: FileLake, history: MemoryHistory, cluster: MemoryCluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connections are let go of after a reading that failed, too, and so is the lock."""

    def fail(snapshot_id: str) -> None:
        raise ClusterUnreachable

    monkeypatch.setattr(cluster, "take_snapshot", fail)
    with pytest.raises(ClusterUnreachable):
        taken(lake, history, cluster)
    assert cluster.closed
    assert history.tables.locks == set()


def test_a_cluster_whose_snapshot_is_under_way_is_left_alone(
    lake: FileLake, history: MemoryHistory, cluster: MemoryCluster
) -> None:
    """While somebody holds its lock nothing is read; another cluster is free."""
    with history.lock("take_snapshot of eu"), pytest.raises(ClusterBusy, match="of eu is still"):
        taken(lake, history, cluster)
    assert lake.snapshots("eu") == []
    with history.lock("take_snapshot of us"):
        assert taken(lake, history, cluster) in lake.snapshots("eu")


@pytest.mark.parametrize(
    ("configured", "limit", "gone", "seconds"),
    [
        (90, 120, 0, 90),
        (400, 120, 0, 90),
        (400, 120, 20.5, 69),
        (400, 120, 300, 1),
        (40, 120, 0, 40),
        (400, 16, 0, 12),
    ],
)
def test_a_slow_cluster_is_given_up_before_its_task_is_ended(
    configured: float, limit: float, gone: float, seconds: float
) -> None:
    """A quarter of the task's limit is left for writing, and what is gone of it is counted."""
    eu = ClusterSettings(bootstrap="eu:9092", timeout_seconds=configured)
    settings = SETTINGS.model_copy(update={"clusters": {**SETTINGS.clusters, "eu": eu}})
    found = snapshot.in_time(settings, "eu", timedelta(seconds=limit), gone)
    assert found.cluster("eu").timeout_seconds == seconds
    assert found.cluster("us").timeout_seconds == 90


def test_what_is_gone_of_the_limit_is_measured(
    lake: FileLake,
    history: MemoryHistory,
    cluster: MemoryCluster,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The limit counts from the beginning of the task; without one the cluster has its own time."""
    monkeypatch.setattr(snapshot.time, "monotonic", lambda: 1020.5)
    given: list[Settings] = []
    for number, limit in enumerate((timedelta(seconds=120), None)):
        snapshot.take_scheduled_snapshot(
            lambda settings: given.append(settings) or cluster,
            lake,
            history,
            SETTINGS,
            "eu",
            run=f"scheduled__{number}",
            since=1000.0,
            limit=limit,
        )
    assert [settings.cluster("eu").timeout_seconds for settings in given] == [69, 90]


def test_late_for_advice_are_the_newest_of_the_last_day(history: MemoryHistory) -> None:
    """One of each cluster, oldest first; neither fresh ones, nor ancient ones, nor those with advice."""
    for name, hours in (("eu-1", 1), ("us-2", 2), ("eu-25", 25), ("eu-3", 3), ("eu-0", 0.01)):
        at = NOW - timedelta(hours=hours)
        take(history, name, cluster=name[:2], at=at, advised=False)
    take(history, "eu-2", cluster="eu", at=NOW - timedelta(hours=2.5))
    found = snapshot.late_for_advice(history, SETTINGS, NOW)
    assert [one.snapshot_id for one in found] == ["us-2", "eu-1"]


def counted(*known: str):
    """How many of some run ids are known."""

    def count(run_ids: Sequence[str]) -> int:
        return sum(run_id in known for run_id in run_ids)

    return count


def late(name: str, claimed_by: str | None = None) -> WaitingSnapshot:
    """A snapshot that is late for its advice."""
    return WaitingSnapshot(
        snapshot_id=name, cluster=name[:2], started_at=NOW, claimed_by=claimed_by
    )


def ended(run_id: str) -> bool:
    """No run is under way."""
    return False


def test_a_snapshot_is_run_again_a_few_times_only() -> None:
    """The next number is taken; after the third time a person has to look."""
    tried = [f"again__eu-3__{n}" for n in (1, 2, 3)]
    found = snapshot.repeats(
        [late("eu-3"), late("us-2", "failed")], counted(*tried, "again__us-2__1"), ended
    )
    assert [(one.snapshot_id, one.run_id) for one in found] == [("us-2", "again__us-2__2")]


def test_what_a_run_works_on_or_waits_for_is_not_run_again() -> None:
    """Neither the run that has it, nor its last repetition; runs of others make no difference."""
    waiting = [late("eu-1", "working"), late("us-1", "failed"), late("ap-1"), late("af-1")]
    active = {"working", "another", "again__ap-1__1"}
    found = snapshot.repeats(waiting, counted("again__ap-1__1"), active.__contains__)
    assert [one.run_id for one in found] == ["again__us-1__1", "again__af-1__1"]
