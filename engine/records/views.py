"""What the database's views show of the newest snapshots: rows of the tables, and what only a view knows of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from evenkeel.engine.columns import Int32, Unit, as_in, column
from evenkeel.engine.records.advice import AdviceColumns, CheckRow
from evenkeel.engine.records.candidate import CandidateColumns
from evenkeel.engine.records.metrics import GroupMetrics
from evenkeel.engine.records.snapshot import SnapshotRow

TAKEN_AT = column("When the reading of its snapshot began.")
AGE_SECONDS = column("Seconds since the reading of its snapshot began.", unit=Unit.SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewestSnapshot:
    """How far the newest snapshots of a cluster came."""

    cluster: str = field(metadata=column("Configured name of the cluster."))
    taken: str | None = field(metadata=column("Its newest snapshot."))
    measured: str | None = field(metadata=column("Its newest snapshot with metrics."))
    proposed: str | None = field(metadata=column("Its newest snapshot with candidates."))
    advised: str | None = field(metadata=column("Its newest snapshot with advice."))


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestLag(GroupMetrics):
    """A group in the newest measured snapshot of its cluster."""

    taken_at: datetime = field(metadata=TAKEN_AT)
    age_seconds: float = field(metadata=AGE_SECONDS)
    partial: bool = field(metadata=as_in(SnapshotRow, "partial"))


@dataclass(frozen=True, slots=True, kw_only=True)
class StrategyScoreboard(CandidateColumns):
    """A strategy on a group, in the newest snapshot of its cluster that has candidates."""

    is_live: bool = field(metadata=column("Whether it is what the group has now."))
    is_advised: bool = field(
        metadata=column("Whether the advice of that snapshot is to switch to it.")
    )
    taken_at: datetime = field(metadata=TAKEN_AT)
    age_seconds: float = field(metadata=AGE_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class LatestAdvice(AdviceColumns):
    """What a group was told after the newest advised snapshot of its cluster."""

    moves: int = field(
        metadata=column(
            "Number of partitions that change hands when it is followed.",
            unit=Unit.PARTITIONS,
            head="Moves",
        )
    )
    taken_at: datetime = field(metadata=TAKEN_AT)
    age_seconds: float = field(metadata=AGE_SECONDS)


@dataclass(frozen=True, slots=True, kw_only=True)
class SnapshotHealth:
    """How a reading of a cluster went, and how far the steps after it came."""

    cluster: str = field(metadata=as_in(SnapshotRow, "cluster"))
    snapshot_id: str = field(metadata=as_in(SnapshotRow, "snapshot_id"))
    started_at: datetime = field(metadata=as_in(SnapshotRow, "started_at"))
    duration_seconds: float = field(metadata=column("Seconds the reading took.", unit=Unit.SECONDS))
    reading_seconds: float | None = field(
        metadata=column(
            "Seconds between the first and the last of its measured offsets: how far a group could move in between.",
            unit=Unit.SECONDS,
        )
    )
    seconds_since_previous: float | None = field(
        metadata=column(
            "Seconds since the reading of the cluster's previous snapshot began.",
            unit=Unit.SECONDS,
            none=True,
        )
    )
    age_seconds: float = field(metadata=AGE_SECONDS)
    is_newest: bool = field(metadata=column("Whether it is the newest of its cluster."))
    partial: bool = field(metadata=as_in(SnapshotRow, "partial"))
    problems: tuple[str, ...] = field(metadata=as_in(SnapshotRow, "problems"))
    request_count: int | None = field(
        metadata=column("Number of protocol requests it took.", unit=Unit.REQUESTS)
    )
    requests: Mapping[str, Any] = field(metadata=as_in(SnapshotRow, "requests"))
    group_count: Int32 | None = field(metadata=as_in(SnapshotRow, "group_count"))
    withheld_groups: int = field(
        metadata=column("Number of its groups that validation withheld.", unit=Unit.GROUPS)
    )
    rejected: bool | None = field(metadata=as_in(SnapshotRow, "rejected"))
    failed_steps: int = field(
        metadata=column("Number of runs of a step for it that failed.", unit=Unit.STEPS)
    )
    written_at: datetime = field(metadata=as_in(SnapshotRow, "written_at"))
    validated_at: datetime | None = field(metadata=as_in(SnapshotRow, "validated_at"))
    measured_at: datetime | None = field(metadata=as_in(SnapshotRow, "measured_at"))
    proposed_at: datetime | None = field(metadata=as_in(SnapshotRow, "proposed_at"))
    advised_at: datetime | None = field(metadata=as_in(SnapshotRow, "advised_at"))
    seconds_to_advice: float | None = field(
        metadata=column(
            "Seconds from the beginning of its reading until its advice was stored.",
            unit=Unit.SECONDS,
            none=True,
        )
    )
    unreadable_groups: Int32 | None = field(metadata=as_in(SnapshotRow, "unreadable_groups"))
    bytes_sent: int | None = field(metadata=as_in(SnapshotRow, "bytes_sent"))
    bytes_received: int | None = field(metadata=as_in(SnapshotRow, "bytes_received"))
    state: str = field(
        metadata=column("What became of it: waiting, at work, advised, overtaken or rejected.")
    )
    overtaken_by: str | None = field(metadata=as_in(SnapshotRow, "overtaken_by"))
    taken_up_at: datetime | None = field(metadata=as_in(SnapshotRow, "taken_up_at"))
    taken_up_by: str | None = field(metadata=as_in(SnapshotRow, "taken_up_by"))


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceScorecard:
    """What was promised of a strategy that a group took up, held against what came, each time it did."""

    cluster: str = field(metadata=as_in(AdviceColumns, "cluster"))
    group_id: str = field(metadata=as_in(AdviceColumns, "group_id"))
    strategy: str = field(metadata=as_in(CheckRow, "strategy"))
    measure: str = field(metadata=as_in(CheckRow, "measure"))
    after_seconds: Int32 = field(metadata=as_in(CheckRow, "after_seconds"))
    unit: str = field(metadata=as_in(CheckRow, "unit"))
    checks: int = field(metadata=column("How often it came due.", at_least=0))
    known: int = field(metadata=column("Of how many of those it is known what came.", at_least=0))
    error: float | None = field(
        metadata=column(
            "Median of what came less what was expected, in the unit of the row.", unit=Unit.RATIO
        )
    )
    relative_error: float | None = field(
        metadata=column(
            "Median of that over what was expected, where that is not 0.", unit=Unit.SHARE
        )
    )
    inside_share: float | None = field(
        metadata=column("Share of those that came to lie between low and high.", unit=Unit.SHARE)
    )
    no_worse_share: float | None = field(
        metadata=column("Share of those that were no worse than high.", unit=Unit.SHARE)
    )
    taken_up_at: datetime = field(metadata=column("When it was taken up last."))
    muted_until: datetime | None = field(
        metadata=column(
            "Until when the strategy is not advised to the group; null: it is not muted."
        )
    )
