"""What is left of candidates when they are gone: for some hours that of each snapshot, then hours and days."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from ..model.columns import Float32, Int16, Int32, column, record

_LAG = "Largest lag of a member by its assignment, in offsets"
_FORECAST_LAG = "Lag to be expected an hour ahead, in offsets; null where nothing was forecast"
_CROSS_RACK = "Share of partitions read from a rack without a replica; null where racks are unknown"
_BYTES = "Bytes per second across racks once it keeps up"
_MOVES = "Number of partitions (of Streams: tasks) that it would have moved"


def _listed(of: str, which: str = "") -> Any:
    """A list with a value for each strategy."""
    return column(f"{of}{which and ': the '}{which}. A value for each strategy.")


@record
class CandidateSample:
    """What strategies would have given a group in a snapshot: until an hour after that of it is counted."""

    snapshot_id: str = column("Which snapshot it belongs to.")
    group_id: str = column("The consumer group.", head="Group")
    strategies: tuple[str, ...] = column(
        'Our names of the strategies that had an answer, "live" (what the group had) among them, as on the scoreboard.'
    )
    runnable: tuple[bool, ...] = column(
        "Whether the group could run it, or could have been brought to it: a value for each strategy."
    )
    member_lag: tuple[Float32, ...] = _listed(_LAG)
    forecast_lag: tuple[Float32, ...] = _listed(_FORECAST_LAG)
    cross_rack_share: tuple[Float32, ...] = _listed(_CROSS_RACK)
    cross_rack_bytes_per_second: tuple[Float32, ...] = _listed(_BYTES)
    moves: tuple[Int32, ...] = _listed(_MOVES)


@record
class CandidateRollup:
    """What the strategies would have given a group in a span of time. Smaller is better: the best is the smallest."""

    cluster: str = column("Configured name of the cluster.")
    group_id: str = column("The consumer group.", head="Group")
    since: datetime = column("When it began.")
    strategies: tuple[str, ...] = column(
        'Our names of the strategies that had an answer in it, "live" (what the group had) among them.'
    )
    snapshots: tuple[Int16, ...] = _listed("Number of snapshots in which it had an answer")
    runnable_snapshots: tuple[Int16, ...] = _listed(
        "Number of those in which the group could run it, or could have been brought to it"
    )
    best_member_lag: tuple[Float32, ...] = _listed(_LAG, "smallest")
    median_member_lag: tuple[Float32, ...] = _listed(_LAG, "median")
    worst_member_lag: tuple[Float32, ...] = _listed(_LAG, "largest")
    best_forecast_lag: tuple[Float32, ...] = _listed(_FORECAST_LAG, "smallest")
    median_forecast_lag: tuple[Float32, ...] = _listed(_FORECAST_LAG, "median")
    worst_forecast_lag: tuple[Float32, ...] = _listed(_FORECAST_LAG, "largest")
    best_cross_rack_share: tuple[Float32, ...] = _listed(_CROSS_RACK, "smallest")
    median_cross_rack_share: tuple[Float32, ...] = _listed(_CROSS_RACK, "median")
    worst_cross_rack_share: tuple[Float32, ...] = _listed(_CROSS_RACK, "largest")
    cross_rack_bytes_per_second: tuple[Float32, ...] = _listed(_BYTES, "mean of those known")
    best_moves: tuple[Int32, ...] = _listed(_MOVES, "smallest")
    median_moves: tuple[Int32, ...] = _listed(_MOVES, "median")
    worst_moves: tuple[Int32, ...] = _listed(_MOVES, "largest")


@record
class CandidateHour(CandidateRollup):
    """An hour of what strategies would have given a group, in UTC; a median is that of its snapshots."""

    since: datetime = column("When the hour began.")


@record
class CandidateDay(CandidateRollup):
    """A day of what strategies would have given a group, in UTC; a median is that of the medians of its hours."""

    since: datetime = column("When the day began.")
