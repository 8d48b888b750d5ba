"""Rows of rebalances: one for each group and snapshot since whose predecessor it rebalanced."""

from __future__ import annotations

from datetime import datetime

from ..model.columns import Int32, Unit, column, record
from ..model.facts import Fact
from ..model.states import PauseBasis, RebalanceCause, Remedy
from .keys import OfGroup


@record
class RemedyCost:
    """What the same changes would have cost with another setting."""

    remedy: Remedy = column(
        "Setting: static membership, cooperative rebalancing, consumer protocol, longer session timeout or "
        "longer session timeout on brokers (KIP-848)."
    )
    partition_seconds: float = column("Partition-seconds without consumption.", at_least=0)
    delayed_records: float | None = column(
        "Records that arrived meanwhile; null if unknown.", unit=Unit.OFFSETS
    )


@record
class RebalanceRow(OfGroup):
    """One row per group and snapshot if the group rebalanced since the previous snapshot: cause and cost."""

    since: datetime = column("Start of the previous snapshot.")
    until: datetime = column("Start of the snapshot.")
    cause: RebalanceCause = column(
        "Most specific cause: crash loop, scaler flapping, deploy, subscription changed, partitions added, coordinator "
        "moved, poll timeout, session timeout, member restarted, members added, members removed or unknown."
    )
    rebalances: Int32 = column(
        "Number of rebalances, at least; 0 if static members restarted without one.", at_least=0
    )
    counted_by_epoch: bool = column(
        "True if group epochs or generations count them; otherwise each dynamic member that joined or left counts."
    )
    unseen_rebalances: Int32 | None = column(
        "Number of those that left no trace in the members; null if unknown.", at_least=0
    )
    joined: tuple[str, ...] = column("Identities that joined, at most 20.")
    left_members: tuple[str, ...] = column("Identities that left, at most 20.")
    restarted: tuple[str, ...] = column("Identities that restarted, at most 20.")
    partitions_moved: Int32 | None = column(
        "Number of reassigned partitions; null while the group is rebalancing.", at_least=0
    )
    partition_seconds: float = column(
        "Partition-seconds without consumption.", unit=Unit.SECONDS, at_least=0
    )
    delayed_records: float | None = column(
        "Records that arrived meanwhile; null if the incoming rate is unknown.",
        unit=Unit.OFFSETS,
        at_least=0,
    )
    pause_seconds: float = column(
        "Pause of a partition whose member left, in one rebalance.", at_least=0
    )
    pause_basis: PauseBasis = column(
        "Source of this pause: configured, observed, at most, at least, as its client library, usual (estimated from "
        "heartbeats)."
    )
    with_remedy: tuple[RemedyCost, ...] | None = column(
        "The same with other settings: a list of {remedy, partition_seconds, delayed_records}.",
        none=True,
    )
    facts: tuple[Fact, ...] = column("Evidence, as in group_metrics.")
