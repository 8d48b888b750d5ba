"""What named queries answer of a period, or of all groups at once: sums that no table and no view has."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from evenkeel.engine.columns import Unit, column
from evenkeel.engine.model import Diagnosis


@dataclass(frozen=True, slots=True, kw_only=True)
class OfAGroupOrAll:
    """Of which group a row is that may be of several."""

    group_id: str | None = field(
        metadata=column("The consumer group; null for a row of several.", head="Group", none=True)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class AdviceTotals(OfAGroupOrAll):
    """How often advice was given in a period, and what became of it."""

    proposed: int = field(
        metadata=column("How often a strategy had won that was not advised before.")
    )
    confirmed: int = field(metadata=column("How often a switch was advised, as that lasted."))
    taken_up: int = field(metadata=column("How often the group then ran it."))
    verified: int = field(metadata=column("How often that came as promised."))
    missed: int = field(metadata=column("How often it came worse."))
    withdrawn: int = field(metadata=column("How often it was withdrawn, as it paid no longer."))
    expired: int = field(metadata=column("How often nobody took it up in time."))
    last_event_at: datetime = field(metadata=column("When the last of that was."))


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenSwitches(OfAGroupOrAll):
    """What a group would save that is advised to switch."""

    strategy: str | None = field(
        metadata=column("The strategy to switch to; null for a row of several.", none=True)
    )
    switches: int = field(
        metadata=column("Number of groups in the row.", unit=Unit.GROUPS, at_least=1)
    )
    saved_lag: float | None = field(
        metadata=column("Of the lag in an hour, as expected.", unit=Unit.OFFSETS)
    )
    saved_offset_seconds: float | None = field(
        metadata=column(
            "Of the lag over an hour, less the price of getting there.",
            unit=Unit.OFFSET_SECONDS,
            head="Saved\n(offset-seconds)",
        )
    )
    saved_bytes_per_second: float | None = field(
        metadata=column("Of what crosses racks.", unit=Unit.BYTES_PER_SECOND)
    )
    saved_per_month: float | None = field(
        metadata=column(
            "Of what that costs in 30 days; null also where there is more than one currency.",
            unit=Unit.MONEY_PER_MONTH,
        )
    )
    advised_since: datetime = field(metadata=column("Since when a switch is advised."))


@dataclass(frozen=True, slots=True, kw_only=True)
class Worsened:
    """How a group fared in a period and in the one before."""

    not_well_before_share: float = field(
        metadata=column(
            "Of the time before, the share in which it did not keep up.",
            unit=Unit.SHARE,
            at_least=0,
            head="Not well\nbefore",
        )
    )
    not_well_now_share: float = field(
        metadata=column(
            "The same of the period.", unit=Unit.SHARE, at_least=0, head="Not well\nnow"
        )
    )
    diagnosis: Diagnosis = field(metadata=column("What it had longest in the period."))
    mean_lag_before: float | None = field(
        metadata=column("Mean lag before.", unit=Unit.OFFSETS, at_least=0)
    )
    mean_lag_now: float | None = field(
        metadata=column("Mean lag in the period.", unit=Unit.OFFSETS, at_least=0)
    )
    highest_delay_before_seconds: float | None = field(
        metadata=column("Highest delay before.", unit=Unit.SECONDS, at_least=0)
    )
    highest_delay_now_seconds: float | None = field(
        metadata=column("Highest delay in the period.", unit=Unit.SECONDS, at_least=0)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class WinsInPeriod:
    """How often a strategy was the best that a group could get."""

    won_snapshots: int = field(
        metadata=column("After how many snapshots it was.", unit=Unit.SNAPSHOTS, at_least=1)
    )
    switch_snapshots: int = field(
        metadata=column(
            "After how many of these the group was told to switch to it.",
            unit=Unit.SNAPSHOTS,
            at_least=0,
        )
    )
    first_day: datetime = field(metadata=column("The first day of the period on which it was."))
    last_day: datetime = field(metadata=column("The last one."))


@dataclass(frozen=True, slots=True, kw_only=True)
class RackCost(OfAGroupOrAll):
    """What crossed racks on a day."""

    known_share: float = field(
        metadata=column("Of how much of the time that is known.", unit=Unit.SHARE, at_least=0)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class RebalanceCost:
    """What it cost that a group rebalanced."""

    moved: int | None = field(
        metadata=column(
            "Partitions that went from one member to another.", unit=Unit.PARTITIONS, at_least=0
        )
    )
    held_up_offsets: float | None = field(
        metadata=column(
            "What arrived while snapshots found it rebalancing.", unit=Unit.OFFSETS, at_least=0
        )
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class LagShare:
    """How much of its group's lag a member owns."""

    lag_share: float | None = field(
        metadata=column(
            "Its share of the lag that members of its group own; null also where that is 0.",
            unit=Unit.SHARE,
            at_least=0,
        )
    )
