"""
The step `watch_groups`: notifies of incidents of groups right after a snapshot.

It needs the lake and the history database, but no other step and no Spark.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol

from ..config import Settings
from ..incidents.evaluation import Judgment
from ..incidents.silences import quieting
from ..messages.notifications import ToldRound, round_of
from ..messages.outbox import DeliveryReport, deliver
from ..metrics.observe import Observation
from ..model.errors import HistoryError, LakeError
from ..model.facts import Fact
from ..model.formats import duration
from ..model.logs import logger
from ..model.moments import utc_now
from ..ports import CLOCKS_APART, Incidents, IncidentWatch, Lake, Notifier, Outbox, Silences
from ..records import IncidentCourse, SilenceRow
from ..snapshots import new_snapshot_id, split_snapshot_id
from ..snapshots.groups_with_past import BatchWithPast
from .evaluate_groups import judge_groups
from .recent_changes import changed_since

log = logger(__name__)

Seen = Sequence[tuple[BatchWithPast, Observation]]
"""Observations of groups of a snapshot."""

_TRIES = 2
"""Maximum number of retries if another process changes the stored states meanwhile."""


class GroupsToTell(Incidents, Silences, Outbox, Protocol):
    """Incident states of groups, silences, and the outbox."""


def watch_groups(
    lake: Lake,
    history: GroupsToTell,
    notifier: Notifier,
    settings: Settings,
    snapshot_id: str,
    *,
    link: str | None = None,
    now: datetime | None = None,
) -> DeliveryReport:
    """
    Evaluate the groups of a snapshot, store their incident states, and notify of changes.

    Only the newest snapshot of a cluster is evaluated, and only once. For others, only pending alerts are sent.

    Args:
        lake: The lake.
        history: Incident states.
        notifier: Notification channels.
        settings: The configuration.
        snapshot_id: The snapshot.
        link: URL of the run; None outside of Airflow.
        now: The current time; None for the clock.

    Raises:
        HistoryError: The newest evaluation is in the future: the clock of this machine is behind.
        HistoryUnreachable: The history database doesn't answer; nothing was sent, and a retry does it all.
        NotifierError: A delivery for this cluster failed; the alert stays in the outbox and a retry sends it. Failures
        for
            other clusters are logged only.
        SnapshotNotFound: The lake doesn't have the snapshot.
    """
    queue_groups(lake, history, settings, snapshot_id, link=link, now=now)
    return deliver(history, notifier, settings, cluster=split_snapshot_id(snapshot_id)[0])


def queue_groups(
    lake: Lake,
    history: GroupsToTell,
    settings: Settings,
    snapshot_id: str,
    *,
    link: str | None = None,
    now: datetime | None = None,
    seen: Seen = (),
) -> ToldRound | None:
    """
    The same up to the outbox; *seen* as for `judge_groups`.

    Returns:
        The result of the evaluation; None if the snapshot was evaluated before or is not the newest.
    """
    cluster, taken = split_snapshot_id(snapshot_id)
    for _ in range(_TRIES):
        watched = history.incident_watch(cluster)
        if watched.snapshot_id == snapshot_id:
            log.info("%s was evaluated before.", snapshot_id)
            return None
        # snapshots from the future, of a clock that was ahead once, are not newer
        latest = max(taken, (now or utc_now()) + CLOCKS_APART)
        until = f"{new_snapshot_id(cluster, latest)[:-6]}ffffff"
        if lake.snapshots(cluster, until=until) != [snapshot_id]:
            log.info("%s is not the newest snapshot, so it sends no notifications.", snapshot_id)
            return None
        done = _watch(lake, history, settings, snapshot_id, watched, link, seen)
        if done is not None:
            return done
    _check_clock(watched, now or utc_now())
    return None


def _check_clock(watched: IncidentWatch, now: datetime) -> None:
    """
    Raises:
        HistoryError: The evaluation that blocks the others is in the future.
    """
    if watched.at is not None and watched.at > now + CLOCKS_APART:
        behind = duration((watched.at - now).total_seconds())
        raise HistoryError(
            f"this machine's clock is behind: the newest evaluation of the groups of {watched.cluster!r}"
            f" is {behind} ahead of it, so no snapshot is evaluated.",
            fix="Set the clock that is wrong, of this machine or of the history database.",
        )


def _watch(
    lake: Lake,
    history: GroupsToTell,
    settings: Settings,
    snapshot_id: str,
    watched: IncidentWatch,
    link: str | None,
    seen: Seen,
) -> ToldRound | None:
    """None when another snapshot was watched meanwhile, or a younger one: nothing is kept, and nothing told."""
    judgment, done = look_at(
        lake, settings, snapshot_id, watched, history.silences, link=link, seen=seen
    )
    is_kept = history.store_watch(
        watched.cluster,
        snapshot_id,
        judgment.at,
        done.courses,
        done.incidents,
        done.postings,
        before=watched.snapshot_id,
    )
    if not is_kept:
        log.warning(
            "%s is discarded: it ended before %s, or another snapshot was evaluated meanwhile.",
            snapshot_id,
            watched.snapshot_id or "another",
        )
        return None
    log.info(
        "%s: %d groups, %d checked in detail, %d with incident state, %d messages queued.",
        snapshot_id,
        len(judgment.listed),
        len(judgment.odd),
        len(done.courses),
        len(done.postings),
    )
    return done


def look_at(
    lake: Lake,
    settings: Settings,
    snapshot_id: str,
    watched: IncidentWatch,
    silences: Callable[[datetime], Sequence[SilenceRow]],
    *,
    link: str | None = None,
    seen: Seen = (),
) -> tuple[Judgment, ToldRound]:
    """
    Evaluate the groups of a snapshot without storing or sending anything.

    Args:
        lake: The lake.
        settings: The configuration.
        snapshot_id: The snapshot.
        watched: Incident states of the groups.
        silences: Silences and acknowledgements at a moment; maintenance windows come from the configuration.
        link: URL of the run.
        seen: As for `judge_groups`.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot.
    """
    remembered = [course.name for course in watched.courses if course.causes]
    judgment = judge_groups(lake, settings, snapshot_id, remembered, seen)

    def changed(course: IncidentCourse) -> tuple[Fact, ...] | None:
        good = course.good_snapshot_id
        try:
            return changed_since(lake, settings, good, snapshot_id, course.name)
        except LakeError as problem:
            log.warning("the changes of group %s are unknown: %s", course.name, problem)
            return None
        except Exception:
            log.exception("the changes of group %s are unknown", course.name)
            return None

    known = silences(judgment.at)
    quiet = quieting(known, settings.maintenance, watched.cluster, watched.courses)
    done = round_of(watched, judgment, settings, quiet=quiet, changed=changed, link=link)
    return judgment, done
