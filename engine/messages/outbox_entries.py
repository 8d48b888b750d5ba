"""
Queues messages about advice and pipelines in the outbox; `pipeline.watch_groups` does that for groups.

A cluster that is removed from the configuration is no longer watched. Its incidents end, resolved or not, and evenkeel
deletes its state: if it is configured again, that is a first check. These messages mention no one and are not
broadcast.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Protocol

from ..config import Settings
from ..incidents.policy import pipeline_judgment
from ..incidents.silences import quieting_pipeline
from ..model.errors import HistoryError
from ..model.formats import minute
from ..model.groups import WatchOf
from ..model.logs import logger
from ..model.message import AlertMessage, MessageKind, Section, Severity
from ..model.states import IncidentState
from ..model.text import listed
from ..ports import (
    AdviceHistory,
    AdvisedSnapshot,
    ClusterFacts,
    Incidents,
    IncidentWatch,
    Outbox,
    PipelineHistory,
    Posting,
    Silences,
)
from ..records import IncidentCourse, Readers, SilenceRow
from .advice_news import TOLD, News, new_advice
from .channels import Postings, channel_of, posted
from .digest import MOVES, WORST, advice_message
from .events import EventKind
from .incident_message import LINE, NAME, Incident, fitted, headline_of, message_of, titled
from .incident_rows import owner_of
from .notifications import round_of
from .wording import sentence

log = logger(__name__)

WHY = "The cluster is no longer configured."

NAMES = 10
"""Groups of a digest that are named."""


class AdviceToTell(AdviceHistory, Outbox, Protocol):
    """The advice, and the outbox."""


class PipelineToTell(PipelineHistory, Incidents, Silences, Protocol):
    """The state of the pipelines, their incidents, and the silences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceNews:
    """The advice of a snapshot, and its news."""

    snapshot: AdvisedSnapshot
    news: Sequence[News]


def queue_advice(
    history: AdviceToTell, settings: Settings, snapshot_id: str, link: str | None = None
) -> int:
    """
    Queue the news of a snapshot's advice: one digest per channel with news.

    It queues only for the newest snapshot of its cluster with advice, and only if no snapshot that is
    `stale_after_seconds` newer waits for its own. Otherwise (a backfill, a replay, a late retry), it logs the reason.
    Repeated calls queue nothing more.

    Args:
        history: The advice, and the outbox.
        settings: The configuration.
        snapshot_id: The snapshot.
        link: Address of the run; None outside of Airflow.

    Returns:
        How many alerts were queued.

    Raises:
        HistoryError: The history does not know the snapshot.
        HistoryUnreachable: The history does not answer.
    """
    found = advice_news(history, settings, snapshot_id)
    return 0 if found is None else queue_news(history, settings, found, link)


def advice_news(history: AdviceToTell, settings: Settings, snapshot_id: str) -> AdviceNews | None:
    """What `queue_advice` would queue; None if it doesn't queue for the snapshot."""
    snapshot = history.advised_snapshot(snapshot_id)
    if snapshot is None:
        raise HistoryError(
            f"the history database has no snapshot {snapshot_id}.",
            fix="Run the steps before `alert` for it: they write what is missing from the lake.",
        )
    # why its advice is outdated
    silence, newest = None, snapshot.newest_advised_id
    behind = snapshot.newest_started_at - snapshot.started_at
    if newest not in (None, snapshot.snapshot_id):
        silence = f"is not the newest snapshot with advice ({newest} is)"
    elif behind > timedelta(seconds=settings.stale_after_seconds):
        silence = f"is {behind.total_seconds():.0f} seconds older than the newest snapshot"
    if silence is not None:
        log.info("%s %s: no message is queued.", snapshot_id, silence)
        return None
    given = history.advice_with_scores(snapshot_id, TOLD)
    known = {each.group_id: each for each in history.announced_advice(snapshot.cluster)}

    def pause(group: str) -> timedelta:
        return timedelta(seconds=settings.policy(snapshot.cluster, group).repeat_interval_seconds)

    news = new_advice(given, known, snapshot.finished_at, pause)
    return AdviceNews(snapshot=snapshot, news=news)


def queue_news(
    history: AdviceToTell, settings: Settings, found: AdviceNews, link: str | None = None
) -> int:
    """Queue news; returns the number of alerts."""
    snapshot = found.snapshot
    channels: dict[str, list[News]] = {}
    for one in found.news:
        channel = channel_of(settings, snapshot.cluster, one.group_id)
        channels.setdefault(channel, []).append(one)
    queued = 0
    for channel, news in channels.items():
        groups = {one.advice.advice_id: one.group_id for one in news[:WORST]}
        moves = history.first_moves([number for number in groups if number is not None], MOVES)
        message, thread = advice_message(
            snapshot.cluster,
            snapshot,
            news,
            {groups[number]: some for number, some in moves.items()},
            owners=owners_of(settings, snapshot.cluster, news),
            link=link,
        )
        key = f"advice {snapshot.snapshot_id} {channel}"
        queued += sum(
            history.enqueue_alert(each, cluster=snapshot.cluster, snapshot_id=snapshot.snapshot_id)
            for each in posted(key, channel, message, thread)
        )
    log.info(
        "%s: %d groups with news, %d alerts queued.", snapshot.snapshot_id, len(found.news), queued
    )
    return queued


