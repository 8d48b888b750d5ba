"""What people read of silences, acknowledgements and maintenance, from look to look."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest

from evenkeel.engine.config import ClusterSettings, MaintenanceWindow, Rule, Settings
from evenkeel.engine.model.groups import WatchOf
from evenkeel.engine.model.message import AlertMessage
from evenkeel.engine.model.states import Diagnosis, IncidentState
from evenkeel.engine.pipeline.alert import queue_quiet
from evenkeel.engine.ports import Posting
from evenkeel.engine.records import AlertRow, Readers
from tests.helpers.history_rows import manifest, metrics
from tests.helpers.incidents import course, key_of, posting
from tests.helpers.memory import MemoryHistory
from tests.helpers.silenced import HOUR, NOW, ack, silence

DAY = timedelta(days=1)
OPENED = f"incident {key_of('orders-app')} opened"


@pytest.fixture
def history() -> MemoryHistory:
    """A cluster whose newest snapshot has four groups."""
    known = MemoryHistory(lambda: NOW)
    taken = manifest()
    known.store_snapshot(taken)
    groups = {name: [0] for name in ("orders-app", "orders-api", "orders-pay", "pay")}
    known.store_metrics(taken.snapshot_id, metrics(taken.snapshot_id, groups=groups))
    return known


def configured(*windows: MaintenanceWindow, **given: Any) -> Settings:
    """The cluster, with a channel of its own for `orders-pay`."""
    rules = (Rule(groups="*-pay", channel="#pay"),)
    clusters = {"demo": ClusterSettings(bootstrap="b:9092")}
    return Settings(clusters=clusters, rules=rules, maintenance=windows, **given)


def looked(
    history: MemoryHistory, *, settings: Settings | None = None, at: datetime = NOW
) -> list[tuple[str, str, str]]:
    """What a look adds to the outbox: channel, title and summary."""
    before = len(history.tables.alerts)
    count = queue_quiet(history, settings or configured(), at)
    added = history.tables.alerts[before:]
    assert count == len(added)
    assert queue_quiet(history, settings or configured(), at) == 0, "said twice"
    read = [(alert, AlertMessage.from_json(alert.message)) for alert in added]
    return [(alert.channel, message.title, message.summary) for alert, message in read]


def wrong(history: MemoryHistory, *groups: str, **known: Any) -> None:
    """Only these groups have open incidents from now on."""
    given = {"opened_at": NOW - 2 * HOUR} | known
    number = len(history.tables.snapshots) + len(history.tables.alerts)
    at = NOW + timedelta(seconds=number)
    watch = history.incident_watch("demo")
    at = max(at, (watch.at or at) + timedelta(seconds=1))
    courses = [course(name, **given) for name in groups]
    before = watch.snapshot_id
    assert history.store_watch("demo", f"demo-{at}", at, courses, [], [], before=before)


def test_a_silence_is_said_where_its_groups_belong_when_it_begins(history: MemoryHistory) -> None:
    """Which groups, by whom, why, until when, how many, and what is open among them; each channel its own."""
    wrong(history, "orders-app")
    history.add_silence(silence())
    assert looked(history) == [
        (
            "#kafka",
            "orders-* (all clusters): silenced for 2 h",
            "Until 2026-11-22 13:00 UTC. By ana: moving."
            " It covers 2 groups here, 1 incident open: orders-app (catching up).",
        ),
        (
            "#pay",
            "orders-* (all clusters): silenced for 2 h",
            "Until 2026-11-22 13:00 UTC. By ana: moving. It covers 1 group here.",
        ),
    ]
    assert [each.channels for each in history.silences(NOW)] == [("#kafka", "#pay")]


def test_the_end_is_said_where_the_beginning_was_with_what_is_open_then(
    history: MemoryHistory,
) -> None:
    """Also of groups that have gone missing meanwhile; whoever heard nothing of the beginning hears nothing of it."""
    history.add_silence(silence())
    looked(history)
    wrong(history, "orders-app", "orders-gone", "pay", cause=Diagnosis.NO_MEMBERS)
    assert looked(history, at=NOW + HOUR) == [
        (
            "#kafka",
            "orders-* (all clusters): silence ended",
            "Still open: orders-app (no active members), orders-gone (no active members).",
        ),
        (
            "#pay",
            "orders-* (all clusters): silence ended",
            "Its groups have no open incidents.",
        ),
    ]
    history.add_silence(silence(starts_at=NOW - 2 * HOUR, ends_at=NOW - HOUR))
    assert looked(history, at=NOW + HOUR) == []
    assert history.silences(NOW + HOUR) == []


def test_a_silence_that_is_ended_early_or_before_it_began(history: MemoryHistory) -> None:
    """The one is said, of the other nobody has heard."""
    held = history.add_silence(silence())
    planned = history.add_silence(silence(starts_at=NOW + HOUR, ends_at=NOW + 2 * HOUR))
    assert len(looked(history)) == 2
    for number in (held, planned):
        history.end_silence(number, NOW)
    assert [title for _, title, _ in looked(history)] == [
        "orders-* (all clusters): silence ended"
    ] * 2
    assert looked(history, at=NOW + HOUR) == []
    assert history.silences(NOW) == []


def test_a_silence_without_groups_is_said_in_the_default_channel(history: MemoryHistory) -> None:
    """And that it covers nothing; with what is stale only when it is a day old."""
    history.add_silence(silence(groups="oders-*", cluster="demo", ends_at=NOW + 2 * DAY))
    assert looked(history) == [
        (
            "#kafka",
            "oders-* (demo): silenced for 2 d 1 h",
            "Until 2026-11-24 12:00 UTC. By ana: moving. It covers no group of the newest snapshots.",
        )
    ]
    ((channel, title, _),) = looked(history, at=NOW + DAY)
    assert (channel, title) == ("#kafka", "1 silence to review")


def weekly(**given: str) -> MaintenanceWindow:
    """Every Sunday from eleven to one."""
    known = {"weekly": "Sun 11:00", "for": "2h", "reason": "patches", "groups": "orders-a*"}
    return MaintenanceWindow(**known | given)


def test_maintenance_is_said_each_time_it_comes(history: MemoryHistory) -> None:
    """When it begins and when it ends, this week and the next."""
    settings = configured(weekly())
    for week in (NOW, NOW + 7 * DAY):
        assert [each[1:] for each in looked(history, settings=settings, at=week)] == [
            (
                "orders-a* (all clusters): in maintenance for 2 h",
                f"Until {week:%Y-%m-%d} 13:00 UTC. By the configuration: patches. It covers 2 groups here.",
            )
        ]
        assert [each[1] for each in looked(history, settings=settings, at=week + HOUR)] == [
            "orders-a* (all clusters): maintenance ended"
        ]


def test_maintenance_that_is_taken_out_of_the_configuration_is_over(history: MemoryHistory) -> None:
    """Put back, it begins once more; one whose end moves goes on."""
    looked(history, settings=configured(weekly()))
    (over,) = looked(history)
    assert over[1] == "orders-a* (all clusters): maintenance ended"
    longer = configured(weekly(**{"for": "3h"}))
    assert len(looked(history, settings=longer, at=NOW + timedelta(minutes=1))) == 1
    assert looked(history, settings=longer, at=NOW + HOUR + timedelta(minutes=30)) == []
    assert len(looked(history, settings=longer, at=NOW + 2 * HOUR)) == 1


def stale(history: MemoryHistory) -> list[tuple[str, list[str]]]:
    """The weekly messages so far: channel and lines."""
    messages = [
        (alert.channel, AlertMessage.from_json(alert.message))
        for alert in history.tables.alerts
        if alert.key.startswith("stale ")
    ]
    return [
        (channel, [line for section in message.sections for line in section.lines])
        for channel, message in messages
    ]


def test_what_is_stale_is_named_once_a_week_and_channel(history: MemoryHistory) -> None:
    """What holds for more than a week, what matches no group any more, and windows without groups."""
    settings = configured(weekly(groups="gone", weekly="Mon 04:00"))
    history.add_silence(silence(groups="pay", ends_at=NOW + 90 * DAY))
    history.add_silence(silence(groups="orders-pay", ends_at=NOW + 90 * DAY))
    history.add_silence(silence(groups="left", ends_at=NOW + 90 * DAY))
    for days in range(16):
        looked(history, settings=settings, at=NOW + days * DAY)
    nothing = "maintenance · gone (all clusters) · matches no group · Patches."
    left = "silence 3 · left (all clusters) · matches no group · By ana: moving."
    since = "since 2026-11-22 11:00 UTC · By ana: moving."
    old = [
        f"silence {n} · {name} (all clusters) · {since}" for n, name in ((1, "pay"), (3, "left"))
    ]
    pay = ("#pay", [f"silence 2 · orders-pay (all clusters) · {since}"])
    assert stale(history) == [
        ("#kafka", [nothing]),
        ("#kafka", [left, nothing]),
        pay,
        ("#kafka", [*old, nothing]),
        pay,
        ("#kafka", [*old, nothing]),
        pay,
    ]


def test_nothing_is_stale_while_nobody_knows_the_groups(history: MemoryHistory) -> None:
    """A cluster without a measured snapshot may have any."""
    history.tables.metrics.clear()
    history.add_silence(silence())
    looked(history, settings=configured(weekly(groups="gone")))
    assert stale(history) == []


def readers(**given: Any) -> Readers:
    """What was told of `orders-app`."""
    known = {
        "alert_key": OPENED,
        "channel": "#kafka",
        "cause": Diagnosis.CATCHING_UP,
        "amount": None,
    }
    return Readers(**known | {"at": NOW - 2 * HOUR} | given)


def told(history: MemoryHistory, what: str = "opened", **given: Any) -> None:
    """A message of the incident of `orders-app` was sent."""
    history.enqueue_alert(posting(what, **given), cluster="demo")


def newest(history: MemoryHistory) -> tuple[AlertRow, AlertMessage]:
    """The last alert and what it says."""
    alert = history.tables.alerts[-1]
    return alert, AlertMessage.from_json(alert.message)


def test_an_ack_is_shown_in_the_message_of_its_incident(history: MemoryHistory) -> None:
    """The message is changed, once; when the ack ends before the incident it is as it was."""
    told(history)
    wrong(history, "orders-app", "orders-api", readers=readers())
    history.tables.watches["demo", WatchOf.GROUPS] = history.incident_watch("demo")
    before = newest(history)[1]
    number = history.add_silence(ack(groups="orders-app", ends_at=NOW + HOUR))
    assert len(looked(history)) == 1
    alert, message = newest(history)
    assert (alert.replaces, alert.answers, alert.channel) == (OPENED, None, "#kafka")
    assert message.title == before.title
    assert message.footer[-1] == "Acknowledged by bo until 2026-11-22 13:00 UTC: moving."
    assert before.footer == message.footer[:-1]
    assert len(looked(history, at=NOW + HOUR)) == 1
    alert, message = newest(history)
    assert (alert.replaces, message) == (OPENED, before)
    assert [each for each in history.silences(NOW + HOUR) if each.silence_id == number] == []


def test_an_ack_is_over_with_its_incidents(history: MemoryHistory) -> None:
    """Nothing is said of that: the incident says that it is over; what opens later is not acknowledged."""
    told(history)
    wrong(history, "orders-app", readers=readers())
    history.add_silence(ack())
    looked(history)
    wrong(history)
    assert looked(history, at=NOW + HOUR) == []
    assert history.silences(NOW + HOUR) == []
    assert [each.ended_at for each in history.tables.silences] == [NOW + HOUR]
    wrong(history, "orders-app", opened_at=NOW + 2 * HOUR)
    assert looked(history, at=NOW + 3 * HOUR) == []


def test_what_was_written_by_those_who_know_of_the_ack_is_left_as_it_is(
    history: MemoryHistory,
) -> None:
    """A message that got worse since says by itself who works on it."""
    told(history)
    later = AlertMessage.from_json(posting("worse 1").message.to_json() | {"at": NOW.isoformat()})
    told(history, "worse 1", message=later)
    wrong(history, "orders-app", readers=readers())
    history.add_silence(ack())
    assert looked(history) == []


def test_one_of_a_digest_is_acknowledged_in_its_thread(history: MemoryHistory) -> None:
    """The digest speaks of many; the line in its thread of one."""
    digest = Posting(key="digest", channel="#kafka", message=posting().message)
    history.enqueue_alert(digest, cluster="demo")
    known = readers(alert_key="digest", in_digest=True)
    wrong(history, "orders-app", "orders-api", readers=known, state=IncidentState.OPEN)
    history.add_silence(ack(groups="orders-app"))
    assert looked(history) == [
        ("#kafka", "orders-app: acknowledged", "Acknowledged by bo: moving.")
    ]
    alert, _ = newest(history)
    assert (alert.answers, alert.replaces) == ("digest", None)


def test_a_message_of_another_version_holds_nothing_up(
    history: MemoryHistory, caplog: pytest.LogCaptureFixture
) -> None:
    """It stays as it is; what else there is to say is said."""
    told(history)
    (alert,) = history.tables.alerts
    history.tables.alerts[:] = [replace(alert, message={"title": "of tomorrow"})]
    wrong(history, "orders-app", readers=readers())
    history.add_silence(ack())
    history.add_silence(silence(groups="pay"))
    assert len(looked(history)) == 1
    assert "the ack cannot be shown" in caplog.text
