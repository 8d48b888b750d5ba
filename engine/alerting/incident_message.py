"""The one builder of messages about incidents, be it of a group or of a pipeline: opened, worse, still open, over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from evenkeel.engine.alerting.events import EventKind
from evenkeel.engine.alerting.policy import EVERY_CLUSTER
from evenkeel.engine.message import AlertMessage, MessageKind, Section, Severity, Subject
from evenkeel.engine.text import printable
from evenkeel.engine.wording import shortened

NAME = 60
"""Characters of a group's name in a title."""

LINE = 240
"""Characters of a line."""

KINDS: Mapping[EventKind, MessageKind] = {
    EventKind.OPENED: MessageKind.INCIDENT_OPENED,
    EventKind.WORSE: MessageKind.INCIDENT_WORSE,
    EventKind.STILL: MessageKind.INCIDENT_STILL,
    EventKind.RESOLVED: MessageKind.INCIDENT_CLOSED,
}
"""What a message is, by what it tells."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """
    What is said of an incident.

    Attributes:
        title: What is wrong, or that it is over; what is concerned stands before it.
        summary: One or two sentences that stand alone.
        sections: The details; one without lines and code is left out.
        footer: Where the facts come from.
    """

    title: str
    summary: str
    sections: tuple[Section, ...] = ()
    footer: tuple[str, ...] = ()


def incident_message(
    subject: Subject,
    event: EventKind,
    at: datetime,
    text: Text,
    *,
    mention: str | None = None,
    link: str | None = None,
) -> AlertMessage:
    """
    A message about an incident.

    Args:
        subject: The incident.
        event: What of it is told.
        at: When that was true.
        text: What is said.
        mention: Who is called; by an end nobody is.
        link: Address of the run.
    """
    over = event is EventKind.RESOLVED
    return AlertMessage(
        kind=KINDS[event],
        severity=Severity.RESOLVED if over else subject.severity,
        at=at,
        title=f"{_name(subject)}: {text.title}",
        summary=text.summary,
        sections=tuple(each for each in text.sections if each.lines or each.code),
        footer=text.footer,
        subject=subject,
        mention=None if over else mention,
        link=link,
    )


def _name(subject: Subject) -> str:
    """What is concerned: a group of a cluster, a cluster, or all of it."""
    if subject.group_id is not None:
        return f"{fitted(subject.group_id, NAME)} ({subject.cluster})"
    return "evenkeel" if subject.cluster == EVERY_CLUSTER else subject.cluster


def fitted(text: str, limit: int = LINE) -> str:
    """A text whose every character can be shown, not longer than that: names may hold anything."""
    return shortened(printable(text), limit)
