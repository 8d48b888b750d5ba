"""
The steps `alert` and `watch`: news go to the outbox, then to the notifier, once each.

Notifications about silences, acknowledgements and maintenance are queued and recorded in the same way.
"""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from ..config import Settings
from ..incidents.silences import planned
from ..messages.outbox import DeliveryReport, deliver
from ..messages.outbox_entries import AdviceToTell, PipelineToTell, queue_advice, queue_incidents
from ..messages.silence_messages import Scene, acknowledging, quiet_postings, stale_postings
from ..model.errors import InputError
from ..model.logs import logger
from ..model.message import AlertMessage
from ..ports import Incidents, Notifier, Outbox, Silences
from ..records import SilenceKind, SilenceRow


class QuietToTell(Incidents, Silences, Outbox, Protocol):
    """Silences, open incidents of groups, and the outbox."""


class Watched(PipelineToTell, QuietToTell, Protocol):
    """Health of pipelines, silences, and the outbox."""


def alert(
    history: AdviceToTell,
    notifier: Notifier,
    settings: Settings,
    snapshot_id: str,
    link: str | None = None,
) -> DeliveryReport:
    """
    Notify of new advice of a snapshot, if it is the newest of its cluster, and send all pending alerts.

    Args:
        history: The advice and the outbox.
        notifier: The notification channels.
        settings: The configuration.
        snapshot_id: The snapshot.
        link: URL of the run; None outside of Airflow.

    Raises:
        NotifierError: A delivery failed; the alert stays in the outbox and a retry sends it.
    """
    queue_advice(history, settings, snapshot_id, link)
    return deliver(history, notifier, settings)


def watch(
    history: Watched, notifier: Notifier, settings: Settings, now: datetime
) -> DeliveryReport:
    """
    Notify of pipeline incidents (unreachable, stale, stuck) and of their end, and of silences.

    Raises:
        NotifierError: As for `alert`.
    """
    queue_incidents(history, settings, now)
    queue_quiet(history, settings, now)
    return deliver(history, notifier, settings)


log = logger(__name__)


def queue_quiet(history: QuietToTell, settings: Settings, now: datetime) -> int:
    """
    Queue notifications of the start and end of silences and maintenance windows, and of stale ones.

    Also shows acknowledgements in the messages of incidents, and ends those whose incidents are resolved. Repeating it
    queues nothing more.

    Returns:
        Number of queued alerts.

    Raises:
        HistoryUnreachable: The history database doesn't answer.
    """
    _note_windows(history, settings, now)
    silences = history.silences(now)
    if not silences and not settings.maintenance:
        return 0
    groups = history.newest_groups()
    clusters = sorted({*settings.clusters, *groups})
    courses = {cluster: history.incident_watch(cluster).courses for cluster in clusters}
    scene = Scene(settings=settings, now=now, groups=groups, courses=courses)
    queued = sum(_follow(history, scene, each) for each in silences)
    stale = stale_postings(silences, scene)
    return queued + sum(
        history.enqueue_alert(posting, cluster=_first_cluster(scene, "*")) for posting in stale
    )


def _note_windows(history: Silences, settings: Settings, now: datetime) -> None:
    """Keep the maintenance windows that have begun; those that are not configured any more are over."""
    wanted = {_place(each): each for each in planned(settings.maintenance, now)}
    noted = {
        _place(each): each
        for each in history.silences(now)
        if each.kind is SilenceKind.MAINTENANCE and each.holds(now)
    }
    for place, each in noted.items():
        if place not in wanted and each.silence_id is not None:
            history.end_silence(each.silence_id, now)
    for place, each in wanted.items():
        known = noted.get(place)
        if known is None or (known.ends_at, known.reason) != (each.ends_at, each.reason):
            history.add_silence(each)


def _place(window: SilenceRow) -> tuple[str, str, datetime]:
    return (window.cluster, window.groups, window.starts_at)


def _first_cluster(scene: Scene, pattern: str) -> str:
    """The cluster under which something is queued that is about several."""
    return next(iter(scene.clusters(pattern)), pattern)


def _follow(history: QuietToTell, scene: Scene, silence: SilenceRow) -> int:
    """Queue what is new of one, then note it: a crash between the two says nothing twice."""
    if silence.kind is SilenceKind.ACK:
        return _follow_ack(history, scene, silence)
    cluster = _first_cluster(scene, silence.cluster)
    queued = sum(
        history.enqueue_alert(posting, cluster=cluster)
        for posting in quiet_postings(silence, scene)
    )
    if silence.holds(scene.now):
        _note(history, silence, sorted({*silence.channels, *scene.channels(silence)}), None)
    elif silence.starts_at <= scene.now or silence.ended_at is not None:
        _note(history, silence, silence.channels, scene.now)
    return queued


def _follow_ack(history: QuietToTell, scene: Scene, ack: SilenceRow) -> int:
    incidents = scene.acknowledged(ack)
    queued = 0
    for cluster, course in incidents:
        key = course.readers.alert_key if course.readers else None
        alert = history.standing_alert(key) if key else None
        try:
            standing = (alert.key, AlertMessage.from_json(alert.message)) if alert else None
        except InputError as problem:
            # what another version wrote stays as it is, and holds up nothing else
            log.warning("the ack cannot be shown in the message %s: %s", key, problem)
            standing = None
        posting = acknowledging(ack, course, standing, scene.now)
        queued += posting is not None and history.enqueue_alert(posting, cluster=cluster)
    if ack.holds(scene.now) and not incidents and ack.silence_id is not None:
        history.end_silence(ack.silence_id, scene.now)
        _note(history, ack, ack.channels, scene.now)
    elif not ack.holds(scene.now):
        _note(history, ack, ack.channels, scene.now)
    return queued


def _note(
    history: Silences,
    silence: SilenceRow,
    channels: list[str] | tuple[str, ...],
    end: datetime | None,
) -> None:
    if silence.silence_id is not None and (tuple(channels), end) != (
        silence.channels,
        silence.end_notified_at,
    ):
        history.note_silence(silence.silence_id, channels, end)
