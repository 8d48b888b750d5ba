"""
The step `take_snapshot`, and its scheduled form with lock, time limit, retry and catch-up of the history database.

A snapshot cannot be repeated or backfilled later.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Protocol

from ..config import Settings
from ..messages.wording import words
from ..model.errors import ClusterChanged, EvenkeelError, HistoryError, LakeError
from ..model.facts import note
from ..model.formats import duration
from ..model.logs import logger
from ..model.moments import utc_now
from ..ports import CLOCKS_APART, Cluster, Lake, Locks, SnapshotHistory, WaitingSnapshot
from ..snapshots import facts_of, new_snapshot_id, split_snapshot_id

log = logger(__name__)

READING_SHARE = 0.75
"""Share of a task's time limit for reading the cluster; the rest is for writing."""

TRIED = 3
"""Maximum number of snapshots, before now and in all, of which a retry looks for its own."""

MISSED = 300
"""Maximum number of snapshots that are added after an outage: a day with the default schedule."""

REPEATS = 3
"""Maximum number of repeated runs of a snapshot."""

REPEATED_UNTIL = timedelta(days=1)
"""Maximum age of a snapshot for a repeated run."""

REPEATING = "again__"
"""Prefix of ids of repeated runs."""


class TakingHistory(SnapshotHistory, Locks, Protocol):
    """Snapshots and locks."""


def take_snapshot(
    cluster: Cluster,
    lake: Lake,
    history: SnapshotHistory | None,
    settings: Settings,
    name: str,
    *,
    facts: dict[str, Any] | None = None,
) -> str:
    """
    Read a cluster and store the snapshot.

    The lake is written first; if the history database is down, the row in `snapshot` is added later.

    Args:
        cluster: The cluster.
        lake: The lake.
        history: The history database; None to write the lake only.
        settings: The configuration.
        name: Configured name of the cluster.
        facts: Additional facts for the manifest, such as the run.

    Returns:
        The snapshot id.

    Raises:
        ClusterUnreachable: No broker answered.
        EvenkeelError: The clock of this machine leapt meanwhile; nothing is stored.
        LakeError: The lake cannot be written; nothing is stored.
        HistoryUnreachable: The lake has the snapshot, the history database doesn't yet.
    """
    now, began = utc_now(), time.monotonic()
    newest = next(iter(lake.snapshots(name, limit=1)), None)
    taken = cluster.take_snapshot(new_snapshot_id(name, now))
    _check_clock(name, utc_now() - now - timedelta(seconds=time.monotonic() - began))
    if newest is not None and (ahead := split_snapshot_id(newest)[1] - now) > timedelta(0):
        back = note("clock_went_back", [newest], after=ahead.total_seconds())
        log.warning("%s", words(back))
        taken = replace(taken, notes=(*taken.notes, back))
    errors = taken.tables["groups"]["error"]
    noted = facts_of(taken) | {
        "problems": [words(problem) for problem in taken.problems],
        "notes": [words(note) for note in taken.notes],
        "listings": settings.listings(name),
        "unreadable_groups": len(errors) - errors.null_count,
        **(facts or {}),
    }
    manifest = lake.write("snapshot", taken.snapshot_id, taken.tables, noted)
    if history is not None:
        history.store_snapshot(manifest, settings.version)
    return taken.snapshot_id


def _check_clock(name: str, leap: timedelta) -> None:
    """
    Raises:
        EvenkeelError: The clock leapt, so that the moments of a snapshot are not those of its id.
    """
    if abs(leap) > CLOCKS_APART:
        span = duration(abs(leap).total_seconds())
        way = "back" if leap < timedelta(0) else "forward"
        raise EvenkeelError(
            f"the clock of this machine went {span} {way} while cluster {name!r} was read;"
            " the snapshot is discarded.",
            fix="Take another one.",
        )


