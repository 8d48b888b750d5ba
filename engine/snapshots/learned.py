"""What metrics learn of a group and hand on from snapshot to snapshot."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..model.tables import Table
from ..records import record_of, row_of
from ..records.forecast_course import ForecastCourse

LEARNED = ("group_id", "commit_interval_seconds", "rebalance_seconds", "forecast_course")
"""The columns of `group_metrics` that the metrics of the next snapshot read."""


@dataclass(frozen=True, kw_only=True)
class Learned:
    """
    What was learned of a group by a snapshot.

    Attributes:
        commit_interval: Seconds between its commits; None unknown.
        rebalance_pause: Seconds that its members stand still in a rebalance; None unknown.
        forecasts: The state of its forecasts; None without any.
    """

    commit_interval: float | None = None
    rebalance_pause: float | None = None
    forecasts: ForecastCourse | None = None


def learned_of(rows: Iterable[Sequence[Any]]) -> dict[str, Learned]:
    """What rows of the columns `LEARNED` say, by group id."""
    return {
        name: Learned(
            commit_interval=seconds,
            rebalance_pause=pause,
            forecasts=None if course is None else record_of(ForecastCourse, course),
        )
        for name, seconds, pause, course in rows
    }


def learned_in(groups: Table) -> dict[str, Learned]:
    """The same of a table with these columns."""
    return learned_of(zip(*(groups[name].to_pylist() for name in LEARNED), strict=True))


def rows_of(learned: Mapping[str, Learned]) -> list[dict[str, Any]]:
    """The same as rows with these columns."""
    return [
        {
            "group_id": name,
            "commit_interval_seconds": each.commit_interval,
            "rebalance_seconds": each.rebalance_pause,
            "forecast_course": None if each.forecasts is None else row_of(each.forecasts),
        }
        for name, each in learned.items()
    ]
