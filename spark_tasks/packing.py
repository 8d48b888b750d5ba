"""
Which task works on which group: heavy groups first, every task about the same.

Adaptive execution sizes tasks by bytes, but a group's cost is the work of the strategies on it, so it would put many
small, expensive groups into one task. The driver knows the groups by name and packs them itself.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc


def costs_of(names: Iterable[str], newest: Mapping[str, pa.Table]) -> dict[str, int]:
    """
    Estimate from the newest snapshot how much work each group is.

    Args:
        names: The groups wanted, in listing order.
        newest: Its `members`, `commits` and `partitions`.

    Returns:
        Work per group, in the order given; the unit is one partition or one member.
    """
    sizes = _counts(newest["partitions"]["topic"])
    commits, members = (
        _counts(newest["commits"]["group_id"]),
        _counts(newest["members"]["group_id"]),
    )
    subscribed: dict[str, int] = {}
    for group, topic in _subscriptions(newest["members"]):
        subscribed[group] = subscribed.get(group, 0) + sizes.get(topic, 0)
    return {
        name: 1 + max(commits.get(name, 0), subscribed.get(name, 0)) + members.get(name, 0)
        for name in names
    }


def pack(costs: Mapping[str, int], buckets: int) -> dict[str, int]:
    """
    Give every group a bucket: the heaviest first, each into the bucket with the least so far.

    >>> pack({"small": 1, "large": 9, "middle": 5, "other": 4}, 2)
    {'large': 0, 'middle': 1, 'other': 1, 'small': 0}
    """
    loads = [(0, bucket) for bucket in range(max(buckets, 1))]
    packed = {}
    for name, cost in sorted(costs.items(), key=lambda item: (-item[1], item[0])):
        load, bucket = heapq.heappop(loads)
        packed[name] = bucket
        heapq.heappush(loads, (load + cost, bucket))
    return packed


def _counts(column: pa.ChunkedArray) -> dict[str, int]:
    counted = pc.value_counts(column)
    return dict(zip(counted.field(0).to_pylist(), counted.field(1).to_pylist(), strict=True))


def _subscriptions(members: pa.Table) -> Iterable[tuple[str, Any]]:
    """The distinct (group, topic) pairs."""
    parent = pc.list_parent_indices(members["subscription"])
    pairs = pa.table(
        {
            "group": members["group_id"].take(parent),
            "topic": pc.list_flatten(members["subscription"]),
        }
    )
    distinct = pairs.group_by(["group", "topic"]).aggregate([])
    return zip(distinct["group"].to_pylist(), distinct["topic"].to_pylist(), strict=True)
