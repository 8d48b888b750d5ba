"""Aggregates of candidates: per snapshot for some hours, then per hour and per day."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ..model.columns import Float32, Int16, Int32, column, record

_LAG = "Largest member lag with its assignment, in offsets"
_FORECAST_LAG = "Lag forecast for one hour ahead, in offsets; null without a forecast"
_CROSS_RACK = "Share of partitions whose owner's rack has no replica; null if racks are unknown"
_BYTES = "Cross-rack bytes per second without backlog"
_MOVES = "Number of partitions (Streams: tasks) that it would have moved"


def _listed(of: str, which: str = "") -> Any:
    """A list with a value for each strategy."""
    return column(f"{of}{which and ': '}{which}. A value for each strategy.")


@record
class CandidateSample:
    """
    One row per group and snapshot with the figures of all strategies. Deleted an hour after its hour is rolled up.
    """

    snapshot_id: str = column("Id of the snapshot.")
    group_id: str = column("Consumer group.", head="Group")
    strategies: tuple[str, ...] = column(
        'Names of the strategies with a score, including "live" (the current assignment).'
    )
    runnable: tuple[bool, ...] = column(
        "True if the strategy could be deployed on the group. A value for each strategy."
    )
    member_lag: tuple[Float32, ...] = _listed(_LAG)
    forecast_lag: tuple[Float32, ...] = _listed(_FORECAST_LAG)
    cross_rack_share: tuple[Float32, ...] = _listed(_CROSS_RACK)
    cross_rack_bytes_per_second: tuple[Float32, ...] = _listed(_BYTES)
    moves: tuple[Int32, ...] = _listed(_MOVES)


@record
class CandidateRollup:
    """Figures of the strategies for a group over a period. Smaller is better: best is the minimum."""

    cluster: str = column("Configured name of the cluster.")
    group_id: str = column("Consumer group.", head="Group")
    since: datetime = column("Start of the period.")
    strategies: tuple[str, ...] = column(
        'Names of the strategies with a score, including "live" (the current assignment).'
    )
    snapshots: tuple[Int16, ...] = _listed("Number of snapshots with a score")
    runnable_snapshots: tuple[Int16, ...] = _listed(
        "Number of those in which it could be deployed on the group"
    )
    best_member_lag: tuple[Float32, ...] = _listed(_LAG, "minimum")
    median_member_lag: tuple[Float32, ...] = _listed(_LAG, "median")
    worst_member_lag: tuple[Float32, ...] = _listed(_LAG, "maximum")
    best_forecast_lag: tuple[Float32, ...] = _listed(_FORECAST_LAG, "minimum")
    median_forecast_lag: tuple[Float32, ...] = _listed(_FORECAST_LAG, "median")
    worst_forecast_lag: tuple[Float32, ...] = _listed(_FORECAST_LAG, "maximum")
    best_cross_rack_share: tuple[Float32, ...] = _listed(_CROSS_RACK, "minimum")
    median_cross_rack_share: tuple[Float32, ...] = _listed(_CROSS_RACK, "median")
    worst_cross_rack_share: tuple[Float32, ...] = _listed(_CROSS_RACK, "maximum")
    cross_rack_bytes_per_second: tuple[Float32, ...] = _listed(_BYTES, "mean of the known values")
    best_moves: tuple[Int32, ...] = _listed(_MOVES, "minimum")
    median_moves: tuple[Int32, ...] = _listed(_MOVES, "median")
    worst_moves: tuple[Int32, ...] = _listed(_MOVES, "maximum")


@record
class CandidateHour(CandidateRollup):
    """One row per group and hour (UTC) with the figures of all strategies. Medians are those of its snapshots."""

    since: datetime = column("Start of the hour.")


@record
class CandidateDay(CandidateRollup):
    """One row per group and day (UTC) with the figures of all strategies. Medians are those of the hourly medians."""

    since: datetime = column("Start of the day.")
