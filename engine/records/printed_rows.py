"""Rows that commands print without storing them."""

from __future__ import annotations

from ..model.assignments import Deployment, Feasibility
from ..model.columns import Int32, Unit, Where, as_in, column, missing_where, record
from ..model.facts import Fact
from ..model.figures import Forecast, Score
from ..model.states import Diagnosis, Readiness
from .candidate import CandidateRow
from .cluster_rows import GroupRow
from .keys import OfSnapshot
from .metrics import GroupMetrics
from .snapshot import SnapshotRow


@record
class TradeoffRow:
    """Cross-rack traffic and moves of an assignment: the live one, or one point of a strategy's tradeoff."""

    strategy: str = as_in(CandidateRow, "strategy")
    cross_rack_partitions: Int32 = column(
        "Number of partitions whose owner's rack has no replica.",
        at_least=0,
        head="Cross-rack\npartitions",
    )
    cross_rack_share: float | None = as_in(Score, "cross_rack_share")
    cross_rack_per_second: float | None = column(
        "Rate of these partitions, in offsets per second.", at_least=0, head="Offsets/s\nthat cross"
    )
    moves: Int32 = as_in(Score, "moves")
    newly_owned: Int32 = as_in(Score, "newly_owned")
    stateful_moves: Int32 | None = column(
        "Number of stateful tasks among the moves; null if partitions move.",
        at_least=0,
        none=True,
        head="Of them\nwith state",
    )
    restored_offsets: int | None = column(
        "Upper bound of the offsets that instances read to restore state stores they don't have now; null"
        " if unknown.",
        at_least=0,
        head="Offsets to\nrestore",
        none_where=(Where("stateful_moves", None),),
    )
    stores_in_one_rack: Int32 | None = as_in(Score, "stores_in_one_rack")
    stores_judged: Int32 | None = as_in(Score, "stores_judged")


@record
class WhatIfRow:
    """Figures of a group with a strategy after changes; `live` is the current assignment."""

    strategy: str = as_in(CandidateRow, "strategy")
    is_running: bool | None = as_in(CandidateRow, "is_running")
    deployment: Deployment = as_in(CandidateRow, "deployment")
    feasibility: Feasibility = as_in(CandidateRow, "feasibility")
    reason: str = as_in(CandidateRow, "reason")
    replay: str | None = as_in(CandidateRow, "replay")
    members: Int32 = column("Number of members.", at_least=0)
    idle_members: Int32 | None = as_in(GroupMetrics, "idle_members")
    partitions: Int32 = column("Number of partitions of the subscribed topics.", at_least=0)
    diagnosis: Diagnosis | None = as_in(GroupMetrics, "diagnosis")
    diagnosis_reason: str | None = as_in(GroupMetrics, "diagnosis_reason")
    fewest_members: Int32 | None = column(
        "Smallest number of members that is sufficient; null if there is none, or if unknown.",
        at_least=1,
        head="Members\nneeded",
    )
    enough_members: Int32 | None = column(
        "Smallest number of members that is proven sufficient; fewer may be sufficient.", at_least=1
    )
    fewest_members_reason: str | None = column(
        "Reason that fewer members are not sufficient, or that the number is unknown."
    )
    most_members: Int32 | None = column(
        "Largest number of members without an idle member.", at_least=0
    )
    findings: tuple[str, ...] = as_in(CandidateRow, "findings")
    score: Score | None = missing_where("moves")
    forecast: Forecast | None = missing_where("forecast_lag_expected")


