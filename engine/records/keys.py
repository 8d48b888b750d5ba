"""Key columns of rows that a step computes per group."""

from __future__ import annotations

from ..model.columns import column, record
from ..model.groups import GroupHeader


@record
class OfSnapshot:
    """Key of a row of a snapshot."""

    snapshot_id: str = column("Id of the snapshot.", head="Snapshot")
    cluster: str = column("Configured name of the cluster.")


@record
class OfGroup(OfSnapshot):
    """Key of a row of a group in a snapshot."""

    group_id: str = column("Consumer group.", head="Group")
    config_version: str = column("Hash of the configuration that it was computed with.")


def keys_of(group: GroupHeader, config_version: str) -> dict[str, str]:
    """Values of the columns of `OfGroup` for a group and a configuration."""
    return {
        "snapshot_id": group.snapshot_id,
        "cluster": group.cluster,
        "group_id": group.group,
        "config_version": config_version,
    }
