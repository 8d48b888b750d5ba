"""Groups and partitions of a snapshot as rows: what `evenkeel lag` and `evenkeel top` show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..model.tables import Table
from ..pipeline.measure import compute_metrics
from .sources import SnapshotSource

_JSON = {
    "group_id": "group",
    "topic": "topic",
    "partition": "partition",
    "begin_offset": "begin",
    "end_offset": "end",
    "committed_offset": "committed",
    "lag": "lag",
    "member_id": "member",
}
_AS_THEY_ARE = (
    "lag_basis",
    "lost_records",
    "subscribed",
    "status",
    "cross_rack",
    "production_per_second",
    "consumption_per_second",
    "time_lag_seconds",
    "time_lag_basis",
    "topic_id",
    "committed_at",
    "end_at",
    "snapshot_id",
    "cluster",
)
_OF_GROUP = {"state": "state", "group_type": "type", "protocol_type": "protocol_type"}
_OF_MEMBER = {
    "client_id": "client_id",
    "client_host": "host",
    "instance_id": "instance_id",
    "rack": "rack",
}


def measured(
    source: SnapshotSource, pattern: str
) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """
    The rows of `group_metrics`, and one row per partition as `--json` prints it, sorted.

    A group that was read and has no partition is one row, of which topic, partition and all that is of a partition is
    None.

    Args:
        source: Where the groups come from.
        pattern: Shell pattern of group ids.
    """
    metrics = compute_metrics(source.lake, source.settings, source.newest, pattern)
    groups = sorted(metrics["group_metrics"].to_pylist(), key=lambda row: str(row["group_id"]))
    return groups, partition_rows(source, groups, metrics["partition_metrics"])


def partition_rows(
    source: SnapshotSource, groups: Sequence[Mapping[str, Any]], partitions: Table
) -> list[dict[str, Any]]:
    """
    One row per partition of some groups, as `measured` has them.

    Args:
        source: Where the groups come from.
        groups: Their rows of `group_metrics`.
        partitions: Their rows of `partition_metrics`.
    """
    names = [row["group_id"] for row in groups]
    stored = {
        name: source.lake.read(name, [source.newest], groups=names)
        for name in ("groups", "members")
    }
    heads = {row["group_id"]: row for row in stored["groups"].to_pylist()}
    members = {(row["group_id"], row["member_id"]): row for row in stored["members"].to_pylist()}
    rows = [
        partition_row(
            row, heads[row["group_id"]], members.get((row["group_id"], row["member_id"]), {})
        )
        for row in partitions.to_pylist()
    ]
    seen = {row["group"] for row in rows}
    read = [row["group_id"] for row in groups if not row["error"]]
    nothing = dict.fromkeys([*_JSON, *_AS_THEY_ARE])
    for name in read:
        if name not in seen:
            known = {
                column: heads[name][column] for column in ("group_id", "snapshot_id", "cluster")
            }
            rows.append(partition_row(nothing | known, heads[name], {}))
    return sorted(rows, key=lambda row: (row["group"], row["topic"] or "", row["partition"] or 0))


def partition_row(
    row: Mapping[str, Any], head: Mapping[str, Any], member: Mapping[str, Any]
) -> dict[str, Any]:
    """A row of `partition_metrics`, its group's row of `groups` and its owner's of `members` as one object."""
    return {
        **{name: row[column] for column, name in _JSON.items()},
        **{name: member.get(column) for column, name in _OF_MEMBER.items()},
        **{column: row[column] for column in _AS_THEY_ARE},
        **{name: head[column] for column, name in _OF_GROUP.items()},
    }
