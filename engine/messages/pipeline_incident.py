"""The messages about what is wrong with the pipeline itself: opened, resolved."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..model.message import AlertMessage, Section
from ..model.states import IncidentKind
from .events import EventKind
from .incident_message import Incident, Text, incident_message
from .wording import duration, moment
from .wording import incidents as wording
from .wording.pipelines import PIPELINES, errors, what_is_wrong


def pipeline_message(incident: Incident, kind: EventKind) -> AlertMessage:
    """What is said of a pipeline: when something is found, with a link to what failed, and when it is over."""
    course = incident.course
    if kind is EventKind.RESOLVED:
        return incident_message(incident, kind, _end(incident))
    kind_of, facts = IncidentKind(course.cause), wording.known_of(course)
    words = PIPELINES[kind_of]
    what = what_is_wrong(kind_of, incident.cluster, facts, incident.at)
    commands = ("evenkeel doctor",) if words.doctor else ()
    sections = (
        Section(heading="What", lines=what[1:]),
        Section(heading="What it said", lines=tuple(errors(facts))),
        Section(heading="How bad", lines=(words.effect,)),
        Section(heading="What to do", lines=tuple(words.to_do.split("\n")), code=commands),
    )
    noticed = (
        f"Noticed {moment(course.opened_at or incident.at)}. You hear of it again when it is over."
    )
    title = wording.called(course.cause)
    text = Text(title=title, summary=what[0], sections=sections, footer=(noticed,))
    return incident_message(incident, kind, text, link=_link(facts))


def _link(facts: Mapping[str, Any]) -> str | None:
    """Where the task that failed last can be looked at; a place whose host is not known leads nowhere."""
    links = (step.get("link") or "" for step in facts.get("steps") or [facts])
    return next((link for link in links if link.startswith(("http://", "https://"))), None)


def _end(incident: Incident) -> Text:
    course, words = incident.course, PIPELINES[IncidentKind(incident.course.cause)]
    lines = [words.afterwards]
    lines += [f"The last error was: {each}" for each in errors(wording.known_of(course))[-1:]]
    if incident.unwatched:
        lines = ["The cluster is no longer configured; what was open about it is closed."]
    was = Section(heading=f"It was: {wording.called(course.cause)}", lines=tuple(lines))
    began, ended = course.began_at, incident.at
    span = duration((ended - began).total_seconds())
    return Text(
        title="no longer watched" if incident.unwatched else words.over,
        summary=f"It lasted {span}, from {moment(began)} to {moment(ended)}.",
        sections=(was,),
    )
