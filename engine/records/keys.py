"""What every row that a step makes of a group begins with."""

from __future__ import annotations

from ..model.columns import column, record
from ..model.groups import GroupHeader


@record
class OfSnapshot:
    """The key of a row that belongs to a snapshot."""

    snapshot_id: str = column("Which snapshot it belongs to.", head="Snapshot")
    cluster: str = column("The cluster of that snapshot.")


@record
class OfGroup(OfSnapshot):
    """The key of a row that a step computes of a group."""

    group_id: str = column("The consumer group.", head="Group")
    config_version: str = column("Hash of the configuration it was computed with.")


def keys_of(group: GroupHeader, config_version: str) -> dict[str, str]:
    """The columns of `OfGroup` for what is computed of a group with a configuration."""
    return {
        "snapshot_id": group.snapshot_id,
        "cluster": group.cluster,
        "group_id": group.group,
        "config_version": config_version,
    }
