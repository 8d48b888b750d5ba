"""Rows that are shown and not stored: what a verb of the command line measures itself."""

from __future__ import annotations

from dataclasses import dataclass, field

from evenkeel.engine.columns import Int32, Unit, as_in, column
from evenkeel.engine.figures import Score
from evenkeel.engine.records.candidate import CandidateRow
from evenkeel.engine.records.snapshot import SnapshotRow
from evenkeel.engine.records.views import SnapshotHealth


@dataclass(frozen=True, slots=True, kw_only=True)
class FrontierRow:
    """What an assignment crosses and moves: the live one, or a corner of a strategy's frontier."""

    strategy: str = field(metadata=as_in(CandidateRow, "strategy"))
    cross_rack_partitions: Int32 = field(
        metadata=column(
            "Number of partitions whose owner's rack holds no replica.",
            unit=Unit.PARTITIONS,
            at_least=0,
            head="Cross-rack\npartitions",
        )
    )
    cross_rack_share: float | None = field(metadata=as_in(Score, "cross_rack_share"))
    cross_rack_per_second: float | None = field(
        metadata=column(
            "Offsets per second of those partitions.",
            unit=Unit.OFFSETS_PER_SECOND,
            at_least=0,
            head="Offsets/s\nthat cross",
        )
    )
    moves: Int32 = field(metadata=as_in(Score, "moves"))
    newly_owned: Int32 = field(metadata=as_in(Score, "newly_owned"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedSnapshot:
    """What a recording holds of a snapshot."""

    snapshot_id: str = field(metadata=as_in(SnapshotRow, "snapshot_id"))
    groups: Int32 | None = field(metadata=column("Number of groups.", unit=Unit.GROUPS))
    members: Int32 | None = field(metadata=column("Number of members.", unit=Unit.MEMBERS))
    partitions: Int32 | None = field(metadata=column("Number of partitions.", unit=Unit.PARTITIONS))
    brokers: Int32 | None = field(metadata=column("Number of brokers.", unit=Unit.BROKERS))
    duration_seconds: float = field(metadata=as_in(SnapshotHealth, "duration_seconds"))
    problem_count: Int32 = field(
        metadata=column("Number of things that could not be read.", unit=Unit.ROWS, head="Not read")
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlacementRow:
    """What the tasks of a Streams application would be like under a strategy, or are now."""

    strategy: str = field(metadata=as_in(CandidateRow, "strategy"))
    cost: int | None = field(
        metadata=column("Traffic and non-overlap cost of its source partitions.", unit=Unit.COST)
    )
    moves: Int32 | None = field(
        metadata=column(
            "Number of tasks that move.", unit=Unit.TASKS, head="Tasks that\nmove", none=True
        )
    )
    warming: Int32 | None = field(
        metadata=column(
            "Number of copies that warm up.", unit=Unit.TASKS, head="Copies to\nwarm up", none=True
        )
    )
    most_tasks: Int32 = field(
        metadata=column(
            "Number of tasks of the client that has most.",
            unit=Unit.TASKS,
            head="Most tasks\non a client",
        )
    )
    fewest_tasks: Int32 = field(
        metadata=column(
            "Number of tasks of the client that has fewest.", unit=Unit.TASKS, head="Fewest"
        )
    )
