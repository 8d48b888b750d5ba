"""
All messages there are, as the text that Slack shows: `python -m tests.helpers.golden_messages` writes them to
`tests/data/messages.txt`, to be read side by side in review.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from evenkeel.engine.adapters.slack.blocks import body
from evenkeel.engine.adapters.webhook import alertmanager, pagerduty
from evenkeel.engine.config import ClusterSettings, MaintenanceWindow, Settings
from evenkeel.engine.messages.advice_news import News, new_advice
from evenkeel.engine.messages.channels import with_links
from evenkeel.engine.messages.digest import MOVES, advice_message
from evenkeel.engine.messages.events import EventKind
from evenkeel.engine.messages.group_digest import DigestKind, digest_message
from evenkeel.engine.messages.incident_message import Incident, line_of, message_of
from evenkeel.engine.messages.outbox_entries import last_postings
from evenkeel.engine.messages.silence_messages import (
    Scene,
    acknowledging,
    quiet_postings,
    stale_postings,
)
from evenkeel.engine.model.assignments import Move
from evenkeel.engine.model.facts import Fact, FactKind, note, reason
from evenkeel.engine.model.message import AlertMessage, Announcement, MessageKind, NewsKind
from evenkeel.engine.model.states import Diagnosis, IncidentKind, IncidentState
from evenkeel.engine.ports import AdvisedSnapshot, IncidentWatch
from evenkeel.engine.records import Bout, CauseSpan, IncidentCourse, SilenceRow
from tests.helpers import group_incidents, outbox
from tests.helpers.group_incidents import FACTS, course_of, incident_of, readers_of
from tests.helpers.silenced import ack, silence

GOLDEN = Path(__file__).parents[1] / "data" / "messages.txt"

LINK = "https://airflow.example.com/dags/snapshot_offsets/runs/1"
PAGES = Settings(
    report_url="https://airflow.example.com/plugin/evenkeel",
    runbook_url="https://docs.example.com/evenkeel/diagnoses",
)
SINCE = (outbox.NOW - timedelta(minutes=25)).isoformat()

PIPELINES: Mapping[IncidentKind, Mapping[str, Any]] = {
    IncidentKind.UNREACHABLE: {
        "failures": 5,
        "runs": 3,
        "link": "https://airflow.example.com/dags/snapshot_offsets/runs/r/tasks/take_snapshot",
        "newest_finished_at": (outbox.NOW - timedelta(minutes=30)).isoformat(),
        "error": "No broker of b1:9092 answered. Check the address.",
    },
    IncidentKind.STALE: {
        "stale_after_seconds": 900.0,
        "newest_finished_at": SINCE,
        "newest_snapshot_id": "test-20260301T083500Z-abc123",
    },
    IncidentKind.PARTIAL: {
        "snapshot_id": "test-20260301T090000Z-abc124",
        "snapshots": 2,
        "problems": ["broker 2 did not answer"],
        "left_out": 3,
    },
    IncidentKind.REJECTED: {"snapshot_id": "test-20260301T090000Z-abc124", "error": "no brokers"},
    IncidentKind.UNWATCHED: {"snapshot_id": "test-20260301T090000Z-abc124"},
    IncidentKind.STUCK: {
        "snapshot_id": "test-20260301T083500Z-abc123",
        "snapshots": 3,
        "run_seconds": 480.0,
        "gap_seconds": 300.0,
    },
    IncidentKind.STEP_FAILED: {
        "steps": [{"step": "advise", "failures": 4, "since": SINCE, "error": "disk full"}],
    },
    IncidentKind.HISTORY_AWAY: {"error": "connection refused", "hit": ["advise"], "runs": 2},
    IncidentKind.CONFIG_REFUSED: {
        "error": "rules.0.lag_slo_secnds: no such key",
        "hit": ["watch_groups"],
        "runs": 1,
    },
    IncidentKind.UNSENT: {"alerts": 2, "channels": ["#team"], "error": "channel_not_found"},
}
"""What is known of each kind of trouble of a pipeline."""


def pipeline_incident(kind: IncidentKind, known: Mapping[str, Any]) -> Incident:
    """One that is opened now; unless something else is known, it began 25 minutes ago."""
    known = {"since": SINCE, **known}
    began = datetime.fromisoformat(known["since"])
    span = CauseSpan(
        cause=kind, since=began, last_seen_at=outbox.NOW, snapshots=1, amount=None, known=known
    )
    course = IncidentCourse(
        key="test/k/1",
        group_id=None,
        state=IncidentState.OPEN,
        cause=kind,
        causes=(span,),
        began_at=began,
        began_snapshot_id="1",
        good_snapshot_id=None,
        opened_at=outbox.NOW,
    )
    return Incident(cluster="test", course=course, at=outbox.NOW, snapshot_id="1")


def rendered(message: AlertMessage) -> str:
    """Title, fallback text and body as they are sent to Slack, a line each."""
    posted = body(message, "k")
    lines = [posted["blocks"][0]["text"]["text"], f"    fallback | {posted['text']}"]
    for block in posted["blocks"][1:]:
        if block["type"] == "context":
            lines.append("        note | " + "   ".join(e["text"] for e in block["elements"]))
        elif block["type"] == "section":
            lines += [f"             | {line}" for line in block["text"]["text"].splitlines()]
    return "\n".join(lines)


def messages() -> Iterator[tuple[str, AlertMessage]]:
    """Each message under what it is about."""
    yield from _of_groups()
    yield from _in_other_circumstances()
    yield from _of_what_is_new()
    yield from _of_pipelines()
    yield from _of_advice()
    yield from _digests()
    yield from _quiet()


def _of_groups() -> Iterator[tuple[str, AlertMessage]]:
    for cause, (amount, facts) in FACTS.items():
        incident = incident_of(cause)
        yield f"{cause}: opened", message_of(incident, EventKind.OPENED)
        risen = readers_of(Diagnosis.CATCHING_UP, 600)
        if cause is not Diagnosis.CATCHING_UP:
            worse = incident_of(cause, course={"readers": risen})
            yield f"{cause}: worse", message_of(worse, EventKind.WORSE)
            yield f"{cause}: worse, thread", line_of(worse, EventKind.WORSE)
        same = readers_of(cause, amount and amount / 2.5)
        still = incident_of(cause, course={"readers": same})
        yield f"{cause}: reminder", message_of(still, EventKind.STILL)
        yield f"{cause}: reminder, thread", line_of(still, EventKind.STILL)
        lag = next((1.03 * f.after for f in facts if f.measure == "total_lag" and f.after), None)
        over = incident_of(
            cause,
            course={
                "state": IncidentState.RESOLVED,
                "causes": (),
                "readers": readers_of(cause, amount),
                "well_since": group_incidents.NOW - timedelta(minutes=5),
                "closed_at": group_incidents.NOW,
                **({} if lag is None else {"peak_lag": lag, "peak_behind_seconds": 1680.0}),
            },
        )
        yield f"{cause}: resolved", message_of(over, EventKind.RESOLVED)
        yield f"{cause}: resolved, thread", line_of(over, EventKind.RESOLVED)


def _in_other_circumstances() -> Iterator[tuple[str, AlertMessage]]:
    late = timedelta(minutes=45)
    opened, resolved = EventKind.OPENED, EventKind.RESOLVED
    every = (Diagnosis.NO_MEMBERS, Diagnosis.DATA_LOSS, Diagnosis.GROUP_NOT_COMMITTING)
    many = (*every, Diagnosis.CATCHING_UP, Diagnosis.UNDER_PROVISIONED)
    long = incident_of(*many, group="payments.checkout-service." * 5 + "consumer-group")
    yield "several causes and a long name: opened", message_of(long, opened)
    risen = readers_of(Diagnosis.CATCHING_UP, 600)
    all_of_it = incident_of(*many, course={"readers": risen}, quiet="acknowledged by ann: looking")
    yield "all there can be: worse", message_of(all_of_it, EventKind.WORSE)
    never = group_incidents.span_of(
        Diagnosis.NO_MEMBERS, facts=FACTS[Diagnosis.NO_MEMBERS][1][:1] + FACTS[Diagnosis.NO_MEMBERS][1][2:]
    )  # fmt: skip
    seen = incident_of(Diagnosis.NO_MEMBERS, course={"causes": (never,)})
    yield "no members, none ever seen: opened", message_of(seen, opened)
    bare = group_incidents.span_of(Diagnosis.NO_MEMBERS, facts=(), amount=None)
    unknown = incident_of(
        Diagnosis.NO_MEMBERS, course={"causes": (bare,), "good_snapshot_id": None},
        changed=None, owner=None, mention=None, link=None,
    )  # fmt: skip
    yield "nothing known: opened", message_of(unknown, opened)
    flapping = {"over_at": group_incidents.BEGAN - timedelta(hours=1)}
    back = incident_of(Diagnosis.CATCHING_UP, Diagnosis.UNDER_PROVISIONED, course=flapping)
    yield "flapping: opened", message_of(back, opened)
    began = {"began_at": group_incidents.NOW - timedelta(hours=3)}
    stayed = {
        "over_at": group_incidents.NOW - timedelta(hours=4),
        **began,
        "state": IncidentState.RESOLVED,
        "well_since": group_incidents.NOW - late,
        "readers": readers_of(Diagnosis.CATCHING_UP, 600),
    }
    yield (
        "flapping: resolved",
        message_of(incident_of(Diagnosis.CATCHING_UP, course=stayed), resolved),
    )
    settled = {
        **began,
        "state": IncidentState.RESOLVED,
        "unseen_since": group_incidents.NOW - timedelta(hours=2),
        "closed_at": group_incidents.NOW - timedelta(hours=2),
    }
    close = incident_of(Diagnosis.CATCHING_UP, course=settled)
    yield "close to its objective: resolved", message_of(close, resolved)
    gone = {"state": IncidentState.RESOLVED, "well_since": None, "closed_at": group_incidents.NOW}
    left = incident_of(Diagnosis.GROUP_DELETED, course=gone)
    yield "not waited for: resolved", message_of(left, resolved)


def _of_what_is_new() -> Iterator[tuple[str, AlertMessage]]:
    """Why something is worse, and what comes back by the clock."""
    behind = Diagnosis.UNDER_PROVISIONED
    told = readers_of(behind, 600, behind_seconds=600.0, growth=0.25)
    rates = (
        note("arrivals_changed", before=300.0, after=600.0, bound=2700.0),
        note("speed_changed", ["orders-1"], before=160.0, after=119.0, bound=2700.0),
    )
    steeper = incident_of(behind, course={"readers": told}, rates=rates, changed=())
    yield "more than the line says: worse", message_of(steeper, EventKind.WORSE)
    yield "more than the line says: worse, thread", line_of(steeper, EventKind.WORSE)
    used = group_incidents.span_of(
        behind, facts=(*FACTS[behind][1], group_incidents.stated("retention_used", after=0.52))
    )
    half = incident_of(behind, course={"causes": (used,), "readers": told})
    yield "half of retention: worse", message_of(half, EventKind.WORSE)
    hour = timedelta(hours=1)
    bouts = tuple(
        Bout(
            began_at=group_incidents.BEGAN - hours * hour,
            ended_at=group_incidents.BEGAN - hours * hour + hour / 2 if hours else None,
            cause=Diagnosis.NO_MEMBERS,
            lasted=True,
            peak_lag=28_800.0,
            peak_behind_seconds=1680.0,
        )
        for hours in (2, 1, 0)
    )
    habit = incident_of(Diagnosis.NO_MEMBERS, course={"bouts": bouts})
    yield "habit", message_of(habit, EventKind.HABIT)
    yield "habit: thread", line_of(habit, EventKind.HABIT)
    yield "more than a habit: opened", message_of(habit, EventKind.OPENED)


def _of_pipelines() -> Iterator[tuple[str, AlertMessage]]:
    for kind, known in PIPELINES.items():
        incident = pipeline_incident(kind, known)
        yield f"pipeline, {kind}: opened", message_of(incident, EventKind.OPENED)
        ended = replace(incident, at=outbox.NOW + timedelta(minutes=5))
        yield f"pipeline, {kind}: resolved", message_of(ended, EventKind.RESOLVED)
    stale = pipeline_incident(IncidentKind.STALE, PIPELINES[IncidentKind.STALE])
    away = message_of(replace(stale, unwatched=True), EventKind.RESOLVED)
    yield "pipeline, no longer configured", away


def _of_advice() -> Iterator[tuple[str, AlertMessage]]:
    across = outbox.check(
        0.0, after_seconds=0, high=0.05, measure="cross_rack_share", unit="share", low=0.0, expected=0.0
    )  # fmt: skip
    gained = {"if_stayed_low": 3e6, "if_stayed": 3.3e6, "if_stayed_high": 3.6e6}
    gained |= {"saved_low": 6.8e9, "saved": 7.4e9, "saved_high": 8e9}
    lost = {"if_stayed_low": 11_000, "if_stayed": 12_000, "if_stayed_high": 13_000}
    lost |= {"saved_low": -6e7, "saved": -5e7, "saved_high": -4e7}
    without = {"if_stayed_low": 32_000, "if_stayed": 32_760, "if_stayed_high": 33_000}
    late = outbox.check(
        3960, measure="delay_seconds", unit="s", low=0, expected=3600, high=7200, **without
    )
    why = reason("restarting_no_help", ["catching up"])
    racks = Fact(kind=FactKind.GAIN, measure="unowned", before=1, after=0)
    live, proposed = outbox.score(partition_spread=3), outbox.score(partition_spread=0, moves=4)
    more = {
        "facts": (racks,),
        "live": live,
        "proposed": proposed,
        "how": "Write the plan with `evenkeel plan --group payments --strategy sticky`",
        "best_undeployable": "balanced",
        "best_undeployable_reason": "partition spread 3 -> 0",
    }
    news = {
        "switch": _news("confirmed"),
        "switch with all there can be": _news("confirmed", **more),
        "another strategy": _news("confirmed", before="fair"),
        "withdrawn": _news("withdrawn", facts=(why,)),
        "adopted": _news("adopted"),
        "verified": _news("verified", checks=(outbox.check(250),)),
        "verified, racks": _news("verified", checks=(across,)),
        "missed": _news("missed", checks=(outbox.check(48_123),)),
    }
    for name, each in news.items():
        yield f"advice, {name}", _advised(each)[0]
    judged = {
        "no clear difference": _news(
            "expired", checks=(outbox.check(2_900_000, **gained | {"saved_low": -1e9}),)
        ),
        "verified by the difference": _news("verified", checks=(outbox.check(250, **gained), late)),
        "missed by the difference": _news("missed", checks=(outbox.check(48_123, **lost),)),
    }
    for name, each in judged.items():
        yield f"advice, {name}", _advised(each)[0]
    several = [each for name, each in news.items() if not name.startswith("switch with")]
    message, thread = _advised(*several)
    assert thread is not None
    yield "advice, several groups", message
    yield "advice, several groups: thread", thread
    yield "advice, 30 groups", _advised(*several, *several, *several, *several, *several[:2])[0]


def _news(state: str, *, before: str | None = None, **row: Any) -> News:
    """News of an advice whose readers know of the switch before."""
    at = outbox.NOW - timedelta(days=2)
    strategy = before or "sticky"
    announced = {
        "payments": Announcement(
            group_id="payments", kind=NewsKind.SWITCH, strategy=strategy, at=at
        )
    }
    known = {} if state == "confirmed" and before is None else announced
    skewed = Fact(
        kind=FactKind.DIAGNOSIS, measure="skewed_load", subjects=("c-0",), after=720.0, bound=600.0
    )
    given = outbox.advice("payments", state, **row)
    given = replace(given, facts=(*(given.facts or ()), skewed))
    [found] = new_advice([given], known, outbox.NOW, lambda _: timedelta(days=1))
    return found


def _advised(*news: News) -> tuple[AlertMessage, AlertMessage | None]:
    snapshot = AdvisedSnapshot(
        snapshot_id="test-20260301T090000Z-abc124",
        cluster="test",
        started_at=outbox.NOW,
        finished_at=outbox.NOW,
        partial=False,
        problems=(),
        newest_advised_id="test-20260301T090000Z-abc124",
        newest_started_at=outbox.NOW,
        verdicts={"switch": len(news), "stay": 12},
    )
    owners = {"payments": "team money"}
    moves = {
        "payments": [
            Move(topic="orders", partition=number, from_member="a", to_member="b")
            for number in range(MOVES)
        ]
    }
    return advice_message("test", snapshot, news, moves, owners=owners, link=LINK)


def _digests() -> Iterator[tuple[str, AlertMessage]]:
    causes = [*FACTS][:8]
    some = [incident_of(cause, group=f"orders-{n}") for n, cause in enumerate(causes)]
    causes = [cause for cause in FACTS for _ in range(2)]
    many = [incident_of(cause, group=f"payments-{n}") for n, cause in enumerate([*causes, *FACTS])]
    for size, its in {"": some, " of 30": many[:30]}.items():
        for kind in DigestKind:
            digest = digest_message(its, kind)
            yield f"digest{size}, {kind}", digest.message
            if digest.thread:
                yield f"digest{size}, {kind}: thread", digest.thread


def _quiet() -> Iterator[tuple[str, AlertMessage]]:
    now = silence().ends_at - timedelta(hours=1)  # type: ignore[operator]
    opened = {"opened_at": now - timedelta(hours=2)}
    course = course_of(Diagnosis.NO_MEMBERS, **opened)
    weekly = {"weekly": "Sun 11:00", "for": "2h", "reason": "patches", "groups": "billing-*"}
    windows = (MaintenanceWindow.model_validate(weekly),)
    settings = Settings(clusters={"prod": ClusterSettings(bootstrap="b:9092")}, maintenance=windows)
    scene = Scene(
        settings=settings,
        now=now,
        groups={"prod": ("orders-api", "orders-app", "pay")},
        courses={"prod": [course]},
    )
    open_until_over = silence(silence_id=7)
    yield "silence: begins", _only(open_until_over, scene)
    nothing = silence(silence_id=8, groups="oders-*", starts_at=now - timedelta(days=3))
    yield "silence of no group: begins", _only(nothing, scene)
    ended = replace(open_until_over, channels=("#kafka",), ends_at=now)
    yield "silence: ends", _only(ended, scene)
    calm = replace(scene, courses={})
    yield "silence: ends, nothing open", _only(ended, calm)
    old = silence(silence_id=9, starts_at=now - timedelta(days=9), ends_at=None)
    [stale] = stale_postings([nothing, old], scene)
    yield "silences still in force, weekly", stale.message
    yield from _acks(course, now)
    yield from _unwatched(course, now)


def _only(each: SilenceRow, scene: Scene) -> AlertMessage:
    [posting] = quiet_postings(each, scene)
    return posting.message


def _acks(course: IncidentCourse, now: datetime) -> Iterator[tuple[str, AlertMessage]]:
    held = ack(silence_id=3, groups="orders-app", reason="restarting the pods")
    told = readers_of(Diagnosis.NO_MEMBERS, 1236)
    standing = replace(
        message_of(incident_of(Diagnosis.NO_MEMBERS), EventKind.OPENED),
        at=held.starts_at - timedelta(minutes=1),
    )
    for name, readers in {"": told, ", in a digest": replace(told, in_digest=True)}.items():
        known = replace(course, readers=readers)
        for what, each in {"acknowledged": held, "no longer": replace(held, ends_at=now)}.items():
            posting = acknowledging(each, known, ("k", standing), now)
            assert posting is not None
            yield f"ack, {what}{name}", posting.message


def _unwatched(course: IncidentCourse, now: datetime) -> Iterator[tuple[str, AlertMessage]]:
    """A cluster that is taken out of the configuration."""
    told = readers_of(Diagnosis.NO_MEMBERS, 1236)
    in_digest = replace(course, readers=replace(told, in_digest=True))
    for name, each in {"": replace(course, readers=told), ", in a digest": in_digest}.items():
        watch = IncidentWatch(
            cluster="prod", at=group_incidents.NOW, snapshot_id="prod-1", courses=(each,)
        )
        settings = Settings(slack_channel="#team", webhooks={})
        for number, posting in enumerate(last_postings(watch, settings, now), 1):
            yield f"no longer configured{name} {number}", posting.message


def golden() -> str:
    """The file's content."""
    linked = ((name, _linked(message)) for name, message in messages())
    in_slack = [f"## {name}\n{rendered(message)}" for name, message in linked]
    return "\n\n".join([*in_slack, *_elsewhere()]) + "\n"


def _linked(message: AlertMessage) -> AlertMessage:
    """As it is delivered."""
    cluster = message.subject.cluster if message.subject else "prod"
    return message if message.kind is MessageKind.QUIET else with_links(message, cluster, PAGES)


def _elsewhere() -> Iterator[str]:
    """The same for programs: one that opens, as PagerDuty and Alertmanager get it."""
    message = _linked(message_of(incident_of(Diagnosis.NO_MEMBERS), EventKind.OPENED))
    assert message.subject is not None
    sent = {
        "PagerDuty": pagerduty.event(message, message.subject, "a routing key"),
        "Alertmanager": alertmanager.alert_of(message, message.subject),
    }
    for name, content in sent.items():
        yield f"## no members: opened, {name}\n{json.dumps(content, indent=1, ensure_ascii=False)}"


if __name__ == "__main__":
    GOLDEN.write_text(golden(), encoding="utf-8")
