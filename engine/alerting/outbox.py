"""
The outbox: what is to be told is first a pending row of the table `alert`, then a message, then a
sent row.

So a crash or a chat that is down loses nothing, and nothing is told twice: a row's key is unique,
an attempt is claimed before it is made, and the notifier finds by its key a message whose row was
not marked in time.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from evenkeel.engine.alerting.digest import MOVES, WORST, advice_message
from evenkeel.engine.alerting.incident import closing_message, opening_message
from evenkeel.engine.alerting.policy import (
    SEVERITY,
    News,
    PresentIncident,
    can_be_told,
    changes,
    new_advice,
)
from evenkeel.engine.config import Settings
from evenkeel.engine.errors import EvenkeelError, HistoryError, NotifierError
from evenkeel.engine.message import AlertMessage, Announcement
from evenkeel.engine.model import Move
from evenkeel.engine.ports import (
    AdviceHistory,
    AdvisedSnapshot,
    Delivered,
    Incidents,
    Notifier,
    Outbox,
    PendingAlert,
    PipelineHistory,
    ScoredAdvice,
)
from evenkeel.engine.records import IncidentRow

log = logging.getLogger(__name__)

LEASE = timedelta(minutes=10)
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


class AdviceToTell(AdviceHistory, Outbox, Protocol):
    """The advice, and the outbox it goes to."""


class PipelineToTell(PipelineHistory, Incidents, Protocol):
    """How the pipelines fare, and the incidents made of it."""


def queue_advice(history: AdviceToTell, settings: Settings, snapshot_id: str) -> int:
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
    given = history.advice_with_scores(snapshot_id)
    known = {each.group_id: each for each in history.announced_advice(snapshot.cluster)}
    news = news_of(settings, snapshot.cluster, given, known, snapshot.finished_at)
    queued = sum(
        _queue_digest(history, settings, snapshot, channel, its, given)
        for channel, its in _by_channel(settings, snapshot.cluster, news).items()
    )
    log.info("%s: %d groups with news, %d alerts queued.", snapshot_id, len(news), queued)
    return queued


def news_of(
    settings: Settings,
    cluster: str,
    given: Iterable[ScoredAdvice],
    announcements: Mapping[str, Announcement],
    at: datetime,
) -> list[News]:
    """What is told of the advice of a snapshot: `policy.new_advice`, by what the configuration says of each group."""

    def pause(group: str) -> timedelta:
        return timedelta(seconds=settings.policy(cluster, group).message_seconds)

    return new_advice(given, announcements, at, pause)


def owners_of(settings: Settings, cluster: str, news: Iterable[News]) -> dict[str, str]:
    """Who owns the groups that there are news of, where that is configured."""
    owners = {one.group_id: settings.rule(cluster, one.group_id).owner for one in news}
    return {group: owner for group, owner in owners.items() if owner}


def _snapshot(history: AdviceHistory, snapshot_id: str) -> AdvisedSnapshot:
    snapshot = history.advised_snapshot(snapshot_id)
    if snapshot is None:
        raise HistoryError(
            f"the history has no snapshot {snapshot_id}.",
            fix="Run the steps before `alert` for it: they write what is missing from the lake.",
        )
    return snapshot


def _why_silent(snapshot: AdvisedSnapshot, settings: Settings) -> str | None:
    """Why nothing is told for a snapshot: its advice is no longer what a reader could act on."""
    newest = snapshot.newest_advised_id
    if newest not in (None, snapshot.snapshot_id):
        return f"is not the newest snapshot with advice ({newest} is)"
    behind = snapshot.newest_started_at - snapshot.started_at
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
    history: AdviceToTell,
    settings: Settings,
    snapshot: AdvisedSnapshot,
    channel: str,
    news: Sequence[News],
    given: Sequence[ScoredAdvice],
) -> bool:
    cluster = snapshot.cluster
    message = advice_message(
        cluster,
        snapshot,
        news,
        _moves(history, news[:WORST]),
        verdicts=Counter(advice.verdict for advice in given),
        owners=owners_of(settings, cluster, news),
    )
    return history.enqueue_alert(
        f"advice {snapshot.snapshot_id} {channel}",
        message,
        cluster=cluster,
        snapshot_id=snapshot.snapshot_id,
        channel=channel,
    )


def _moves(history: AdviceHistory, news: Sequence[News]) -> Mapping[str, Sequence[Move]]:
    groups = {n.advice.advice_id: n.group_id for n in news}
    moves = history.first_moves([number for number in groups if number is not None], MOVES)
    return {groups[number]: some for number, some in moves.items()}


def queue_incidents(history: PipelineToTell, settings: Settings, now: datetime) -> int:
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
    facts = history.cluster_facts(sorted(settings.clusters))
    known = history.open_incidents()
    late_after = timedelta(seconds=settings.late_after_seconds)
    found = changes(facts, known, late_after, now)
    for incident, finding in found.kept:
        history.touch_incident(incident, now=now, facts=_lasting(incident, finding))
    queued = sum(_open(history, settings, finding, now) for finding in found.opened)
    return queued + sum(_close(history, settings, incident, now) for incident in found.closed)


def _lasting(incident: IncidentRow, finding: PresentIncident) -> dict[str, Any]:
    """The newest facts, with the beginning as it was first told."""
    began = [f["since"] for f in (incident.facts, finding.facts) if f.get("since")]
    return {**finding.facts, **({"since": min(began, key=datetime.fromisoformat)} if began else {})}


def _open(history: Incidents, settings: Settings, finding: PresentIncident, now: datetime) -> bool:
    channel = _cluster_channel(settings, finding.cluster)
    incident = IncidentRow(
        cluster=finding.cluster,
        group_id=finding.group_id,
        kind=finding.kind.value,
        severity=SEVERITY[finding.kind].value,
        opened_at=now,
        last_seen_at=now,
        facts=finding.facts,
    )
    message = opening_message(incident) if can_be_told(finding, channel) else None
    return history.open_incident(incident, channel=channel, message=message)


def _close(history: Incidents, settings: Settings, incident: IncidentRow, now: datetime) -> bool:
    if incident.cluster not in settings.clusters:
        incident = replace(incident, facts={**incident.facts, "unwatched": True})
    return history.close_incident(
        incident,
        now=now,
        channel=_cluster_channel(settings, incident.cluster),
        message=closing_message(incident, now),
    )


def _cluster_channel(settings: Settings, cluster: str) -> str:
    """Where a cluster's pipeline is spoken of: that of a rule for all groups, or the default."""
    return settings.rule(cluster, "*").channel or settings.slack_channel


