"""
When nothing can be noted: the history does not answer, or the configuration is refused.

The outbox is of no use then. What happened is kept aside by whoever runs the steps, told once without history and
configuration, and written into the history when that answers again.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from evenkeel.engine.alerting.incident import closing_message, opening_message
from evenkeel.engine.alerting.policy import EVERY_CLUSTER
from evenkeel.engine.alerting.postings import over
from evenkeel.engine.message import AlertMessage, severity_of
from evenkeel.engine.model import IncidentKind
from evenkeel.engine.ports import Delivered, Posting, StepRuns, ToldOutage
from evenkeel.engine.records import IncidentRow, Outcome, StepRun, record_of, to_json

KEPT = 100
"""So many runs of steps are kept of an outage: the first ones."""

CLAIM = timedelta(minutes=5)
"""Whoever began to tell of an outage so long ago is gone: a chat may ask to wait for minutes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Announced:
    """
    What was told of an outage: *message* as stored, when, in which channel, and what the messenger calls it.

    *pagers*: the channels of webhooks that were told, too.
    """

    at: datetime
    channel: str
    message: Mapping[str, Any]
    delivered: Delivered
    pagers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """
    What is known of an outage that is not over.

    Attributes:
        kind: What is the matter.
        since: When the first step began that could not be noted.
        error: What it said.
        link: Address of the task that failed first; None where that is not known.
        runs: The runs of steps that could not be noted.
        left_out: How many more there were.
        claimed_at: When somebody began to tell it; None before.
        announced: What was told of it; None before.
    """

    kind: IncidentKind
    since: datetime
    error: str
    link: str | None = None
    runs: tuple[StepRun, ...] = ()
    left_out: int = 0
    claimed_at: datetime | None = None
    announced: Announced | None = None

    @property
    def key(self) -> str:
        """Our own id of it."""
        return f"{self.kind} {self.since:%Y%m%dT%H%M%SZ}"

    def to_json(self) -> dict[str, Any]:
        """A JSON-able form, which `from_json` reads."""
        return {
            "since": self.since.isoformat(),
            "error": self.error,
            "link": self.link,
            "runs": [to_json(run) for run in self.runs],
            "left_out": self.left_out,
            "claimed_at": self.claimed_at and self.claimed_at.isoformat(),
            "announced": self.announced
            and asdict(self.announced) | {"at": self.announced.at.isoformat()},
        }

    @classmethod
    def from_json(cls, kind: str, stored: Mapping[str, Any]) -> Outage:
        """
        What `to_json` made; what another version did not write is not known.

        Raises:
            ValueError, KeyError, TypeError: This is none.
        """
        claimed, announced = stored.get("claimed_at"), stored.get("announced")
        return cls(
            kind=IncidentKind(kind),
            since=datetime.fromisoformat(stored["since"]),
            error=stored.get("error") or "",
            link=stored.get("link"),
            runs=tuple(record_of(StepRun, run) for run in stored.get("runs") or ()),
            left_out=stored.get("left_out") or 0,
            claimed_at=claimed and datetime.fromisoformat(claimed),
            announced=announced and _announced(announced),
        )


def _announced(stored: Mapping[str, Any]) -> Announced:
    read = {
        "at": datetime.fromisoformat(stored["at"]),
        "delivered": Delivered(**stored["delivered"]),
        "pagers": tuple(stored.get("pagers") or ()),
    }
    return Announced(**{**stored, **read})


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
    return opening_message(_incident(outage, now))


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
    incident = replace(_incident(outage, announced.at), last_seen_at=now, closed_at=now)
    opened = Posting(
        key=f"{outage.key} opened",
        channel=announced.channel,
        message=AlertMessage.from_json(announced.message),
    )
    key, message = f"{outage.key} closed", closing_message(incident, now)
    pages = (
        Posting(key=f"{key} {pager}", channel=pager, message=message) for pager in announced.pagers
    )
    history.note_missed(
        outage.runs,
        ToldOutage(
            incident=replace(incident, told_at=announced.at, alert_key=opened.key),
            opened=opened,
            delivered=announced.delivered,
            ends=(*over(opened.key, key, announced.channel, message), *pages),
        ),
    )


def _incident(outage: Outage, at: datetime) -> IncidentRow:
    return IncidentRow(
        cluster=EVERY_CLUSTER,
        key=outage.key,
        kind=outage.kind.value,
        severity=severity_of(outage.kind).value,
        began_at=outage.since,
        opened_at=at,
        last_seen_at=at,
        facts={
            "since": outage.since.isoformat(),
            "error": outage.error,
            "link": outage.link,
            "hit": sorted({run.step for run in outage.runs}),
            "runs": len(outage.runs) + outage.left_out,
        },
    )
