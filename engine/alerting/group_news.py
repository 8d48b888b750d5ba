"""Whether an open incident of a group is news to its readers: pure decisions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from evenkeel.engine.config import IncidentRules
from evenkeel.engine.incidents.quiet import Quiet
from evenkeel.engine.message import severity_of
from evenkeel.engine.model import CAPACITY, SECONDS_BEHIND, Diagnosis
from evenkeel.engine.records import CauseSpan, IncidentCourse, Readers, SilenceKind


def is_news(
    course: IncidentCourse, quiet: Quiet | None, rules: IncidentRules, at: datetime
) -> bool:
    """
    Whether an open incident is to be told now, for the first time or as worse.

    Worse is a more severe cause, records that are lost beside it, or the same one that is much worse than when its
    readers were told last.
    """
    readers = course.readers
    if quiet is not None and quiet.kind is not SilenceKind.ACK:
        return False
    if readers is None:
        return True
    if quiet is not None:
        return rose(course, readers)
    cause = cause_now(course)
    if loses(course) or (new_losses(course) and not readers.in_digest):
        return True
    if _is_alike(cause, readers.goes_by):
        return _grew(course, readers, rules, at)
    return cause.precedence < readers.goes_by.precedence


def cause_now(course: IncidentCourse) -> Diagnosis:
    """
    What an incident is called by: the worst that it was.

    Once its readers were told that this has ended: what was left of it then, or what is worse and has lasted now.
    """
    left = course.readers.left if course.readers else None
    if left is None:
        return course.cause
    return min(left, course.present or left, key=lambda cause: cause.precedence)


NOT_EASED = frozenset({Diagnosis.SKIPPED_RECORDS, Diagnosis.CATCHING_UP, Diagnosis.UNKNOWN})
"""Causes that do not end while their group is ill: what was skipped is, and the others stand alone."""


def eased(
    course: IncidentCourse, quiet: Quiet | None, rules: IncidentRules, at: datetime
) -> IncidentCourse | None:
    """
    An incident of which the cause that its readers go by has ended while it goes on, with what is left of it.

    None where that is not so, or not to be told: in a digest, in a silence, a second time, before it has lasted, or
    when so little waits that all of it will be over soon.
    """
    readers = course.readers
    if readers is None or readers.in_digest or quiet is not None or course.well_since is not None:
        return None
    cause = readers.goes_by
    if cause in NOT_EASED or cause in readers.eased:
        return None
    there = tuple(span for span in course.causes if span.missed < rules.looks)
    gone = at - (readers.seen_at or readers.at) >= timedelta(seconds=rules.well_seconds)
    if not gone or _soon_over(there, rules) or _goes_on(cause, {span.cause for span in there}):
        return None
    return replace(course, causes=seen_now(there))


def seen_now(spans: tuple[CauseSpan, ...]) -> tuple[CauseSpan, ...]:
    """The causes that the newest snapshot shows; where it shows none, all of them: what was missed may come back."""
    return tuple(span for span in spans if not span.missed) or spans


def _soon_over(left: Sequence[CauseSpan], rules: IncidentRules) -> bool:
    """Whether nothing is left, or only that the group is behind by less than it must be well for."""
    amounts = [span.amount for span in left if span.cause in SECONDS_BEHIND]
    return len(amounts) == len(left) and all(
        each is not None and each < rules.well_seconds for each in amounts
    )


def _goes_on(cause: Diagnosis, there: set[Diagnosis]) -> bool:
    """Whether a cause may still be there: under another name, or hidden by a rebalance; the lost are skipped next."""
    same = next((alike for alike in (CAPACITY, LOSSES) if cause in alike), {cause})
    return bool(there & (same | {Diagnosis.REBALANCING}))


def left_of(course: IncidentCourse) -> Diagnosis:
    """What readers go by who were told that the worst has ended: why the group is behind is one with that it is."""
    first = course.causes[0].cause
    return Diagnosis.CATCHING_UP if first in CAPACITY else first


LOSSES = frozenset({Diagnosis.LOSING_RECORDS, Diagnosis.SKIPPED_RECORDS})
"""Causes that cost records: they are told whatever else is wrong."""


def new_losses(course: IncidentCourse) -> list[CauseSpan]:
    """How a group loses records, where the readers of its incident do not know that it does."""
    readers = course.readers
    known = {readers.cause, *readers.causes} if readers else set(Diagnosis)
    return [] if known & LOSSES else [span for span in course.causes if span.cause in LOSSES]


def loses(course: IncidentCourse) -> bool:
    """Whether retention removes what it has not read: known for certain, where a fast group may only seem to skip."""
    return any(span.cause is Diagnosis.LOSING_RECORDS for span in new_losses(course))


def _is_alike(cause: Diagnosis, other: Diagnosis) -> bool:
    """Whether they are one trouble: why a group is behind is no worse than that it is."""
    return cause is other or {cause, other} <= SECONDS_BEHIND


def _grew(course: IncidentCourse, readers: Readers, rules: IncidentRules, at: datetime) -> bool:
    amount = amount_of(course)
    if not amount or not readers.amount:
        return False
    waited = at - readers.at >= timedelta(seconds=rules.worse_seconds)
    return waited and amount >= rules.worse_factor * readers.amount


def rose(course: IncidentCourse, readers: Readers) -> bool:
    """Whether it is more severe than its readers know."""
    return severity_of(cause_now(course)) is not severity_of(readers.goes_by)


def amount_of(course: IncidentCourse) -> float | None:
    """How bad the cause is by which the incident is called; None: unknown, or not there now."""
    cause = cause_now(course)
    return next((span.amount for span in course.causes if span.cause is cause), None)
