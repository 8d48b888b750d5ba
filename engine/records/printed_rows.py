"""Rows that are shown and not stored: what a verb of the command line measures itself."""

from __future__ import annotations

from ..model.assignments import Deployment, Feasibility
from ..model.columns import Int32, Unit, Where, as_in, column, missing_where, record
from ..model.figures import Forecast, Score
from ..model.states import Diagnosis
from .candidate import CandidateRow
from .metrics import GroupMetrics
from .snapshot import SnapshotRow


@record
class TradeoffRow:
    """What an assignment crosses and moves: the live one, or a corner of a strategy's tradeoff."""

    strategy: str = as_in(CandidateRow, "strategy")
    cross_rack_partitions: Int32 = column(
        "Number of partitions whose owner's rack holds no replica.",
        at_least=0,
        head="Cross-rack\npartitions",
    )
    cross_rack_share: float | None = as_in(Score, "cross_rack_share")
    cross_rack_per_second: float | None = column(
        "Offsets per second of those partitions.", at_least=0, head="Offsets/s\nthat cross"
    )
    moves: Int32 = as_in(Score, "moves")
    newly_owned: Int32 = as_in(Score, "newly_owned")
    stateful_moves: Int32 | None = column(
        "Number of tasks with state among the moves; null where partitions move.",
        at_least=0,
        none=True,
        head="Of them\nwith state",
    )
    restored_offsets: int | None = column(
        "Offsets that instances read at most to build stores and copies they do not keep now; null when unknown.",
        at_least=0,
        head="Offsets to\nrestore",
        none_where=(Where("stateful_moves", None),),
    )
    stores_in_one_rack: Int32 | None = as_in(Score, "stores_in_one_rack")
    stores_judged: Int32 | None = as_in(Score, "stores_judged")


@record
class WhatIfRow:
    """What a strategy would make of a group after changes; `live` is the group as it is."""

    strategy: str = as_in(CandidateRow, "strategy")
    is_running: bool | None = as_in(CandidateRow, "is_running")
    deployment: Deployment = as_in(CandidateRow, "deployment")
    feasibility: Feasibility = as_in(CandidateRow, "feasibility")
    reason: str = as_in(CandidateRow, "reason")
    replay: str | None = as_in(CandidateRow, "replay")
    members: Int32 = column("Number of members.", at_least=0)
    idle_members: Int32 | None = as_in(GroupMetrics, "idle_members")
    partitions: Int32 = column(
        "Number of partitions of the topics that its members subscribe to.", at_least=0
    )
    diagnosis: Diagnosis | None = as_in(GroupMetrics, "diagnosis")
    diagnosis_reason: str | None = as_in(GroupMetrics, "diagnosis_reason")
    fewest_members: Int32 | None = column(
        "Smallest number of members that keeps up; null when there is none, or it is not known.",
        at_least=1,
        head="Members\nneeded",
    )
    enough_members: Int32 | None = column(
        "Smallest number of members that is known to keep up, though fewer may.", at_least=1
    )
    fewest_members_reason: str | None = column(
        "Why a smaller number of members does not keep up, or why none is known."
    )
    most_members: Int32 | None = column(
        "Largest number of members of which nobody is idle.", at_least=0
    )
    findings: tuple[str, ...] = as_in(CandidateRow, "findings")
    score: Score | None = missing_where("moves")
    forecast: Forecast | None = missing_where("forecast_lag_expected")


@record
class TaskWhatIfRow:
    """What a strategy would make of an application of Kafka Streams after changes; `live` is what it has now."""

    strategy: str = as_in(CandidateRow, "strategy")
    is_running: bool | None = as_in(CandidateRow, "is_running")
    reason: str | None = column("Why there is no answer, or why racks play no part in it.")
    instances: Int32 = column("Number of instances: clients, one a process.", at_least=0)
    threads: Int32 = column("Number of their threads.", at_least=0)
    tasks: Int32 = column("Number of tasks.", unit=Unit.TASKS, at_least=0, head="Tasks")
    moves: Int32 | None = column(
        "Number of tasks that change instances from today, once all copies have caught up.",
        unit=Unit.TASKS,
        at_least=0,
        head="Tasks that\nmove",
        none=True,
    )
    restores: Int32 | None = column(
        "Number of copies of stores, active ones included, on instances that have none today.",
        at_least=0,
        head="Stores to\nrestore",
        none=True,
    )
    restore_offsets: int | None = column(
        "Offsets of their changelogs.", unit=Unit.OFFSETS, at_least=0, none=True
    )
    cross_rack_share: float | None = column(
        "Share of source partitions that tasks read across racks, of those where that is known.",
        unit=Unit.SHARE,
        at_least=0,
    )
    most_tasks: Int32 | None = column(
        "Number of tasks of the instance that has most.",
        unit=Unit.TASKS,
        head="Most tasks\nof one",
        none=True,
    )
    fewest_tasks: Int32 | None = column(
        "Number of tasks of the instance that has fewest.",
        unit=Unit.TASKS,
        head="Fewest",
        none=True,
    )
    busiest_per_second: float | None = column(
        "Offsets per second that arrive at the instance that gets most; null when unknown.",
        unit=Unit.OFFSETS_PER_SECOND,
        at_least=0,
        head="Busiest\ninstance\n(offsets/s)",
    )


@record
class RecordedSnapshot:
    """What a recording holds of a snapshot."""

    snapshot_id: str = as_in(SnapshotRow, "snapshot_id")
    groups: Int32 | None = column("Number of groups.")
    members: Int32 | None = column("Number of members.")
    partitions: Int32 | None = column("Number of partitions.")
    brokers: Int32 | None = column("Number of brokers.", unit=Unit.BROKERS)
    duration_seconds: float = column("Seconds the reading took.")
    problem_count: Int32 = column(
        "Number of things that could not be read.", unit=Unit.ROWS, head="Not read"
    )


@record
class PlacementRow:
    """What the tasks of a Streams application would be like under a strategy, or are now."""

    strategy: str = as_in(CandidateRow, "strategy")
    cost: int | None = column(
        "Traffic and non-overlap cost of its source partitions.", unit=Unit.COST
    )
    moves: Int32 | None = column(
        "Number of tasks that move.", unit=Unit.TASKS, head="Tasks that\nmove", none=True
    )
    warming: Int32 | None = column(
        "Number of copies that warm up.", unit=Unit.TASKS, head="Copies to\nwarm up", none=True
    )
    most_tasks: Int32 = column(
        "Number of tasks of the client that has most.",
        unit=Unit.TASKS,
        head="Most tasks\non a client",
    )
    fewest_tasks: Int32 = column(
        "Number of tasks of the client that has fewest.", unit=Unit.TASKS, head="Fewest"
    )
