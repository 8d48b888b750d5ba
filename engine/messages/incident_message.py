"""
The one builder of messages about incidents, be it of a group or of a pipeline: opened, worse, still open, over.

They are read at night on a phone: what, since when, how bad, what changed before it, what to do, whose it is.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from ..incidents.policy import EVERY_CLUSTER
from ..model.facts import Fact
from ..model.message import AlertMessage, MessageKind, Section, Severity, Subject, severity_of
from ..model.states import CAPACITY, SECONDS_BEHIND, Diagnosis, IncidentKind, TroubleKind
from ..model.text import printable
from ..records import CauseSpan, IncidentCourse
from .events import LOSSES, EventKind, new_losses, rose, seen_now
from .wording import duration, moment, sentence, shortened, since, words
from .wording import incidents as wording
from .wording.pipelines import PIPELINES, errors, what_is_wrong

NAME = 60
"""Characters of a group's name in a title."""

LINE = 240
"""Characters of a line."""

HEADLINE = 70
"""Characters of what follows a name in a title."""

SPELT_OUT = 100
"""Characters of a group's name that a command spells out."""

WHY_BEHIND = CAPACITY | {Diagnosis.REBALANCING}
"""Causes that say why a group is behind."""

BESIDE = 2
"""Other causes that get a line each."""

KINDS: Mapping[EventKind, MessageKind] = {
    EventKind.OPENED: MessageKind.INCIDENT_OPENED,
    EventKind.WORSE: MessageKind.INCIDENT_WORSE,
    EventKind.STILL: MessageKind.INCIDENT_STILL,
    EventKind.RESOLVED: MessageKind.INCIDENT_CLOSED,
}
"""What a message is, by what it tells."""


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

    @property
    def ended_at(self) -> datetime:
        """When it was well again, which is before that was believed."""
        return self.course.well_since or self.course.closed_at or self.at


def fitted(text: str, limit: int = LINE) -> str:
    """A text whose every character can be shown, not longer than that: names may hold anything."""
    return shortened(printable(text), limit)


def message_of(incident: Incident, event: EventKind) -> AlertMessage:
    """
    The message that stands for an incident: what is wrong, since when, how bad, what changed before it, what to do, and
    whose it is; once it is over, what it was, how bad when last told, and how long.

    Who knows of it is told first what is new since. Of a pipeline: with a link to what failed.
    """
    course, owner = incident.course, ("Owner", fitted(incident.owner or "", NAME))
    if course.group_id is None:
        return _of_pipeline(incident, event)
    if event is EventKind.RESOLVED:
        readers = course.readers
        bad = wording.amount(readers.cause, readers.amount) if readers and readers.amount else None
        was = f"It was: {_was(course)}{f', {bad} when last told' if bad else ''}."
        lines = [("Lasted", _from_to(incident)), _why_only_now(incident), owner]
        title = f"{_outcome(course)} after {length_of(incident)}"
        return _of_group(incident, event, title, was, _sections(lines))
    worst = _worst(course)
    facts = worst.facts if worst else ()
    lines = []
    if course.readers is not None:
        told = event if event is EventKind.STILL else EventKind.WORSE
        lines.append((told.capitalize(), _told_since(incident)))
    if event is EventKind.OPENED and course.over_at is not None:
        back = wording.came_back(course.over_at, course.began_at)
        lines.append(("Again", f"It {back}; its end is told once it stays away for longer."))
    lines += _beside(course, worst)
    traces = wording.traces(facts)
    lines += [(heading, _sentence(clause, facts)) for heading, clause in traces.items()]
    lines.append(("Since", _since(course.began_at, incident.at)))
    bad = wording.how_bad([fact for span in seen_now(course.causes) for fact in span.facts])
    lines += [("How bad", sentence(fitted(bad))), ("Changed", _changed(incident.changed))]
    sections = (*_sections(lines), _to_do(incident, worst), *_sections([owner]))
    what = wording.what(facts) or wording.called((worst or course).cause)
    return _of_group(incident, event, headline_of(course), _sentence(what, facts), sections)


def line_of(incident: Incident, event: EventKind) -> AlertMessage:
    """
    What the thread of that message is told then; it calls somebody only if it is more severe than what they know. Of a
    pipeline it is the same.
    """
    course, readers = incident.course, incident.course.readers
    if course.group_id is None:
        return _of_pipeline(incident, event)
    if event is EventKind.RESOLVED:
        was = f"In trouble for {length_of(incident)}, {_from_to(incident)}; at worst {_was(course)}"
        _, late = _why_only_now(incident)
        return _of_group(incident, event, _outcome(course), f"{sentence(was)} {late}".strip())
    calls = readers is None or rose(course, readers)
    caller = incident if calls else replace(incident, mention=None)
    return _of_group(caller, event, f"{event}, {headline_of(course)}", _told_since(incident))


