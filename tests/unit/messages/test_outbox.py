"""The outbox on tables in memory: what is queued, and how often each thing arrives."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Event
from typing import Any

import pytest

from evenkeel.engine.config import ClusterSettings, MaintenanceWindow, Policy, Rule, Settings
from evenkeel.engine.messages.outbox import LEASE, DeliveryReport, deliver
from evenkeel.engine.messages.outbox_entries import queue_advice, queue_incidents
from evenkeel.engine.model.assignments import Move
from evenkeel.engine.model.errors import ChannelClosed, HistoryError, NotDelivered, NotifierError
from evenkeel.engine.model.message import AlertMessage, MessageKind
from evenkeel.engine.ports import ClusterFacts, Delivered, FailingStep
from evenkeel.engine.records import AlertState, SilenceKind
from tests.helpers.incidents import course, posting, row
from tests.helpers.memory import MemoryHistory, MemoryNotifier
from tests.helpers.outbox import CLUSTER, NOW, advice, refusal, take
from tests.helpers.silenced import silence
from tests.helpers.watching import slack_at
from tests.stage.slack import SlackServer

pytest_plugins = ("tests.helpers.slack_fixtures",)


def settings(*rules: Rule, clusters: tuple[str, ...] = (CLUSTER,)) -> Settings:
    """Settings of some clusters with the default channel #kafka."""
    return Settings(
        clusters={c: ClusterSettings(bootstrap="b:9092") for c in clusters}, rules=rules
    )


class FaredHistory(MemoryHistory):
    """A history whose pipelines fare as the test says."""

    def __init__(self) -> None:
        super().__init__()
        self.facts: dict[str, ClusterFacts] = {}

    def cluster_facts(
        self, clusters: Sequence[str], now: datetime | None = None
    ) -> list[ClusterFacts]:
        """What the test says, in the order asked for."""
        return [self.facts.get(name, ClusterFacts(cluster=name)) for name in clusters]


@pytest.fixture
def history() -> FaredHistory:
    """Empty tables."""
    return FaredHistory()


def test_a_run_with_news_is_one_message_and_its_thread(history: FaredHistory) -> None:
    """All groups with news share one alert, whose thread has them in full; groups without are in neither."""
    run = take(history, "s1", advice("a"), advice("b"), advice("c", "proposed"))
    assert queue_advice(history, settings(), run) == 2
    message, thread = history.messages()
    assert [known.group_id for known in message.announcements] == ["a", "b"]
    assert [section.heading[0] for section in thread.sections] == ["a", "b"]
    assert thread.announcements == ()
    head, answer = history.tables.alerts
    assert answer.answers == head.key


def test_unchanged_advice_is_told_once(history: FaredHistory) -> None:
    """The next snapshots with the same advice are silent, while the first message still waits and once it is sent."""
    for number in range(4):
        for _ in range(2):
            queue_advice(history, settings(), take(history, f"s{number}", advice("a")))
        if number == 2:
            deliver(history, MemoryNotifier(), settings())
    assert len(history.tables.alerts) == 1


def test_one_message_a_day_and_group(history: FaredHistory) -> None:
    """A withdrawal waits for its day and is told once; a rule may say how long it waits."""
    hours = [("confirmed", 0), ("withdrawn", 1), ("withdrawn", 25), ("withdrawn", 50)]

    def queued(*rules: Rule, cluster: str) -> list[int]:
        return [
            queue_advice(
                history,
                settings(*rules),
                take(
                    history,
                    f"{cluster}-{n}",
                    advice("a", state),
                    cluster=cluster,
                    at=NOW + timedelta(hours=after),
                ),
            )
            for n, (state, after) in enumerate(hours)
        ]

    assert queued(cluster="daily") == [1, 0, 1, 0]
    soon = Rule(groups="a", policy=Policy(repeat_interval_seconds=3600))
    assert queued(soon, cluster="hourly") == [1, 1, 0, 0]


def test_a_superseded_alert_told_nobody(history: FaredHistory) -> None:
    """What was taken back before it was sent is news again."""
    queue_advice(history, settings(), take(history, "s1", advice("a")))
    history.tables.alerts[0] = replace(history.tables.alerts[0], state=AlertState.SUPERSEDED)
    assert queue_advice(history, settings(), take(history, "s2", advice("a"))) == 1


