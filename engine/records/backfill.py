"""What past snapshots say by another configuration or version, beside what was said then."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from evenkeel.engine.columns import Int32, Unit, as_in, column
from evenkeel.engine.model import Deployment, Diagnosis, Feasibility, Status
from evenkeel.engine.records.answers import Taken
from evenkeel.engine.records.candidate import CandidateColumns
from evenkeel.engine.records.metrics import GroupMetrics


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillRow:
    """Past snapshots of a cluster judged again by a configuration and a version, and how far that has come."""

    backfill_id: int | None = field(
        default=None, metadata=column("Number of the backfill.", generated=True)
    )
    cluster: str = field(metadata=column("Configured name of the cluster."))
    config_version: str = field(
        metadata=column("Hash of the configuration that snapshots are judged by.")
    )
    evenkeel_version: str = field(metadata=column("Version of evenkeel that judges them."))
    groups: str = field(metadata=column("Shell pattern of the groups of its newest run."))
    since: datetime = field(metadata=column("From when on that run judges snapshots."))
    until: datetime = field(metadata=column("Before when those were begun."))
    candidates_every_seconds: float | None = field(
        metadata=column(
            "So many seconds apart are snapshots with candidates; null: none has any.",
            unit=Unit.SECONDS,
            at_least=0,
        )
    )
    snapshots: Int32 = field(
        metadata=column("Number of snapshots to judge.", unit=Unit.SNAPSHOTS, at_least=0)
    )
    done_snapshots: Int32 = field(
        metadata=column("Number of those that are done.", unit=Unit.SNAPSHOTS, at_least=0)
    )
    done_through: str | None = field(
        metadata=column("The newest snapshot that is done; null: none is.")
    )
    started_at: datetime = field(metadata=column("When that run began."))
    finished_at: datetime | None = field(
        metadata=column("When it was done with all of them; null: it is not.")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """What a group is said to be in a snapshot, and what was said of it then."""

    diagnosis: Diagnosis = field(
        metadata=column("What is the matter with it by these rules; unknown where nobody can tell.")
    )
    diagnosis_then: Diagnosis | None = field(
        metadata=column("What was said then to be the matter; null: it was not measured.")
    )
    diagnosis_reason: str | None = field(
        metadata=column(
            "The diagnosis with names and numbers; null where it keeps up, or was said to be so then."
        )
    )
    is_judged: bool | None = field(
        metadata=column(
            "Whether its candidates could be weighed; null: none were made of this snapshot."
        )
    )
    winner: str | None = field(
        metadata=column("The strategy that wins by these rules; null: none does, or nobody asked.")
    )
    was_judged: bool | None = field(
        metadata=column(
            "Whether it was told to switch or to stay then; null: it was told nothing, or nobody asked."
        )
    )
    winner_then: str | None = field(
        metadata=column("The strategy that won then; null: none did, or nobody asked.")
    )
    differs: bool = field(
        metadata=column(
            "Whether diagnosis or winner is another than then, as far as both are known."
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """How a group fares in a snapshot by these rules."""

    status: Status = field(metadata=as_in(GroupMetrics, "status"))
    members: Int32 | None = field(metadata=as_in(GroupMetrics, "members"))
    partitions: Int32 | None = field(metadata=as_in(GroupMetrics, "partitions"))
    total_lag: int | None = field(metadata=as_in(GroupMetrics, "total_lag"))
    lag_skew: float | None = field(metadata=as_in(GroupMetrics, "lag_skew"))
    delay_seconds: float | None = field(metadata=as_in(GroupMetrics, "delay_seconds"))
    time_lag_seconds: float | None = field(metadata=as_in(GroupMetrics, "time_lag_seconds"))
    production_per_second: float | None = field(
        metadata=as_in(GroupMetrics, "production_per_second")
    )
    consumption_per_second: float | None = field(
        metadata=as_in(GroupMetrics, "consumption_per_second")
    )
    cross_rack_share: float | None = field(metadata=as_in(GroupMetrics, "cross_rack_share"))
    commit_interval_seconds: float | None = field(
        metadata=as_in(GroupMetrics, "commit_interval_seconds")
    )
    error: str | None = field(metadata=as_in(GroupMetrics, "error"))


@dataclass(frozen=True, slots=True, kw_only=True)
class OfBackfill:
    """The key of a row that a backfill made of a group in a snapshot."""

    backfill_id: int = field(metadata=column("Which backfill it belongs to."))
    taken_at: datetime = field(metadata=as_in(Taken, "taken_at"))
    group_id: str = field(metadata=as_in(GroupMetrics, "group_id"))


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfilledGroup(OfBackfill):
    """What a snapshot says of a group by the rules of a backfill, and was said then. Advice is never rewritten."""

    covered_seconds: float | None = field(
        metadata=column(
            "Seconds that the snapshot stands for: since the one before it, an hour at most; null: it is the first.",
            unit=Unit.SECONDS,
            at_least=0,
        )
    )
    compared: Compared
    numbers: Numbers


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfilledCandidate(OfBackfill):
    """What a strategy would have given a group in a snapshot, by the rules of a backfill."""

    strategy: str = field(metadata=as_in(CandidateColumns, "strategy"))
    deployment: Deployment = field(metadata=as_in(CandidateColumns, "deployment"))
    feasibility: Feasibility = field(metadata=as_in(CandidateColumns, "feasibility"))
    moves: Int32 | None = field(metadata=as_in(CandidateColumns, "moves"))
    partition_spread: Int32 | None = field(metadata=as_in(CandidateColumns, "partition_spread"))
    largest_member_lag: int | None = field(metadata=as_in(CandidateColumns, "largest_member_lag"))
    lag_skew: float | None = field(metadata=as_in(CandidateColumns, "lag_skew"))
    cross_rack_share: float | None = field(metadata=as_in(CandidateColumns, "cross_rack_share"))
    cross_rack_cost_per_month: float | None = field(
        metadata=as_in(CandidateColumns, "cross_rack_cost_per_month")
    )
    currency: str | None = field(metadata=as_in(CandidateColumns, "currency"))
    forecast_lag_expected: float | None = field(
        metadata=as_in(CandidateColumns, "forecast_lag_expected")
    )
    forecast_lag_integral_expected: float | None = field(
        metadata=as_in(CandidateColumns, "forecast_lag_integral_expected")
    )
    price_offset_seconds: float | None = field(
        metadata=as_in(CandidateColumns, "price_offset_seconds")
    )