def deliver(outbox: Outbox, notifier: Notifier, settings: Settings) -> DeliveryReport:
    """
    Deliver every pending alert, oldest first, each tried once; what fails holds nothing else up.

    An alert for a channel that the configuration no longer names goes to the default channel.

    Raises:
        NotifierError: Something could not be delivered. All was tried, and what failed stays
            pending.
        HistoryUnreachable: The history does not answer.
    """
    sent, busy, problems = 0, 0, []
    for alert in outbox.pending_alerts():
        if not outbox.claim_alert(alert, LEASE):
            busy += 1
            continue
        try:
            delivered = _send(notifier, settings, alert)
        # A fault in one message must not keep the others back: it is stored, and raised below.
        except Exception as problem:  # noqa: BLE001
            problems.append(problem)
            error = str(problem) if isinstance(problem, EvenkeelError) else repr(problem)
            outbox.mark_alert_failed(alert, error)
        else:
            sent += 1
            outbox.mark_alert_sent(alert, delivered)
    if problems:
        raise _undelivered(problems, tried=sent + len(problems)) from problems[0]
    return DeliveryReport(sent=sent, busy=busy)


def _send(notifier: Notifier, settings: Settings, alert: PendingAlert) -> Delivered:
    named = {settings.slack_channel, *(rule.channel for rule in settings.rules)}
    known = alert.channel in named
    return notifier.send(
        AlertMessage.from_json(alert.message),
        channel=alert.channel if known else settings.slack_channel,
        key=alert.key,
        thread=alert.thread if known else None,
    )


def _undelivered(problems: Sequence[Exception], tried: int) -> NotifierError:
    said = {p.message if isinstance(p, EvenkeelError) else repr(p): p for p in problems}
    fixes = [p.fix for p in said.values() if isinstance(p, EvenkeelError) and p.fix]
    return NotifierError(
        f"{len(problems)} of {tried} alerts could not be delivered and stay pending: "
        f"{' '.join(said)}",
        fix=" ".join(dict.fromkeys(fixes)) or None,
    )