@record
class TaskWhatIfRow:
    """Figures of a Kafka Streams application with a strategy after changes; `live` is the current assignment."""

    strategy: str = as_in(CandidateRow, "strategy")
    is_running: bool | None = as_in(CandidateRow, "is_running")
    reason: str | None = column("Reason that there is no result, or that racks are ignored.")
    instances: Int32 = column("Number of instances (processes).", at_least=0)
    threads: Int32 = column("Number of stream threads.", at_least=0)
    tasks: Int32 = column("Number of tasks.", unit=Unit.TASKS, at_least=0, head="Tasks")
    moves: Int32 | None = column(
        "Number of tasks that move to another instance, after all standbys have caught up.",
        unit=Unit.TASKS,
        at_least=0,
        head="Tasks that\nmove",
        none=True,
    )
    restores: Int32 | None = column(
        "Number of state stores, active or standby, on instances that don't have them now.",
        at_least=0,
        head="Stores to\nrestore",
        none=True,
    )
    restore_offsets: int | None = column(
        "Sum of the offsets of their changelogs.", unit=Unit.OFFSETS, at_least=0, none=True
    )
    restore_seconds: float | None = column(
        "Longest time in seconds for which a task pauses until its stores are restored, at the configured, observed or"
        " assumed rate per thread; null if unknown.",
        at_least=0,
        none=True,
    )
    cross_rack_share: float | None = column(
        "Share of source partitions that tasks read across racks, among those with known racks.",
        unit=Unit.SHARE,
        at_least=0,
    )
    most_tasks: Int32 | None = column(
        "Largest number of tasks of an instance.",
        unit=Unit.TASKS,
        head="Most tasks\nof one",
        none=True,
    )
    fewest_tasks: Int32 | None = column(
        "Smallest number of tasks of an instance.",
        unit=Unit.TASKS,
        head="Fewest",
        none=True,
    )
    busiest_per_second: float | None = column(
        "Largest incoming rate of an instance, in offsets per second; null if unknown.",
        unit=Unit.OFFSETS_PER_SECOND,
        at_least=0,
        head="Busiest\ninstance\n(offsets/s)",
    )


@record
class RecordedSnapshot:
    """Contents of a snapshot of a recording."""

    snapshot_id: str = as_in(SnapshotRow, "snapshot_id")
    groups: Int32 | None = column("Number of groups.")
    members: Int32 | None = column("Number of members.")
    partitions: Int32 | None = column("Number of partitions.")
    brokers: Int32 | None = column("Number of brokers.", unit=Unit.BROKERS)
    duration_seconds: float = column("Duration of the snapshot in seconds.")
    problem_count: Int32 = column("Number of read errors.", unit=Unit.ROWS, head="Not read")


@record
class PlacementRow:
    """Figures of the tasks of a Kafka Streams application, with a strategy or with the current assignment."""

    strategy: str = as_in(CandidateRow, "strategy")
    cost: int | None = column(
        "Traffic cost and non-overlap cost of its source partitions.", unit=Unit.COST
    )
    moves: Int32 | None = column(
        "Number of tasks that move.", unit=Unit.TASKS, head="Tasks that\nmove", none=True
    )
    warming: Int32 | None = column(
        "Number of warm-up tasks.", unit=Unit.TASKS, head="Copies to\nwarm up", none=True
    )
    most_tasks: Int32 = column(
        "Largest number of tasks of a client.",
        unit=Unit.TASKS,
        head="Most tasks\non a client",
    )
    fewest_tasks: Int32 = column(
        "Smallest number of tasks of a client.", unit=Unit.TASKS, head="Fewest"
    )


@record
class ReadinessRow(OfSnapshot):
    """A group on its way to the consumer protocol (KIP-848)."""

    place: Int32 | None = column(
        "Its turn, from 1; null for a group that doesn't move, or not yet.",
        at_least=1,
        head="#",
        none=True,
    )
    group_id: str = as_in(GroupRow, "group_id")
    group_type: str = as_in(GroupRow, "group_type")
    state: str = as_in(GroupRow, "state")
    members: Int32 | None = column("Number of members; null if unknown.", at_least=0)
    readiness: Readiness = column(
        "Whether it can move: in migration, ready, has losses, needs a full stop, blocked, not evaluated, moved, not"
        " applicable."
    )
    strategy: str | None = column("Strategy that it runs now.", head="Now", none=True)
    strategy_there: str | None = column(
        "Strategy of the broker that it gets.", head="Then", none=True
    )
    stopped_partitions: Int32 | None = column(
        "Partitions that pause in each rebalance now; null if unknown.", at_least=0
    )
    clients: tuple[str, ...] = column("Client libraries of its members, as far as known.")
    why: tuple[str, ...] = column("Reasons that it cannot move, or not with its members running.")
    losses: tuple[str, ...] = column("Losses.")
    gains: tuple[str, ...] = column("Gains.")
    notes: tuple[str, ...] = column("Notes.")
    next_step: str | None = column("Command that prints the move and its rollback.", none=True)
    facts: tuple[Fact, ...] = column(
        "Reasons, losses, gains and notes as a list of {kind, measure, ...}."
    )
