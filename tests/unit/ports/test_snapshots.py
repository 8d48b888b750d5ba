"""What the port `SnapshotHistory` promises, of the fake and of Postgres."""

from __future__ import annotations

import functools
from dataclasses import replace
from datetime import timedelta

import pytest

from evenkeel.engine.model.errors import ClusterChanged
from evenkeel.engine.model.message import AlertMessage, MessageKind, Severity
from evenkeel.engine.ports import History, LeftBehind, Posting, WaitingSnapshot
from evenkeel.engine.records import Outcome, StepRun
from tests.helpers import incidents
from tests.helpers.history_rows import FIRST, advice, checks, fill, manifest, validation

pytest_plugins = ("tests.helpers.postgres_fixtures",)


LONG = timedelta(seconds=10**9)


def test_a_snapshot_is_known_once_it_is_stored(history: History) -> None:
    """What is missing comes back in the order in which it was asked for; stored twice it is one snapshot."""
    first, second, third = (manifest(number) for number in range(3))
    asked = [third.snapshot_id, first.snapshot_id, second.snapshot_id]
    assert history.missing_snapshots(asked) == asked
    for _ in range(2):
        history.store_snapshot(first, "c0ffee")
    assert history.missing_snapshots(asked) == [third.snapshot_id, second.snapshot_id]
    assert history.missing_snapshots([]) == []
    assert len(history.snapshots_without_advice(timedelta(0))) == 1


def test_another_kafka_cluster_under_the_same_name_is_refused(history: History) -> None:
    """The error names both, and nothing is written; an id that is not said does not count."""
    history.store_snapshot(manifest(0))
    other, silent = manifest(1, kafka="kafka-2"), manifest(2, kafka=None)
    with pytest.raises(
        ClusterChanged, match=r"'demo' was Kafka cluster kafka-1, now kafka-2 answers"
    ):
        history.store_snapshot(other)
    history.store_snapshot(silent)
    with pytest.raises(ClusterChanged, match="kafka-2"):
        history.store_snapshot(other)
    asked = [other.snapshot_id, silent.snapshot_id]
    assert history.missing_snapshots(asked) == [other.snapshot_id]
    history.store_snapshot(manifest(0, "eu", kafka=None))
    history.store_snapshot(manifest(1, "eu", kafka="kafka-9"))
    with pytest.raises(ClusterChanged, match="kafka-9"):
        history.store_snapshot(manifest(2, "eu", kafka="kafka-8"))


def test_snapshots_wait_for_advice_until_they_have_it_or_are_rejected(history: History) -> None:
    """Those of all clusters, oldest first; neither fresh ones, nor advised, nor rejected ones."""
    fill(history, 0)
    late, later, rejected, other = manifest(2), manifest(1), manifest(3), manifest(4, "eu")
    for taken in (late, later, rejected, other):
        history.store_snapshot(taken)
    history.store_validation(late.snapshot_id, "snapshot", checks(validation("a", success=False)))
    history.store_validation(
        rejected.snapshot_id, "snapshot", checks(validation(None, success=False))
    )
    assert history.snapshots_without_advice(timedelta(minutes=2)) == [
        WaitingSnapshot(
            snapshot_id=taken.snapshot_id,
            cluster=taken.cluster,
            started_at=FIRST + timedelta(minutes=number),
        )
        for taken, number in ((later, 1), (late, 2), (other, 4))
    ]
    assert history.snapshots_without_advice(LONG) == []
    history.store_advice(late.snapshot_id, [])
    assert len(history.snapshots_without_advice(timedelta(0))) == 2


def test_storing_a_snapshot_again_keeps_what_was_noted(history: History) -> None:
    """A retry of the first step undoes neither advice nor verdict."""
    advised = fill(history, 0)
    rejected = manifest(1)
    history.store_snapshot(rejected)
    history.store_validation(
        rejected.snapshot_id, "snapshot", checks(validation(None, success=False))
    )
    history.store_snapshot(replace(manifest(0), snapshot_id=advised))
    history.store_snapshot(rejected)
    assert history.snapshots_without_advice(timedelta(0)) == []
    assert not history.store_advice(advised, [advice(advised, "orders-app")])


