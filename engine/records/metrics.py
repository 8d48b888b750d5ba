"""What `compute_metrics` makes of a group: one row for itself, one per member, one per partition."""

from __future__ import annotations

from datetime import datetime

from ..model.columns import Int32, Unit, Where, column, missing_where, record
from ..model.facts import Fact
from ..model.figures import Figures
from ..model.states import (
    CapacityBasis,
    Diagnosis,
    GroupType,
    LagBasis,
    SizeBasis,
    Status,
    TimeLagBasis,
)
from .keys import OfGroup

RACK_SOURCES = ("subscription", "describe", "configured")


@record
class StrategyMoves:
    """How many partitions a strategy would have moved."""

    strategy: str = column("Our name of the strategy.")
    moves: Int32 = column("Partitions that would have changed owner.")


@record
class MembershipChange:
    """What became of a group's members since the last snapshot before in which it was at rest."""

    members_joined: Int32 = column(
        "Members that came since the snapshot before in which it was at rest; null without such a one.",
        unit=Unit.MEMBERS,
        at_least=0,
    )
    members_left: Int32 = column("Members that went since then.", unit=Unit.MEMBERS, at_least=0)
    members_restarted: Int32 = column(
        "Members that came back under another id since then.", unit=Unit.MEMBERS, at_least=0
    )
    partitions_moved: Int32 = column(
        "Partitions that went from one member to another by that; 0 where its members are the same.",
        unit=Unit.PARTITIONS,
        at_least=0,
    )
    would_have_moved: tuple[StrategyMoves, ...] | None = column(
        "What strategies that a setting brings, in force before, would have moved instead: {strategy, moves}.",
        default=None,
        none=True,
    )


@record
class GroupMetrics(OfGroup):
    """How a group fared in a snapshot; every number is unknown where its error says why."""

    group_type: GroupType = column(
        "Type of the group: classic, consumer (KIP-848), streams (KIP-1071), share or unknown.",
        head="Type",
    )
    state: str = column("State of the group, as the broker names it.")
    assignor: str | None = column(
        "Elected protocol or server-side assignor, as named on the wire.",
        none_where=(Where("error", None),),
    )
    status: Status = column(
        "That of its worst partition, worsening in this order: OK, UNKNOWN, WARN, STALL, STOP, REWIND."
    )
    members: Int32 | None = column("Number of members.", at_least=0, head="Mem-\nbers")
    idle_members: Int32 | None = column("Number of members without a partition.", at_least=0)
    partitions: Int32 | None = column(
        "Number of partitions inside the totals: subscribed ones, of an empty group the committed ones.",
        at_least=0,
        head="Parti-\ntions",
    )
    unowned_partitions: Int32 | None = column("Number of those that nobody owns.", at_least=0)
    unsubscribed_partitions: Int32 | None = column(
        "Number of partitions of topics nobody subscribes to any more.", at_least=0
    )
    total_lag: int | None = column(
        "Lag over all its partitions, in offsets; null when one is unknown, or none of its partitions is seen.",
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
        "Offsets that retention removed before they were consumed, as far as known.",
        unit=Unit.OFFSETS,
        at_least=0,
    )
    production_per_second: float | None = column(
        "Offsets per second produced to its partitions.", at_least=0
    )
    consumption_per_second: float | None = column("Offsets per second it commits.", at_least=0)
    time_lag_seconds: float | None = column(
        "Age in seconds of its oldest record not yet consumed.", at_least=0
    )
    time_to_loss_seconds: float | None = column(
        "Seconds until retention reaches a committed offset.", at_least=0
    )
    rates_since: datetime | None = column("Since when the rates are measured.")
    subscribed_topics: tuple[str, ...] | None = column(
        "Topics its members subscribe to; of a rebalancing group those last known; null when none is known.",
        default=None,
    )
    error: str | None = column(
        "Why it could not be read, or was withheld; then no number is known.", none=True
    )
    findings: tuple[str, ...] = column("What is remarkable about it.")
    facts: tuple[Fact, ...] | None = column(
        "The findings as values, to ask with @> by measure: a list of {kind, measure, before, after, bound, ...}."
    )
    diagnosis: Diagnosis | None = column(
        "Its diagnosis: healthy, catching up, skewed load, slow member, no members, ... or unknown.",
        default=None,
    )
    diagnosis_reason: str | None = column(
        "The same with names and numbers; null where it is healthy.", default=None, none=True
    )
    commit_interval_seconds: float | None = column(
        "Seconds from one of its commits to the next, learned or configured; null while none was seen.",
        default=None,
        at_least=0,
    )
    delay_seconds: float | None = column(
        "How far it is behind beyond its commit interval, by its worst partition.",
        default=None,
        at_least=0,
    )
    commit_ages_seconds: tuple[float, ...] | None = column(
        "Seconds of arrivals that its commits were behind at each sample it kept up, for its forecast.",
        default=None,
        unit=Unit.SECONDS,
        none=True,
    )
    assignment: str | None = column(
        "Fingerprint of who owns what, by the identities of members; null while that is in motion.",
        default=None,
    )
    live: Figures | None = None
    change: MembershipChange | None = missing_where("members_joined", default=None)


