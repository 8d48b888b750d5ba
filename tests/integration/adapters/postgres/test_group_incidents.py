"""Incidents of groups in a real Postgres: what people are shown of them."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.model.errors import EvenkeelError
from evenkeel.engine.model.facts import Fact, FactKind
from evenkeel.engine.model.groups import WatchOf
from evenkeel.engine.model.message import AlertMessage, MessageKind, Severity
from evenkeel.engine.model.states import Diagnosis, IncidentKind, IncidentState
from evenkeel.engine.ports import Delivered
from evenkeel.engine.records import IncidentCourse
from tests.helpers.history_rows import manifest, metrics
from tests.helpers.incidents import BEGAN, CLUSTER, at, course, posting, row

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

ALWAYS = {"hours": 10**6}


def store(history: PostgresHistory, minutes: float, *courses: IncidentCourse, **more: Any) -> bool:
    """Keep the courses of a snapshot some minutes after the beginning, and what is shown of them."""
    shown = more.get("shown") or [row(each, minutes) for each in courses]
    told = more.get("postings", ())
    before = more.get("before", history.incident_watch(CLUSTER).snapshot_id)
    return history.store_watch(
        CLUSTER, f"s{minutes:g}", at(minutes), courses, shown, told, before=before
    )


def deliver(history: PostgresHistory) -> None:
    """All that waits arrives."""
    for waiting in history.pending_alerts():
        history.mark_alert_sent(waiting, Delivered(channel="C1", timestamp="17.5"))


def test_what_is_wrong_now_is_shown_with_its_causes(history: PostgresHistory) -> None:
    """Since when, how bad, whose it is, in words; critical ones first, and of a cluster or a group alone."""
    late = course("late")
    gone = course("gone", Diagnosis.NO_MEMBERS, began_at=at(3), opened_at=at(5))
    gone = replace(gone, causes=(*gone.causes, *late.causes))
    suspected = course("new", state=IncidentState.SUSPECTED, opened_at=None, readers=None)
    shown = [row(late, 5), row(gone, 5, "All of it is gone.")]
    store(history, 5, late, gone, suspected, shown=shown)

    first, second = history.query("open_incidents")

    assert (first["group_id"], first["kind"], first["severity"]) == (
        "gone",
        "no members",
        "critical",
    )
    assert (first["began_at"], first["opened_at"], first["notified_at"]) == (at(3), at(5), None)
    assert first["causes"] == ["no members", "catching up"]
    assert (first["owner"], first["summary"]) == ("team orders", "All of it is gone.")
    assert first["lasting_seconds"] - second["lasting_seconds"] == pytest.approx(-180)
    assert (second["group_id"], second["severity"], second["causes"]) == (
        "late",
        "warning",
        ["catching up"],
    )
    assert [one["group_id"] for one in history.query("open_incidents", group="late")] == ["late"]
    assert history.query("open_incidents", cluster="eu") == []


def test_an_open_incident_tells_the_lag_of_its_group_now(history: PostgresHistory) -> None:
    """That of the newest snapshot; of a group that is not in it, the lag is unknown."""
    store(history, 5, course("late"), course("gone"))
    for number, lag in ((0, 3), (1, 70)):
        taken = manifest(number, CLUSTER)
        history.store_snapshot(taken)
        history.store_metrics(
            taken.snapshot_id,
            metrics(taken.snapshot_id, {"late": [lag], "other": [9]}, time_lag_seconds=lag * 2.0),
        )
    names = ("group_id", "total_lag", "time_lag_seconds")
    told = [tuple(one[name] for name in names) for one in history.query("open_incidents")]
    assert sorted(told) == [("gone", None, None), ("late", 70, 140)]


def test_an_incident_is_one_row_from_its_beginning_to_its_end(history: PostgresHistory) -> None:
    """It gets worse and is over; its opening and when it was told stay what they were."""
    store(history, 0, course(), postings=[posting()])
    deliver(history)
    [opened] = history.query("open_incidents")
    worse = course(cause=Diagnosis.NO_MEMBERS, minutes=5)
    store(history, 5, replace(worse, opened_at=at(4)))
    [now] = history.query("open_incidents")
    assert (now["kind"], now["severity"]) == ("no members", "critical")
    assert (now["opened_at"], now["last_seen_at"]) == (BEGAN, at(5))
    assert now["notified_at"] == opened["notified_at"] is not None
    store(history, 7, replace(worse, causes=(), well_since=at(7)))
    [recovering] = history.query("open_incidents")
    assert recovering["causes"] == ["no members"]
    over = replace(worse, causes=(), state=IncidentState.RESOLVED, closed_at=at(10))
    store(history, 10, over, shown=[row(over, 10, "Nothing is.")])

    assert history.query("open_incidents") == []
    [past] = history.query("incident_history", **ALWAYS)
    assert (past["kind"], past["summary"]) == ("no members", "It is behind.")
    assert (past["closed_at"], past["duration_seconds"]) == (at(10), 600)


def test_a_digest_tells_of_all_that_it_stands_for(history: PostgresHistory) -> None:
    """Once it has arrived, each of its incidents has been told, and no other."""
    digest = AlertMessage(
        kind=MessageKind.DIGEST, severity=Severity.WARNING, at=BEGAN, title="t", summary="s"
    )
    told = replace(posting(), key="digest s0", message=digest)
    known = course().readers
    assert known is not None
    named = [
        course(group, readers=replace(known, alert_key="digest s0", in_digest=True))
        for group in ("a", "b")
    ]
    store(history, 0, *named, course("left", readers=None), postings=[told])
    deliver(history)
    found = {
        one["group_id"]: one["notified_at"] is not None for one in history.query("open_incidents")
    }
    assert found == {"a": True, "b": True, "left": False}


def test_an_end_that_is_told_alone_has_told(history: PostgresHistory) -> None:
    """The message that takes the place of an opening nobody saw stands for the incident as well."""
    store(history, 0, course(), postings=[posting()])
    over = course(state=IncidentState.RESOLVED, closed_at=at(5))
    store(history, 5, over, postings=[posting("resolved"), posting("resolved thread")])
    deliver(history)
    [past] = history.query("incident_history", **ALWAYS)
    assert past["notified_at"] is not None


def test_what_is_not_among_the_open_ones_any_more_is_over(history: PostgresHistory) -> None:
    """Also after the memory was lost: the new incident of a group takes the place of its old one."""
    store(history, 0, course("a"), course("b"), course("c"))
    anew = course("a", key="demo/a/s5", began_at=at(5), opened_at=at(5))
    store(history, 5, anew, course("c"))
    assert [(one["group_id"], one["began_at"]) for one in history.query("open_incidents")] == [
        ("c", BEGAN),
        ("a", at(5)),
    ]
    history.store_watch("eu", "e1", at(9), [], [], [], before=None)
    assert len(history.query("open_incidents")) == 2


def test_no_group_has_two_open_incidents(database_url: str, history: PostgresHistory) -> None:
    """Whatever their kinds; a pipeline has one of each kind."""
    insert = (
        "INSERT INTO incident (cluster, group_id, kind, severity, opened_at, last_seen_at)"
        " VALUES ('demo', %s, %s, 'warning', now(), now())"
    )
    with psycopg.connect(database_url, autocommit=True) as connection:
        for group, kind in (("g", "behind"), (None, "late"), (None, "stuck")):
            connection.execute(insert, [group, kind])
        for group, kind in (("g", "no members"), (None, "late")):
            with pytest.raises(psycopg.errors.UniqueViolation):
                connection.execute(insert, [group, kind])


def test_a_client_may_call_itself_anything(history: PostgresHistory) -> None:
    """What is said of it is stored with another sign in the place of the one that Postgres refuses."""
    seen = Fact(kind=FactKind.DIAGNOSIS, measure="behind", after=9.0, subjects=("a\0b",))
    odd = course()
    odd = replace(odd, causes=(replace(odd.causes[0], facts=(seen,)),))
    told = replace(posting(), message=replace(posting().message, title="a\0b"))
    assert store(history, 0, odd, postings=[told])
    (kept,) = history.incident_watch(CLUSTER).courses
    assert kept.causes[0].facts[0].subjects == ("a\ufffdb",)
    (alert,) = history.pending_alerts()
    assert alert.message["title"] == "a\ufffdb"


def test_all_of_it_is_stored_or_nothing(history: PostgresHistory) -> None:
    """What cannot be stored leaves the watch where it was, so that the next try does all of it."""
    broken = replace(posting(), channel="\ud800")
    with pytest.raises((EvenkeelError, ValueError, psycopg.Error)):
        store(history, 1, course(), postings=[broken])
    assert history.incident_watch(CLUSTER).snapshot_id is None
    assert history.query("open_incidents") == []
    assert store(history, 1, course(), postings=[posting()])


def test_totals_say_how_often_and_how_long(history: PostgresHistory) -> None:
    """Per group with its owner, or per owner; the time within the period, and whole incidents beside it."""
    first = course("a", state=IncidentState.RESOLVED, closed_at=at(10))
    again = course(
        "a", Diagnosis.NO_MEMBERS, key="demo/a/s20", began_at=at(20), opened_at=at(20), minutes=20
    )
    over = replace(again, state=IncidentState.RESOLVED, closed_at=at(50))
    other = course("b", state=IncidentState.RESOLVED, closed_at=at(5))
    store(history, 10, first, other)
    store(history, 50, over)

    of_a, of_b = history.query("incident_totals", **ALWAYS)
    [of_owner] = history.query("incident_totals", per="owner", **ALWAYS)

    assert (of_a["group_id"], of_a["owner"], of_a["incidents"]) == ("a", "team orders", 2)
    assert (of_a["critical_incidents"], of_a["notified_incidents"], of_a["open_incidents"]) == (
        1,
        0,
        0,
    )
    assert (of_a["wrong_seconds"], of_a["median_seconds"], of_a["longest_seconds"]) == (
        2400,
        1200,
        1800,
    )
    assert (of_b["incidents"], of_b["wrong_seconds"]) == (1, 300)
    assert (of_owner["group_id"], of_owner["owner"]) == (None, "team orders")
    assert (of_owner["incidents"], of_owner["wrong_seconds"]) == (3, 2700)
    assert of_owner["last_began_at"] == at(20)


def test_totals_count_the_time_within_the_period(history: PostgresHistory) -> None:
    """Of what began before it and is still open, no more than the period itself."""
    store(history, 0, course())
    [total] = history.query("incident_totals", hours=1)
    assert total["wrong_seconds"] == pytest.approx(3600)
    assert total["longest_seconds"] > 3600


def test_the_pipeline_stands_beside_the_groups(history: PostgresHistory) -> None:
    """In words, since when it is so, and when it was told."""
    known = {"since": BEGAN.isoformat(), "stale_after_seconds": 900.0}
    late = course(
        cause=IncidentKind.STALE, group_id=None, key="demo/snapshot late/1", opened_at=at(15)
    )
    span = replace(late.causes[0], facts=(), known=known)
    readers = replace(late.readers, alert_key="late") if late.readers else None
    late = replace(late, causes=(span,), readers=readers)
    shown = [row(late, 15, "Nothing came for 15 minutes.")]
    told = [replace(posting(), key="late")]
    of = {"before": None, "of": WatchOf.PIPELINE}
    assert history.store_watch(CLUSTER, "1", at(15), [late], shown, told, **of)
    deliver(history)
    [one] = history.query("open_incidents")
    assert (one["group_id"], one["causes"]) == (None, ["snapshot stale"])
    assert one["summary"] == "Nothing came for 15 minutes."
    assert (one["began_at"], one["opened_at"], one["facts"]) == (BEGAN, at(15), known)
    assert one["notified_at"] is not None


def test_a_cluster_that_is_watched_no_more_has_nothing_open(
    history: PostgresHistory, database_url: str
) -> None:
    """Also where nothing but its incident is left of it."""
    store(history, 0, course())
    assert history.forget_watch(CLUSTER, at(4), [], before="s0")
    assert history.query("open_incidents") == []
    [past] = history.query("incident_history", **ALWAYS)
    assert past["closed_at"] == at(4)
    store(history, 5, course(key="demo/orders-app/s5", began_at=at(5), opened_at=at(5)))
    with psycopg.connect(database_url) as connection:
        connection.execute("DELETE FROM incident_watch")
    assert history.unwatched(["eu"]) == [CLUSTER]
    assert history.forget_watch(CLUSTER, at(6), [], before=None)
    assert history.query("open_incidents") == []
    assert history.unwatched(["eu"]) == []


def test_a_cluster_is_forgotten_as_a_whole_or_not_at_all(history: PostgresHistory) -> None:
    """What cannot be queued leaves everything as it was, so that the next try does all of it."""
    store(history, 0, course())
    with pytest.raises((EvenkeelError, ValueError, psycopg.Error)):
        history.forget_watch(CLUSTER, at(4), [replace(posting(), channel="\ud800")], before="s0")
    assert len(history.incident_watch(CLUSTER).courses) == 1
    assert len(history.query("open_incidents")) == 1


def test_a_delivery_and_a_watch_never_wait_for_each_other_in_a_circle(
    history: PostgresHistory, database_url: str
) -> None:
    """Both take the incidents first: a delivery that waits for one holds no alert that the watch will want."""
    store(history, 0, course(), postings=[posting()])
    waits = (
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE wait_event_type = 'Lock' AND datname = current_database()"
    )
    with (
        ThreadPoolExecutor(1) as pool,
        psycopg.connect(database_url) as watch,
        psycopg.connect(database_url, autocommit=True) as third,
    ):
        watch.execute("SELECT 1 FROM incident FOR UPDATE")
        delivery = pool.submit(deliver, history)
        deadline = time.monotonic() + 30
        while third.execute(waits).fetchone() == (0,) and time.monotonic() < deadline:
            assert not delivery.done()
        watch.execute("SELECT 1 FROM alert FOR UPDATE NOWAIT")
        watch.commit()
        delivery.result(30)
    assert history.pending_alerts() == []