def test_an_older_snapshot_is_not_told(
    history: FaredHistory, caplog: pytest.LogCaptureFixture
) -> None:
    """A backfill or late retry queues nothing and says so."""
    old = take(history, "s1", advice("a"))
    take(history, "s2", advice("a"))
    with caplog.at_level(logging.INFO):
        assert queue_advice(history, settings(), old) == 0
    assert "s1 is not the newest snapshot with advice (s2 is)" in caplog.text


def test_a_reading_that_waits_for_its_advice_does_not_silence_the_one_before(
    history: FaredHistory,
) -> None:
    """Where snapshots come faster than advice, each is still told in its turn."""
    old = take(history, "s1", advice("a"))
    take(history, "s2")
    assert queue_advice(history, settings(), old) == 1


def test_advice_on_a_reading_long_past_is_not_told(
    history: FaredHistory, caplog: pytest.LogCaptureFixture
) -> None:
    """Catching up after an outage, only what is recent is worth a message."""
    old = take(history, "s1", advice("a"))
    take(history, "s2", at=NOW + timedelta(hours=2))
    with caplog.at_level(logging.INFO):
        assert queue_advice(history, settings(), old) == 0
    assert "s1 is 7200 seconds older than the newest snapshot" in caplog.text


def test_each_channel_gets_its_own_groups(history: FaredHistory) -> None:
    """A rule's channel hears of its groups only, and their owner is named."""
    rule = Rule(groups="pay*", channel="#money", owner="team money")
    run = take(history, "s1", advice("pay-in"), advice("ship"))
    assert queue_advice(history, settings(rule), run) == 2
    told = {a.channel: [t["group_id"] for t in a.message["told"]] for a in history.tables.alerts}
    assert told == {"#money": ["pay-in"], "#kafka": ["ship"]}
    assert "Owner: team money" in history.messages()[0].footer


def test_moves_stand_with_their_group(history: FaredHistory) -> None:
    """The moves of an advice are told under its group."""
    moves = {"a": [Move(topic="t", partition=0, from_member="m1", to_member="m2")]}
    run = take(history, "s1", advice("a"), advice("b"), moves=moves)
    queue_advice(history, settings(), run)
    lines = {s.heading[0]: s.lines[-1] for s in history.messages()[1].sections}
    assert lines["a"] == "Moves: t-0: m1 -> m2 and 3 more"
    assert not lines["b"].startswith("Moves")


def test_an_unknown_snapshot_is_an_error(history: FaredHistory) -> None:
    """The step before `alert` has not run; the error says so."""
    with pytest.raises(HistoryError, match="no snapshot s9"):
        queue_advice(history, settings(), "s9")


def test_what_waits_is_delivered_oldest_first_where_the_configuration_says(
    history: FaredHistory,
) -> None:
    """Once; what is for a channel that is not configured any more goes to the default one."""
    wrong = settings(Rule(groups="g1", channel="#tpyo"))
    for number in range(3):
        queue_advice(history, wrong, take(history, f"s{number}", advice(f"g{number}")))
    slack = MemoryNotifier()
    assert deliver(history, slack, wrong) == DeliveryReport(sent=3)
    assert sorted(channel for channel, _, _ in slack.sent) == ["#kafka", "#kafka", "#tpyo"]
    assert [key for _, key, _ in slack.sent if "#kafka" in key] == [
        f"advice s{n} #kafka" for n in (0, 2)
    ]
    assert deliver(history, slack, wrong) == DeliveryReport()
    queue_advice(history, wrong, take(history, "s3", advice("g1", "withdrawn"), at=later(60 * 30)))
    deliver(history, slack, settings())
    assert slack.sent[-1][0] == "#kafka"


def test_all_are_tried_before_a_failure_is_raised(history: FaredHistory) -> None:
    """One channel that refuses holds no other back; its alert stays pending with the error."""
    rules = (Rule(groups="a", channel="#dead"),)
    queue_advice(history, settings(*rules), take(history, "s1", advice("a"), advice("b")))
    slack = MemoryNotifier({"#dead": refusal("#dead")})
    with pytest.raises(NotifierError, match=r"1 of 2 alerts.*stay pending.*#dead.*Invite the bot"):
        deliver(history, slack, settings(*rules))
    assert [channel for channel, _, _ in slack.sent] == ["#kafka"]
    assert {a.channel: a.state for a in history.tables.alerts} == {
        "#dead": "pending",
        "#kafka": "sent",
    }
    assert sorted(slack.tried) == [a.key for a in history.tables.alerts]
    failed = next(a for a in history.tables.alerts if a.state == "pending")
    assert "channel_not_found" in (failed.last_error or "")


