"""Rows that `compute_metrics` computes per group: one for the group, one per member, one per partition."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any

from ..model.columns import (
    Int16,
    Int32,
    Unit,
    Where,
    as_in,
    column,
    columns_of,
    missing_where,
    record,
)
from ..model.facts import Fact
from ..model.figures import Figures
from ..model.pauses import Pause
from ..model.states import (
    CapacityBasis,
    Diagnosis,
    GroupType,
    LagBasis,
    PauseBasis,
    SizeBasis,
    Status,
    TimeLagBasis,
)
from ..model.tables import TEXT
from .derivation import kind_of
from .forecast_course import ForecastCourse
from .keys import OfGroup
from .pause_course import PauseCourse

RACK_SOURCES = ("subscription", "describe", "configured")


@record
class StrategyMoves:
    """Number of partitions that a strategy would have moved."""

    strategy: str = column("Name of the strategy.")
    moves: Int32 = column("Number of partitions that would have been reassigned.")


@record
class MembershipChange:
    """Changes of the members of a group since its previous stable snapshot."""

    members_joined: Int32 = column(
        "Number of members that joined since the previous stable snapshot; null without one.",
        unit=Unit.MEMBERS,
        at_least=0,
    )
    members_left: Int32 = column(
        "Number of members that left since then.", unit=Unit.MEMBERS, at_least=0
    )
    members_restarted: Int32 = column(
        "Number of members that restarted (returned with another id) since then.",
        unit=Unit.MEMBERS,
        at_least=0,
    )
    partitions_moved: Int32 = column(
        "Number of partitions that were reassigned by these changes; 0 if the members are the same.",
        unit=Unit.PARTITIONS,
        at_least=0,
    )
    would_have_moved: tuple[StrategyMoves, ...] | None = column(
        "Moves with each strategy that a setting can deploy, if it had been in use: a list of {strategy, moves}.",
        default=None,
        none=True,
    )


@record
class GroupMetrics(OfGroup):
    """One row per group and snapshot with its metrics. If error is set, all numbers are null."""

    group_type: GroupType = column(
        "Type of the group: classic, consumer (KIP-848), streams (KIP-1071), share or unknown.",
        head="Type",
    )
    state: str = column("State of the group as reported by the broker.")
    assignor: str | None = column(
        "Name of the elected protocol or server-side assignor in the Kafka protocol.",
        none_where=(Where("error", None),),
    )
    status: Status = column(
        "Status of its worst partition, from best to worst: OK, UNKNOWN, WARN, STALL, STOP, REWIND."
    )
    members: Int32 | None = column("Number of members.", at_least=0, head="Mem-\nbers")
    idle_members: Int32 | None = column("Number of members without a partition.", at_least=0)
    partitions: Int32 | None = column(
        "Number of partitions in the totals: subscribed ones, or committed ones if the group has no members.",
        at_least=0,
        head="Parti-\ntions",
    )
    unowned_partitions: Int32 | None = column("Number of those without an owner.", at_least=0)
    unsubscribed_partitions: Int32 | None = column(
        "Number of partitions of topics without a subscriber.", at_least=0
    )
    total_lag: int | None = column(
        "Lag of the group in offsets; null if the lag of a partition is unknown, or if it has no visible "
        "partition.",
        at_least=0,
        head="Lag\n(offsets)",
    )
    unknown_lag_partitions: Int32 | None = column(
        "Number of partitions whose lag is unknown.", at_least=0
    )
    largest_partition_lag: int | None = column(
        "Largest known lag of a partition, in offsets.", at_least=0
    )
    lost_records: int | None = column(
        "Number of offsets that retention deleted before the group consumed them, as far as known.",
        unit=Unit.OFFSETS,
        at_least=0,
    )
    production_per_second: float | None = column(
        "Incoming rate of its partitions, in offsets per second.", at_least=0
    )
    consumption_per_second: float | None = column("Committed offsets per second.", at_least=0)
    time_lag_seconds: float | None = column(
        "Age of its oldest unconsumed record, in seconds.", at_least=0
    )
    time_to_loss_seconds: float | None = column(
        "Seconds until retention deletes an unconsumed record.", at_least=0
    )
    rates_since: datetime | None = column("Start of the period of the rates.")
    subscribed_topics: tuple[str, ...] | None = column(
        "Subscribed topics; during a rebalance the last known ones; null if unknown.",
        default=None,
    )
    error: str | None = column(
        "Read error, or reason why validation skipped the group; null if it has metrics.", none=True
    )
    findings: tuple[str, ...] = column("Findings.")
    facts: tuple[Fact, ...] | None = column(
        "Findings as a list of {kind, measure, before, after, bound, ...}; query it by measure with @>."
    )
    diagnosis: Diagnosis | None = column(
        "Diagnosis: healthy, catching up, skewed load, slow member, no members, ... or unknown.",
        default=None,
    )
    diagnosis_reason: str | None = column(
        "Diagnosis with names and numbers; null if healthy.", default=None, none=True
    )
    commit_interval_seconds: float | None = column(
        "Commit interval in seconds, learned or configured; null until a commit is observed.",
        default=None,
        at_least=0,
    )
    rebalance_seconds: float | None = column(
        "Pause of its partitions in a rebalance that revokes them, in seconds.",
        default=None,
        at_least=0,
    )
    rebalance_basis: PauseBasis | None = column(
        "Source of this pause: configured, observed, at most, at least, as its client library, usual.",
        default=None,
        none_where=(Where("rebalance_seconds", None),),
    )
    rebalances_observed: Int32 | None = column(
        "Number of intervals whose rebalances were observed; the pause is the median over the newest 15.",
        default=None,
        at_least=0,
    )
    restart_seconds: float | None = column(
        "Time that a member is away when it restarts, in seconds.", default=None, at_least=0
    )
    restart_basis: PauseBasis | None = column(
        "Source of this time, as of the pause.",
        default=None,
        none_where=(Where("restart_seconds", None),),
    )
    restarts_observed: Int32 | None = column(
        "Number of intervals whose restarts were observed.", default=None, at_least=0
    )
    client_library: str | None = column(
        "Client library of all members, configured or from client ids; null if unknown.",
        default=None,
        none=True,
    )
    pause_course: PauseCourse | None = column(
        "Observed rebalances, restarts and restores; null without any.", default=None, none=True
    )
    delay_seconds: float | None = column(
        "Time lag of its worst partition beyond the commit interval, in seconds; all of it without members or in a "
        "rebalance.",
        default=None,
        at_least=0,
    )
    commit_ages_seconds: tuple[float, ...] | None = column(
        "Commit age in seconds at each sample without backlog, as input of the forecast.",
        default=None,
        unit=Unit.SECONDS,
        none=True,
    )
    assignment: str | None = column(
        "Fingerprint of the assignment, by identities of members; null during a rebalance.",
        default=None,
    )
    forecast_course: ForecastCourse | None = column(
        "State of its forecasts: factors of their width and forecasts that are not due yet; null without any.",
        default=None,
        none=True,
    )
    live: Figures | None = None
    change: MembershipChange | None = missing_where("members_joined", default=None)


PAUSES = {
    "rebalance_seconds": ("rebalance_basis", "rebalances_observed"),
    "restart_seconds": ("restart_basis", "restarts_observed"),
}
"""Of what a policy has as well: where its basis and the number of observations are."""


def pauses_in(row: Mapping[str, Any]) -> dict[str, Pause]:
    """Those of `PAUSES` that a row of the group has; one of an earlier version has none."""
    return {
        name: Pause(seconds=row[name], basis=PauseBasis(row[basis]), observed=row[observed])
        for name, (basis, observed) in PAUSES.items()
        if row[name] is not None and row[basis] is not None
    }


@record
class MemberMetrics(OfGroup):
    """One row per member of a group and snapshot with its metrics."""

    member_id: str = column(
        "Member id assigned by the coordinator; it changes when the member restarts."
    )
    identity: str = column(
        "Identity that survives restarts: the instance id, otherwise client id and host."
    )
    client_id: str = column("Value of client.id.")
    client_host: str = column("Host of the member as seen by the broker.")
    instance_id: str | None = column(
        "Value of group.instance.id; null for a dynamic member.", none=True
    )
    rack: str | None = column(
        "Rack of the member; null if unknown.", none_where=(Where("member_id", None),)
    )
    rack_source: str | None = column(
        "Source of the rack: subscription, describe or configured.", one_of=RACK_SOURCES
    )
    partitions: Int32 = column("Number of assigned partitions.", at_least=0, head="Parti-\ntions")
    lag: int | None = column(
        "Lag of its partitions in offsets; null if the lag of one is unknown.",
        at_least=0,
        head="Lag\n(offsets)",
    )
    production_per_second: float | None = column(
        "Incoming rate of its partitions, in offsets per second.", at_least=0
    )
    consumption_per_second: float | None = column("Committed offsets per second.", at_least=0)
    capacity_per_second: float | None = column("Capacity, in offsets per second.", at_least=0)
    capacity_basis: CapacityBasis | None = column(
        "Source of the capacity: configured, saturated, at least, as its peers, unknown."
    )
    utilization: float | None = column(
        "Incoming rate divided by capacity; above 1 the member falls behind; null if either is unknown.",
        default=None,
        at_least=0,
    )
    not_committing: bool | None = column(
        "True if it has lag but no longer commits any of its partitions; null if unknown.",
        default=None,
    )
    cross_rack_partitions: Int32 | None = column(
        "Number of its partitions without a replica in its rack.", at_least=0
    )


@record
class PartitionMetrics(OfGroup):
    """Metrics of a partition for a group in a snapshot."""

    topic: str = column("Name of the topic.")
    topic_id: str | None = column(
        "Id of the topic; a topic that is deleted and recreated gets a new id."
    )
    partition: Int32 = column("Number of the partition in its topic.", at_least=0, head="Part.")
    subscribed: bool | None = column(
        "True if a member subscribes to the topic; null if unknown, as during a rebalance."
    )
    begin_offset: int | None = column(
        "Log start offset.", at_least=0, unit=Unit.OFFSETS, head="Begin"
    )
    end_offset: int | None = column(
        "High watermark, or the last stable offset for a group with isolation.level=read_committed.",
        at_least=0,
        unit=Unit.OFFSETS,
        head="End",
    )
    committed_offset: int | None = column(
        "Committed offset, for a share group the start offset; null if there is none.",
        at_least=0,
        unit=Unit.OFFSETS,
        head="Committed",
        none=True,
    )
    lag: int | None = column(
        "Lag in offsets, from the committed offset to the end offset; null if unknown.",
        at_least=0,
        head="Lag\n(offsets)",
    )
    lag_basis: LagBasis = column(
        "Basis of the lag: the case of its definition that applies.", head="Lag basis"
    )
    lost_records: int | None = column(
        "Number of offsets that retention deleted before the group consumed them.",
        unit=Unit.OFFSETS,
        at_least=0,
    )
    production_per_second: float | None = column(
        "Incoming rate, in offsets per second.", at_least=0
    )
    consumption_per_second: float | None = column("Committed offsets per second.", at_least=0)
    time_lag_seconds: float | None = column(
        "Age of the record at the committed offset, in seconds.", at_least=0
    )
    time_lag_basis: TimeLagBasis = column("Source of that age.")
    time_to_loss_seconds: float | None = column(
        "Seconds until the log start reaches the committed offset.", at_least=0
    )
    status: Status = column("Status, from best to worst: OK, UNKNOWN, WARN, STALL, STOP, REWIND.")
    member_id: str | None = column(
        "Id of its owner; null if it has none.", head="Member", names_member=True, none=True
    )
    cross_rack: bool | None = column(
        "True if the rack of its owner has no replica; null if a rack is unknown."
    )
    committed_at: datetime | None = column("Time when the committed offset was read.")
    end_at: datetime | None = column("Time when the end offset was read.")
    counted: bool | None = column("True if it is part of the totals of the group.")
    lag_for_strategies: int | None = column(
        "Lag that strategies use; without a commit, the lag of the configured reset, otherwise 0 (KIP-169).",
        unit=Unit.OFFSETS,
        at_least=0,
    )
    production_deviation_per_second: float | None = column(
        "Standard deviation of the incoming rate between snapshots; null with fewer than two intervals.",
        at_least=0,
    )
    consumption_deviation_per_second: float | None = column(
        "Standard deviation of the commit rate between snapshots; null with fewer than two intervals.",
        at_least=0,
    )
    bytes_per_record: float | None = column(
        "Average compressed size of a record in bytes; null if unknown.",
        unit=Unit.BYTES_PER_RECORD,
        at_least=0,
    )
    bytes_per_record_basis: SizeBasis | None = column(
        "Source of that size: log directory, other partitions of the topic, configured, unknown."
    )


@record
class _BlockKey(OfGroup):
    topic: str = as_in(PartitionMetrics, "topic")
    first_partition: Int32 = column("Number of the first of its partitions.")
    words: tuple[str, ...] = column(
        "The different texts of its partitions; a column of texts has their places, from 1."
    )


def _block() -> type:
    """The key, and a list for each column of `PartitionMetrics` that is not in it."""
    key = {spec.name for spec in columns_of(_BlockKey)}
    listed = [spec for spec in columns_of(PartitionMetrics) if spec.name not in key]
    kinds = [Int16 if kind_of(one) == TEXT else Annotated[one.kind, one.bits] for one in listed]
    fields = {spec.name: as_in(PartitionMetrics, spec.name) for spec in listed}
    hints = {spec.name: tuple[kind, ...] for spec, kind in zip(listed, kinds, strict=True)}  # type: ignore[valid-type]
    doc = "One row per up to 32 partitions of a topic of a group, as arrays, for the view partition_latest."
    own = {**fields, "__annotations__": hints, "__doc__": doc, "__module__": __name__}
    return record(type("PartitionBlock", (_BlockKey,), own))


PartitionBlock = _block()
"""A row of the table behind the view `partition_latest`, which has the columns of `PartitionMetrics`."""


@record
class PartitionWorst(PartitionMetrics):
    """One row per group, snapshot and partition, for the 20 partitions of the group with the largest lag."""

    place: Int32 = column(
        "Rank of its lag in the group, from 1 (largest) to 20; unknown lag ranks last.",
        at_least=1,
    )


@record
class PartitionMetricsRow(PartitionMetrics):
    """Metrics of a partition with the past values that forecasts need; stored in the lake only."""

    past_arrivals_per_second: tuple[float, ...] | None = column(
        "Incoming rate in each interval between snapshots, newest first.",
        default=None,
        unit=Unit.OFFSETS_PER_SECOND,
        none=True,
    )
    backlog: float | None = column(
        "Lag beyond the records that wait for the next commit, in offsets.",
        default=None,
        unit=Unit.OFFSETS,
        at_least=0,
        none=True,
    )
    stuck: bool | None = column(
        "True if it is behind and not processed, while its owner processes other partitions.",
        default=None,
        none=True,
    )
