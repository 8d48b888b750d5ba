"""How the groups of a snapshot are cut into chunks, so that memory grows with a chunk and not with the fleet."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from evenkeel.engine.ports import Lake

CHUNK = 50_000
"""
Partitions and members that a chunk has at most, unless a single group has more: with 12 earlier snapshots some 100 MB
in arrays.
"""


def chunks_of(
    lake: Lake, snapshot_id: str, pattern: str = "*", size: int = CHUNK
) -> Iterator[list[str]]:
    """
    Ids of the groups that match a shell pattern, cut in listing order.

    Args:
        size: Work of a chunk (`work_of`).

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot.
    """
    chunk: list[str] = []
    room = size
    for name, work in work_of(lake, snapshot_id, pattern).items():
        if chunk and work > room:
            yield chunk
            chunk, room = [], size
        chunk.append(name)
        room -= work
    if chunk:
        yield chunk


def work_of(lake: Lake, snapshot_id: str, pattern: str = "*") -> dict[str, int]:
    """
    Estimate how much work each group is; the unit is one partition or one member.

    Returns:
        By the ids of the groups that match a shell pattern, in listing order.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot.
    """
    names = lake.read("groups", [snapshot_id], columns=["group_id"])["group_id"].to_pylist()
    members = lake.read("members", [snapshot_id], columns=["group_id", "subscription"])
    topics = lake.read("partitions", [snapshot_id], columns=["topic"])["topic"]
    committed = lake.read("commits", [snapshot_id], columns=["group_id"])["group_id"]
    commits, consumers = _counts(committed), _counts(members["group_id"])
    subscribed = _subscribed(members, _counts(topics))
    return {
        name: 1 + max(commits.get(name, 0), subscribed.get(name, 0)) + consumers.get(name, 0)
        for name in names
        if fnmatch.fnmatchcase(name, pattern)
    }


def _counts(column: pa.ChunkedArray) -> dict[str, int]:
    counted = pc.value_counts(column)
    return dict(zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True))


def _subscribed(members: pa.Table, sizes: Mapping[str, int]) -> dict[str, int]:
    """Partitions of the topics that each group's members subscribe to."""
    parent = pc.list_parent_indices(members["subscription"])
    pairs = pa.table(
        {
            "group": members["group_id"].take(parent),
            "topic": pc.list_flatten(members["subscription"]),
        }
    )
    distinct = pairs.group_by(["group", "topic"]).aggregate([])
    partitions: dict[str, int] = {}
    for group, topic in zip(
        distinct["group"].to_pylist(), distinct["topic"].to_pylist(), strict=True
    ):
        partitions[group] = partitions.get(group, 0) + sizes.get(topic, 0)
    return partitions
