"""
When nothing can be noted: the history does not answer, or the configuration is refused.

The outbox is of no use then. What happened is kept aside by whoever runs the steps, told once without history and
configuration, and written into the history when that answers again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from ..incidents.policy import EVERY_CLUSTER
from ..messages.events import EventKind
from ..messages.incident_message import Incident, message_of
from ..model.columns import column, record
from ..model.message import AlertMessage
from ..model.states import IncidentKind, IncidentState
from ..ports import Delivered, Posting, StepRuns, ToldOutage
from ..records import CauseSpan, IncidentCourse, IncidentRow, Outcome, StepRun

KEPT = 100
"""So many runs of steps are kept of an outage: the first ones."""

CLAIM = timedelta(minutes=5)
"""Whoever began to tell of an outage so long ago is gone: a chat may ask to wait for minutes."""


@record
class Announced:
    """What was told of an outage."""

    at: datetime = column("When.")
    channel: str = column("Where.")
    message: Mapping[str, Any] = column("The message, as stored.")
    sent_channel: str = column("The messenger's own id of where it is.")
    sent_timestamp: str = column("The messenger's own id of the message.")
    pagers: tuple[str, ...] = column(
        "The channels of webhooks that were notified, too.", default=()
    )


@record
class Outage:
    """What is known of an outage that is not over."""

    kind: IncidentKind = column("The problem.")
    since: datetime = column("When the first step began that could not be noted.")
    error: str = column("What it said.")
    link: str | None = column(
        "Address of the task that failed first; null where that is not known.", default=None
    )
    runs: tuple[StepRun, ...] = column("The runs of steps that could not be noted.", default=())
    left_out: int = column("How many more there were.", default=0)
    claimed_at: datetime | None = column(
        "When a task began to report it; null before.", default=None
    )
    announced: Announced | None = column("The message about it; null before.", default=None)

    @property
    def key(self) -> str:
        """Our own id of it."""
        return f"{self.kind} {self.since:%Y%m%dT%H%M%SZ}"


def noted(outage: Outage | None, kind: IncidentKind, run: StepRun, error: str) -> Outage:
    """An outage with one run more that could not be noted, or the beginning of one."""
    if outage is None:
        outage = Outage(kind=kind, since=run.started_at, error=error)
    if outage.link is None and run.outcome is Outcome.FAILED:
        outage = replace(outage, link=run.link)
    if len(outage.runs) >= KEPT:
        return replace(outage, left_out=outage.left_out + 1)
    return replace(outage, runs=(*outage.runs, run))


def may_tell(outage: Outage, now: datetime) -> bool:
    """Whether nobody has told it, or is about to."""
    claimed = outage.claimed_at
    return outage.announced is None and (claimed is None or now - claimed > CLAIM)


def opening(outage: Outage, now: datetime) -> AlertMessage:
    """What is told of it while it lasts."""
    return message_of(_incident(outage, now, now), EventKind.OPENED)


def settle(history: StepRuns, outage: Outage, now: datetime) -> None:
    """
    Write down what could not be noted, now that it can; of an outage that was told, an incident with its end, too.

    The end is queued in place of the message that told of it, and for its thread. Run again, it changes nothing but for
    an outage that nobody was told of, whose runs are then noted twice.

    Raises:
        HistoryUnreachable: The history does not answer.
    """
    announced = outage.announced
    if announced is None:
        history.note_missed(outage.runs)
        return
    over, opened_key = _incident(outage, announced.at, now), f"{outage.key} opened"
    incident = IncidentRow.of_course(
        over.course, cluster=EVERY_CLUSTER, at=now, owner=None, summary=announced.message["summary"]
    )
    assert incident is not None
    key, message = f"{outage.key} closed", message_of(over, EventKind.RESOLVED)
    end = Posting(key=key, channel=announced.channel, message=message)
    ends = (
        replace(end, replaces=opened_key),
        replace(end, key=f"{key} thread", answers=opened_key, broadcast=True),
        *(replace(end, key=f"{key} {pager}", channel=pager) for pager in announced.pagers),
    )
    opened = AlertMessage.from_json(announced.message)
    told = ToldOutage(
        incident=replace(incident, notified_at=announced.at, alert_key=opened_key),
        opened=Posting(key=opened_key, channel=announced.channel, message=opened),
        delivered=Delivered(channel=announced.sent_channel, timestamp=announced.sent_timestamp),
        ends=ends,
    )
    history.note_missed(outage.runs, told)


def _incident(outage: Outage, opened_at: datetime, at: datetime) -> Incident:
    """The incident that it is to people, opened when it is told, at a moment."""
    known = {
        "since": outage.since.isoformat(),
        "error": outage.error,
        "link": outage.link,
        "hit": sorted({run.step for run in outage.runs}),
        "runs": len(outage.runs) + outage.left_out,
    }
    span = CauseSpan(
        cause=outage.kind,
        since=outage.since,
        last_seen_at=at,
        snapshots=1,
        amount=None,
        known=known,
    )
    course = IncidentCourse(
        key=outage.key,
        group_id=None,
        state=IncidentState.OPEN,
        cause=outage.kind,
        causes=(span,),
        began_at=outage.since,
        began_snapshot_id=outage.key,
        good_snapshot_id=None,
        opened_at=opened_at,
        closed_at=at,
    )
    return Incident(cluster=EVERY_CLUSTER, course=course, at=at, snapshot_id=outage.key)
