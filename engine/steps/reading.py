"""From the lake to groups with their past: what every computing step reads."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

import pyarrow as pa

from evenkeel.engine.config import Settings
from evenkeel.engine.datasets import SNAPSHOT, groups_of, split_snapshot_id
from evenkeel.engine.errors import SnapshotNotFound
from evenkeel.engine.model import GroupSnapshot
from evenkeel.engine.ports import Lake
from evenkeel.engine.steps.validation import distrusted, rejected_as_a_whole, withheld_groups


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupWithPast:
    """A group, its earlier snapshots (newest first), and why it is withheld from judgement, if it is."""

    group: GroupSnapshot
    earlier: tuple[GroupSnapshot, ...]
    withheld: str | None


def lookback_ids(lake: Lake, settings: Settings, snapshot_id: str) -> list[str]:
    """
    A snapshot and the earlier ones its metrics look back on, newest first; rejected ones are passed over.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot.
    """
    cluster, _ = split_snapshot_id(snapshot_id)
    ids = lake.snapshots(cluster, until=snapshot_id, limit=settings.lookback + 1)
    if not ids or ids[0] != snapshot_id:
        raise SnapshotNotFound(f"the lake holds no snapshot {snapshot_id}.")
    return [ids[0], *(one for one in ids[1:] if not rejected_as_a_whole(lake, one, "snapshot"))]


def taken_at(lake: Lake, snapshot_id: str) -> datetime:
    """When the reading of a snapshot began."""
    return datetime.fromisoformat(lake.manifest("snapshot", snapshot_id).facts["started_at"])


def groups_at(
    lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> Iterator[GroupSnapshot]:
    """The groups of one snapshot whose id matches a shell pattern."""
    cluster, _ = split_snapshot_id(snapshot_id)
    tables = {name: lake.read(name, [snapshot_id]) for name in SNAPSHOT}

    def read_committed(group: str) -> bool:
        return settings.rule(cluster, group).isolation == "read_committed"

    if pattern != "*":
        names = [
            g for g in tables["groups"]["group_id"].to_pylist() if fnmatch.fnmatchcase(g, pattern)
        ]
        wanted = pa.array(names, pa.string())
        for name in ("groups", "members", "commits"):
            keep = pa.compute.is_in(tables[name]["group_id"], value_set=wanted)
            tables[name] = tables[name].filter(keep)
    return groups_of(tables, taken_at(lake, snapshot_id), read_committed)


def groups_with_past(
    lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> Iterator[GroupWithPast]:
    """
    The groups of a snapshot in listing order, each with its earlier snapshots and its verdict from validation.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot.
    """
    ids = lookback_ids(lake, settings, snapshot_id)
    past: dict[str, list[GroupSnapshot]] = {}
    bad = distrusted(lake, ids[1:])
    for earlier in ids[1:]:
        for group in groups_at(lake, settings, earlier, pattern):
            if (earlier, group.group) not in bad:
                past.setdefault(group.group, []).append(group)
    withheld = withheld_groups(lake, snapshot_id)
    for group in groups_at(lake, settings, snapshot_id, pattern):
        yield GroupWithPast(
            group=group,
            earlier=tuple(past.get(group.group, ())),
            withheld=withheld.get(group.group),
        )


def with_others(
    lake: Lake, snapshot_id: str, tables: Mapping[str, pa.Table], pattern: str
) -> dict[str, pa.Table]:
    """
    Tables computed for the groups of a pattern, and below them the rows the lake has of all other groups.

    So a run by hand for a few groups takes nothing away from the rest.
    """
    if pattern == "*":
        return dict(tables)
    joined = {}
    for name, table in tables.items():
        try:
            kept = lake.read(name, [snapshot_id])
        except SnapshotNotFound:
            joined[name] = table
            continue
        names = kept["group_id"].to_pylist()
        other = [not fnmatch.fnmatchcase(group, pattern) for group in names]
        joined[name] = pa.concat_tables([table, kept.filter(pa.array(other, pa.bool_()))])
    return joined