def owners_of(settings: Settings, cluster: str, news: Iterable[News]) -> dict[str, str]:
    """The configured owners of the groups with news."""
    owners = {one.group_id: settings.rule(cluster, one.group_id).owner for one in news}
    return {group: owner for group, owner in owners.items() if owner}


def queue_incidents(history: PipelineToTell, settings: Settings, now: datetime) -> int:
    """
    Record problems of the pipelines of the configured clusters, and queue the messages about them.

    State and messages of a cluster are stored in one transaction. An opening that was never sent is superseded by its
    end. Incidents of groups are left out, except those of clusters that are no longer configured (`end_unwatched`).

    Returns:
        How many alerts were queued.

    Raises:
        HistoryUnreachable: The history does not answer.
    """
    ended = end_unwatched(history, settings, now)
    silences = history.silences(now)
    facts = history.cluster_facts(sorted(settings.clusters), now)
    return ended + sum(_watch_pipeline(history, settings, each, silences, now) for each in facts)


def _watch_pipeline(
    history: Incidents,
    settings: Settings,
    facts: ClusterFacts,
    silences: Sequence[SilenceRow],
    now: datetime,
) -> int:
    """The news of one pipeline; of two processes at the same time, one queues them."""
    cluster, late_after = facts.cluster, timedelta(seconds=settings.stale_after_seconds)
    before = history.incident_watch(cluster, WatchOf.PIPELINE)
    opened = [each.name for each in before.courses if each.closed_at is None]
    judgment = pipeline_judgment(facts, opened, late_after, now)
    quiet = quieting_pipeline(silences, settings.maintenance, cluster)
    done = round_of(before, judgment, settings, quiet=quiet)
    if not (before.courses or done.courses):
        return 0
    is_kept = history.store_watch(
        cluster,
        judgment.snapshot_id,
        now,
        done.courses,
        done.incidents,
        done.postings,
        before=before.snapshot_id,
        of=WatchOf.PIPELINE,
    )
    return len(done.postings) if is_kept else 0


# Clusters that are no longer configured


def end_unwatched(history: Incidents, settings: Settings, now: datetime) -> int:
    """
    End open incidents of clusters that are no longer configured, queue the messages about that, and delete their state.

    Groups and pipeline of each cluster are one transaction each. Incidents that another process has ended are left out.

    Returns:
        How many alerts were queued.
    """
    queued = 0
    gone = history.unwatched(sorted(settings.clusters))
    for cluster, of in itertools.product(gone, WatchOf):
        watch = history.incident_watch(cluster, of)
        postings = last_postings(watch, settings, now)
        if history.forget_watch(cluster, now, postings, before=watch.snapshot_id, of=of):
            log.info("%s of %s is no longer watched: %d alerts queued.", of, cluster, len(postings))
            queued += len(postings)
    return queued


def last_postings(watch: IncidentWatch, settings: Settings, now: datetime) -> tuple[Posting, ...]:
    """The last messages about open incidents of a cluster that is no longer watched."""
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
            # a failure of one doesn't affect the others
            log.exception("the message about %s failed", course.name)
        if readers.in_digest:
            digests.setdefault((readers.alert_key, readers.channel), []).append(course)
    last = AlertMessage(
        kind=MessageKind.DIGEST,
        severity=Severity.RESOLVED,
        at=now,
        title=titled(watch.cluster, None, "no longer watched"),
        summary=WHY,
        snapshot_id=watch.snapshot_id,
    )
    for (key, channel), courses in digests.items():
        _end_digest(postings, key, channel, courses, last)
    return tuple(postings)


def _end(postings: Postings, incident: Incident, readers: Readers, now: datetime) -> None:
    course, message = incident.course, _last_word(incident, now)
    if not readers.in_digest:
        line = message if course.group_id is None else replace(message, summary=WHY)
        postings.change(course, readers, "resolved", message)
        postings.answer(course, readers, "resolved", line, broadcast=False)
    postings.page(course, "resolved", message)


def _last_word(incident: Incident, now: datetime) -> AlertMessage:
    """The end of an incident whose outcome is unknown."""
    course = incident.course
    if course.group_id is None:
        return message_of(replace(incident, at=now), EventKind.RESOLVED)
    last = (
        f"last seen {minute(incident.at)}: {headline_of(course)}, since {minute(course.began_at)}"
    )
    return replace(
        message_of(incident, EventKind.RESOLVED),
        at=now,
        title=titled(course.group_id, incident.cluster, "no longer watched"),
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
    """The replacement of a digest, with the groups that were still open, and a line in its thread."""
    names = listed([fitted(course.name, NAME) for course in courses], NAMES)
    left = Section(heading="Still open when last seen", lines=(fitted(names, 2 * LINE),))
    its = f"{key} unwatched"
    postings.queued += [
        Posting(key=its, channel=channel, message=replace(last, sections=(left,)), replaces=key),
        Posting(key=f"{its} thread", channel=channel, message=last, answers=key),
    ]
