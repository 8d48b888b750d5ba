"""What the port `Outbox` promises, of the fake and of Postgres."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import Any

from evenkeel.engine.model.message import (
    AlertMessage,
    Announcement,
    MessageKind,
    NewsKind,
    Severity,
)
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.ports import Delivered, History, PendingAlert, Posting
from tests.helpers.history_rows import FIRST, manifest

pytest_plugins = ("tests.helpers.postgres_fixtures",)

LEASE = timedelta(minutes=10)
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
    posting = Posting(key=key, channel=channel, message=message(*told))
    return history.enqueue_alert(posting, cluster=cluster)


def told(group: str, kind: NewsKind = NewsKind.SWITCH, strategy: str = "range") -> Announcement:
    """What a group was told at the beginning, while its load was skewed."""
    return Announcement(
        group_id=group, kind=kind, strategy=strategy, at=FIRST, diagnosis=Diagnosis.SKEWED_LOAD
    )


OPENED = message(kind=MessageKind.INCIDENT_OPENED)


def test_an_alert_waits_once_under_its_key(history: History) -> None:
    """The first message of a key stays; they wait in the order in which they came."""
    taken = manifest()
    history.store_snapshot(taken)
    posting = Posting(key="b", channel="#kafka", message=message(told("g")))
    assert history.enqueue_alert(posting, cluster="demo", snapshot_id=taken.snapshot_id)
    assert enqueue(history, "a", channel="#team")
    assert not enqueue(history, "b")
    first, second = history.pending_alerts()
    assert (first.key, first.channel, first.attempts, first.standing) == ("b", "#kafka", 0, None)
    assert (second.key, second.channel) == ("a", "#team")
    assert AlertMessage.from_json(first.message) == message(told("g"))
    assert first.alert_id < second.alert_id


def test_what_is_queued_twice_at_once_is_one_alert(history: History) -> None:
    """Two processes in the same step: the unique key lets one alert through."""
    with ThreadPoolExecutor(4) as pool:
        assert sum(pool.map(lambda _: enqueue(history, "a"), range(4))) == 1
    assert [alert.key for alert in history.pending_alerts()] == ["a"]


def is_free(history: History, alert: PendingAlert) -> bool:
    """Whether an attempt can be made now; it is made, and ends without a word."""
    with history.attempt_alert(alert, LEASE) as is_ours:
        return is_ours


def test_an_attempt_keeps_others_away_until_it_ends(history: History) -> None:
    """One at a time delivers an alert; after a failure it may be tried at once, after a success never."""
    enqueue(history, "a")
    enqueue(history, "b")
    (waiting, other) = history.pending_alerts()
    with history.attempt_alert(waiting, LEASE) as is_ours:
        assert is_ours
        assert not is_free(history, waiting)
        assert is_free(history, other)
    assert is_free(history, waiting)
    with history.attempt_alert(waiting, LEASE):
        history.mark_alert_failed(waiting, "channel_not_found")
    (waiting, _) = history.pending_alerts()
    assert waiting.attempts == 3
    assert history.cluster_facts(["demo"])[0].unsent_error == "channel_not_found"
    with history.attempt_alert(waiting, LEASE) as is_ours:
        assert is_ours
        history.mark_alert_sent(waiting, SENT)
        assert not is_free(history, waiting)
    assert [alert.key for alert in history.pending_alerts()] == ["b"]
    assert not is_free(history, waiting)
    assert not enqueue(history, "a")


def test_a_group_was_told_what_the_newest_alert_says(history: History) -> None:
    """Sent or not, of one cluster, from messages about advice only; by group."""
    enqueue(history, "1", told("b"), told("a"))
    (first,) = history.pending_alerts()
    history.mark_alert_sent(first, SENT)
    enqueue(history, "2", told("a", NewsKind.ADOPTED))
    enqueue(history, "3", told("a", strategy="fair"), cluster="other")
    other = replace(OPENED, announcements=(told("b", NewsKind.WITHDRAWN),))
    history.enqueue_alert(Posting(key="4", channel="#kafka", message=other), cluster="demo")
    assert history.announced_advice("demo") == [told("a", NewsKind.ADOPTED), told("b")]
    assert history.announced_advice("nobody's") == []


class _Older(AlertMessage):
    """A message as an older version stored it."""

    def to_json(self) -> dict[str, Any]:
        """Its JSON form then."""
        told = [{"group_id": "g", "verdict": "switch", "strategy": "fair"}]
        return {**AlertMessage.to_json(self), "told": told}


def test_what_nobody_is_to_be_told_waits_no_more(history: History) -> None:
    """Alerts that are dropped; what was sent stays sent."""
    for key in ("a", "b", "c"):
        history.enqueue_alert(Posting(key=key, channel="#kafka", message=OPENED), cluster="demo")
    first, *_ = history.pending_alerts()
    history.mark_alert_sent(first, Delivered(channel="C", timestamp="1"))
    history.drop_alerts(["a", "b"])
    assert [alert.key for alert in history.pending_alerts()] == ["c"]
    assert not is_free(history, first)


def test_what_a_message_says_is_asked_by_the_key_under_which_it_was_posted(
    history: History,
) -> None:
    """The newest that replaces it counts, sent or not, but not one that only shows an ack; its thread is another."""
    assert history.standing_alert("a") is None
    enqueue(history, "a")
    assert _standing(history) == "a"
    for key, about in (("b", "replaces"), ("ack 1 on b", "replaces"), ("c", "answers")):
        posted = Posting(key=key, channel="#kafka", message=message(), **{about: "a"})
        history.enqueue_alert(posted, cluster="demo")
    assert _standing(history) == "b"


def _standing(history: History) -> str | None:
    standing = history.standing_alert("a")
    return standing and standing.key
