"""What the lake says of who made the rows of a step: a retry goes on behind what is done."""

from __future__ import annotations

from ..config import Settings
from ..model.environment import this_environment
from ..model.errors import SnapshotNotFound
from ..ports import Lake


def made_by(settings: Settings, pattern: str = "*") -> dict[str, str]:
    """
    Facts for a step's manifest: the configuration and the code that made its rows, and for which groups.

    Metrics and candidates follow from stored snapshots and these, so what was made by the same need not be made again.
    """
    return {
        "config_version": settings.version,
        "source": this_environment().source,
        "groups": pattern,
    }


def is_made(
    lake: Lake, settings: Settings, step: str, snapshot_id: str, pattern: str = "*"
) -> bool:
    """
    Whether the lake has the rows of a step for a snapshot, made by this configuration and this code.

    Args:
        step: A key of `snapshots.STEPS` whose manifest has the facts of `made_by`.
        pattern: Shell pattern of the groups that are asked for.
    """
    try:
        manifest = lake.manifest(step, snapshot_id)
    except SnapshotNotFound:
        return False
    return dict(manifest.facts) == made_by(settings, pattern)
