"""
The messages about what is wrong: opened, worse, still open, resolved.

They are read at night on a phone: what, since when, how bad, what changed before it, what to do, whose it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from ..model.facts import Fact
from ..model.message import AlertMessage, Section
from ..model.states import CAPACITY, Diagnosis
from ..records import CauseSpan, IncidentCourse
from .events import EventKind
from .group_news import LOSSES, new_losses, rose, seen_now
from .incident_message import NAME, Incident, Text, fitted, incident_message
from .next_command import next_command
from .pipeline_incident import pipeline_message
from .wording import duration, moment, sentence, since, words
from .wording import incidents as wording

HEADLINE = 70
"""Characters of what follows it."""

WHY_BEHIND = CAPACITY | {Diagnosis.REBALANCING}
"""Causes that say why a group is behind."""

BESIDE = 2
"""Other causes that get a line each."""


def message_of(incident: Incident, kind: EventKind) -> AlertMessage:
    """
    The message that stands for an incident: what is wrong, since when, how bad, what changed before it, what to do, and
    whose it is; once it is over, what it was, how bad when last told, and how long.

    Who knows of it is told first what is new since.
    """
    course = incident.course
    if course.group_id is None:
        return pipeline_message(incident, kind)
    if kind is EventKind.RESOLVED:
        lasted = Section(heading="Lasted", lines=(_from_to(incident),))
        sections = (lasted, *_only_now(incident), *_owner(incident))
        title = f"{_outcome(course)} after {length_of(incident)}"
        return _message(incident, kind, title, f"It was: {_bad_when_told(course)}.", sections)
    again = _again(course) if kind is EventKind.OPENED else ()
    sections = (*_since_told(incident, kind), *again, *_sections(incident))
    return _message(incident, kind, headline_of(course), _what(incident), sections)


def line_of(incident: Incident, kind: EventKind) -> AlertMessage:
    """
    What the thread of that message is told then; it calls somebody only if it is more severe than what they know. Of a
    pipeline it is the same.
    """
    course, readers = incident.course, incident.course.readers
    if course.group_id is None:
        return pipeline_message(incident, kind)
    if kind is EventKind.RESOLVED:
        was = f"In trouble for {length_of(incident)}, {_from_to(incident)}; at worst {_was(course)}"
        late = [line for section in _only_now(incident) for line in section.lines]
        return _message(incident, kind, _outcome(course), " ".join([sentence(was), *late]))
    calls = readers is None or rose(course, readers)
    caller = incident if calls else replace(incident, mention=None)
    return _message(caller, kind, f"{kind}, {headline_of(course)}", _told_since(incident))


def _bad_when_told(course: IncidentCourse) -> str:
    """What an incident was called by, and how bad that was when it was last told."""
    readers = course.readers
    bad = wording.amount(readers.cause, readers.amount) if readers and readers.amount else None
    return f"{_was(course)}{f', {bad} when last told' if bad else ''}"


def _only_now(incident: Incident) -> tuple[Section, ...]:
    """Why its end is told no sooner, where it came back before, or was never quite well."""
    course = incident.course
    if course.well_since is None and course.unseen_since is not None:
        within = duration((incident.at - course.unseen_since).total_seconds())
        late = f"It has been within its objective for {within}, though close to it."
        return (Section(heading="Told now", lines=(late,)),)
    if course.over_at is None or course.well_since is None:
        return ()
    stayed = duration((incident.at - course.well_since).total_seconds())
    back = wording.came_back(course.over_at, course.began_at)
    late = f"It {back}; told now because it has stayed well for {stayed}."
    return (Section(heading="Again", lines=(late,)),)


def _again(course: IncidentCourse) -> tuple[Section, ...]:
    """That it was over not long ago."""
    if course.over_at is None:
        return ()
    back = wording.came_back(course.over_at, course.began_at)
    late = "its end is told once it stays away for longer"
    return (Section(heading="Again", lines=(f"It {back}; {late}.",)),)


def _was(course: IncidentCourse) -> str:
    """What an incident was called by, and what was lost beside that."""
    known = course.readers.causes if course.readers else ()
    beside = [cause for cause in known if cause in LOSSES and cause is not course.cause]
    return " and ".join(map(wording.called, [course.cause, *beside]))


def _outcome(course: IncidentCourse) -> str:
    """How it ended: one that was never seen well again is only not waited for any more."""
    if course.well_since:
        return "well again"
    return "back within its objective" if course.unseen_since else "not waited for any more"


def headline_of(course: IncidentCourse) -> str:
    """What is wrong in a few words, with the number that matters."""
    span = _worst(course)
    return fitted(wording.headline(span) if span else wording.called(course.cause), HEADLINE)


def _message(
    incident: Incident,
    event: EventKind,
    title: str,
    summary: str,
    sections: tuple[Section, ...] = (),
) -> AlertMessage:
    footer = [f"Snapshot {incident.snapshot_id}"]
    if incident.quiet:
        footer.append(sentence(fitted(incident.quiet)))
    text = Text(title=title, summary=summary, sections=sections, footer=tuple(footer))
    return incident_message(incident, event, text, link=incident.link)


def _worst(course: IncidentCourse) -> CauseSpan | None:
    """The cause that the incident goes by, or where that is over the worst that is left."""
    named = (span for span in course.causes if span.cause is course.cause)
    return next(named, course.causes[0] if course.causes else None)


def _what(incident: Incident) -> str:
    span = _worst(incident.course)
    facts = span.facts if span else ()
    name = wording.called((span or incident.course).cause)
    return _sentence(wording.what(facts) or name, facts)


def _sentence(clause: str, facts: Sequence[Fact]) -> str:
    """A clause about some facts as a sentence; where it begins with a name, that stays as it is."""
    text = fitted(clause)
    names = (fact.subjects[0] for fact in facts if fact.subjects)
    return f"{text}." if any(clause.startswith(name) for name in names) else sentence(text)


def _sections(incident: Incident) -> tuple[Section, ...]:
    course = incident.course
    worst = _worst(course)
    lines = _beside(course, worst)
    if worst is not None:
        traces = wording.traces(worst.facts)
        lines += [(heading, _sentence(clause, worst.facts)) for heading, clause in traces.items()]
    lines.append(("Since", _since(course.began_at, incident.at)))
    facts = tuple(fact for span in seen_now(course.causes) for fact in span.facts)
    if bad := wording.how_bad(facts):
        lines.append(("How bad", sentence(fitted(bad))))
    lines.append(("Changed", _changed(incident.changed)))
    sections = [Section(heading=heading, lines=(line,)) for heading, line in lines]
    return (*sections, *_to_do(incident, worst), *_owner(incident))


def _beside(course: IncidentCourse, worst: CauseSpan | None) -> list[tuple[str, str]]:
    """The other causes: what is there beside the worst, and what was there before."""
    there = seen_now(course.causes)
    was = [span.cause for span in course.causes if span not in there and span is not worst]
    if worst is not None and worst.cause is not course.cause:
        was = [course.cause, *was]
    causes = ", ".join(dict.fromkeys(map(wording.called, was)))
    earlier = [("Earlier", sentence(causes))] if causes else []
    others = [span for span in there if span is not worst]
    clauses = [fitted(wording.beside(span)) for span in others[:BESIDE]]
    left = others[BESIDE:]
    if left:
        clauses.append(", ".join(wording.called(span.cause) for span in left))
    return [*earlier, *(("Also", sentence(clause)) for clause in clauses)]


def _changed(changed: tuple[Fact, ...] | None) -> str:
    """What changed before it; unknown is not the same as nothing."""
    if changed is None:
        return "Not known: no snapshot is left in which it was well."
    clauses = dict.fromkeys(words(fact) for fact in changed)
    return _sentence("; ".join(clauses) or "nothing that a snapshot shows", changed)


def _to_do(incident: Incident, worst: CauseSpan | None) -> tuple[Section, ...]:
    course, span = incident.course, _explaining(incident.course, worst)
    cause = span.cause if span else course.cause
    command = next_command(incident.cluster, course.name, cause, course.good_snapshot_id)
    lines = (fitted(wording.what_to_do(span)),) if span else ()
    return (Section(heading="What to do", lines=lines, code=(command,)),)


def _explaining(course: IncidentCourse, worst: CauseSpan | None) -> CauseSpan | None:
    """The cause that something can be done about: why a group is behind, if that is known, else the worst."""
    if worst is None or worst.cause is not Diagnosis.CATCHING_UP:
        return worst
    return next((span for span in course.causes if span.cause in WHY_BEHIND), worst)


def _owner(incident: Incident) -> tuple[Section, ...]:
    return (
        (Section(heading="Owner", lines=(fitted(incident.owner, NAME),)),) if incident.owner else ()
    )


def _since_told(incident: Incident, kind: EventKind) -> tuple[Section, ...]:
    """What is new since its readers were told; nothing where nobody has been told before."""
    if incident.course.readers is None:
        return ()
    heading = EventKind.STILL if kind is EventKind.STILL else EventKind.WORSE
    return (Section(heading=heading.capitalize(), lines=(_told_since(incident),)),)


def _told_since(incident: Incident) -> str:
    """What is new since its readers were told, and since when."""
    course, readers, span = incident.course, incident.course.readers, _worst(incident.course)
    if readers is None or span is None:
        return sentence(f"since {_since(course.began_at, incident.at)}")
    if losses := new_losses(course):
        return sentence(fitted(f"now {'; '.join(wording.beside(each) for each in losses)}"))
    before = readers.amount and wording.amount(readers.cause, readers.amount)
    if span.cause is not readers.cause:
        was = f"it was {wording.called(readers.cause)}{f' ({before})' if before else ''}"
        since_when = _since(span.since, incident.at)
        return sentence(f"{was}, now {wording.called(span.cause)} since {since_when}")
    now = span.amount and wording.amount(span.cause, span.amount)
    if not before or not now:
        return sentence(f"it is worse than at {moment(readers.at)}")
    ago = duration((incident.at - readers.at).total_seconds())
    return sentence(f"now {now}; {ago} ago {before}")


def _since(start: datetime, now: datetime) -> str:
    return since(start, now).removeprefix("since ")


def _end(incident: Incident) -> datetime:
    """When it was well again, which is before that was believed."""
    course = incident.course
    return course.well_since or course.closed_at or incident.at


def length_of(incident: Incident) -> str:
    """How long it has lasted, or did."""
    return duration((_end(incident) - incident.course.began_at).total_seconds())


def _from_to(incident: Incident) -> str:
    return f"from {moment(incident.course.began_at)} to {moment(_end(incident))}"
