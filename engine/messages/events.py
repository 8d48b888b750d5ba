"""
What is told of groups: whether an open incident is news to its readers (pure decisions), and what was told, for people
who look at many snapshots in a row.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..config import IncidentRules
from ..incidents.silences import Quiet
from ..model.message import AlertMessage, severity_of
from ..model.states import SECONDS_BEHIND, Diagnosis
from ..records import CauseSpan, IncidentCourse, Readers, SilenceKind


class EventKind(enum.StrEnum):
    """What was told of groups."""

    OPENED = "opened"
    WORSE = "worse"
    STILL = "still"
    RESOLVED = "resolved"
    DIGEST = "digest"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEvent:
    """
    One thing that was told, where people read it.

    Attributes:
        kind: What.
        at: When that was true.
        cluster: Configured name of the cluster.
        groups: Of which groups: one, or those that a digest names.
        causes: (groups) what is wrong with each, or was.
        message: What was said.
    """

    kind: EventKind
    at: datetime
    cluster: str
    groups: tuple[str, ...]
    causes: tuple[Diagnosis, ...]
    message: AlertMessage

    @property
    def group(self) -> str | None:
        """The group, where it is one; None: many."""
        return None if self.kind is EventKind.DIGEST else self.groups[0]

    @property
    def title(self) -> str:
        """One line."""
        return self.message.title


def news_of(
    course: IncidentCourse, quiet: Quiet | None, rules: IncidentRules, at: datetime
) -> EventKind | None:
    """
    What is to be told of an open incident now; None: nothing.

    *Opened* to those who know nothing of it. *Worse* is a more severe trouble, or records that are lost beside it.
    *Still* is a reminder: it is much worse than when its readers were told last, and the same.
    """
    readers = course.readers
    if quiet is not None and quiet.kind is not SilenceKind.ACK:
        return None
    if readers is None:
        return EventKind.OPENED
    if quiet is not None:
        return EventKind.WORSE if rose(course, readers) else None
    if loses(course) or (new_losses(course) and not readers.in_digest):
        return EventKind.WORSE
    # why a group is behind is no worse than that it is
    alike = {course.cause, readers.cause} <= SECONDS_BEHIND
    if alike or course.cause is readers.cause:
        return EventKind.STILL if _grew(course, readers, rules, at) else None
    return EventKind.WORSE if course.cause.precedence < readers.cause.precedence else None


def seen_now(spans: tuple[CauseSpan, ...]) -> tuple[CauseSpan, ...]:
    """The causes that the newest snapshot shows; where it shows none, all of them: what was missed may come back."""
    return tuple(span for span in spans if not span.missed) or spans


LOSSES = frozenset({Diagnosis.DATA_LOSS, Diagnosis.OFFSETS_SKIPPED})
"""Causes that cost records: they are told whatever else is wrong."""


def new_losses(course: IncidentCourse) -> list[CauseSpan]:
    """How a group loses records, where the readers of its incident do not know that it does."""
    readers = course.readers
    known = {readers.cause, *readers.causes} if readers else LOSSES
    return [] if known & LOSSES else [span for span in course.causes if span.cause in LOSSES]


def loses(course: IncidentCourse) -> bool:
    """Whether retention removes what it has not read: known for certain, where a fast group may only seem to skip."""
    return any(span.cause is Diagnosis.DATA_LOSS for span in new_losses(course))


def _grew(course: IncidentCourse, readers: Readers, rules: IncidentRules, at: datetime) -> bool:
    amount = amount_of(course)
    if readers.in_digest or not amount or not readers.amount:
        return False
    waited = at - readers.at >= timedelta(seconds=rules.worse_seconds)
    return waited and amount >= rules.worse_factor * readers.amount


def rose(course: IncidentCourse, readers: Readers) -> bool:
    """Whether it is more severe than its readers know."""
    return severity_of(course.cause) is not severity_of(readers.cause)


def amount_of(course: IncidentCourse) -> float | None:
    """How bad the cause is by which the incident is called; None: unknown, or not there now."""
    return next((span.amount for span in course.causes if span.cause is course.cause), None)