def test_a_fault_of_ours_in_one_message_keeps_no_other_back(history: FaredHistory) -> None:
    """Even an error nobody foresaw is stored with its alert, and the rest is delivered."""
    rules = (Rule(groups="a", channel="#odd"),)
    queue_advice(history, settings(*rules), take(history, "s1", advice("a"), advice("b")))
    slack = MemoryNotifier({"#odd": KeyError("surprise")})
    with pytest.raises(NotifierError, match="surprise"):
        deliver(history, slack, settings(*rules))
    assert len(slack.sent) == 1


def watched(history: FaredHistory, *failing: FailingStep, **more: Any) -> None:
    """Say how the cluster's pipeline fares: well, but for what is given."""
    well = ClusterFacts(
        cluster=CLUSTER, watched_since=NOW, newest_snapshot_id="s1", newest_finished_at=NOW
    )
    history.facts[CLUSTER] = replace(well, failing=failing, **more)


def unreachable(error: str = "No broker answered.", failures: int = 1) -> FailingStep:
    """The step of a cluster that cannot be read."""
    return FailingStep(
        step="take_snapshot",
        failures=failures,
        failing_since=NOW + timedelta(minutes=failures),
        last_failed_at=NOW + timedelta(minutes=failures),
        error=error,
        runs=2,
    )


def look(history: FaredHistory, minutes: float) -> int:
    """Look for incidents some minutes later."""
    return queue_incidents(history, settings(), later(minutes))


def later(minutes: float) -> datetime:
    """That many minutes after the beginning."""
    return NOW + timedelta(minutes=minutes)


def test_an_unreachable_cluster_is_told_once_and_once_when_it_is_back(
    history: FaredHistory,
) -> None:
    """One message when it goes, which says later that it is back, as its thread does; to be down again is new."""
    slack, down, downer = MemoryNotifier(), [unreachable()], [unreachable(failures=3)]
    queued = []
    looks = ((1, down), (5, downer), (9, []), (12, []), (13, down), (14, []))
    for minutes, steps in looks:
        watched(history, *steps)
        queued.append(look(history, minutes))
        deliver(history, slack, settings())
    assert queued == [1, 0, 2, 0, 1, 2]
    titles = [m.title.rpartition(" for ")[0] for _, _, m in slack.sent]
    assert titles == ["test: resolved, cluster unreachable"] * 4
    assert slack.threads == [None, "1", None, "3"]
    assert slack.broadcasts == [False, True] * 2
    key = "test/cluster unreachable/20260301T090100Z"
    assert slack.changes[0] == ("1", f"incident {key} resolved")
    assert history.tables.incidents[0].closed_at == later(9)


def test_a_rule_for_all_groups_is_one_for_their_pipeline(history: FaredHistory) -> None:
    """It says who is called, and where; a rule for some groups moves nothing."""
    watched(history, unreachable())
    rules = (
        Rule(clusters="te*", channel="#platform", mention="@here"),
        Rule(groups="pay*", channel="#money"),
    )
    queue_incidents(history, settings(*rules), later(1))
    assert [alert.channel for alert in history.tables.alerts] == ["#platform"]
    assert [message.mention for message in history.messages()] == ["@here"]


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({}, [0, 0, 1]),
        ({"cluster": "te*"}, [0, 0, 1]),
        ({"cluster": "eu"}, [1, 0, 0]),
        ({"groups": "orders-*"}, [1, 0, 0]),
        ({"kind": SilenceKind.ACK}, [1, 0, 0]),
    ],
)
def test_planned_work_on_a_cluster_wakes_nobody(
    history: FaredHistory, given: dict[str, Any], told: list[int]
) -> None:
    """Who silences all its groups expects that it cannot be read; what outlasts that is told, with its beginning."""
    span = {"groups": "*", "starts_at": NOW, "ends_at": later(9)}
    history.add_silence(silence(**span | given))
    watched(history, unreachable())
    assert [look(history, minutes) for minutes in (1, 8, 9)] == told
    [incident] = history.tables.incidents
    assert incident.began_at == later(1)


