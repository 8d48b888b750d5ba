"""What the ports `Outbox` and `Incidents` promise, of the fake and of Postgres."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from evenkeel.engine.message import AlertMessage, Announcement, MessageKind, NewsKind, Severity
from evenkeel.engine.model import Diagnosis
from evenkeel.engine.ports import Delivered, History
from evenkeel.engine.records import IncidentRow
from tests.helpers.history_rows import FIRST, manifest

pytest_plugins = ("tests.helpers.postgres_fixtures",)

LEASE = timedelta(minutes=10)
NO_LEASE = timedelta(0)
SENT = Delivered(channel="C1", timestamp="17.5")


def message(*told: Announcement, kind: MessageKind = MessageKind.ADVICE) -> AlertMessage:
    """A message that tells so much of some groups."""
    return AlertMessage(
        kind=kind, severity=Severity.INFO, at=FIRST, title="t", summary="s", announcements=told
    )


def enqueue(
    history: History, key: str, *told: Announcement, cluster: str = "demo", channel: str = "#kafka"
) -> bool:
    """Add an alert about advice."""
    return history.enqueue_alert(
        key, message(*told), cluster=cluster, snapshot_id=None, channel=channel
    )


def told(group: str, kind: NewsKind = NewsKind.SWITCH, strategy: str = "range") -> Announcement:
    """What a group was told at the beginning, while its load was skewed."""
    return Announcement(
        group_id=group, kind=kind, strategy=strategy, at=FIRST, diagnosis=Diagnosis.SKEWED_LOAD
    )


def incident(kind: str = "snapshot late", group: str | None = None) -> IncidentRow:
    """An incident that is noticed at the beginning."""
    return IncidentRow(
        cluster="demo",
        group_id=group,
        kind=kind,
        severity="warning",
        opened_at=FIRST,
        last_seen_at=FIRST,
        facts={"since": "then"},
    )


OPENED = message(kind=MessageKind.INCIDENT_OPENED)
CLOSED = message(kind=MessageKind.INCIDENT_CLOSED)


def test_an_alert_waits_once_under_its_key(history: History) -> None:
    """The first message of a key stays; they wait in the order in which they came."""
    taken = manifest()
    history.store_snapshot(taken)
    assert history.enqueue_alert(
        "b", message(told("g")), cluster="demo", snapshot_id=taken.snapshot_id, channel="#kafka"
    )
    assert enqueue(history, "a", channel="#team")
    assert not enqueue(history, "b")
    first, second = history.pending_alerts()
    assert (first.key, first.channel, first.attempts, first.thread) == ("b", "#kafka", 0, None)
    assert (second.key, second.channel) == ("a", "#team")
    assert AlertMessage.from_json(first.message) == message(told("g"))
    assert first.alert_id < second.alert_id


def test_an_attempt_keeps_others_away_until_it_ends_or_its_lease_does(history: History) -> None:
    """One at a time claims an alert; after a failure it may be tried at once, after a success never."""
    enqueue(history, "a")
    (waiting,) = history.pending_alerts()
    assert history.claim_alert(waiting, LEASE)
    assert not history.claim_alert(waiting, LEASE)
    assert history.claim_alert(waiting, NO_LEASE)
    history.mark_alert_failed(waiting, "channel_not_found")
    (waiting,) = history.pending_alerts()
    assert waiting.attempts == 2
    assert history.cluster_facts(["demo"])[0].unsent_error == "channel_not_found"
    assert history.claim_alert(waiting, LEASE)
    history.mark_alert_sent(waiting, SENT)
    assert history.pending_alerts() == []
    assert not history.claim_alert(waiting, NO_LEASE)
    assert not enqueue(history, "a")


def test_a_group_was_told_what_the_newest_alert_says(history: History) -> None:
    """Sent or not, of one cluster, from messages about advice only; by group."""
    enqueue(history, "1", told("b"), told("a"))
    (first,) = history.pending_alerts()
    history.mark_alert_sent(first, SENT)
    enqueue(history, "2", told("a", NewsKind.TAKEN_UP))
    enqueue(history, "3", told("a", strategy="fair"), cluster="other")
    other = replace(OPENED, announcements=(told("b", NewsKind.WITHDRAWN),))
    history.open_incident(incident(), channel="#kafka", message=other)
    assert history.announced_advice("demo") == [told("a", NewsKind.TAKEN_UP), told("b")]
    assert history.announced_advice("nobody's") == []


def test_what_was_told_before_kinds_were_kept_is_known(history: History) -> None:
    """An alert of an older version is read by its verdict."""
    older = _Older(
        kind=MessageKind.ADVICE, severity=Severity.INFO, at=FIRST, title="t", summary="s"
    )
    history.enqueue_alert("old", older, cluster="demo", snapshot_id=None, channel="#kafka")

    [known] = history.announced_advice("demo")

    assert known == Announcement(group_id="g", kind=NewsKind.SWITCH, strategy="fair", at=FIRST)


class _Older(AlertMessage):
    """A message as an older version stored it."""

    def to_json(self) -> dict[str, Any]:
        """Its JSON form then."""
        told = [{"group_id": "g", "verdict": "switch", "strategy": "fair"}]
        return {**AlertMessage.to_json(self), "told": told}


def test_one_incident_of_a_kind_is_open(history: History) -> None:
    """Of one cluster and group; opened again it stays as it is, and adds no alert."""
    assert history.open_incident(incident(), channel="#kafka", message=OPENED)
    again = replace(incident(), facts={"since": "now"})
    assert not history.open_incident(again, channel="#kafka", message=OPENED)
    assert not history.open_incident(incident(group="g"), channel="#kafka", message=None)
    first, second = history.open_incidents()
    assert first == replace(incident(), incident_id=first.incident_id)
    assert first.incident_id is not None
    assert second.group_id == "g"
    (queued,) = history.pending_alerts()
    assert queued.key == f"incident {first.incident_id} opened"
    assert AlertMessage.from_json(queued.message) == OPENED


def test_an_open_incident_keeps_its_beginning_and_its_newest_facts(history: History) -> None:
    """Seen again, it moves on; once it is over nothing changes it."""
    later = FIRST + timedelta(minutes=3)
    history.open_incident(incident(), channel="#kafka", message=None)
    (one,) = history.open_incidents()
    history.touch_incident(one, now=later, facts={"since": "then", "n": 2})
    (seen,) = history.open_incidents()
    assert (seen.opened_at, seen.last_seen_at) == (FIRST, later)
    assert seen.facts == {"since": "then", "n": 2}
    assert history.close_incident(one, now=later, channel="#kafka", message=CLOSED)
    history.touch_incident(one, now=later, facts={})
    assert history.open_incidents() == []
    assert not history.close_incident(one, now=later, channel="#kafka", message=CLOSED)
    assert history.open_incident(incident(), channel="#kafka", message=None) is False
    (anew,) = history.open_incidents()
    assert anew.incident_id > one.incident_id


def test_an_end_stands_in_the_thread_of_its_opening(history: History) -> None:
    """When that was sent to the same channel; in another channel there is no such thread."""
    for kind, channel in (("snapshot late", "#kafka"), ("advice stuck", "#moved")):
        history.open_incident(incident(kind), channel="#kafka", message=OPENED)
        (opening,) = history.pending_alerts()
        history.mark_alert_sent(opening, SENT)
        (one,) = history.open_incidents()
        history.close_incident(one, now=FIRST, channel=channel, message=CLOSED)
        (ending,) = history.pending_alerts()
        assert ending.key == f"incident {one.incident_id} closed"
        assert ending.thread == ("17.5" if channel == "#kafka" else None)
        history.mark_alert_sent(ending, SENT)


def test_an_end_takes_the_place_of_an_opening_that_was_never_sent(history: History) -> None:
    """One message tells all of it; other alerts stay."""
    enqueue(history, "a")
    history.open_incident(incident(), channel="#kafka", message=OPENED)
    (one,) = history.open_incidents()
    history.close_incident(one, now=FIRST, channel="#kafka", message=CLOSED)
    keys = [waiting.key for waiting in history.pending_alerts()]
    assert keys == ["a", f"incident {one.incident_id} closed"]
    assert [waiting.thread for waiting in history.pending_alerts()] == [None, None]
