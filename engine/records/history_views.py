"""What the database's views show of how groups fare now, and of what was."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from evenkeel.engine.columns import Int32, Unit, as_in, column
from evenkeel.engine.facts import Fact
from evenkeel.engine.model import Diagnosis, GroupType, Status, Verdict
from evenkeel.engine.records.advice import AdviceColumns
from evenkeel.engine.records.backfill import BackfillHistory
from evenkeel.engine.records.candidate import CandidateColumns
from evenkeel.engine.records.incident import IncidentRow
from evenkeel.engine.records.metrics import GroupMetrics, StrategyMoves
from evenkeel.engine.records.rollup import GroupDay, GroupHour, Rollup, StrategyReplay
from evenkeel.engine.records.silence import SilenceKind
from evenkeel.engine.records.validation import ValidationRow
from evenkeel.engine.records.views import (
    AGE_SECONDS,
    TAKEN_AT,
    AdviceScorecard,
    LatestAdvice,
    LatestLag,
    NewestSnapshot,
    SnapshotHealth,
    StrategyScoreboard,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupStatus:
    """How a group fares now, in one row."""

    cluster: str = field(metadata=as_in(GroupMetrics, "cluster"))
    group_id: str = field(metadata=as_in(GroupMetrics, "group_id"))
    taken_at: datetime = field(metadata=TAKEN_AT)
    age_seconds: float = field(metadata=AGE_SECONDS)
    status: Status = field(metadata=as_in(GroupMetrics, "status"))
    diagnosis: Diagnosis | None = field(metadata=as_in(GroupMetrics, "diagnosis"))
    diagnosis_reason: str | None = field(metadata=as_in(GroupMetrics, "diagnosis_reason"))
    diagnosis_since: datetime | None = field(
        metadata=column("When the first snapshot was taken that shows it so; null: not noted yet.")
    )
    diagnosis_already_so: bool | None = field(
        metadata=column(
            "Whether it was so already when it was first looked at: then it may be so for longer."
        )
    )
    error: str | None = field(metadata=as_in(GroupMetrics, "error"))
    group_type: GroupType = field(metadata=as_in(GroupMetrics, "group_type"))
    group_state: str = field(metadata=as_in(GroupMetrics, "state"))
    members: Int32 | None = field(metadata=as_in(GroupMetrics, "members"))
    partitions: Int32 | None = field(metadata=as_in(GroupMetrics, "partitions"))
    total_lag: int | None = field(metadata=as_in(GroupMetrics, "total_lag"))
    delay_seconds: float | None = field(metadata=as_in(GroupMetrics, "delay_seconds"))
    time_lag_seconds: float | None = field(metadata=as_in(GroupMetrics, "time_lag_seconds"))
    busiest_utilisation: float | None = field(
        metadata=column(
            "What arrives at its busiest member over what that can consume, as far as known; above 1 it falls behind.",
            unit=Unit.RATIO,
            at_least=0,
        )
    )
    production_per_second: float | None = field(
        metadata=as_in(GroupMetrics, "production_per_second")
    )
    consumption_per_second: float | None = field(
        metadata=as_in(GroupMetrics, "consumption_per_second")
    )
    cross_rack_share: float | None = field(metadata=as_in(GroupMetrics, "cross_rack_share"))
    cross_rack_cost_per_month: float | None = field(
        metadata=as_in(GroupMetrics, "cross_rack_cost_per_month")
    )
    currency: str | None = field(metadata=as_in(GroupMetrics, "currency"))
    verdict: Verdict | None = field(
        metadata=column(
            "What it was told last: switch, stay or not judged; null: nothing yet.", none=True
        )
    )
    strategy: str | None = field(metadata=as_in(AdviceColumns, "strategy"))
    advice_state: str | None = field(metadata=as_in(AdviceColumns, "state"))
    advice_state_since: datetime | None = field(metadata=as_in(AdviceColumns, "state_since"))
    advised_on: datetime | None = field(
        metadata=column("When the reading of the snapshot began that its advice is of.")
    )
    incident: str | None = field(
        metadata=column(
            "What is wrong with it, the worst that was seen; null: no incident is open.", none=True
        )
    )
    incident_severity: str | None = field(
        metadata=column("How bad that is; null: no incident is open.", none=True)
    )
    incident_since: datetime | None = field(metadata=column("When that began, as far as is known."))
    incident_told_at: datetime | None = field(
        metadata=column("When its message first arrived; null: nobody has been told.")
    )
    quiet: SilenceKind | None = field(
        metadata=column(
            "Why nothing is told of it now: silence, ack or maintenance; null: it is told.",
            none=True,
        )
    )
    quiet_until: datetime | None = field(
        metadata=column("Until when; null: while its incident is open.")
    )
    quiet_by: str | None = field(metadata=column("Who wanted it so.", none=True))
    quiet_reason: str | None = field(metadata=column("Why, in their words.", none=True))
    owner: str | None = field(
        metadata=column(
            "Who owned it when it was advised last, else at its newest incident; null: not known."
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupLagTrend(Rollup):
    """An hour or a day of a group, in UTC."""

    per: str = field(metadata=column("What the row is of.", one_of=("hour", "day")))
    since: datetime = field(metadata=column("When the hour or day began."))


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyWinsDaily:
    """How often a strategy won on a group in a day."""

    cluster: str = field(metadata=as_in(Rollup, "cluster"))
    group_id: str = field(metadata=as_in(Rollup, "group_id"))
    day: datetime = field(metadata=as_in(GroupDay, "since"))
    strategy: str | None = field(
        metadata=column(
            "Our name of the strategy; null: none was better than what it has.", none=True
        )
    )
    won_snapshots: Int32 = field(
        metadata=column(
            "Number of snapshots after which it was the best that the group could get.",
            unit=Unit.SNAPSHOTS,
        )
    )
    switch_snapshots: Int32 = field(
        metadata=column(
            "Number of those after which the group was told to switch to it.", unit=Unit.SNAPSHOTS
        )
    )
    advised_snapshots: Int32 = field(metadata=as_in(Rollup, "advised_snapshots"))
    won_share: float | None = field(
        metadata=column(
            "Snapshots won over those after which the group was judged.", unit=Unit.SHARE
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RackCostDaily:
    """What crossed racks for a group in a day, and what that cost."""

    cluster: str = field(metadata=as_in(Rollup, "cluster"))
    group_id: str = field(metadata=as_in(Rollup, "group_id"))
    day: datetime = field(metadata=as_in(GroupDay, "since"))
    cross_rack_bytes: float | None = field(metadata=as_in(Rollup, "cross_rack_bytes"))
    cross_rack_gigabytes: float | None = field(
        metadata=column(
            "The same in gigabytes, of 10^9 bytes, as it is priced.",
            unit=Unit.GIGABYTES,
            at_least=0,
        )
    )
    cross_rack_cost: float | None = field(metadata=as_in(Rollup, "cross_rack_cost"))
    currency: str | None = field(metadata=as_in(Rollup, "currency"))
    cross_rack_seconds: float = field(metadata=as_in(Rollup, "cross_rack_seconds"))
    covered_seconds: float = field(metadata=as_in(Rollup, "covered_seconds"))


@dataclass(frozen=True, slots=True, kw_only=True)
class ChurnWeekly:
    """How restless a group was in a week."""

    cluster: str = field(metadata=as_in(Rollup, "cluster"))
    group_id: str = field(metadata=as_in(Rollup, "group_id"))
    week: datetime = field(metadata=column("When the week began, on Monday in UTC."))
    days: Int32 = field(metadata=column("Number of its days that are in the row.", at_least=1))
    snapshots: Int32 = field(metadata=as_in(Rollup, "snapshots"))
    rebalancing_snapshots: Int32 = field(metadata=as_in(Rollup, "rebalancing_snapshots"))
    compared_snapshots: Int32 = field(metadata=as_in(Rollup, "compared_snapshots"))
    changed_snapshots: Int32 = field(metadata=as_in(Rollup, "changed_snapshots"))
    members_joined: Int32 | None = field(metadata=as_in(Rollup, "members_joined"))
    members_left: Int32 | None = field(metadata=as_in(Rollup, "members_left"))
    members_restarted: Int32 | None = field(metadata=as_in(Rollup, "members_restarted"))
    partitions_moved: Int32 | None = field(metadata=as_in(Rollup, "partitions_moved"))
    would_have_moved: tuple[StrategyReplay, ...] = field(metadata=as_in(Rollup, "would_have_moved"))


@dataclass(frozen=True, slots=True, kw_only=True)
class LagHistory:
    """How a group fared in a snapshot."""

    cluster: str = field(metadata=as_in(GroupMetrics, "cluster"))
    group_id: str = field(metadata=as_in(GroupMetrics, "group_id"))
    taken_at: datetime = field(metadata=TAKEN_AT)
    status: str = field(metadata=as_in(GroupMetrics, "status"))
    state: str = field(metadata=as_in(GroupMetrics, "state"))
    diagnosis: str | None = field(metadata=as_in(GroupMetrics, "diagnosis"))
    readable: bool = field(metadata=column("Whether it could be read, and was not withheld."))
    members: Int32 | None = field(metadata=as_in(GroupMetrics, "members"))
    partitions: Int32 | None = field(metadata=as_in(GroupMetrics, "partitions"))
    total_lag: int | None = field(metadata=as_in(GroupMetrics, "total_lag"))
    unknown_lag_partitions: Int32 | None = field(
        metadata=as_in(GroupMetrics, "unknown_lag_partitions")
    )
    largest_member_lag: int | None = field(metadata=as_in(GroupMetrics, "largest_member_lag"))
    lag_floor: int | None = field(metadata=as_in(GroupMetrics, "lag_floor"))
    lag_skew: float | None = field(metadata=as_in(GroupMetrics, "lag_skew"))
    delay_seconds: float | None = field(metadata=as_in(GroupMetrics, "delay_seconds"))
    time_lag_seconds: float | None = field(metadata=as_in(GroupMetrics, "time_lag_seconds"))
    production_per_second: float | None = field(
        metadata=as_in(GroupMetrics, "production_per_second")
    )
    consumption_per_second: float | None = field(
        metadata=as_in(GroupMetrics, "consumption_per_second")
    )
    cross_rack_bytes_per_second: float | None = field(
        metadata=as_in(GroupMetrics, "cross_rack_bytes_per_second")
    )
    cross_rack_cost_per_month: float | None = field(
        metadata=as_in(GroupMetrics, "cross_rack_cost_per_month")
    )
    currency: str | None = field(metadata=as_in(GroupMetrics, "currency"))
    members_joined: Int32 | None = field(metadata=as_in(GroupMetrics, "members_joined"))
    members_left: Int32 | None = field(metadata=as_in(GroupMetrics, "members_left"))
    members_restarted: Int32 | None = field(metadata=as_in(GroupMetrics, "members_restarted"))
    partitions_moved: Int32 | None = field(metadata=as_in(GroupMetrics, "partitions_moved"))
    would_have_moved: tuple[StrategyMoves, ...] | None = field(
        metadata=as_in(GroupMetrics, "would_have_moved")
    )
    reassigned: bool = field(
        metadata=column(
            "Whether somebody else owns something than in the snapshot before, or that is not known."
        )
    )
    forecast_soon_lag_low: float | None = field(
        metadata=as_in(CandidateColumns, "forecast_soon_lag_low")
    )
    forecast_soon_lag_expected: float | None = field(
        metadata=as_in(CandidateColumns, "forecast_soon_lag_expected")
    )
    forecast_soon_lag_high: float | None = field(
        metadata=as_in(CandidateColumns, "forecast_soon_lag_high")
    )
    forecast_lag_low: float | None = field(metadata=as_in(CandidateColumns, "forecast_lag_low"))
    forecast_lag_expected: float | None = field(
        metadata=as_in(CandidateColumns, "forecast_lag_expected")
    )
    forecast_lag_high: float | None = field(metadata=as_in(CandidateColumns, "forecast_lag_high"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceHistory:
    """What a group was told for a while, and what became of it."""

    cluster: str = field(metadata=as_in(AdviceColumns, "cluster"))
    group_id: str = field(metadata=as_in(AdviceColumns, "group_id"))
    taken_at: datetime = field(metadata=TAKEN_AT)
    verdict: Verdict = field(metadata=as_in(AdviceColumns, "verdict"))
    strategy: str | None = field(metadata=as_in(AdviceColumns, "strategy"))
    seen: Int32 = field(metadata=as_in(AdviceColumns, "seen"))
    state: str | None = field(metadata=as_in(AdviceColumns, "state"))
    state_since: datetime | None = field(metadata=as_in(AdviceColumns, "state_since"))
    event: str | None = field(
        metadata=column(
            "What an advice became by this snapshot: proposed, confirmed, taken up, verified, ...; null: nothing else.",
            none=True,
        )
    )
    event_strategy: str | None = field(metadata=column("The strategy of that advice.", none=True))
    event_cause: str | None = field(metadata=column("Why it became so, in words.", none=True))
    reason: str = field(metadata=as_in(AdviceColumns, "reason"))
    how: str | None = field(metadata=as_in(AdviceColumns, "how"))
    yardstick: str | None = field(metadata=as_in(AdviceColumns, "yardstick"))
    yardstick_reason: str | None = field(metadata=as_in(AdviceColumns, "yardstick_reason"))
    moves: int = field(metadata=as_in(LatestAdvice, "moves"))
    facts: tuple[Fact, ...] | None = field(metadata=as_in(AdviceColumns, "facts"))
    snapshot_id: str = field(metadata=as_in(AdviceColumns, "snapshot_id"))
    since: datetime = field(
        metadata=column(
            "When the first of the snapshots in a row was taken after which it was told so."
        )
    )
    until: datetime | None = field(
        metadata=column(
            "When the first snapshot was taken after which it was told otherwise; null: it is told so still.",
            none=True,
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentHistory:
    """What was wrong with a group or with the pipeline, from when to when."""

    cluster: str = field(metadata=as_in(IncidentRow, "cluster"))
    group_id: str | None = field(metadata=as_in(IncidentRow, "group_id"))
    kind: str = field(metadata=as_in(IncidentRow, "kind"))
    severity: str = field(metadata=as_in(IncidentRow, "severity"))
    owner: str | None = field(metadata=as_in(IncidentRow, "owner"))
    began_at: datetime = field(metadata=column("When it began, as far as is known."))
    opened_at: datetime = field(metadata=as_in(IncidentRow, "opened_at"))
    told_at: datetime | None = field(metadata=as_in(IncidentRow, "told_at"))
    last_seen_at: datetime = field(metadata=as_in(IncidentRow, "last_seen_at"))
    closed_at: datetime | None = field(metadata=as_in(IncidentRow, "closed_at"))
    is_open: bool = field(metadata=column("Whether it is open now."))
    duration_seconds: float = field(
        metadata=column(
            "Seconds from its beginning until it was over, or until now.", unit=Unit.SECONDS
        )
    )
    seconds_to_told: float | None = field(
        metadata=column(
            "Seconds from its beginning until its message arrived; null: nobody was told.",
            unit=Unit.SECONDS,
            none=True,
        )
    )
    summary: str | None = field(metadata=as_in(IncidentRow, "summary"))
    causes: tuple[str, ...] = field(
        metadata=column("All that was wrong when it was last seen, the worst first.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationHistory:
    """What was expected of a snapshot, and whether it held."""

    cluster: str = field(metadata=as_in(ValidationRow, "cluster"))
    taken_at: datetime = field(metadata=TAKEN_AT)
    stage: str = field(metadata=as_in(ValidationRow, "stage"))
    group_id: str | None = field(metadata=as_in(ValidationRow, "group_id"))
    expectation: str = field(metadata=as_in(ValidationRow, "expectation"))
    severity: str = field(metadata=as_in(ValidationRow, "severity"))
    success: bool = field(metadata=as_in(ValidationRow, "success"))
    unexpected_count: int | None = field(metadata=as_in(ValidationRow, "unexpected_count"))
    checked_count: int | None = field(metadata=as_in(ValidationRow, "checked_count"))
    reason: str | None = field(metadata=as_in(ValidationRow, "reason"))
    snapshot_id: str = field(metadata=as_in(ValidationRow, "snapshot_id"))


VIEWS: Mapping[str, type] = {
    "newest_snapshot": NewestSnapshot,
    "latest_lag": LatestLag,
    "group_status": GroupStatus,
    "lag_history": LagHistory,
    "group_lag_trend": GroupLagTrend,
    "strategy_scoreboard": StrategyScoreboard,
    "strategy_wins": StrategyWinsDaily,
    "latest_advice": LatestAdvice,
    "advice_history": AdviceHistory,
    "advice_scorecard": AdviceScorecard,
    "rack_cost_daily": RackCostDaily,
    "incident_history": IncidentHistory,
    "churn_weekly": ChurnWeekly,
    "validation_history": ValidationHistory,
    "snapshot_health": SnapshotHealth,
    "backfill_history": BackfillHistory,
    "group_hour_open": GroupHour,
    "group_day_open": GroupDay,
}
"""What a row is of each view of the database."""