def test_maintenance_of_a_cluster_wakes_nobody_but_for_our_own_steps(history: FaredHistory) -> None:
    """That a step of ours fails has nothing to do with it."""
    window = MaintenanceWindow(**{"from": NOW, "until": later(60), "reason": "upgrade"})
    planned = settings().model_copy(update={"maintenance": (window,)})
    watched(history, unreachable(), replace(unreachable(), step="advise"))
    assert queue_incidents(history, planned, later(20)) == 1
    [alert] = history.tables.alerts
    told = {one.kind: one.alert_key == alert.key for one in history.tables.incidents}
    assert told == {"step failed": True, "cluster unreachable": False}


def test_an_open_incident_keeps_its_beginning_and_its_newest_facts(history: FaredHistory) -> None:
    """What was told as the beginning stays, what is known about it moves on."""
    watched(history, unreachable("first"))
    look(history, 1)
    watched(history, unreachable("second", failures=4))
    look(history, 5)
    [incident] = history.tables.incidents
    assert incident.facts["error"] == "second"
    assert incident.facts["since"] == later(1).isoformat()
    assert incident.last_seen_at == later(5)


def test_what_is_wrong_with_a_pipeline_is_told_one_by_one(history: FaredHistory) -> None:
    """Already at the first look, however many things that are, and so is their end: digests are for groups."""
    flooded = settings().model_copy(update={"digest_threshold": 1})
    watched(history, unadvised=1, oldest_unadvised_id="s1", oldest_unadvised_at=NOW)
    assert queue_incidents(history, flooded, later(20)) == 2
    deliver(history, MemoryNotifier(), flooded)
    watched(history, newest_finished_at=later(21))
    assert queue_incidents(history, flooded, later(22)) == 4
    kinds = {kind: m.kind for kind, m in _by_cause(history)}
    assert set(kinds) == {"snapshot stale", "advice stuck"}
    assert set(kinds.values()) == {MessageKind.INCIDENT_CLOSED}


def _by_cause(history: FaredHistory) -> list[tuple[str, AlertMessage]]:
    """What waits, and what of it is wrong."""
    return [(m.subject.cause, m) for m in history.messages() if m.subject is not None]


@pytest.mark.parametrize(("dead", "at_once", "in_the_end"), [("#kafka", 0, 1), ("#team", 1, 2)])
def test_unsent_alerts_are_an_incident_without_a_message_into_the_dead_channel(
    history: FaredHistory, dead: str, at_once: int, in_the_end: int
) -> None:
    """That the default channel takes nothing is kept as an incident, and told there once it is over; another's, now."""
    unsent = {
        "unsent": 2,
        "oldest_unsent_at": NOW,
        "unsent_channels": (dead,),
        "unsent_error": "channel_not_found",
    }
    watched(history, newest_finished_at=later(19), **unsent)
    assert look(history, 20) == at_once
    assert [i.kind for i in history.tables.incidents] == ["alerts unsent"]
    deliver(history, MemoryNotifier(), settings())
    watched(history, newest_finished_at=later(19))
    look(history, 21)
    waiting = [told.title.rpartition(" for ")[0] for told in history.messages()]
    assert waiting == ["test: resolved, alerts not delivered"] * in_the_end


def test_a_cluster_taken_out_of_the_configuration_closes_its_incidents(
    history: FaredHistory,
) -> None:
    """What is no longer watched is not left open for ever."""
    watched(history, unreachable())
    look(history, 1)
    assert queue_incidents(history, settings(clusters=()), later(2)) == 2
    assert history.messages()[-1].title == "test: no longer watched"


def tell(history: FaredHistory, *what: str, **known: Any) -> None:
    """Queue what is told of a group's incident."""
    for each in what:
        history.enqueue_alert(posting(each, **known), cluster=CLUSTER)


def titles(slack: MemoryNotifier) -> list[str]:
    """What stands in the channel, in the order in which it was posted."""
    return [message.title.partition(": ")[2] for _, _, message in slack.sent]


