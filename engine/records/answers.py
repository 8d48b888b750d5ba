"""
What the named queries of the history answer: columns of tables and views, and what a query makes of them itself.

The columns of a query are looked up here by their names (`columns_of_query`), so one that it selects as it is stored
needs no line.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache

from evenkeel.engine.columns import ColumnSpec, Unit, Where, as_in, column, columns_of
from evenkeel.engine.records.advice import AdviceColumns, EventRow, MoveRow
from evenkeel.engine.records.backfill import BackfillChange, BackfillHistory
from evenkeel.engine.records.candidate import CandidateColumns
from evenkeel.engine.records.history_views import (
    AdviceHistory,
    GroupLagTrend,
    RackCostDaily,
    StrategyWinsDaily,
)
from evenkeel.engine.records.incident import IncidentRow
from evenkeel.engine.records.metrics import GroupMetrics, MemberMetrics, PartitionMetrics
from evenkeel.engine.records.periods import (
    AdviceTotals,
    LagShare,
    OpenSwitches,
    RackCost,
    RebalanceCost,
    WinsInPeriod,
    Worsened,
)
from evenkeel.engine.records.silence import SilenceKind, SilenceRow
from evenkeel.engine.records.step_run import StepRun
from evenkeel.engine.records.validation import ValidationRow
from evenkeel.engine.records.views import (
    AGE_SECONDS,
    TAKEN_AT,
    AdviceScorecard,
    LatestAdvice,
    LatestLag,
    SnapshotHealth,
    StrategyScoreboard,
)

_NO_STRATEGY = Where("cheapest_strategy", None)
_NO_PRICE = Where("currency", None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """When the snapshot was taken that a row is of."""

    taken_at: datetime = field(metadata=TAKEN_AT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Aged:
    """How old a row is that tells of now."""

    age_seconds: float = field(metadata=AGE_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceAge:
    """How long after a snapshot its advice came."""

    advised_after_seconds: float = field(
        metadata=column(
            "Seconds from the beginning of its reading until the first advice on it or a newer one, or until now.",
            unit=Unit.SECONDS,
        )
    )
    waited_seconds: float | None = field(
        metadata=column("Seconds until a run took it up.", unit=Unit.SECONDS, none=True)
    )
    run_seconds: float | None = field(
        metadata=column(
            "Seconds from then until its advice was stored.", unit=Unit.SECONDS, none=True
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Churn:
    """How restless a group was; members are compared between snapshots in which it was at rest."""

    group_id: str = field(metadata=as_in(GroupMetrics, "group_id"))
    cluster: str = field(metadata=as_in(GroupMetrics, "cluster"))
    snapshots: int = field(
        metadata=column("Number of snapshots looked at.", unit=Unit.SNAPSHOTS, at_least=0)
    )
    unreadable: int = field(
        metadata=column("Number of those that could not read it.", unit=Unit.SNAPSHOTS, at_least=0)
    )
    rebalancing: int = field(
        metadata=column(
            "Number of those in which it was rebalancing.", unit=Unit.SNAPSHOTS, at_least=0
        )
    )
    rebalancing_share: float | None = field(
        metadata=column("Share of those that could read it.", unit=Unit.SHARE, at_least=0)
    )
    compared: int = field(
        metadata=column(
            "Number of snapshots compared with the one before.", unit=Unit.SNAPSHOTS, at_least=0
        )
    )
    changed: int | None = field(
        metadata=column("Number of those that differ.", unit=Unit.SNAPSHOTS, at_least=0)
    )
    joins: int | None = field(
        metadata=column("Number of members that joined.", unit=Unit.MEMBERS, at_least=0)
    )
    leaves: int | None = field(
        metadata=column("Number of members that left.", unit=Unit.MEMBERS, at_least=0)
    )
    restarts: int | None = field(
        metadata=column("Number of members that restarted.", unit=Unit.MEMBERS, at_least=0)
    )
    who_joined: tuple[str, ...] | None = field(metadata=column("Identities that joined."))
    who_left: tuple[str, ...] | None = field(metadata=column("Identities that left."))
    who_restarted: tuple[str, ...] | None = field(metadata=column("Identities that restarted."))
    since: datetime = field(metadata=column("When the first of the snapshots began."))
    until: datetime = field(metadata=column("When the last of them began."))


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipChanges:
    """What changes of a group's members moved, and would have moved under a strategy."""

    strategy: str = field(metadata=as_in(CandidateColumns, "strategy"))
    moved: int = field(
        metadata=column(
            "Partitions that went from one member to another.", unit=Unit.PARTITIONS, at_least=0
        )
    )
    would_have_moved: int = field(
        metadata=column(
            "The same with that strategy in force before each change.",
            unit=Unit.PARTITIONS,
            at_least=0,
        )
    )
    replayed_of: int = field(
        metadata=column(
            "Number of the changes under which the strategy could be replayed.",
            unit=Unit.SNAPSHOTS,
            at_least=1,
            head="Replayed",
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LastWeek:
    """What the changes of a group's members in the last seven days moved, beside a strategy."""

    last_week_changes: int | None = field(
        metadata=column(
            "Snapshots in which its members had changed, replayed under it.",
            unit=Unit.SNAPSHOTS,
            at_least=1,
            none=True,
        )
    )
    last_week_moved: int | None = field(
        metadata=column(
            "Partitions that those changes moved.", unit=Unit.PARTITIONS, at_least=0, none=True
        )
    )
    last_week_would_have_moved: int | None = field(
        metadata=column(
            "Partitions that they would have moved with it in force.",
            unit=Unit.PARTITIONS,
            at_least=0,
            none=True,
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class CheapestStrategy:
    """The strategy that a group could run and that costs least across racks, if one costs less."""

    cheapest_strategy: str | None = field(metadata=column("Its name.", none=True))
    cheapest_share: float | None = field(
        metadata=column(
            "Its cross-rack share.", unit=Unit.SHARE, at_least=0, none_where=(_NO_STRATEGY,)
        )
    )
    cheapest_bytes_per_second: float | None = field(
        metadata=column(
            "Bytes per second across racks under it.",
            unit=Unit.BYTES_PER_SECOND,
            at_least=0,
            none_where=(_NO_STRATEGY,),
        )
    )
    cheapest_cost_per_month: float | None = field(
        metadata=column(
            "What those cost in 30 days.",
            unit=Unit.MONEY_PER_MONTH,
            at_least=0,
            none_where=(_NO_STRATEGY, _NO_PRICE),
        )
    )
    saved_per_month: float | None = field(
        metadata=column(
            "What it would save in 30 days.",
            unit=Unit.MONEY_PER_MONTH,
            none_where=(_NO_STRATEGY, _NO_PRICE),
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedStep:
    """How long a run of a step took that failed."""

    duration_seconds: float = field(metadata=column("Seconds it took.", unit=Unit.SECONDS))


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvisedGroup:
    """Which advice stands beside the metrics of a group."""

    advised_on: datetime | None = field(
        metadata=column("When the reading of the snapshot began that its advice is of.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIncident:
    """How an incident is that is open."""

    began_at: datetime = field(metadata=column("When it began, as far as is known.", head="Since"))
    lasting_seconds: float = field(metadata=column("Seconds since it began.", unit=Unit.SECONDS))
    summary: str | None = field(metadata=column("What is wrong, in words.", none=True))
    causes: tuple[str, ...] = field(metadata=column("All that is wrong, the worst first."))
    quiet: SilenceKind | None = field(
        metadata=column("Why nothing more is told of it now; null: it is told.", none=True)
    )
    quiet_until: datetime | None = field(
        metadata=column("Until when; null: while it is open.", none=True)
    )
    quiet_by: str | None = field(metadata=column("Who wanted it so.", none=True))
    quiet_reason: str | None = field(metadata=column("Why, in their words.", none=True))


@dataclass(frozen=True, slots=True, kw_only=True)
class PastIncident:
    """How long an incident lasted."""

    began_at: datetime = field(metadata=column("When it began, as far as is known."))
    duration_seconds: float = field(
        metadata=column("Seconds from then until it was over, or until now.", unit=Unit.SECONDS)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentTotals:
    """How often something was wrong with a group, or with the groups of an owner."""

    group_id: str | None = field(
        metadata=column(
            "The consumer group; null for a row per owner, and of the pipeline.",
            head="Group",
            none=True,
        )
    )
    incidents: int = field(
        metadata=column("Number of incidents that were open in the period.", at_least=1)
    )
    critical_incidents: int = field(metadata=column("Number of those that were critical."))
    told_incidents: int = field(metadata=column("Number of those that somebody was told of."))
    open_incidents: int = field(metadata=column("Number of those that are open now."))
    wrong_seconds: float = field(
        metadata=column("Seconds of them within the period, summed.", unit=Unit.SECONDS)
    )
    median_seconds: float = field(
        metadata=column("Median of how long they lasted.", unit=Unit.SECONDS)
    )
    longest_seconds: float = field(
        metadata=column("How long the longest of them lasted.", unit=Unit.SECONDS)
    )
    last_began_at: datetime = field(metadata=column("When the newest of them began."))


@dataclass(frozen=True, slots=True, kw_only=True)
class CoveredGroups:
    """How far a silence has come, and what it keeps quiet now."""

    state: str = field(metadata=column("How far it has come.", one_of=("holds", "to come", "over")))
    covered_groups: int | None = field(
        metadata=column(
            "Number of groups that it covers in the newest snapshots; null: it is over.",
            unit=Unit.GROUPS,
            none=True,
        )
    )
    covered_incidents: int | None = field(
        metadata=column(
            "Number of their incidents that are open; null: it is over.", unit=Unit.ROWS, none=True
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstPartition:
    """When a partition was read."""

    read_at: datetime | None = field(metadata=as_in(PartitionMetrics, "end_at"))


ANSWERS: Mapping[str, tuple[type, ...]] = {
    "advice_age": (AdviceAge, SnapshotHealth),
    "advice_events": (EventRow, AdviceColumns),
    "advice_history": (AdviceHistory,),
    "advice_scorecard": (AdviceScorecard,),
    "advice_totals": (AdviceTotals, AdviceColumns),
    "advised_moves": (MoveRow, LatestAdvice),
    "backfill_changes": (BackfillChange, BackfillHistory),
    "churn": (RebalanceCost, Churn),
    "cross_rack_cost": (CheapestStrategy, Aged, StrategyScoreboard),
    "failed_steps": (FailedStep, StepRun),
    "groups": (AdvisedGroup, LatestLag, LatestAdvice),
    "incident_history": (PastIncident, IncidentRow),
    "incident_totals": (IncidentTotals, IncidentRow),
    "lag_history": (Taken, GroupMetrics),
    "lag_trend": (GroupLagTrend,),
    "members": (Aged, LagShare, MemberMetrics),
    "membership_changes": (MembershipChanges, Churn),
    "open_incidents": (OpenIncident, IncidentRow),
    "open_switches": (OpenSwitches, LatestAdvice, GroupMetrics),
    "rack_cost_daily": (RackCost, RackCostDaily),
    "scoreboard": (Aged, LastWeek, StrategyScoreboard),
    "silences": (CoveredGroups, SilenceRow),
    "snapshot_health": (SnapshotHealth,),
    "strategy_wins": (WinsInPeriod, StrategyWinsDaily),
    "withheld": (Taken, Aged, ValidationRow),
    "worse_groups": (Worsened, GroupMetrics),
    "worst_partitions": (WorstPartition, Aged, PartitionMetrics),
}
"""Where the columns of each named query are declared; of a name that two have, the first."""


@cache
def columns_of_query(name: str) -> Mapping[str, ColumnSpec]:
    """All columns that a named query can have, by name."""
    declared: dict[str, ColumnSpec] = {}
    for record in ANSWERS[name]:
        declared = {spec.name: spec for spec in columns_of(record)} | declared
    return declared
