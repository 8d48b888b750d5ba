"""
The outbox: what is to be told is first a pending row of the table `alert`, then a message, then a
sent row.

So a crash or a chat that is down loses nothing, and nothing is told twice: a row's key is unique,
an attempt is claimed before it is made, and the notifier finds by its key a message whose row was
not marked in time.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from evenkeel.engine.alerting.digest import MOVES, WORST, advice_message
from evenkeel.engine.alerting.facts import read_facts
from evenkeel.engine.alerting.incident import pipeline_message
from evenkeel.engine.alerting.policy import (
    SEVERITY,
    Finding,
    News,
    Row,
    can_be_told,
    changes,
    new_advice,
)
from evenkeel.engine.config import Settings
from evenkeel.engine.errors import EvenkeelError, HistoryError, NotifierError
from evenkeel.engine.message import AlertMessage, MessageKind, Told
from evenkeel.engine.ports import Delivered, History, Notifier

log = logging.getLogger(__name__)

LEASE_SECONDS = 600
"""An attempt that neither succeeded nor failed for this long is of a process that is gone."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeliveryReport:
    """
    What became of the pending alerts.

    Attributes:
        sent: Delivered now, or found to have been delivered before.
        failed: Could not be delivered; still pending.
        busy: Being delivered by another process at this moment.
        errors: What the failed ones said, each once, in the order met.
    """

    sent: int = 0
    failed: int = 0
    busy: int = 0
    errors: tuple[str, ...] = ()


def queue_advice(history: History, settings: Settings, snapshot_id: str) -> int:
    """
    Queue what a snapshot's advice has that is new: one digest per channel, none without news.

    Speaks only for the newest snapshot of its cluster that has advice, and not when a reading
    `late_after_seconds` younger waits for its own: a backfill, a replay or a late retry queues
    nothing and logs so. Run again, it queues nothing more.

    Returns:
        How many alerts were queued.

    Raises:
        HistoryError: The history does not know the snapshot.
        HistoryUnreachable: The history does not answer.
    """
    snapshot = _snapshot(history, snapshot_id)
    silence = _why_silent(snapshot, settings)
    if silence is not None:
        log.info("%s %s: nothing is told.", snapshot_id, silence)
        return 0
    rows = history.execute("alert_advice", snapshot_id=snapshot_id)
    told = history.execute("told_advice", cluster=snapshot["cluster"])
    news = new_advice(rows, {row["group_id"]: Told(**row) for row in told})
    queued = sum(
        _queue_digest(history, settings, snapshot, channel, its, rows)
        for channel, its in _by_channel(settings, snapshot["cluster"], news).items()
    )
    log.info("%s: %d groups with news, %d alerts queued.", snapshot_id, len(news), queued)
    return queued


def _snapshot(history: History, snapshot_id: str) -> Row:
    found = history.execute("alert_snapshot", snapshot_id=snapshot_id)
    if not found:
        raise HistoryError(
            f"the history has no snapshot {snapshot_id}.",
            fix="Run the steps before `alert` for it: they write what is missing from the lake.",
        )
    return found[0]


def _why_silent(snapshot: Row, settings: Settings) -> str | None:
    """Why nothing is told for a snapshot: its advice is no longer what a reader could act on."""
    newest = snapshot["newest_advised_id"]
    if newest not in (None, snapshot["snapshot_id"]):
        return f"is not the newest snapshot with advice ({newest} is)"
    behind: timedelta = snapshot["newest_started_at"] - snapshot["started_at"]
    if behind > timedelta(seconds=settings.late_after_seconds):
        return f"is {behind.total_seconds():.0f} seconds older than the newest snapshot"
    return None


def _by_channel(settings: Settings, cluster: str, news: Sequence[News]) -> dict[str, list[News]]:
    channels: dict[str, list[News]] = {}
    for one in news:
        channel = settings.rule(cluster, one.group_id).channel or settings.slack_channel
        channels.setdefault(channel, []).append(one)
    return channels


def _queue_digest(
    history: History,
    settings: Settings,
    snapshot: Row,
    channel: str,
    news: Sequence[News],
    rows: Sequence[Row],
) -> int:
    cluster = snapshot["cluster"]
    owners = {n.group_id: settings.rule(cluster, n.group_id).owner for n in news}
    message = advice_message(
        cluster,
        snapshot,
        news,
        _moves(history, news[:WORST]),
        verdicts=Counter(row["verdict"] for row in rows),
        owners={group: owner for group, owner in owners.items() if owner},
    )
    stored = history.execute(
        "insert_alert",
        key=f"advice {snapshot['snapshot_id']} {channel}",
        cluster=cluster,
        snapshot_id=snapshot["snapshot_id"],
        kind=MessageKind.ADVICE.value,
        channel=channel,
        message=_dump(message),
    )
    return len(stored)


def _moves(history: History, news: Sequence[News]) -> Mapping[str, Sequence[Row]]:
    groups = {n.row["advice_id"]: n.group_id for n in news}
    moves: dict[str, list[Row]] = {}
    for row in history.execute("alert_moves", advice_ids=list(groups), most=MOVES):
        moves.setdefault(groups[row["advice_id"]], []).append(row)
    return moves


