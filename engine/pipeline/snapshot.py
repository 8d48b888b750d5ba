"""
The step that reads Kafka, and what a schedule adds to it: one reading at a time, in time, tried again, made up for.

Reading cannot be repeated or backfilled: what it misses is gone.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from ..config import Settings
from ..messages.wording import words
from ..model.errors import HistoryError
from ..model.moments import utc_now
from ..ports import Cluster, Lake, Locks, SnapshotHistory, WaitingSnapshot
from ..snapshots import facts_of, new_snapshot_id

log = logging.getLogger(__name__)

READING_SHARE = 0.75
"""Share of a task's time limit in which the cluster has to be read; the rest is for writing it down."""

REPEATS = 3
"""How often a snapshot without advice is run again before a person has to look."""

REPEATED_UNTIL = timedelta(days=1)
"""How old a snapshot may be to be run again."""

REPEATING = "again__"
"""How the id of a run begins that repeats another."""


class TakingHistory(SnapshotHistory, Locks, Protocol):
    """Where a snapshot is noted, and the lock under which it is taken."""


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
    Read a cluster once and keep it.

    The lake comes first: with the history down, the snapshot is whole and its `snapshot` row is rebuilt later.

    Args:
        cluster: Where to read.
        lake: Where to keep it.
        history: Where to note it; None keeps it in the lake only.
        settings: The configuration.
        name: The configured name of the cluster.
        facts: Small things to remember in the manifest (the run that took it).

    Returns:
        The snapshot id.

    Raises:
        ClusterUnreachable: No broker answered.
        LakeError: The lake cannot be written; nothing is kept.
        HistoryUnreachable: The lake has it, the history does not yet.
    """
    taken = cluster.take_snapshot(new_snapshot_id(name, utc_now()))
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
    Take a snapshot of a cluster, or find the one that an earlier try of the same run has stored.

    Then the history is told of the cluster's snapshots that the lake took while the history was down.

    Args:
        connect: Opens the cluster by some settings; what it opens is closed here.
        lake: Where to keep it.
        history: Where to note it.
        settings: The configuration.
        name: The configured name of the cluster.
        run: Id of the run, kept in the snapshot's manifest.
        since: When the task began, by `time.monotonic`.
        limit: How long it may take in all; None where nothing ends it.

    Returns:
        The snapshot id.

    Raises:
        ClusterBusy: The previous snapshot of the cluster is still being taken.
        EvenkeelError: As `take_snapshot`.
    """
    with ExitStack() as held:
        try:
            held.enter_context(history.lock(f"take_snapshot of {name}"))
        except HistoryError as problem:
            # away or not migrated: the lake still takes the snapshot
            log.warning("without the history there is no lock: %s", problem)
        for snapshot_id in lake.snapshots(name, limit=3):
            if lake.manifest("snapshot", snapshot_id).facts.get("run") == run:
                log.info("an earlier try of this run has stored %s", snapshot_id)
                break
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


def in_time(settings: Settings, name: str, limit: timedelta, gone: float) -> Settings:
    """
    These settings, with a time limit of the cluster that ends before the task's own does.

    A cluster that is slow then gives a snapshot with what could be read and why the rest is missing; a task that
    is ended from outside gives none.

    Args:
        settings: The configuration.
        name: The cluster.
        limit: What the task has in all.
        gone: Seconds of it that are over.
    """
    cluster = settings.cluster(name)
    left = max(math.floor(READING_SHARE * limit.total_seconds() - gone), 1)
    if cluster.timeout_seconds <= left:
        return settings
    capped = cluster.model_copy(update={"timeout_seconds": left})
    return settings.model_copy(update={"clusters": {**settings.clusters, name: capped}})


def note_missed(lake: Lake, history: SnapshotHistory, settings: Settings, name: str) -> None:
    """Tell the history of the newest snapshots of a cluster that the lake has and the history has not."""
    for snapshot_id in history.missing_snapshots(lake.snapshots(name, limit=settings.lookback)):
        history.store_snapshot(lake.manifest("snapshot", snapshot_id), settings.version)
        log.info("the history missed %s and has it now", snapshot_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class Repeat:
    """A run that advises a snapshot again; its id says how many times that has been tried."""

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
    Which of these snapshots are advised again: those that no run works on and that were not tried too often.

    That other runs wait for their turn makes no difference: they may be another cluster's, and one that finds its
    snapshot done ends at once.

    Args:
        late: Snapshots that wait for advice.
        count: How many of some run ids there are already.
        active: Whether a run still waits or works.
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