MESSAGE = AlertMessage(
    kind=MessageKind.ADVICE, severity=Severity.INFO, at=FIRST, title="demo", summary="news"
)


def test_what_is_old_goes_with_all_that_belongs_to_it(history: History) -> None:
    """Snapshots, their advice and alerts, runs of steps, incidents that are over; open incidents stay."""
    old, new = fill(history, 0), fill(history, 10)
    for key, snapshot_id in (("old", old), ("new", new), ("of none", None)):
        posting = Posting(key=key, channel="#kafka", message=MESSAGE)
        assert history.enqueue_alert(posting, cluster="demo", snapshot_id=snapshot_id)
    over, still = incidents.course("over"), incidents.course("open")
    store = functools.partial(history.store_watch, incidents.CLUSTER, postings=[])
    assert store(
        "s0", FIRST, [over, still], [incidents.row(over), incidents.row(still)], before=None
    )
    assert store("s1", FIRST + timedelta(minutes=1), [still], [incidents.row(still)], before="s0")
    history.record_step(
        StepRun(
            cluster="demo",
            snapshot_id=old,
            step="advise",
            started_at=FIRST,
            finished_at=FIRST,
            outcome=Outcome.FAILED,
            error="x",
        )
    )
    assert history.expire(FIRST + timedelta(minutes=5)) == [old]
    assert history.missing_snapshots([old, new]) == [old]
    assert history.previous_advice(new) == []
    assert [alert.key for alert in history.pending_alerts()] == ["new", "of none"]
    (facts,) = history.cluster_facts(["demo"])
    assert (facts.watched_since, facts.failing) == (None, ())
    assert history.expire(FIRST) == []


def taken(history: History, *numbers: int, cluster: str = "demo") -> list[str]:
    """Snapshots of these minutes, stored and nothing more; their ids."""
    found = [manifest(number, cluster) for number in numbers]
    for each in found:
        history.store_snapshot(each)
    return [each.snapshot_id for each in found]


AHEAD = 60 * 24 * 365 * 70
"""A snapshot of this minute was taken by a clock that was ahead, whenever this runs."""


def test_a_snapshot_from_the_future_keeps_no_other_from_its_advice(history: History) -> None:
    """It was advised while the clock was ahead: those taken by the right one are taken up and told all the same."""
    ahead, older = taken(history, AHEAD, 0)
    assert history.take_up("demo", "run ahead", passed=[older]) == ahead
    history.store_advice(ahead, [advice(ahead, "orders-app")])
    assert history.take_up("demo", "run 1") == older
    history.store_advice(older, [advice(older, "orders-app")])
    (newest,) = taken(history, 1)
    assert history.take_up("demo", "run 2") == newest
    told = history.advised_snapshot(older)
    assert told is not None
    assert told.newest_advised_id == older
    assert told.newest_started_at == FIRST + timedelta(minutes=1)


def waiting(history: History) -> list[tuple[str, str | None]]:
    """The snapshots without advice, and which run is at them."""
    found = history.snapshots_without_advice(timedelta(0))
    return [(each.snapshot_id, each.claimed_by) for each in found]


def reject(history: History, snapshot_id: str) -> None:
    """Let validation reject it as a whole."""
    history.store_validation(snapshot_id, "snapshot", checks(validation(None, success=False)))


def test_one_run_takes_the_newest_and_all_others_are_overtaken(history: History) -> None:
    """Those of its cluster; a second run finds nothing to do, the first gets the same again."""
    ids = taken(history, *range(10))
    (other,) = taken(history, 3, cluster="eu")
    assert history.take_up("demo", "run-1") == ids[-1]
    assert waiting(history) == [(other, None), (ids[-1], "run-1")]
    assert history.take_up("demo", "run-2") is None
    assert history.take_up("demo", "run-1") == ids[-1]
    assert history.left_behind(ids[-1]) == [
        LeftBehind(snapshot_id=one, validated=False) for one in reversed(ids[:-1])
    ]
    assert history.left_behind(ids[-1], limit=2) == history.left_behind(ids[-1])[:2]
    assert history.take_up("eu", "run-3") == other


