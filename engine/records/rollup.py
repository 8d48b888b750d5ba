"""Samples, hours and days of a group, and the periods of its diagnoses and members."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..model.columns import Float32, Int32, Unit, column, record
from .metrics import StrategyMoves


@record
class StrategyReplay(StrategyMoves):
    """Number of partitions that a strategy would have moved over several changes of the members."""

    changes: Int32 = column(
        "Number of changes that could be replayed with it.", unit=Unit.SNAPSHOTS
    )


@record
class StrategyWins:
    """Number of wins of a strategy."""

    strategy: str | None = column(
        "Name of the strategy; null if none was better than the current one.", none=True
    )
    won: Int32 = column(
        "Number of snapshots in which it was the best deployable strategy.",
        unit=Unit.SNAPSHOTS,
    )
    advised: Int32 = column("Number of those with the advice to switch to it.", unit=Unit.SNAPSHOTS)


@record
class Rollup:
    """Aggregates of the snapshots of a group over a period."""

    cluster: str = column("Configured name of the cluster.")
    group_id: str = column("Consumer group.", head="Group")
    since: datetime = column("Start.")
    snapshots: Int32 = column("Number of snapshots that contain the group.", at_least=1)
    unreadable_snapshots: Int32 = column(
        "Number of those in which it could not be read, or was skipped by validation.", at_least=0
    )
    covered_seconds: float = column(
        "Seconds that its snapshots cover; each covers the time since the previous one, at most one hour.",
        at_least=0,
    )
    known_lag_snapshots: Int32 = column(
        "Number of snapshots in which its lag is known.", at_least=0
    )
    lowest_lag: int | None = column("Minimum lag in offsets; null if never known.", at_least=0)
    mean_lag: float | None = column("Mean lag in offsets.", at_least=0)
    highest_lag: int | None = column("Maximum lag in offsets.", at_least=0)
    last_lag: int | None = column("Last known lag in offsets.", at_least=0)
    highest_delay_seconds: float | None = column(
        "Maximum time lag beyond the commit interval, in seconds, as far as known.", at_least=0
    )
    highest_time_lag_seconds: float | None = column(
        "Maximum age of its oldest unconsumed record, in seconds, as far as known.", at_least=0
    )
    fewest_members: Int32 | None = column("Minimum number of members.", at_least=0)
    most_members: Int32 | None = column("Maximum number of members.", at_least=0)
    known_production_snapshots: Int32 = column(
        "Number of snapshots in which its incoming rate is known.", at_least=0
    )
    production_per_second: float | None = column(
        "Mean incoming rate, in offsets per second.", at_least=0
    )
    known_consumption_snapshots: Int32 = column(
        "Number of snapshots in which its commit rate is known.", at_least=0
    )
    consumption_per_second: float | None = column(
        "Mean of the committed offsets per second.", at_least=0
    )
    diagnosis_seconds: Mapping[str, Any] = column(
        "Covered seconds by diagnosis: {diagnosis: seconds}.",
        unit=Unit.SECONDS,
    )
    cross_rack_seconds: float = column("Covered seconds with known cross-rack traffic.", at_least=0)
    cross_rack_bytes: float | None = column(
        "Cross-rack bytes in that time; null if never known.", at_least=0
    )
    cross_rack_cost: float | None = column(
        "Cost of these bytes at the configured price; null without a price, or if its currency changed.",
        unit=Unit.COST,
        at_least=0,
    )
    currency: str | None = column("Currency of the cost, ISO 4217; null without a cost.", none=True)
    rebalancing_snapshots: Int32 = column(
        "Number of snapshots in which it was rebalancing.", at_least=0
    )
    compared_snapshots: Int32 = column(
        "Number of snapshots whose members are compared with the previous ones.", at_least=0
    )
    changed_snapshots: Int32 = column(
        "Number of those with members that joined, left or restarted: a lower bound of the rebalances.",
        at_least=0,
    )
    members_joined: Int32 | None = column(
        "Number of members that joined; null if no snapshot could be compared.",
        unit=Unit.MEMBERS,
        at_least=0,
    )
    members_left: Int32 | None = column(
        "Number of members that left.", unit=Unit.MEMBERS, at_least=0
    )
    members_restarted: Int32 | None = column(
        "Number of members that restarted.", unit=Unit.MEMBERS, at_least=0
    )
    partitions_moved: Int32 | None = column(
        "Number of partitions that were reassigned by these changes.",
        unit=Unit.PARTITIONS,
        at_least=0,
    )
    would_have_moved: tuple[StrategyReplay, ...] = column(
        "Moves with each strategy, if it had been in use: a list of {strategy, moves, changes}."
    )
    advised_snapshots: Int32 = column(
        "Number of snapshots with the advice to switch or to stay.", at_least=0
    )
    wins: tuple[StrategyWins, ...] = column(
        "Wins by strategy, with a null strategy for no winner: a list of {strategy, won, advised}."
    )


@record
class GroupHour(Rollup):
    """One row per group and hour (UTC), rolled up from its snapshots and kept longer."""

    since: datetime = column("Start of the hour.")


@record
class GroupDay(Rollup):
    """One row per group and day (UTC), rolled up from its hours and kept longer."""

    since: datetime = column("Start of the day.")


@record
class DiagnosisSpan:
    """One row per group and period with the same diagnosis."""

    cluster: str = column("Configured name of the cluster.")
    group_id: str = column("Consumer group.", head="Group")
    diagnosis: str = column("Diagnosis; unknown if the data is not sufficient.")
    since: datetime = column("Start of the first snapshot with this diagnosis.")
    until: datetime | None = column(
        "Start of the first snapshot with another diagnosis; null if there is none."
    )
    already_so: bool = column(
        "True if the first snapshot of the group shows it, so that it may be older."
    )


@record
class ConsumerGroup:
    """One row per group with samples, with its number."""

    group_number: Int32 | None = column(
        "Number of the group, used as a short key in its samples.",
        default=None,
        generated=True,
    )
    cluster: str = column("Configured name of the cluster.")
    group_id: str = column("Consumer group.", head="Group")


@record
class MemberSpan:
    """One row per member of a group and period of membership, from stable snapshots."""

    cluster: str = column("Configured name of the cluster.")
    group_id: str = column("Consumer group.", head="Group")
    member_id: str = column(
        "Member id assigned by the coordinator; it changes when the member restarts."
    )
    identity: str = column(
        "Identity that survives restarts: the instance id, otherwise client id and host."
    )
    since: datetime = column("Start of the first snapshot with the member.")
    until: datetime | None = column(
        "Start of the first snapshot without the member; null if there is none."
    )


@record
class GroupSample:
    """One row per group and snapshot with its main metrics, partitioned by day (UTC)."""

    group_number: Int32 = column("Number of the group.")
    members: Int32 | None = column("Number of members.")
    taken_at: datetime = column("Start of the snapshot.")
    total_lag: int | None = column("Lag of the group in offsets; null if unknown.")
    largest_member_lag: int | None = column(
        "Largest member lag in offsets; null if the lag of a partition is unknown."
    )
    lag_lower_bound: int | None = column(
        "Lower bound of the largest member lag over all assignments, in offsets.", unit=Unit.OFFSETS
    )
    partitions: Int32 | None = column("Number of partitions in the totals.")
    unknown_lag_partitions: Int32 | None = column(
        "Number of those with unknown lag; null if there are none, or if the number is unknown."
    )
    lag_skew: Float32 | None = column(
        "Largest member lag divided by mean member lag; null if the total is 0 or unknown.",
        unit=Unit.RATIO,
    )
    delay_seconds: Float32 | None = column("Time lag beyond the commit interval, in seconds.")
    time_lag_seconds: Float32 | None = column("Age of its oldest unconsumed record, in seconds.")
    production_per_second: Float32 | None = column(
        "Incoming rate of its partitions, in offsets per second."
    )
    consumption_per_second: Float32 | None = column("Committed offsets per second.")
    cross_rack_bytes_per_second: Float32 | None = column("Cross-rack bytes per second.")
    cross_rack_cost_per_month: Float32 | None = column(
        "Cost of the cross-rack traffic in 30 days; null without a price."
    )
    partitions_moved: Int32 | None = column(
        "Number of partitions that were reassigned since the previous snapshot; null if none, or if not compared.",
        unit=Unit.PARTITIONS,
    )
    members_joined: Int32 | None = column(
        "Number of members that joined since then; null if none, or if not compared.",
        unit=Unit.MEMBERS,
    )
    members_left: Int32 | None = column(
        "Number of members that left since then; null if none, or if not compared.",
        unit=Unit.MEMBERS,
    )
    members_restarted: Int32 | None = column(
        "Number of members that restarted since then; null if none, or if not compared.",
        unit=Unit.MEMBERS,
    )
    forecast_soon_lag_low: Float32 | None = column(
        "Forecast with the current assignment, p10: lag in 15 minutes, in offsets.",
        unit=Unit.OFFSETS,
    )
    forecast_soon_lag_expected: Float32 | None = column(
        "Forecast with the current assignment, p50: lag in 15 minutes, in offsets.",
        unit=Unit.OFFSETS,
    )
    forecast_soon_lag_high: Float32 | None = column(
        "Forecast with the current assignment, p90: lag in 15 minutes, in offsets.",
        unit=Unit.OFFSETS,
    )
    forecast_lag_low: Float32 | None = column(
        "Forecast with the current assignment, p10: lag in one hour, in offsets.",
        unit=Unit.OFFSETS,
    )
    forecast_lag_expected: Float32 | None = column(
        "Forecast with the current assignment, p50: lag in one hour, in offsets.",
        unit=Unit.OFFSETS,
    )
    forecast_lag_high: Float32 | None = column(
        "Forecast with the current assignment, p90: lag in one hour, in offsets.", unit=Unit.OFFSETS
    )
    readable: bool = column("True if it was read and passed validation.")
    compared: bool = column(
        "True if its members are compared with those of the previous stable snapshot."
    )
    reassigned: bool = column(
        "True if its assignment differs from the previous snapshot, or if that is unknown."
    )
    status: str | None = column("Status of its worst partition; null for OK.")
    state: str | None = column("State of the group as reported by the broker; null for Stable.")
    diagnosis: str | None = column("Diagnosis; null if not evaluated.")
    currency: str | None = column("Currency of the cost, ISO 4217; null without a price.")
    would_have_moved: tuple[StrategyMoves, ...] | None = column(
        "Moves with each strategy, if it had been in use: a list of {strategy, moves}; null without a change."
    )