def test_an_incident_is_one_message_that_changes_and_its_thread(history: FaredHistory) -> None:
    """Opened, worse, resolved: one message with two lines in its thread, the last of them seen in the channel."""
    slack = MemoryNotifier()
    tell(history, "opened")
    deliver(history, slack, settings())
    tell(history, "worse 1", "worse 1 thread")
    assert deliver(history, slack, settings()) == DeliveryReport(sent=2)
    assert titles(slack) == ["worse 1", "worse 1 thread"]
    tell(history, "resolved")
    tell(history, "resolved thread", broadcast=True)
    deliver(history, slack, settings())
    assert titles(slack) == ["resolved", "worse 1 thread", "resolved thread"]
    assert slack.threads == [None, "1", "1"]
    assert slack.broadcasts == [False, False, True]
    assert deliver(history, slack, settings()) == DeliveryReport()


@pytest.mark.slow
def test_a_message_that_was_deleted_in_slack_is_posted_anew(
    history: FaredHistory, slack_server: SlackServer
) -> None:
    """What is told next stands for the incident from then on: its line and its end go there."""
    told, posted = slack_at(slack_server.base_url), slack_server.workspace.messages
    tell(history, "opened")
    deliver(history, told, settings())
    posted.clear()
    for what in ("worse 1", "resolved"):
        tell(history, what, f"{what} thread")
        deliver(history, told, settings())
    assert [message["text"].split(": ")[1] for message in posted] == [
        "resolved",
        "worse 1 thread",
        "resolved thread",
    ]
    assert [message.get("thread_ts") for message in posted] == [None, *[posted[0]["ts"]] * 2]


def test_what_was_posted_in_the_same_call_is_changed_and_answered(history: FaredHistory) -> None:
    """An opening that may have arrived is delivered first; what is about it finds it at once."""
    tell(history, "opened")
    history.mark_alert_failed(history.tables.alerts[0], "HTTP status 500")
    tell(history, "worse 1", "worse 1 thread")
    slack = MemoryNotifier()
    assert deliver(history, slack, settings()) == DeliveryReport(sent=3)
    assert titles(slack) == ["worse 1", "worse 1 thread"]
    assert slack.threads == [None, "1"]


def test_what_is_about_a_message_waits_for_it(history: FaredHistory) -> None:
    """As long as that does not arrive neither change nor line is tried; other messages are."""
    tell(history, "opened")
    history.mark_alert_failed(history.tables.alerts[0], "HTTP status 500")
    tell(history, "worse 1", "worse 1 thread")
    tell(history, "opened", group="other")
    slack = Refusing("orders-app: opened")
    with pytest.raises(NotifierError, match="1 of 2 alerts"):
        deliver(history, slack, settings())
    assert [message.title for _, _, message in slack.sent] == ["other: opened"]
    assert deliver(history, MemoryNotifier(), settings()).sent == 3


class Refusing(MemoryNotifier):
    """A notifier that refuses one title."""

    def __init__(self, title: str) -> None:
        super().__init__()
        self.title = title

    def send(self, message: AlertMessage, **where: Any) -> Delivered:
        """Keep the message, unless it is that one."""
        if message.title == self.title:
            raise refusal()
        return super().send(message, **where)


def test_what_is_about_a_message_waits_while_another_process_sends_that(
    history: FaredHistory,
) -> None:
    """Nobody knows yet where it will stand."""
    tell(history, "opened")
    slack = MemoryNotifier()
    with history.attempt_alert(history.tables.alerts[0], LEASE):
        tell(history, "worse 1", "worse 1 thread")
        assert deliver(history, slack, settings()) == DeliveryReport(busy=1, waiting=2)
    assert slack.tried == []


def test_a_message_that_cannot_be_read_gives_way(history: FaredHistory) -> None:
    """Another version wrote it: nobody has it, so nothing waits for it."""
    tell(history, "opened")
    history.tables.alerts[0] = replace(history.tables.alerts[0], message={"kind": "poem"})
    with pytest.raises(NotifierError, match="cannot be read"):
        deliver(history, MemoryNotifier(), settings())
    tell(history, "worse 1")
    slack = MemoryNotifier()
    assert deliver(history, slack, settings()) == DeliveryReport(sent=1)
    assert titles(slack) == ["worse 1"]


