"""Hours and days of a group: what is left of its snapshots when these are gone, and since when it has its diagnosis."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..model.columns import Float32, Int32, Unit, column, record
from .metrics import StrategyMoves


@record
class StrategyReplay(StrategyMoves):
    """How many partitions a strategy would have moved, over several changes of the members."""

    changes: Int32 = column(
        "Number of changes that could be replayed under it.", unit=Unit.SNAPSHOTS
    )


@record
class StrategyWins:
    """How often a strategy won."""

    strategy: str | None = column(
        "Our name of the strategy; null: none was better than what it has.", none=True
    )
    won: Int32 = column(
        "Number of snapshots after which it was the best that the group could get.",
        unit=Unit.SNAPSHOTS,
    )
    advised: Int32 = column(
        "Number of those after which the group was advised to switch to it.", unit=Unit.SNAPSHOTS
    )


@record
class Rollup:
    """What the snapshots of a span of time say of a group."""

    cluster: str = column("Configured name of the cluster.")
    group_id: str = column("The consumer group.", head="Group")
    since: datetime = column("When it began.")
    snapshots: Int32 = column("Number of snapshots that show it.", at_least=1)
    unreadable_snapshots: Int32 = column(
        "Number of those that could not read it, or withheld it.", at_least=0
    )
    covered_seconds: float = column(
        "Seconds that they stand for: each for those since the snapshot before it, an hour at most.",
        at_least=0,
    )
    known_lag_snapshots: Int32 = column(
        "Number of snapshots in which its lag is known.", at_least=0
    )
    lowest_lag: int | None = column("Lowest of these lags; null when none is known.", at_least=0)
    mean_lag: float | None = column("Mean of these lags.", at_least=0)
    highest_lag: int | None = column("Highest of these lags.", at_least=0)
    last_lag: int | None = column("The last of these lags.", at_least=0)
    highest_delay_seconds: float | None = column(
        "How far it was behind at worst, beyond its commit interval, as far as known.", at_least=0
    )
    highest_time_lag_seconds: float | None = column(
        "Highest age of its oldest record not yet consumed, as far as known.", at_least=0
    )
    fewest_members: Int32 | None = column("Number of members when they were fewest.", at_least=0)
    most_members: Int32 | None = column("Number of members when they were most.", at_least=0)
    known_production_snapshots: Int32 = column(
        "Number of snapshots in which its production is known.", at_least=0
    )
    production_per_second: float | None = column(
        "Mean of the offsets per second produced to its partitions.", at_least=0
    )
    known_consumption_snapshots: Int32 = column(
        "Number of snapshots in which its consumption is known.", at_least=0
    )
    consumption_per_second: float | None = column(
        "Mean of the offsets per second that it commits.", at_least=0
    )
    diagnosis_seconds: Mapping[str, Any] = column(
        "Of the seconds covered, how many each diagnosis held: {diagnosis: seconds}.",
        unit=Unit.SECONDS,
    )
    cross_rack_seconds: float = column(
        "Of the seconds covered, those of which it is known what crossed racks.", at_least=0
    )
    cross_rack_bytes: float | None = column(
        "Bytes that crossed racks in these; null when that is never known.", at_least=0
    )
    cross_rack_cost: float | None = column(
        "What those cost at the price then configured; null without a price or when it changed its currency.",
        unit=Unit.COST,
        at_least=0,
    )
    currency: str | None = column("Currency of the cost, ISO 4217; null without one.", none=True)
    rebalancing_snapshots: Int32 = column(
        "Number of snapshots in which it was rebalancing.", at_least=0
    )
    compared_snapshots: Int32 = column(
        "Number of snapshots whose members are compared with those before.", at_least=0
    )
    changed_snapshots: Int32 = column(
        "Number of those in which members had joined, left or restarted: so many rebalances, or more.",
        at_least=0,
    )
    members_joined: Int32 | None = column(
        "Number of members that joined; null when none could be compared.",
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
        "Number of partitions that went from one member to another by that.",
        unit=Unit.PARTITIONS,
        at_least=0,
    )
    would_have_moved: tuple[StrategyReplay, ...] = column(
        "What strategies in force before would have moved instead: a list of {strategy, moves, changes}."
    )
    advised_snapshots: Int32 = column(
        "Number of snapshots after which it was advised to switch or to stay.", at_least=0
    )
    wins: tuple[StrategyWins, ...] = column(
        "Which strategy won then, null where none did: a list of {strategy, won, advised}."
    )


@record
class GroupHour(Rollup):
    """An hour of a group, in UTC, made from its snapshots by the maintenance; it stays longer than these."""

    since: datetime = column("When the hour began.")


@record
class GroupDay(Rollup):
    """A day of a group, in UTC, made from its hours by the maintenance; it stays longer than these."""

    since: datetime = column("When the day began.")


@record
class DiagnosisSpan:
    """From when to when a group had a diagnosis, as its newest snapshots told."""

    cluster: str = column("Configured name of the cluster.")
    group_id: str = column("The consumer group.", head="Group")
    diagnosis: str = column("What was the matter with it; unknown where that could not be told.")
    since: datetime = column("When the first snapshot was taken that shows it so.")
    until: datetime | None = column(
        "When the first snapshot was taken that shows it otherwise; null: none does."
    )
    already_so: bool = column(
        "Whether it was so already when it was first looked at: then it may be so for longer."
    )


@record
class ConsumerGroup:
    """A group that has a sample, and the number that stands for it."""

    group_number: Int32 | None = column(
        "Number of the group; short, as its history has it in every row.",
        default=None,
        generated=True,
    )
    cluster: str = column("Configured name of the cluster.")
    group_id: str = column("The consumer group.", head="Group")


@record
class MemberSpan:
    """From when to when a group had a member, as its newest snapshots told in which it was at rest."""

    cluster: str = column("Configured name of the cluster.")
    group_id: str = column("The consumer group.", head="Group")
    member_id: str = column("Id the coordinator gave it; it changes when the member restarts.")
    identity: str = column(
        "What stays the same over restarts: the instance id, else client id and host."
    )
    since: datetime = column("When the first snapshot was taken that shows it.")
    until: datetime | None = column(
        "When the first snapshot was taken that does not show it; null: none does."
    )


@record
class GroupSample:
    """How a group fared in a snapshot, as far as that is asked for later; a table for each day in UTC."""

    group_number: Int32 = column("Which group.")
    members: Int32 | None = column("Number of members.")
    taken_at: datetime = column("When the reading of the snapshot began.")
    total_lag: int | None = column(
        "Lag over all its partitions, in offsets; null when it is not known."
    )
    largest_member_lag: int | None = column(
        "Largest lag of a member, in offsets; null when a lag is unknown."
    )
    lag_lower_bound: int | None = column(
        "No assignment has a smaller largest member lag than this, in offsets.", unit=Unit.OFFSETS
    )
    partitions: Int32 | None = column("Number of partitions inside the totals.")
    unknown_lag_partitions: Int32 | None = column(
        "Number of those whose lag is unknown; null: none, or it is not known how many there are."
    )
    lag_skew: Float32 | None = column(
        "Largest member lag over mean member lag; null when the total is 0 or unknown.",
        unit=Unit.RATIO,
    )
    delay_seconds: Float32 | None = column("How far it was behind beyond its commit interval.")
    time_lag_seconds: Float32 | None = column(
        "Age in seconds of its oldest record not yet consumed."
    )
    production_per_second: Float32 | None = column("Offsets per second produced to its partitions.")
    consumption_per_second: Float32 | None = column("Offsets per second it committed.")
    cross_rack_bytes_per_second: Float32 | None = column("Bytes per second across racks.")
    cross_rack_cost_per_month: Float32 | None = column(
        "What that costs in 30 days; null without a price."
    )
    partitions_moved: Int32 | None = column(
        "Partitions that went from one member to another since the snapshot before; null: none, or not compared.",
        unit=Unit.PARTITIONS,
    )
    members_joined: Int32 | None = column(
        "Members that came since then; null: none, or not compared.", unit=Unit.MEMBERS
    )
    members_left: Int32 | None = column(
        "Members that went since then; null: none, or not compared.", unit=Unit.MEMBERS
    )
    members_restarted: Int32 | None = column(
        "Members that came back under another id since then; null: none, or not compared.",
        unit=Unit.MEMBERS,
    )
    forecast_soon_lag_low: Float32 | None = column(
        "Forecast of its lag as it was, low (one case in ten lies below): 15 minutes ahead.",
        unit=Unit.OFFSETS,
    )
    forecast_soon_lag_expected: Float32 | None = column(
        "Forecast of its lag as it was, expected (half lie below): 15 minutes ahead.",
        unit=Unit.OFFSETS,
    )
    forecast_soon_lag_high: Float32 | None = column(
        "Forecast of its lag as it was, high (one in ten above): 15 minutes ahead.",
        unit=Unit.OFFSETS,
    )
    forecast_lag_low: Float32 | None = column(
        "Forecast of its lag as it was, low (one case in ten lies below): an hour ahead.",
        unit=Unit.OFFSETS,
    )
    forecast_lag_expected: Float32 | None = column(
        "Forecast of its lag as it was, expected (half lie below): an hour ahead.",
        unit=Unit.OFFSETS,
    )
    forecast_lag_high: Float32 | None = column(
        "Forecast of its lag as it was, high (one in ten above): an hour ahead.", unit=Unit.OFFSETS
    )
    readable: bool = column("Whether it could be read, and was not withheld.")
    compared: bool = column("Whether its members are compared with those of a snapshot before.")
    reassigned: bool = column(
        "Whether somebody else owns something than in the snapshot before, or that is not known."
    )
    status: str | None = column("That of its worst partition; null: OK.")
    state: str | None = column("State of the group, as the broker names it; null: Stable.")
    diagnosis: str | None = column("What was the matter with it; null: not judged.")
    currency: str | None = column("Currency of the cost, ISO 4217; null without a price.")
    would_have_moved: tuple[StrategyMoves, ...] | None = column(
        "What strategies in force before would have moved instead: {strategy, moves}; null where nothing changed."
    )
