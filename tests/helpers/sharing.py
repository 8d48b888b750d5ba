"""A share group (KIP-932) as several snapshots in a row saw it, on one topic of three partitions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from tests.helpers.series import steadily
from tests.helpers.snapshots import change, group, make_snapshot, member, topic

TENS = steadily([10, 10, 10], 5, [9000, 9000, 9000])
"""Ends: ten records a second in each partition."""


def shared_snapshots(
    starts: Sequence[Sequence[int]],
    *,
    ends: Sequence[Sequence[int]] = TENS,
    members: int | Sequence[int] = 2,
    lags: Sequence[Sequence[int]] | None = None,
    **header: Any,
) -> list[ClusterSnapshot]:
    """Snapshots of share group g, oldest first: start offsets, ends, members and reported lags of each."""
    taken = []
    for number, (start, end) in enumerate(zip(starts, ends, strict=True)):
        count = members if isinstance(members, int) else members[number]
        columns = {"group_type": "share", "protocol_type": "share", "assignor": "simple"}
        one = group("g", members=_workers(count), committed={"t": start}, **columns | header)
        snapshot = make_snapshot(
            number=number, topics=[topic("t", len(end), end=end)], groups=[one]
        )
        told = lags[number] if lags else [e - s for s, e in zip(start, end, strict=True)]
        snapshot = change(
            snapshot,
            "commits",
            lambda rows, told=told: [
                row | {"reported_lag": told[row["partition"]]} for row in rows
            ],
        )
        taken.append(snapshot)
    return taken


def behind(*, by: Sequence[int], does: Sequence[float]) -> list[list[int]]:
    """Start offsets that are so many records behind `TENS` at first, and go on at these speeds."""
    return steadily(does, 5, [9000 - one for one in by])


def _workers(count: int) -> list[dict[str, Any]]:
    """Members that all have all three partitions of topic t."""
    held = {"t": [0, 1, 2]}
    return [member(f"w-{n}", ["t"], held, target={}, kind="share") for n in range(count)]