def test_a_dead_channel_does_not_hold_the_others_up(history: FaredHistory) -> None:
    """While one channel does not answer, another gets its message."""
    rules = settings(Rule(groups="a", channel="#dead"))
    queue_advice(history, rules, take(history, "s1", advice("a"), advice("b")))
    slack = Hanging()
    assert deliver(history, slack, rules) == DeliveryReport(sent=2)
    assert [channel for channel, _, _ in slack.sent] == ["#kafka", "#dead"]


class Hanging(MemoryNotifier):
    """A notifier whose channel #dead answers after another has its message."""

    def __init__(self) -> None:
        super().__init__()
        self.others_done = Event()

    def send(self, message: AlertMessage, **where: Any) -> Delivered:
        """Wait in the dead channel for the other one."""
        if where["channel"] == "#dead":
            assert self.others_done.wait(20)
        delivered = super().send(message, **where)
        self.others_done.set()
        return delivered


def test_a_channel_that_takes_its_time_to_fail_is_left_for_the_next_call(
    history: FaredHistory,
) -> None:
    """Three alerts into a channel that needs 20 seconds to say no: the third is not tried, and waits unharmed."""
    for group in "abc":
        tell(history, "opened", group=group)
    now = iter(range(0, 1000, 20))
    dead = MemoryNotifier({"#kafka": refusal()})
    with pytest.raises(NotifierError, match="2 of 2 alerts"):
        deliver(history, dead, settings(), clock=lambda: float(next(now)))
    assert [alert.attempts for alert in history.tables.alerts] == [1, 1, 0]
    assert deliver(history, MemoryNotifier(), settings()) == DeliveryReport(sent=3)


def test_an_incident_of_a_group_is_not_closed_with_the_pipelines(history: FaredHistory) -> None:
    """A pipeline that fares well says nothing about the groups of its cluster; one that nobody watches ends them."""
    incident = row(course())
    shown = [replace(incident, cluster="test")]
    assert history.store_watch("test", "s1", NOW, [course()], shown, [], before=None)
    watched(history)
    assert look(history, 1) == 0
    assert [each.closed_at for each in history.tables.incidents] == [None]
    assert queue_incidents(history, settings(clusters=()), later(2)) == 2
    assert [each.closed_at for each in history.tables.incidents] == [later(2)]


def test_an_incident_goes_on_where_it_stands_when_its_channel_is_renamed(
    history: FaredHistory,
) -> None:
    """Its message is changed and answered there; nothing of it comes to the default channel."""
    slack = MemoryNotifier()
    tell(history, "opened", channel="#before")
    deliver(history, slack, settings(Rule(channel="#before")))
    tell(history, "resolved", "resolved thread", channel="#before")
    deliver(history, slack, settings(Rule(channel="#after")))
    assert [channel for channel, _, _ in slack.sent] == ["#before", "#before"]
    assert titles(slack) == ["resolved", "resolved thread"]
    assert slack.threads == [None, "1"]


def test_an_incident_whose_old_channel_is_closed_goes_on_in_the_default_one(
    history: FaredHistory,
) -> None:
    """One message, and what answers it in its thread."""
    slack = MemoryNotifier()
    tell(history, "opened", channel="#before")
    deliver(history, slack, settings(Rule(channel="#before")))
    slack.refusing["#before"] = ChannelClosed("is_archived")
    tell(history, "resolved", "resolved thread", channel="#before")
    deliver(history, slack, settings())
    assert [channel for channel, _, _ in slack.sent[1:]] == ["#kafka", "#kafka"]
    assert titles(slack) == ["opened", "resolved", "resolved thread"]
    assert slack.threads == [None, None, "2"]


def test_a_moment_of_trouble_moves_no_incident(history: FaredHistory) -> None:
    """What could not be delivered to the old channel is tried there again."""
    slack = MemoryNotifier()
    tell(history, "opened", channel="#before")
    deliver(history, slack, settings(Rule(channel="#before")))
    slack.refusing["#before"] = NotDelivered("ratelimited")
    tell(history, "resolved", channel="#before")
    with pytest.raises(NotifierError):
        deliver(history, slack, settings())
    del slack.refusing["#before"]
    assert deliver(history, slack, settings()).sent == 1
    assert titles(slack) == ["resolved"]
