"""What the port `Incidents` promises, of the fake and of Postgres."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from evenkeel.engine.model.groups import WatchOf
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.model.states import Diagnosis, IncidentKind, IncidentState
from evenkeel.engine.ports import Delivered, History, IncidentWatch
from evenkeel.engine.records import IncidentCourse
from tests.helpers.incidents import BEGAN, CLUSTER, at, course, posting, row
from tests.helpers.outbox import take

pytest_plugins = ("tests.helpers.postgres_fixtures",)

SENT = Delivered(channel="C1", timestamp="17.5")
LEASE = timedelta(minutes=10)


def store(history: History, minutes: float, *courses: IncidentCourse, **more: Any) -> bool:
    """Keep the courses of a snapshot some minutes after the beginning, with what is shown and told of them."""
    shown = [row(each, minutes) for each in courses if each.opened_at is not None]
    told = more.get("postings", ())
    before = more.get("before", history.incident_watch(CLUSTER).snapshot_id)
    return history.store_watch(
        CLUSTER, f"s{minutes:g}", at(minutes), courses, shown, told, before=before
    )


def keys(history: History) -> list[str]:
    """What waits, by the last word of its key."""
    return [alert.key.partition("/s0 ")[2] for alert in history.pending_alerts()]


def test_nothing_is_remembered_before_the_first_snapshot(history: History) -> None:
    """A cluster that was never looked at has a watch without a moment."""
    assert history.incident_watch(CLUSTER) == IncidentWatch(cluster=CLUSTER)


def test_what_is_remembered_is_what_was_stored(history: History) -> None:
    """Courses come back whole, of the groups given last, by cluster; the first look stays the first."""
    one, other = course("b"), course("a", Diagnosis.NO_MEMBERS, state=IncidentState.SUSPECTED)
    assert store(history, 0, one, replace(other, opened_at=None, readers=None))
    later = course("a", minutes=5)
    assert store(history, 5, later)
    assert history.store_watch("eu", "e1", at(1), [one], [], [], before=None)

    watch = history.incident_watch(CLUSTER)

    assert watch == IncidentWatch(
        cluster=CLUSTER, snapshot_id="s5", at=at(5), first_at=BEGAN, courses=(later,)
    )
    assert history.incident_watch("eu").courses == (one,)


def test_a_watch_without_trouble_remembers_its_snapshot(history: History) -> None:
    """A cluster whose groups are all well has been looked at all the same."""
    assert store(history, 0)
    assert history.incident_watch(CLUSTER) == IncidentWatch(
        cluster=CLUSTER, snapshot_id="s0", at=BEGAN, first_at=BEGAN
    )


def test_a_snapshot_is_stored_once_and_never_after_a_younger_one(history: History) -> None:
    """A retry of the step, and one that comes late, change and tell nothing."""
    assert store(history, 5, course(), postings=[posting()])
    assert not store(history, 5, course("other"), postings=[posting(group="other")])
    assert not store(history, 4, postings=[posting("resolved")])
    assert history.incident_watch(CLUSTER).courses == (course(),)
    assert keys(history) == ["opened"]


def test_a_watch_from_the_future_holds_off_nothing(history: History) -> None:
    """A clock was an hour ahead once: what is looked at by the right one is kept; clocks may differ by minutes."""
    now = utc_now()
    for name, ahead in (("far", 60), ("now", 0), ("near", 5)):
        before = history.incident_watch(CLUSTER).snapshot_id
        moment = now + timedelta(minutes=ahead)
        assert history.store_watch(CLUSTER, name, moment, [], [], [], before=before)
    assert not history.store_watch(CLUSTER, "late", now, [], [], [], before="near")
    assert history.incident_watch(CLUSTER).first_at == now


@pytest.mark.parametrize("before", [None, "s0"], ids=["the first", "a later one"])
def test_what_was_worked_out_from_an_older_memory_is_not_stored(
    history: History, before: str | None
) -> None:
    """Two processes read the same watch: of their snapshots one is kept, or a group had two incidents."""
    if before:
        assert store(history, 0)
    assert store(history, 5, course(), postings=[posting()], before=before)
    assert not store(history, 6, course(key="demo/orders-app/s6"), before=before)
    assert history.incident_watch(CLUSTER).courses == (course(),)
    assert history.incident_watch(CLUSTER).snapshot_id == "s5"
    assert store(history, 6, course(), before="s5")


def test_of_two_processes_at_once_one_stores(history: History) -> None:
    """The same snapshot in two processes is one incident and one alert."""
    with ThreadPoolExecutor(4) as pool:
        stored = list(
            pool.map(lambda _: store(history, 5, course(), postings=[posting()]), range(4))
        )
    assert sorted(stored) == [False, False, False, True]
    assert keys(history) == ["opened"]


def test_what_is_not_stored_again_is_forgotten(history: History) -> None:
    """What is over is kept as long as it is handed in."""
    assert store(history, 0, course("a"), course("b"), course("gone"))
    over = course("a", state=IncidentState.RESOLVED, closed_at=at(5))
    assert store(history, 5, over, course("b"))
    assert history.incident_watch(CLUSTER).courses == (over, course("b"))
    assert store(history, 10, course("b"))
    assert history.incident_watch(CLUSTER).courses == (course("b"),)


def test_the_history_need_not_know_the_snapshot(history: History) -> None:
    """It may have been down when that was taken; what was told outlives it."""
    assert store(history, 0, course(), postings=[posting()])
    take(history, "s1", at=BEGAN)
    assert history.expire(at(9)) == ["s1"]
    assert keys(history) == ["opened"]


def test_a_pipeline_is_watched_beside_the_groups_of_its_cluster(history: History) -> None:
    """Each has a watch and incidents of its own: neither holds the other off, or ends what is open of it."""
    known = {"since": BEGAN.isoformat(), "steps": [{"step": "advise"}]}
    late = course(
        cause=IncidentKind.STEP_FAILED, group_id=None, key="demo/step failed/1", readers=None
    )
    late = replace(late, causes=(replace(late.causes[0], facts=(), known=known),))
    assert store(history, 5, course())
    of = {"before": None, "of": WatchOf.PIPELINE}
    assert history.store_watch(CLUSTER, "1", at(4), [late], [row(late)], [], **of)
    assert history.incident_watch(CLUSTER, WatchOf.PIPELINE) == IncidentWatch(
        cluster=CLUSTER, snapshot_id="1", at=at(4), first_at=at(4), courses=(late,)
    )
    assert history.incident_watch(CLUSTER).courses == (course(),)
    assert history.incident_watch("eu", WatchOf.PIPELINE).snapshot_id is None
    assert history.forget_watch(CLUSTER, at(9), [], before="s5")
    assert history.unwatched(["eu"]) == [CLUSTER]
    assert history.forget_watch(CLUSTER, at(9), [], before="1", of=WatchOf.PIPELINE)
    assert history.unwatched(["eu"]) == []


def test_a_message_that_stands_for_an_open_incident_is_kept(history: History) -> None:
    """However old it is: its end is said there. Once it is over, both go."""
    assert store(history, 0, course(), postings=[posting()])
    (opened,) = history.pending_alerts()
    history.mark_alert_sent(opened, SENT)
    month = at(60 * 24 * 400)
    history.expire(month)
    assert store(history, 5, course(minutes=5), postings=[posting("worse 1")])
    (worse,) = history.pending_alerts()
    assert worse.standing == SENT
    history.mark_alert_sent(worse, SENT)
    assert store(history, 6, postings=[])
    history.expire(month)
    assert store(history, 7, postings=[posting("worse 2")])
    assert [alert.standing for alert in history.pending_alerts()] == [None]


def sent(history: History, *, timestamp: str = SENT.timestamp) -> None:
    """All that waits arrives."""
    for waiting in history.pending_alerts():
        history.mark_alert_sent(waiting, Delivered(channel=SENT.channel, timestamp=timestamp))


def tell(history: History, *what: str, **known: Any) -> list[str]:
    """Queue what is told; what waits then."""
    for each in what:
        history.enqueue_alert(posting(each, **known), cluster=CLUSTER)
    return keys(history)


def test_what_was_sent_is_changed_and_answered_where_it_stands(history: History) -> None:
    """By the key under which it was first posted, or by that of a change."""
    tell(history, "opened")
    sent(history)
    chained = {"replaces": posting("worse 1").key}
    assert tell(history, "worse 1", "worse 1 thread") == ["worse 1", "worse 1 thread"]
    assert [alert.standing for alert in history.pending_alerts()] == [SENT, SENT]
    sent(history)
    assert tell(history, "worse 2", **chained) == ["worse 2"]
    assert [alert.replaces for alert in history.pending_alerts()] == [posting("opened").key]
    assert [alert.standing for alert in history.pending_alerts()] == [SENT]


def test_a_message_that_had_to_be_posted_anew_stands_there_from_then_on(history: History) -> None:
    """Its newest delivery is what is changed and answered."""
    tell(history, "opened")
    sent(history)
    tell(history, "worse 1")
    sent(history, timestamp="99.1")
    tell(history, "resolved", "resolved thread")
    assert {alert.standing.timestamp for alert in history.pending_alerts() if alert.standing} == {
        "99.1"
    }


def test_what_was_never_tried_gives_way_with_its_lines(history: History) -> None:
    """The message that takes its place is posted, and nothing but that."""
    assert store(history, 0, course(), postings=[posting(), posting("note thread")])
    ending = [posting("resolved"), posting("resolved thread", broadcast=True)]
    assert store(history, 5, postings=ending)
    assert keys(history) == ["resolved"]
    assert history.pending_alerts()[0].standing is None
    sent(history)
    assert tell(history, "opened", "resolved thread") == []


def test_what_was_refused_gives_way(history: History) -> None:
    """A refusal says that nobody has it."""
    tell(history, "opened")
    (opened,) = history.pending_alerts()
    with history.attempt_alert(opened, LEASE):
        history.mark_alert_failed(opened, "channel_not_found", refused=True)
    assert tell(history, "resolved", "resolved thread") == ["resolved", "resolved thread"]
    with history.attempt_alert(opened, LEASE) as is_ours:
        assert not is_ours


@pytest.mark.parametrize("ended", [False, True], ids=["under way", "without an answer"])
def test_what_may_be_there_comes_first(history: History, ended: bool) -> None:
    """Nobody knows whether it arrived: it is delivered, then changed, and answered."""
    tell(history, "opened")
    (opened,) = history.pending_alerts()
    with history.attempt_alert(opened, LEASE):
        if ended:
            history.mark_alert_failed(opened, "HTTP status 500")
        ending = [posting("resolved"), posting("resolved thread")]
        assert store(history, 5, postings=ending)
    assert keys(history) == ["opened", "resolved", "resolved thread"]


def test_that_it_may_be_there_is_not_forgotten(history: History) -> None:
    """A refusal of the next try says nothing about the try whose process died."""
    tell(history, "opened")
    (opened,) = history.pending_alerts()
    for ends in (False, True):
        with history.attempt_alert(opened, LEASE) as is_ours:
            assert is_ours
            if ends:
                history.mark_alert_failed(opened, "ratelimited", refused=True)
    assert tell(history, "resolved") == ["opened", "resolved"]


def test_a_newer_change_takes_the_place_of_one_that_waits(history: History) -> None:
    """Only the newest is worth a call; the lines of all of them tell how it went."""
    tell(history, "opened")
    sent(history)
    for round_ in ("worse 1", "worse 2", "resolved"):
        tell(history, round_, f"{round_} thread")
    assert keys(history) == ["worse 1 thread", "worse 2 thread", "resolved", "resolved thread"]


def test_what_was_superseded_is_posted_anew(history: History) -> None:
    """Nobody has the message that it should change; what comes later finds the new one."""
    tell(history, "opened", "worse 1")
    assert keys(history) == ["worse 1"]
    assert tell(history, "worse 2") == ["worse 2"]
    sent(history)
    tell(history, "resolved", "resolved thread")
    assert [alert.standing for alert in history.pending_alerts()] == [SENT, SENT]


def test_channels_do_not_share_what_was_told(history: History) -> None:
    """A message of another channel is neither changed nor answered here, and gives way to nothing."""
    tell(history, "opened")
    elsewhere = {"channel": "#moved"}
    assert store(history, 5, postings=[posting("worse 1", **elsewhere)])
    assert keys(history) == ["opened", "worse 1"]
    sent(history)
    tell(history, "resolved", channel="#third")
    assert [alert.standing for alert in history.pending_alerts()] == [None]


def test_a_cluster_that_is_forgotten_is_as_if_never_looked_at(history: History) -> None:
    """Unless another snapshot was looked at meanwhile; what is told of it is queued with that, once."""
    store(history, 0, course())
    store(history, 5, course(minutes=5))
    assert history.unwatched([CLUSTER]) == []
    assert history.unwatched(["eu"]) == [CLUSTER]
    told = [posting("resolved")]
    assert not history.forget_watch(CLUSTER, at(9), told, before="s0")
    assert keys(history) == []
    assert history.forget_watch(CLUSTER, at(9), told, before="s5")
    assert not history.forget_watch(CLUSTER, at(9), told, before="s5")
    assert keys(history) == ["resolved"]
    assert history.incident_watch(CLUSTER) == IncidentWatch(cluster=CLUSTER)
    assert history.unwatched(["eu"]) == []


def test_what_was_worked_out_from_a_watch_that_was_forgotten_is_not_kept(history: History) -> None:
    """It would bring back what has ended."""
    store(history, 0, course())
    assert history.forget_watch(CLUSTER, at(4), [], before="s0")
    assert not store(history, 5, course(minutes=5), before="s0")
    assert history.incident_watch(CLUSTER) == IncidentWatch(cluster=CLUSTER)
    assert store(history, 5, course(minutes=5))
