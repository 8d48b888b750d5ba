"""A clock that leaps: whatever moments the snapshots of a group tell, its numbers make sense or are unknown."""

from __future__ import annotations

import math
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenkeel.engine.config import Settings
from evenkeel.engine.model.groups import GroupSnapshot
from tests.helpers.measuring import metric_rows
from tests.helpers.series import members_of
from tests.helpers.snapshots import EVERY, FIRST, group, groups, make_snapshot, topic

LEAP = 2 * 24 * 3600
"""Seconds by which a clock may be off."""

PARTITIONS = 2

NEVER = ("time_to_loss_seconds", "drain_seconds")
"""Columns in which infinity says that it won't happen."""

Sample = tuple[list[int], list[int], list[int]]


def taken(samples: list[Sample]) -> list[GroupSnapshot]:
    """
    Snapshots of group g, newest first, every five minutes by their ids.

    Args:
        samples: Oldest first; per partition, records since the one before, records committed since, and by how many
            seconds the clock is off while its end is read.
    """
    ends, commits, found = [0] * PARTITIONS, [0] * PARTITIONS, []
    for number, (arrived, consumed, off) in enumerate(samples):
        ends = [end + more for end, more in zip(ends, arrived, strict=True)]
        commits = [min(c + more, e) for c, more, e in zip(commits, consumed, ends, strict=True)]
        rows: list[dict[str, Any]] = [
            dict(row)
            | {"begin_at": (at := FIRST + number * EVERY + timedelta(seconds=s)), "end_at": at}
            for row, s in zip(topic("t", PARTITIONS, end=ends), off, strict=True)
        ]
        members = members_of([0], [1])
        snapshot = make_snapshot(
            number=number,
            topics=[rows],
            groups=[group("g", members=members, committed={"t": commits})],
        )
        found.append(groups(snapshot)[0])
    return found[::-1]


def numbers(samples: list[Sample]) -> dict[str, list[float]]:
    """Every number of the newest snapshot's metrics, by its column."""
    newest, *earlier = taken(samples)
    found: dict[str, list[float]] = {}
    for dataset, rows in metric_rows(Settings(), newest, earlier).items():
        for row in rows:
            for name, value in row.items():
                if isinstance(value, int | float) and not isinstance(value, bool):
                    found.setdefault(f"{dataset}.{name}", []).append(value)
    return found


BACK_WHILE_READ: list[Sample] = [
    ([100, 0], [100, 0], [0, 0]),
    ([100, 0], [0, 0], [0, 0]),
    ([100, 0], [200, 0], [-86_400, -86_400]),
]
"""A commit stands still and comes back, and the clock goes back by a day while that is read."""

counts = st.lists(st.integers(0, 10_000), min_size=PARTITIONS, max_size=PARTITIONS)
offs = st.lists(st.integers(-LEAP, LEAP), min_size=PARTITIONS, max_size=PARTITIONS)


@given(st.lists(st.tuples(counts, counts, offs), min_size=2, max_size=6))
@example(BACK_WHILE_READ)
def test_no_number_is_negative_or_endless_whatever_the_clock_did(samples: list[Sample]) -> None:
    """Rates, ages and intervals are at least 0 and finite, but a loss that never comes; others are unknown."""
    for name, values in numbers(samples).items():
        never = name.endswith(NEVER)
        assert all(math.isfinite(value) or (never and value > 0) for value in values), (
            name,
            values,
        )
        assert min(values) >= 0, (name, values)


@pytest.mark.parametrize("off", [-LEAP, LEAP])
def test_a_clock_that_is_off_all_the_time_changes_nothing(off: int) -> None:
    """Only differences count: how far the clock here is from the brokers' is all the same."""
    right, wrong = (
        numbers([([300, 600], [300, 200], [by, by]) for _ in range(4)]) for by in (0, off)
    )
    assert wrong == right
    assert right["group_metrics.time_lag_seconds"] == [800.0]