def headline_of(course: IncidentCourse) -> str:
    """What is wrong in a few words, with the number that matters."""
    span = _worst(course)
    return fitted(wording.headline(span) if span else wording.called(course.cause), HEADLINE)


def length_of(incident: Incident) -> str:
    """How long it has lasted, or did."""
    return duration((incident.ended_at - incident.course.began_at).total_seconds())


def _built(
    incident: Incident,
    event: EventKind,
    title: str,
    summary: str,
    sections: Iterable[Section],
    footer: tuple[str, ...],
    link: str | None,
) -> AlertMessage:
    """A message about an incident; whom it calls it calls until that is over."""
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
    name = "evenkeel" if subject.cluster == EVERY_CLUSTER else subject.cluster
    if subject.group_id is not None:
        name = f"{fitted(subject.group_id, NAME)} ({subject.cluster})"
    return AlertMessage(
        kind=KINDS[event],
        severity=Severity.RESOLVED if over else severity,
        at=incident.at,
        title=f"{name}: {title}",
        summary=summary,
        sections=tuple(each for each in sections if each.lines or each.code),
        footer=footer,
        subject=subject,
        mention=None if over else incident.mention,
        link=link,
    )


def _sections(lines: Iterable[tuple[str, str]]) -> tuple[Section, ...]:
    """A line under each heading; what has nothing to say is left out."""
    return tuple(Section(heading=heading, lines=(line,)) for heading, line in lines if line)


# Of groups


def _of_group(
    incident: Incident,
    event: EventKind,
    title: str,
    summary: str,
    sections: Iterable[Section] = (),
) -> AlertMessage:
    footer = [f"Snapshot {incident.snapshot_id}"]
    if incident.quiet:
        footer.append(sentence(fitted(incident.quiet)))
    return _built(incident, event, title, summary, sections, tuple(footer), incident.link)


def _why_only_now(incident: Incident) -> tuple[str, str]:
    """Why its end is told no sooner, where it came back before, or was never quite well."""
    course = incident.course
    if course.well_since is None and course.unseen_since is not None:
        within = duration((incident.at - course.unseen_since).total_seconds())
        return "Told now", f"It has been within its objective for {within}, though close to it."
    if course.over_at is None or course.well_since is None:
        return "Told now", ""
    stayed = duration((incident.at - course.well_since).total_seconds())
    back = wording.came_back(course.over_at, course.began_at)
    return "Again", f"It {back}; told now because it has stayed well for {stayed}."


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


def _worst(course: IncidentCourse) -> CauseSpan | None:
    """The cause that the incident goes by, or where that is over the worst that is left."""
    named = (span for span in course.causes if span.cause is course.cause)
    return next(named, course.causes[0] if course.causes else None)


def _sentence(clause: str, facts: Sequence[Fact]) -> str:
    """A clause about some facts as a sentence; where it begins with a name, that stays as it is."""
    text = fitted(clause)
    names = (fact.subjects[0] for fact in facts if fact.subjects)
    return f"{text}." if any(clause.startswith(name) for name in names) else sentence(text)


def _beside(course: IncidentCourse, worst: CauseSpan | None) -> list[tuple[str, str]]:
    """The other causes: what is there beside the worst, and what was there before."""
    there = seen_now(course.causes)
    was = [span.cause for span in course.causes if span not in there and span is not worst]
    if worst is not None and worst.cause is not course.cause:
        was = [course.cause, *was]
    causes = ", ".join(dict.fromkeys(map(wording.called, was)))
    others = [span for span in there if span is not worst]
    clauses = [fitted(wording.beside(span)) for span in others[:BESIDE]]
    clauses.append(", ".join(wording.called(span.cause) for span in others[BESIDE:]))
    return [("Earlier", sentence(causes)), *(("Also", sentence(clause)) for clause in clauses)]


def _changed(changed: tuple[Fact, ...] | None) -> str:
    """What changed before it; unknown is not the same as nothing."""
    if changed is None:
        return "Not known: no snapshot is left in which it was well."
    clauses = dict.fromkeys(words(fact) for fact in changed)
    return _sentence("; ".join(clauses) or "nothing that a snapshot shows", changed)


