"""What the port `SnapshotHistory` promises, of the fake and of Postgres."""

from __future__ import annotations

import functools
from dataclasses import replace
from datetime import timedelta

import pytest

from evenkeel.engine.model.errors import ClusterChanged
from evenkeel.engine.model.message import AlertMessage, MessageKind, Severity
from evenkeel.engine.ports import History, Posting, WaitingSnapshot
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
