"""The one builder of messages about incidents, be it of a group or of a pipeline: opened, worse, still open, over."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ..incidents.policy import EVERY_CLUSTER
from ..model.facts import Fact
from ..model.message import AlertMessage, MessageKind, Section, Severity, Subject, severity_of
from ..model.text import printable
from ..records import IncidentCourse
from .events import EventKind
from .wording import shortened

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


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """
    An incident of a group or a pipeline at a moment at which it is told.

    Attributes:
        cluster: Configured name of the cluster.
        course: How it went so far; its `readers` know what they were told *before* this.
        at: When the reading of the snapshot ended; of a pipeline the moment.
        snapshot_id: The snapshot that shows it so.
        changed: What changed of the group since the last snapshot in which it was well; None: not known.
        owner: Who owns the group, as configured.
        mention: Who is called, as `Rule.mention` has it; None: nobody.
        link: Address of the run.
        quiet: What is to be said of a silence or an acknowledgement, a clause; None: nothing.
        unwatched: Whether it is over because its cluster is not configured any more.
    """

    cluster: str
    course: IncidentCourse
    at: datetime
    snapshot_id: str
    changed: tuple[Fact, ...] | None = None
    owner: str | None = None
    mention: str | None = None
    link: str | None = None
    quiet: str | None = None
    unwatched: bool = False


def incident_message(
    incident: Incident, event: EventKind, text: Text, *, link: str | None = None
) -> AlertMessage:
    """
    A message about an incident; whom it calls it calls until that is over.

    Args:
        incident: The incident.
        event: What of it is told.
        text: What is said.
        link: Address of the run.
    """
    over, course = event is EventKind.RESOLVED, incident.course
    severity = severity_of(course.cause)
    subject = Subject(
        key=course.key,
        cluster=incident.cluster,
        group_id=course.group_id,
        cause=course.cause.value,
        severity=severity,
        owner=incident.owner,
        began_at=course.began_at,
    )
    return AlertMessage(
        kind=KINDS[event],
        severity=Severity.RESOLVED if over else severity,
        at=incident.at,
        title=f"{_name(subject)}: {text.title}",
        summary=text.summary,
        sections=tuple(each for each in text.sections if each.lines or each.code),
        footer=text.footer,
        subject=subject,
        mention=None if over else incident.mention,
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
