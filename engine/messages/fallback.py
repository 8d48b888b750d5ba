"""A message about an incident in any case: without its facts if their text fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from ..model.logs import logger
from ..model.message import AlertMessage
from ..records import IncidentCourse
from .events import EventKind
from .incident_message import Incident, headline_of

log = logger(__name__)


@contextmanager
def by_itself(course: IncidentCourse) -> Iterator[None]:
    """A failing message doesn't affect the other groups; the next snapshot retries it."""
    try:
        yield
    except Exception:
        log.exception("the message about %s failed", course.name)


def made(
    make: Callable[[Incident, EventKind], AlertMessage],
    incident: Incident,
    kind: EventKind,
) -> AlertMessage:
    """A message; if the text of its facts fails, one without them."""
    try:
        return make(incident, kind)
    except Exception:
        log.exception("the message about %s lacks its facts", incident.course.name)
        return make(bare(incident), kind)


def worded(incident: Incident) -> Incident:
    """An incident for a digest, without its facts if their text fails."""
    try:
        headline_of(incident.course)
    except Exception:
        log.exception("the message about %s lacks its facts", incident.course.name)
        return bare(incident)
    return incident


def bare(incident: Incident) -> Incident:
    """Only the name of its cause, and its beginning."""
    causes = tuple(replace(span, facts=()) for span in incident.course.causes)
    return replace(incident, course=replace(incident.course, causes=causes), changed=None, rates=())