def test_what_comes_while_a_run_is_at_work_is_the_next_runs(history: History) -> None:
    """It takes the newest then; the first run's own, with advice by now, stays advised."""
    first = taken(history, 0, 1)
    history.take_up("demo", "run-1")
    second = taken(history, 2, 3)
    history.store_advice(first[1], [])
    assert history.take_up("demo", "run-2") == second[1]
    assert waiting(history) == [(second[1], "run-2")]
    assert [one.snapshot_id for one in history.left_behind(second[1])] == [second[0], first[0]]


def test_a_run_that_failed_is_superseded_by_the_next(history: History) -> None:
    """Its snapshot is among those that wait, whoever began to work on it."""
    failed, newer = taken(history, 0), taken(history, 1, 2)
    assert history.take_up("demo", "run-0") is not None
    assert history.take_up("demo", "run-1") is None
    (newest,) = taken(history, 3)
    assert history.take_up("demo", "run-2") == newest
    assert waiting(history) == [(newest, "run-2")]
    behind = {one.snapshot_id for one in history.left_behind(newest)}
    assert behind == {*failed, *newer}


def test_a_failed_run_is_repeated_by_another(history: History) -> None:
    """Only the snapshot that is repeated is taken from the run that had it."""
    (failed,) = taken(history, 0)
    history.take_up("demo", "run-0")
    assert history.take_up("demo", "again-1", again="another") is None
    assert history.take_up("demo", "again-1", again=failed) == failed
    assert waiting(history) == [(failed, "again-1")]


def test_what_a_rejected_snapshot_overtook_waits_again(history: History) -> None:
    """The run takes the newest that it has not seen rejected, none when there is none."""
    older, newer = taken(history, 0, 1)
    assert history.take_up("demo", "run-1") == newer
    reject(history, newer)
    assert waiting(history) == [(older, None)]
    assert history.take_up("demo", "run-1", passed=[newer]) == older
    assert waiting(history) == [(older, "run-1")]
    reject(history, older)
    assert history.take_up("demo", "run-1", passed=[newer, older]) is None
    # repeated, the run starts from what it had
    assert history.take_up("demo", "run-1") == newer


def test_what_is_older_than_the_newest_advice_does_not_wait(history: History) -> None:
    """A run that comes too late finds nothing to do, and its snapshot is superseded."""
    (late,) = taken(history, 0)
    advised = fill(history, 1)
    assert history.take_up("demo", "run-0") is None
    assert waiting(history) == []
    assert history.left_behind(advised) == [LeftBehind(snapshot_id=late, validated=False)]


def test_a_snapshot_by_hand_is_nobody_elses(history: History) -> None:
    """A superseded one can be had, and what a run works on; it leaves the others as they are."""
    older, newer = taken(history, 0, 1)
    history.take_up("demo", "run-1")
    history.take_up_by_hand(newer, "manual-1")
    assert waiting(history) == [(newer, "manual-1")]
    assert history.take_up("demo", "run-1") is None
    history.take_up_by_hand(older, "manual-2")
    assert waiting(history) == [(newer, "manual-1")]
    advised = fill(history, 2)
    history.take_up_by_hand(advised, "manual-3")
    history.take_up_by_hand("demo-unknown", "manual-3")
    assert history.take_up("demo", "manual-3") is None


def test_left_behind_are_those_without_metrics_of_the_last_day(history: History) -> None:
    """Neither measured, nor rejected ones, nor those of the day before."""
    old, accepted, rejected, newest = taken(history, 0, 1441, 1442, 1443)
    measured = fill(history, 1440.5)
    history.take_up("demo", "run-1")
    history.store_validation(accepted, "snapshot", checks(validation("a", success=True)))
    reject(history, rejected)
    assert old != measured
    assert history.left_behind(newest) == [LeftBehind(snapshot_id=accepted, validated=True)]
    assert history.left_behind("demo-unknown") == []


def test_how_often_a_snapshot_comes_is_known(history: History) -> None:
    """The mean of the last ten; unknown before the second."""
    taken(history, 0)
    (facts,) = history.cluster_facts(["demo"])
    assert (facts.gap_seconds, facts.run_seconds) == (None, None)
    taken(history, *range(100, 120, 2))
    (facts,) = history.cluster_facts(["demo"])
    assert facts.gap_seconds == pytest.approx(120)
