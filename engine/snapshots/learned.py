"""What metrics learn of a group and hand on from snapshot to snapshot."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from ..model.states import PauseBasis
from ..model.tables import Table
from ..records import record_of, row_of
from ..records.forecast_course import ForecastCourse
from ..records.pause_course import PauseCourse

LEARNED = ("group_id", "commit_interval_seconds", "pause_course", "forecast_course")
"""The columns of `group_metrics` that the metrics of the next snapshot read."""


PEERS = (
    *("group_type", "client_library"),
    *("rebalance_seconds", "rebalance_basis", "restart_seconds", "restart_basis"),
)
"""The columns that say what is typical of groups of one client library."""

ENOUGH_PEERS = 3
"""So many observed groups say what is typical."""


@dataclass(frozen=True, kw_only=True)
class Typical:
    """
    Medians over groups of one cluster that were observed.

    Attributes:
        rebalance, restart: By protocol and client library: seconds that a rebalance pauses them, or a restart takes.
    """

    rebalance: Mapping[tuple[str, str], float] = field(default_factory=dict)
    restart: Mapping[tuple[str, str], float] = field(default_factory=dict)


def typical_of(groups: Table) -> Typical:
    """What rows with the columns `PEERS` say."""
    rows = [*zip(*(groups[name].to_pylist() for name in PEERS), strict=True)]
    medians = []
    for seconds, basis in ((2, 3), (4, 5)):
        found = defaultdict[tuple[str, str], list[float]](list)
        for row in rows:
            if row[basis] == PauseBasis.OBSERVED and row[1] is not None:
                found[row[0], row[1]].append(row[seconds])
        medians.append({k: median(own) for k, own in found.items() if len(own) >= ENOUGH_PEERS})
    return Typical(rebalance=medians[0], restart=medians[1])


@dataclass(frozen=True, kw_only=True)
class Learned:
    """
    What was learned of a group by a snapshot.

    Attributes:
        commit_interval: Seconds between its commits; None unknown.
        pauses: How long its rebalances and restarts lasted; None without observations.
        forecasts: The state of its forecasts; None without any.
    """

    commit_interval: float | None = None
    pauses: PauseCourse | None = None
    forecasts: ForecastCourse | None = None


def learned_of(rows: Iterable[Sequence[Any]]) -> dict[str, Learned]:
    """What rows of the columns `LEARNED` say, by group id."""
    return {
        name: Learned(
            commit_interval=seconds,
            pauses=None if pauses is None else record_of(PauseCourse, pauses),
            forecasts=None if course is None else record_of(ForecastCourse, course),
        )
        for name, seconds, pauses, course in rows
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
            "pause_course": None if each.pauses is None else row_of(each.pauses),
            "forecast_course": None if each.forecasts is None else row_of(each.forecasts),
        }
        for name, each in learned.items()
    ]
