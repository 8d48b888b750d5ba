"""
What is told when a cluster is taken out of the configuration: nobody looks at it any more.

Their incidents end with that, whether or not it is over, and the cluster is forgotten: one that is configured again is
looked at for the first time. It is told without noise, since whoever changed the configuration knows.
"""

from __future__ import annotations

import itertools
import logging
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from ..config import Settings
from ..model.groups import WatchOf
from ..model.message import AlertMessage, MessageKind, Section, Severity
from ..model.states import IncidentState
from ..model.text import listed
from ..ports import Incidents, IncidentWatch, Posting
from ..records import IncidentCourse, Readers
from .channels import Postings
from .events import EventKind
from .incident_message import LINE, NAME, Incident, fitted, headline_of, message_of
from .rounds import owner_of
from .wording import moment, sentence, since

log = logging.getLogger(__name__)

WHY = "The cluster is not in the configuration any more."

NAMES = 10
"""So many groups of a digest are named."""


def end_unwatched(history: Incidents, settings: Settings, now: datetime) -> int:
    """
    End what is open of clusters that are configured no more, queue what is told of that, and forget them.

    The groups of each cluster at once or not at all, as its pipeline; what another process has ended meanwhile is left
    alone.

    Returns:
        How many alerts were queued.
    """
    queued = 0
    gone = history.unwatched(sorted(settings.clusters))
    for cluster, of in itertools.product(gone, WatchOf):
        watch = history.incident_watch(cluster, of)
        postings = last_postings(watch, settings, now)
        if history.forget_watch(cluster, now, postings, before=watch.snapshot_id, of=of):
            log.info("%s of %s is watched no more: %d alerts queued.", of, cluster, len(postings))
            queued += len(postings)
    return queued


def last_postings(watch: IncidentWatch, settings: Settings, now: datetime) -> tuple[Posting, ...]:
    """What those are told who know of an open incident of a cluster that is watched no more."""
    postings = Postings(cluster=watch.cluster, settings=settings)
    known = [
        (course, course.readers)
        for course in watch.courses
        if course.readers is not None and course.state is not IncidentState.RESOLVED
    ]
    digests: dict[tuple[str, str], list[IncidentCourse]] = {}
    for course, readers in known:
        try:
            incident = Incident(
                cluster=watch.cluster,
                course=course,
                at=watch.at or course.began_at,
                snapshot_id=watch.snapshot_id or course.began_snapshot_id,
                owner=owner_of(settings, watch.cluster, course),
                unwatched=True,
            )
            _end(postings, incident, readers, now)
        except Exception:
            # what cannot be said of one keeps no other from its end
            log.exception("of %s nothing can be said", course.name)
        if readers.in_digest:
            digests.setdefault((readers.alert_key, readers.channel), []).append(course)
    last = AlertMessage(
        kind=MessageKind.DIGEST,
        severity=Severity.RESOLVED,
        at=now,
        title=f"{watch.cluster}: no longer watched",
        summary=WHY,
        footer=(f"Snapshot {watch.snapshot_id}",),
    )
    for (key, channel), courses in digests.items():
        _end_digest(postings, key, channel, courses, last)
    return tuple(postings)


def _end(postings: Postings, incident: Incident, readers: Readers, now: datetime) -> None:
    course, message = incident.course, _message(incident, now)
    if not readers.in_digest:
        line = message if course.group_id is None else replace(message, summary=WHY)
        postings.change(course, readers, "resolved", message)
        postings.answer(course, readers, "resolved", line, broadcast=False)
    postings.page(course, "resolved", message)


def _message(incident: Incident, now: datetime) -> AlertMessage:
    """The end of an incident of which nobody knows whether it is over."""
    course = incident.course
    if course.group_id is None:
        return message_of(replace(incident, at=now), EventKind.RESOLVED)
    group = fitted(course.group_id, NAME)
    last = f"at {moment(incident.at)} it was {headline_of(course)}, {since(course.began_at, incident.at)}"
    return replace(
        message_of(incident, EventKind.RESOLVED),
        at=now,
        title=f"{group} ({incident.cluster}): no longer watched",
        summary=f"{WHY} {sentence(fitted(last))}",
        sections=(),
    )


def _end_digest(
    postings: Postings,
    key: str,
    channel: str,
    courses: Iterable[IncidentCourse],
    last: AlertMessage,
) -> None:
    """What takes the place of a digest, with the names of those that were not over, and a line in its thread."""
    names = listed([fitted(course.name, NAME) for course in courses], NAMES)
    left = Section(heading="Not over when last seen", lines=(fitted(names, 2 * LINE),))
    its = f"{key} unwatched"
    postings.queued += [
        Posting(key=its, channel=channel, message=replace(last, sections=(left,)), replaces=key),
        Posting(key=f"{its} thread", channel=channel, message=last, answers=key),
    ]