def queue_incidents(history: History, settings: Settings, now: datetime) -> int:
    """
    Open, keep and close the incidents of the configured clusters, and queue what is to be told of
    it.

    An incident and its alert are written in one transaction. An opening that was never sent gives
    way to its end, which tells the whole story.

    Returns:
        How many alerts were queued.

    Raises:
        HistoryUnreachable: The history does not answer.
    """
    facts = read_facts(history, sorted(settings.clusters))
    known = history.execute("open_incidents")
    late_after = timedelta(seconds=settings.late_after_seconds)
    found = changes(facts, known, late_after, now)
    for row, finding in found.kept:
        kept = json.dumps(_lasting(row, finding))
        history.execute("touch_incident", incident_id=row["incident_id"], now=now, facts=kept)
    queued = sum(_open(history, settings, finding, now) for finding in found.opened)
    return queued + sum(_close(history, settings, row, now) for row in found.closed)


def _lasting(row: Row, finding: Finding) -> dict[str, Any]:
    """The newest facts, with the beginning as it was first told."""
    began = [f["since"] for f in (row["facts"], finding.facts) if f.get("since")]
    return {**finding.facts, **({"since": min(began, key=datetime.fromisoformat)} if began else {})}


def _open(history: History, settings: Settings, finding: Finding, now: datetime) -> int:
    channel = _cluster_channel(settings, finding.cluster)
    incident = {
        "cluster": finding.cluster,
        "group_id": finding.group_id,
        "kind": finding.kind.value,
        "facts": dict(finding.facts),
        "opened_at": now,
        "closed_at": None,
    }
    told = can_be_told(finding, channel)
    queued = history.execute(
        "open_incident",
        cluster=finding.cluster,
        group_id=finding.group_id,
        kind=finding.kind.value,
        severity=SEVERITY[finding.kind].value,
        now=now,
        facts=json.dumps(incident["facts"]),
        channel=channel,
        alert_kind=MessageKind.INCIDENT_OPENED.value,
        message=_dump(pipeline_message(incident, now=now)) if told else None,
    )
    return len(queued)


def _close(history: History, settings: Settings, row: Row, now: datetime) -> int:
    facts = dict(row["facts"])
    if row["cluster"] not in settings.clusters:
        facts["unwatched"] = True
    closed = {**row, "facts": facts, "closed_at": now}
    queued = history.execute(
        "close_incident",
        incident_id=row["incident_id"],
        now=now,
        channel=_cluster_channel(settings, row["cluster"]),
        alert_kind=MessageKind.INCIDENT_CLOSED.value,
        message=_dump(pipeline_message(closed, now=now)),
    )
    return len(queued)


def _cluster_channel(settings: Settings, cluster: str) -> str:
    """Where a cluster's pipeline is spoken of: that of a rule for all groups, or the default."""
    return settings.rule(cluster, "*").channel or settings.slack_channel


def deliver(history: History, notifier: Notifier, settings: Settings) -> DeliveryReport:
    """
    Deliver every pending alert, oldest first, each tried once; what fails holds nothing else up.

    An alert for a channel that the configuration no longer names goes to the default channel.

    Raises:
        NotifierError: Something could not be delivered. All was tried, and what failed stays
            pending.
        HistoryUnreachable: The history does not answer.
    """
    sent, busy, problems = 0, 0, []
    for row in history.execute("pending_alerts"):
        if not history.execute(
            "claim_alert", alert_id=row["alert_id"], lease_seconds=LEASE_SECONDS
        ):
            busy += 1
            continue
        try:
            delivered = _send(notifier, settings, row)
        # A fault in one message must not keep the others back: it is stored, and raised below.
        except Exception as problem:  # noqa: BLE001
            problems.append(problem)
            error = str(problem) if isinstance(problem, EvenkeelError) else repr(problem)
            history.execute("mark_alert_failed", alert_id=row["alert_id"], error=error)
        else:
            sent += 1
            history.execute(
                "mark_alert_sent",
                alert_id=row["alert_id"],
                sent_channel=delivered.channel,
                sent_timestamp=delivered.timestamp,
            )
    if problems:
        raise _undelivered(problems, tried=sent + len(problems)) from problems[0]
    return DeliveryReport(sent=sent, busy=busy)


def _send(notifier: Notifier, settings: Settings, row: Row) -> Delivered:
    named = {settings.slack_channel, *(rule.channel for rule in settings.rules)}
    known = row["channel"] in named
    return notifier.send(
        AlertMessage.from_json(row["message"]),
        channel=row["channel"] if known else settings.slack_channel,
        key=row["key"],
        thread=row["thread"] if known else None,
    )


def _undelivered(problems: Sequence[Exception], tried: int) -> NotifierError:
    said = {p.message if isinstance(p, EvenkeelError) else repr(p): p for p in problems}
    fixes = [p.fix for p in said.values() if isinstance(p, EvenkeelError) and p.fix]
    return NotifierError(
        f"{len(problems)} of {tried} alerts could not be delivered and stay pending: "
        f"{' '.join(said)}",
        fix=" ".join(dict.fromkeys(fixes)) or None,
    )


def _dump(message: AlertMessage) -> str:
    return json.dumps(message.to_json())