def _to_do(incident: Incident, worst: CauseSpan | None) -> Section:
    """What can be done: why a group is behind is acted upon, if that is known, else the worst."""
    course, span = incident.course, worst
    if worst is not None and worst.cause is Diagnosis.CATCHING_UP:
        span = next((each for each in course.causes if each.cause in WHY_BEHIND), worst)
    cause = span.cause if span else course.cause
    command = next_command(incident.cluster, course.name, cause, course.good_snapshot_id)
    lines = (fitted(wording.what_to_do(span)),) if span else ()
    return Section(heading="What to do", lines=lines, code=(command,))


def next_command(cluster: str, group: str, cause: TroubleKind, good_snapshot_id: str | None) -> str:
    """
    What to run to see more.

    Args:
        cluster: Configured name of the cluster.
        group: The group.
        cause: What is wrong with it.
        good_snapshot_id: The last snapshot in which it was well; None where none is known.

    >>> next_command("eu", "orders", Diagnosis.NO_MEMBERS, None)
    'evenkeel lag --cluster eu --group orders'
    >>> next_command("eu", "it's $HOME", Diagnosis.CATCHING_UP, None)
    'evenkeel advise --from lake --cluster eu --group \\'it\\'"\\'"\\'s $HOME\\''
    """
    if cause is Diagnosis.UNKNOWN:
        return f"evenkeel doctor --cluster {cluster}"
    if cause is Diagnosis.REBALANCING and good_snapshot_id is not None:
        return f"evenkeel diff --cluster {cluster} --since {good_snapshot_id} -- {_quoted(group)}"
    if cause is Diagnosis.STORE_IN_ONE_RACK:
        named = f"-- {_quoted(group)}" if group.startswith("-") else _quoted(group)
        return f"evenkeel tasks --from lake --cluster {cluster} {named}"
    # with the capacity of members, and what another assignment brings
    verb = "advise --from lake" if cause in SECONDS_BEHIND else "lag"
    # with an equals sign a name that begins with a hyphen is no option
    option = f"--group={_quoted(group)}" if group.startswith("-") else f"--group {_quoted(group)}"
    return f"evenkeel {verb} --cluster {cluster} {option}"


def _quoted(group: str) -> str:
    """
    A group's name for a shell; as a pattern where it has characters that do not survive a chat, or too many.

    >>> _quoted("orders-app"), _quoted("a`b\\nc"), _quoted("x" * 101) == shlex.quote("x" * 100 + "*")
    ('orders-app', "'a?b?c'", True)
    """
    safe = "".join(sign if sign.isprintable() and sign != "`" else "?" for sign in group)
    if len(safe) > SPELT_OUT:
        return shlex.quote(_as_pattern(safe[:SPELT_OUT]) + "*")
    return shlex.quote(_as_pattern(safe) if safe != group else group)


def _as_pattern(name: str) -> str:
    """Signs of a pattern stand for any one character."""
    return "".join("?" if sign in "*[]" else sign for sign in name)


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


def _from_to(incident: Incident) -> str:
    return f"from {moment(incident.course.began_at)} to {moment(incident.ended_at)}"


# Of pipelines


def _of_pipeline(incident: Incident, event: EventKind) -> AlertMessage:
    course, now = incident.course, incident.at
    kind, known = IncidentKind(course.cause), wording.known_of(course)
    said, last_errors = PIPELINES[kind], errors(known)
    if event is EventKind.RESOLVED:
        lines = [said.afterwards, *(f"The last error was: {each}" for each in last_errors[-1:])]
        if incident.unwatched:
            lines = ["The cluster is no longer configured; what was open about it is closed."]
        span = duration((now - course.began_at).total_seconds())
        return _built(
            incident,
            event,
            "no longer watched" if incident.unwatched else said.over,
            f"It lasted {span}, from {moment(course.began_at)} to {moment(now)}.",
            [Section(heading=f"It was: {said.called}", lines=tuple(lines))],
            (),
            None,
        )
    first, *what = what_is_wrong(kind, incident.cluster, known, now)
    commands = ("evenkeel doctor",) if said.doctor else ()
    sections = (
        Section(heading="What", lines=tuple(what)),
        Section(heading="What it said", lines=tuple(last_errors)),
        Section(heading="How bad", lines=(said.effect,)),
        Section(heading="What to do", lines=tuple(said.to_do.split("\n")), code=commands),
    )
    noticed = f"Noticed {moment(course.opened_at or now)}. You hear of it again when it is over."
    # where the task that failed last can be looked at; a place whose host is not known leads nowhere
    links = (step.get("link") or "" for step in known.get("steps") or [known])
    link = next((link for link in links if link.startswith(("http://", "https://"))), None)
    return _built(incident, event, said.called, first, sections, (noticed,), link)
