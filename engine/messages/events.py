"""
Events of group incidents: whether an open incident needs a notification (pure decisions), and the notifications of many
snapshots in a row.
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
    """Kinds of notifications about groups."""

    OPENED = "opened"
    WORSE = "worse"
    STILL = "still"
    RESOLVED = "resolved"
    DIGEST = "digest"


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupEvent:
    """
    A notification in a channel of people.

    Attributes:
        kind: Its kind.
        at: The moment of its facts.
        cluster: Configured name of the cluster.
        groups: Its groups: one, or those that a digest names.
        causes: (groups) the present or former problem of each.
        message: Its message.
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
    The notification that an open incident needs now; None: no notification.

    *Opened* is for readers without a notification. *Worse* is a more severe problem, or data loss in addition. *Still*
    is a
    reminder: the same problem is much worse than in the last notification.
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
    # the reason for a time lag is no worse than the lag itself
    alike = {course.cause, readers.cause} <= SECONDS_BEHIND
    if alike or course.cause is readers.cause:
        return EventKind.STILL if _grew(course, readers, rules, at) else None
    return EventKind.WORSE if course.cause.precedence < readers.cause.precedence else None


def seen_now(spans: tuple[CauseSpan, ...]) -> tuple[CauseSpan, ...]:
    """The causes in the newest snapshot; if it shows none, all of them, because missed ones may return."""
    return tuple(span for span in spans if not span.missed) or spans


LOSSES = frozenset({Diagnosis.DATA_LOSS, Diagnosis.OFFSETS_SKIPPED})
"""Causes that lose records: they are always reported."""


def new_losses(course: IncidentCourse) -> list[CauseSpan]:
    """Causes by which a group loses records, if its readers don't know of any."""
    readers = course.readers
    known = {readers.cause, *readers.causes} if readers else LOSSES
    return [] if known & LOSSES else [span for span in course.causes if span.cause in LOSSES]


def loses(course: IncidentCourse) -> bool:
    """Whether retention deletes unread records: that is certain, while a fast group may only seem to skip records."""
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
    """The severity of the main cause; None: unknown, or not present now."""
    return next((span.amount for span in course.causes if span.cause is course.cause), None)
