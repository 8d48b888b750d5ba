"""What is new about an incident since its last notification, in words, from what the newest snapshot shows."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from ..incidents.habits import habit_of
from ..model.formats import brief, minute, roughly
from ..model.states import Mark
from ..records import CauseSpan, IncidentCourse, Readers
from .events import EventKind, behind_now, expected_behind, new_losses, new_marks
from .wording import incidents as wording
from .wording import sentence


def told_since(
    course: IncidentCourse, span: CauseSpan | None, event: EventKind, at: datetime, *, whole: bool
) -> str:
    """
    News since the last notification; as a *whole*, with the beginning.

    Args:
        course: The incident.
        span: The cause that its title names.
        event: What the message is about.
        at: When the newest snapshot was taken.
        whole: Whether nothing else says when it began.
    """
    readers = course.readers
    if readers is None or span is None:
        return sentence(f"since {since(course.began_at, at)}")
    if losses := new_losses(course):
        return sentence(f"now also {'; '.join(map(wording.headline, losses))}")
    before = readers.amount and wording.amount(readers.cause, readers.amount)
    if span.cause is not readers.cause:
        was = f"It was {wording.called(readers.cause)}{f' ({before})' if before else ''}"
        if not whole and span.since == course.began_at:
            return f"{was}."
        return f"{was}, {wording.called(span.cause)} since {since(span.since, at)}."
    marks = [wording.MARKS[mark] for mark in Mark if mark in new_marks(course, readers)]
    clauses = [*marks, *_numbers(course, readers, span, event, at)]
    return sentence("; ".join(clauses or [f"last reported {minute(readers.at)}"]))


def _numbers(
    course: IncidentCourse, readers: Readers, span: CauseSpan, event: EventKind, at: datetime
) -> Iterator[str]:
    """What its severity was and is, and what its growth let expect where that is less."""
    ago = roughly((at - readers.at).total_seconds())
    if span.amount and readers.amount:
        now, before = (wording.amount(its.cause, its.amount or 0) for its in (span, readers))
        yield f"now {now}, {ago} ago {before}"
    behind, expected = behind_now(course), expected_behind(readers, at)
    if event is EventKind.WORSE and behind and expected and behind > expected:
        yield f"{roughly(expected)} expected"


def since(start: datetime, now: datetime) -> str:
    """A moment, and how long ago it is."""
    return f"{minute(start)} ({roughly((now - start).total_seconds())})"


def usually(course: IncidentCourse) -> str:
    """The habit that the present bout belongs to, or would if it were no more than that; empty if there is none."""
    habit = habit_of(course.bouts)
    if habit is None:
        return ""
    parts = [f"every {roughly(habit.every.total_seconds())}"]
    parts += [f"lag up to {brief(habit.peak_lag)}"] if habit.peak_lag else []
    if habit.peak_behind_seconds:
        parts.append(f"up to {roughly(habit.peak_behind_seconds)} behind")
    return ", ".join([*parts, f"over within {roughly(habit.lasts.total_seconds())}"])