def take_scheduled_snapshot(
    connect: Callable[[Settings], Cluster],
    lake: Lake,
    history: TakingHistory,
    settings: Settings,
    name: str,
    *,
    run: str,
    since: float,
    limit: timedelta | None,
) -> str:
    """
    Take a snapshot of a cluster, or return the one that an earlier try of the same run stored.

    Then add snapshots of the cluster from outages to the history database.

    Args:
        connect: Connects to the cluster with given settings; the connection is closed here.
        lake: The lake.
        history: The history database.
        settings: The configuration.
        name: Configured name of the cluster.
        run: Id of the run, stored in the manifest of the snapshot.
        since: Start of the task, by `time.monotonic`.
        limit: Time limit of the task; None without one.

    Returns:
        The snapshot id.

    Raises:
        ClusterBusy: The previous snapshot of the cluster is still active.
        EvenkeelError: As `take_snapshot`.
    """
    with ExitStack() as held:
        try:
            held.enter_context(history.lock(f"take_snapshot of {name}"))
        except HistoryError as problem:
            # unreachable or not migrated: the lake still takes the snapshot
            log.warning("no lock without the history database: %s", problem)
        snapshot_id = _of_run(lake, name, run)
        if snapshot_id is not None:
            log.info("an earlier try of this run stored %s", snapshot_id)
            if history.missing_snapshots([snapshot_id]):
                # of another cluster it is refused again
                history.store_snapshot(lake.manifest("snapshot", snapshot_id), settings.version)
        else:
            if limit is not None:
                settings = in_time(settings, name, limit, time.monotonic() - since)
            cluster = connect(settings)
            try:
                snapshot_id = take_snapshot(
                    cluster, lake, history, settings, name, facts={"run": run}
                )
            finally:
                cluster.close()
        note_missed(lake, history, settings, name)
    return snapshot_id


def _of_run(lake: Lake, name: str, run: str) -> str | None:
    """The snapshot that an earlier try of a run stored."""
    # after a clock that was ahead the newest ids are not those that were taken last
    until = f"{new_snapshot_id(name, utc_now())[:-6]}ffffff"
    until_now = lake.snapshots(name, until=until, limit=TRIED)
    for snapshot_id in {*lake.snapshots(name, limit=TRIED), *until_now}:
        try:
            if lake.manifest("snapshot", snapshot_id).facts.get("run") == run:
                return snapshot_id
        except LakeError as problem:
            log.warning("%s may be of this run: %s", snapshot_id, problem)
    return None


def in_time(settings: Settings, name: str, limit: timedelta, gone: float) -> Settings:
    """
    Settings with a time limit of the cluster that is below that of the task.

    A slow cluster then gives a partial snapshot, instead of none.

    Args:
        settings: The configuration.
        name: The cluster.
        limit: Time limit of the task.
        gone: Elapsed seconds.
    """
    cluster = settings.cluster(name)
    left = max(math.floor(READING_SHARE * limit.total_seconds() - gone), 1)
    if cluster.timeout_seconds <= left:
        return settings
    capped = cluster.model_copy(update={"timeout_seconds": left})
    return settings.model_copy(update={"clusters": {**settings.clusters, name: capped}})


def note_missed(lake: Lake, history: SnapshotHistory, settings: Settings, name: str) -> None:
    """Add the newest snapshots of a cluster that only the lake has to the history database."""
    for snapshot_id in history.missing_snapshots(lake.snapshots(name, limit=MISSED)):
        try:
            manifest = lake.manifest("snapshot", snapshot_id)
        except LakeError as problem:
            log.warning("%s is not added to the history database: %s", snapshot_id, problem)
            continue
        try:
            history.store_snapshot(manifest, settings.version)
        except ClusterChanged as problem:
            # read under this name while it led to another cluster: no reason to do without those of the right one
            log.warning("%s is not added to the history database: %s", snapshot_id, problem)
            continue
        log.info("added the missing %s to the history database", snapshot_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A repeated run for a snapshot; its id contains the number of tries."""

    snapshot_id: str
    run_id: str


def late_for_advice(
    history: SnapshotHistory, settings: Settings, now: datetime
) -> list[WaitingSnapshot]:
    """The newest snapshot of each cluster whose advice is overdue, of the last day; oldest first."""
    waiting = history.snapshots_without_advice(timedelta(seconds=settings.stale_after_seconds))
    recent = (one for one in waiting if one.started_at > now - REPEATED_UNTIL)
    return sorted({one.cluster: one for one in recent}.values(), key=lambda one: one.started_at)


def repeats(
    late: Iterable[WaitingSnapshot],
    count: Callable[[Sequence[str]], int],
    active: Callable[[str], bool],
) -> list[Repeat]:
    """
    Repeated runs for snapshots without an active run and with few tries.

    Waiting runs don't matter: they may belong to another cluster, and end immediately if their snapshot is done.

    Args:
        late: Snapshots that wait for advice.
        count: Number of existing runs among given ids.
        active: Whether a run is waiting or running.
    """
    chosen: list[Repeat] = []
    for snapshot in late:
        run_ids = [f"{REPEATING}{snapshot.snapshot_id}__{n}" for n in range(1, REPEATS + 1)]
        tried = count(run_ids)
        works = snapshot.claimed_by is not None and active(snapshot.claimed_by)
        waits = tried > 0 and active(run_ids[tried - 1])
        if tried < REPEATS and not (works or waits):
            chosen.append(Repeat(snapshot_id=snapshot.snapshot_id, run_id=run_ids[tried]))
    return chosen
