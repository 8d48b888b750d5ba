"""The numbers of groups that metrics serve."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ..model.assignments import AdviceState
from ..model.states import Diagnosis

Band = tuple[float | None, float | None, float | None]
"""p10, p50 and p90 of a forecast; None is unknown."""

UNKNOWN: Band = (None, None, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedGroup:
    """
    The numbers of a group; None is unknown.

    Attributes:
        lag: Offsets.
        delay_seconds: Time behind, beyond the commit interval.
        time_lag_seconds: Age of its oldest unconsumed record; None also where only a lower limit is known.
        time_lag_at_least_seconds: That limit.
        production_per_second, consumption_per_second: Offsets/s that arrive, and that are committed.
        capacity_per_second: Offsets/s of all members; unknown while that of one is.
        utilization: Incoming rate divided by capacity, of the busiest member.
        cross_rack_bytes_per_second: Bytes/s that members read from other racks.
        soon_lag, later_lag: Lag in 15 minutes and in one hour, in offsets.
        drained: Seconds until no member has a backlog; infinite if not within one hour.
        members_needed: Fewest members that are known to keep up.
        members_useful: Most members of which each has a partition.
        scaling_helps: Whether more members would keep up better.
        advice: State of its newest advice; None if there is none.
        open_incidents: Number of open incidents; None where no incidents are kept.
    """

    group_id: str
    diagnosis: Diagnosis
    lag: int | None = None
    delay_seconds: float | None = None
    time_lag_seconds: float | None = None
    time_lag_at_least_seconds: float | None = None
    production_per_second: float | None = None
    consumption_per_second: float | None = None
    capacity_per_second: float | None = None
    utilization: float | None = None
    cross_rack_bytes_per_second: float | None = None
    soon_lag: Band = UNKNOWN
    later_lag: Band = UNKNOWN
    drained: Band = UNKNOWN
    members: int | None = None
    members_needed: int | None = None
    members_useful: int | None = None
    scaling_helps: bool | None = None
    advice: AdviceState | None = None
    open_incidents: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ServedCluster:
    """
    The groups of a cluster in its newest snapshot; None is unknown.

    Attributes:
        cluster: Configured name.
        taken_at: Start of the snapshot.
        snapshot_seconds: How long reading it took.
        advice_seconds: Seconds from its start to its advice.
        groups: Worst first.
        held: By seconds ahead: number of lag forecasts whose band contained the actual value, and of checked ones.
        promises: Share of the checked forecasts of adopted advice whose actual value was not worse than p90, and number
            of checked ones.
        pipeline_incidents: Number of open incidents of the pipeline.
    """

    cluster: str
    taken_at: datetime
    snapshot_seconds: float | None
    advice_seconds: float | None
    groups: Sequence[ServedGroup]
    held: Mapping[float, tuple[int, int]]
    promises: tuple[float, int] | None = None
    pipeline_incidents: int | None = None
