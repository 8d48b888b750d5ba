"""The step that reads Kafka. It cannot be repeated or backfilled: what it misses is gone."""

from __future__ import annotations

from typing import Any

from ..config import Settings
from ..messages.wording import words
from ..model.moments import utc_now
from ..ports import Cluster, Lake, SnapshotHistory
from ..snapshots import facts_of, new_snapshot_id


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