@record
class MemberMetrics(OfGroup):
    """How a member of a group fared in a snapshot."""

    member_id: str = column("Id the coordinator gave it; it changes when the member restarts.")
    identity: str = column(
        "What stays the same over restarts: the instance id, else client id and host."
    )
    client_id: str = column("Its client.id.")
    client_host: str = column("The host it connects from, as the broker sees it.")
    instance_id: str | None = column("Its group.instance.id; null for a dynamic member.", none=True)
    rack: str | None = column(
        "Its rack; null when unknown.", none_where=(Where("member_id", None),)
    )
    rack_source: str | None = column(
        "Where the rack is known from: subscription, describe or configured.", one_of=RACK_SOURCES
    )
    partitions: Int32 = column("Number of partitions it owns.", at_least=0, head="Parti-\ntions")
    lag: int | None = column(
        "Sum of their lag, in offsets; null when one is unknown.", at_least=0, head="Lag\n(offsets)"
    )
    production_per_second: float | None = column(
        "Offsets per second produced to its partitions.", at_least=0
    )
    consumption_per_second: float | None = column("Offsets per second it commits.", at_least=0)
    capacity_per_second: float | None = column("Offsets per second it could consume.", at_least=0)
    capacity_basis: CapacityBasis | None = column(
        "How that is known: configured, saturated, at least, as its peers, unknown."
    )
    utilisation: float | None = column(
        "What arrives at it over what it can consume: above 1 it falls behind; null when either is unknown.",
        default=None,
        at_least=0,
    )
    silent: bool | None = column(
        "Whether nothing it owns is committed any more though some of it is behind; null before there was this.",
        default=None,
    )
    cross_rack_partitions: Int32 | None = column(
        "Number of its partitions that have no replica in its rack.", at_least=0
    )


@record
class PartitionMetrics(OfGroup):
    """How a partition fared in one snapshot, as one group reads it."""

    topic: str = column("The topic.")
    topic_id: str | None = column(
        "Id of the topic: a topic made again under the same name has another."
    )
    partition: Int32 = column("Number of the partition in its topic.", at_least=0, head="Part.")
    subscribed: bool | None = column(
        "Whether a member subscribes to the topic; null while members do not tell, as they rebalance."
    )
    begin_offset: int | None = column(
        "Log start offset.", at_least=0, unit=Unit.OFFSETS, head="Begin"
    )
    end_offset: int | None = column(
        "High watermark; last stable offset for a group that reads committed records.",
        at_least=0,
        unit=Unit.OFFSETS,
        head="End",
    )
    committed_offset: int | None = column(
        "Committed offset; null when there is none.",
        at_least=0,
        unit=Unit.OFFSETS,
        head="Committed",
        none=True,
    )
    lag: int | None = column(
        "Offsets between what is committed and the end; null when unknown.",
        at_least=0,
        head="Lag\n(offsets)",
    )
    lag_basis: LagBasis = column("Which case of the definition of lag it was.", head="Lag is")
    lost_records: int | None = column(
        "Offsets that retention removed before they were consumed.", unit=Unit.OFFSETS, at_least=0
    )
    production_per_second: float | None = column("Offsets per second produced to it.", at_least=0)
    consumption_per_second: float | None = column(
        "Offsets per second the group commits in it.", at_least=0
    )
    time_lag_seconds: float | None = column(
        "Age in seconds of the record at the committed offset.", at_least=0
    )
    time_lag_basis: TimeLagBasis = column("How that age is known.")
    time_to_loss_seconds: float | None = column(
        "Seconds until the log start reaches the committed offset.", at_least=0
    )
    status: Status = column("OK, UNKNOWN, WARN, STALL, STOP or REWIND, worsening in this order.")
    member_id: str | None = column(
        "Its owner; null when nobody owns it.", head="Member", names_member=True, none=True
    )
    cross_rack: bool | None = column(
        "Whether no replica is in the owner's rack; null when a rack is unknown."
    )
    committed_at: datetime | None = column("When the committed offset was read.")
    end_at: datetime | None = column("When the end offset was read.")
    counted: bool | None = column("Whether it is inside the totals of the group.")
    lag_for_strategies: int | None = column(
        "Lag as strategies are given it: without a commit that of the configured reset, else 0 (KIP-169).",
        unit=Unit.OFFSETS,
        at_least=0,
    )
    production_deviation_per_second: float | None = column(
        "Standard deviation of what was produced per second between snapshots; null below two such spans.",
        at_least=0,
    )
    consumption_deviation_per_second: float | None = column(
        "Standard deviation of what the group committed per second between snapshots; null below two such spans.",
        at_least=0,
    )
    bytes_per_record: float | None = column(
        "Average bytes of a record as stored and sent, compressed; null when unknown.",
        unit=Unit.BYTES_PER_RECORD,
        at_least=0,
    )
    bytes_per_record_basis: SizeBasis | None = column(
        "How that is known: log directory, other partitions of the topic, configured, unknown."
    )


@record
class PartitionLatest(PartitionMetrics):
    """A partition of a group in the newest measured snapshot of its cluster; earlier ones are in the lake."""


@record
class PartitionWorst(PartitionMetrics):
    """One of the 20 partitions of a group with the largest lag, of every snapshot."""

    place: Int32 = column(
        "Place of its lag in the group, from 1 for the largest to 20; unknown lag comes last.",
        at_least=1,
    )


@record
class PartitionMetricsRow(PartitionMetrics):
    """The same with what a forecast needs of the past: for groups that get one, and for the lake alone."""

    past_arrivals_per_second: tuple[float, ...] | None = column(
        "Offsets per second that arrived in each interval between snapshots, newest first.",
        default=None,
        unit=Unit.OFFSETS_PER_SECOND,
        none=True,
    )
    backlog: float | None = column(
        "Offsets it is behind beyond what waits for the next commit.",
        default=None,
        unit=Unit.OFFSETS,
        at_least=0,
        none=True,
    )
    stuck: bool | None = column(
        "Whether it is behind and its owner gets on with others, but not with it.",
        default=None,
        none=True,
    )
