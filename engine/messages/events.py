"""
Events of group incidents: whether an open incident needs a notification, decided from its course and from what its
readers know. The first row that holds decides:

| readers know | now | notification |
| --- | --- | --- |
| nothing | the bout is a habit, and no more than before (`incidents.habits`) | *habit* once, then none |
| nothing | it is open | *opened* |
| it | a loss that they don't know of | *worse* |
| it | a more severe cause that they don't know of | *worse* |
| it | half of retention is used, or data loss is at most 15 minutes ahead: once each | *worse* |
| it | the bout is a habit, and no more than before | *habit* once |
| it | it is twice as far behind as the straight line since the last notification says, and no habit | *worse* |
| it | it shows, and nothing of that holds for 8 hours | *still*, one line in the thread |
| it | it is over | *resolved* |

A silence allows none of them but *resolved*, an acknowledgement only *worse* by a more severe cause. Readers of a
digest get a message of its own about what is *worse*, and one line about all that is *still* there. The straight line
starts at each notification, and rises as the time behind did until then. It is one of time and not of offsets: these
swing by what arrives between two commits.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass
from datetime import datetime, timedelta

from ..config import IncidentRules
from ..incidents.habits import usual_for
from ..incidents.kinds import LOSSES
from ..incidents.measures import behind_of
from ..incidents.silences import Quiet
from ..model.message import AlertMessage, severity_of
from ..model.states import SECONDS_BEHIND, Diagnosis, Mark
from ..records import CauseSpan, IncidentCourse, Readers, SilenceKind

AT_HAND = 900
"""Data loss is at hand so many seconds before it."""


class EventKind(enum.StrEnum):
    """Kinds of notifications about groups."""

    OPENED = "opened"
    WORSE = "worse"
    STILL = "still"
    HABIT = "habit"
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
    """The notification that an open incident needs now; None: no notification."""
    readers = course.readers
    if quiet is not None and quiet.kind is not SilenceKind.ACK:
        return None
    usual = usual_for(course, at)
    habit = None if course.habit_told else EventKind.HABIT
    if readers is None:
        return habit if usual else EventKind.OPENED
    if quiet is not None:
        return EventKind.WORSE if rose(course, readers) else None
    grew = not usual and exceeds_line(course, readers, rules.worse_factor, at)
    if grew or _is_worse(course, readers):
        return EventKind.WORSE
    if usual and habit and not readers.in_digest:
        return habit
    waited = at - readers.at >= timedelta(seconds=rules.shift_seconds)
    shows = any(span.last_seen_at == at for span in course.causes)
    return EventKind.STILL if waited and shows and course.group_id is not None else None


def _is_worse(course: IncidentCourse, readers: Readers) -> bool:
    if loses(course) or (new_losses(course) and not readers.in_digest):
        return True
    return has_worse_cause(course, readers) or bool(new_marks(course, readers))


def has_worse_cause(course: IncidentCourse, readers: Readers) -> bool:
    """
    Whether it has a more severe cause that its readers don't know of, at least not as one that lasts.

    The reason for a time lag is no more severe than that, but worth a message to those who act on it.
    """
    if course.cause.precedence >= readers.cause.precedence:
        return False
    alike = {course.cause, readers.cause} <= SECONDS_BEHIND
    return not alike or (course.cause not in readers.causes and not readers.in_digest)


def marks_of(course: IncidentCourse) -> frozenset[Mark]:
    """The marks on the way to data loss that the newest snapshot shows."""
    facts = [fact for span in course.causes if not span.missed for fact in span.facts]
    soon = [f.after for f in facts if f.measure == Diagnosis.DATA_LOSS_IMMINENT.measure]
    found = {Mark.HALF_OF_RETENTION} if any(f.measure == "retention_used" for f in facts) else set()
    at_hand = any(seconds is not None and seconds <= AT_HAND for seconds in soon)
    return frozenset(found | ({Mark.LOSS_AT_HAND} if at_hand else set()))


def new_marks(course: IncidentCourse, readers: Readers) -> frozenset[Mark]:
    """Those of them that its readers don't know of; who knows of a loss needs none."""
    known = {readers.cause, *readers.causes} & LOSSES
    return frozenset() if known else marks_of(course) - set(readers.marks)


def behind_now(course: IncidentCourse) -> float | None:
    """By how many seconds a group is behind in the newest snapshot; None if that doesn't show it."""
    return behind_of(span for span in course.causes if not span.missed)


def expected_behind(readers: Readers, at: datetime) -> float | None:
    """By how many seconds the straight line since the last notification says that it is behind; None unknown."""
    if readers.behind_seconds is None or readers.growth is None:
        return None
    return readers.behind_seconds + max(readers.growth, 0) * (at - readers.at).total_seconds()


def exceeds_line(course: IncidentCourse, readers: Readers, factor: float, at: datetime) -> bool:
    """Whether it is so many times as far behind as that line says."""
    now, expected = behind_now(course), expected_behind(readers, at)
    return now is not None and bool(expected) and now > factor * (expected or 0)


def growth_of(course: IncidentCourse, at: datetime) -> float | None:
    """
    By how many seconds per second the time behind has grown since the bout began, or since the last notification in it;
    None unknown.
    """
    readers, now = course.readers, behind_of(course.causes)
    known = [(each.began_at, each.first_behind_seconds) for each in course.bouts[-1:]]
    known += [(readers.at, readers.behind_seconds)] if readers is not None else []
    since, before = max(known, key=lambda one: one[0], default=(at, None))
    if now is None or before is None or at <= since:
        return None
    return (now - before) / (at - since).total_seconds()


def seen_now(spans: tuple[CauseSpan, ...]) -> tuple[CauseSpan, ...]:
    """The causes in the newest snapshot; if it shows none, all of them, because missed ones may return."""
    return tuple(span for span in spans if not span.missed) or spans


def new_losses(course: IncidentCourse) -> list[CauseSpan]:
    """Causes by which a group loses records, if its readers don't know of any."""
    readers = course.readers
    known = {readers.cause, *readers.causes} if readers else LOSSES
    return [] if known & LOSSES else [span for span in course.causes if span.cause in LOSSES]


def loses(course: IncidentCourse) -> bool:
    """Whether retention deletes unread records: that is certain, while a fast group may only seem to skip records."""
    return any(span.cause is Diagnosis.DATA_LOSS for span in new_losses(course))


def rose(course: IncidentCourse, readers: Readers) -> bool:
    """Whether it is more severe than its readers know."""
    return severity_of(course.cause) is not severity_of(readers.cause)


def amount_of(course: IncidentCourse) -> float | None:
    """The severity of the main cause; None: unknown, or not present now."""
    return next((span.amount for span in course.causes if span.cause is course.cause), None)
