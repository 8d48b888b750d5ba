"""Figures and scores of assignments, forecasts, and the moves that membership changes cause."""

from __future__ import annotations

from dataclasses import fields
from operator import attrgetter
from typing import Any

from .columns import Int32, Unit, Where, column, record

WITHOUT_OWNERS = (Where("members", 0), Where("group_type", "share"))
"""Groups none of whose partitions has an owner."""


@record
class Figures:
    """Figures of an assignment. Shares are fractions of 1; None is unknown or undefined."""

    partition_spread: Int32 | None = column(
        "Largest minus smallest number of partitions among members with the same subscription.",
        unit=Unit.PARTITIONS,
        at_least=0,
        head="Spread\n(partitions)",
    )
    balanced: bool | None = column(
        "True if no member could take a partition from a member that has at least two more (KIP-54)."
    )
    most_partitions: Int32 = column("Largest number of partitions of a member.", at_least=0)
    fewest_partitions: Int32 = column("Smallest number of partitions of a member.", at_least=0)
    largest_member_lag: int | None = column(
        "Largest member lag in offsets; null if the lag of a partition is unknown.",
        at_least=0,
        head="Largest\nmember lag",
        none_where=WITHOUT_OWNERS,
    )
    lag_skew: float | None = column(
        "Largest member lag divided by mean member lag; null if the total is 0 or unknown.",
        unit=Unit.RATIO,
        at_least=1 - 1e-9,  # the mean of equal numbers may come out a little above them
        head="Skew",
        none_where=(*WITHOUT_OWNERS, Where("total_lag", 0), Where("largest_member_lag", 0)),
    )
    lag_lower_bound: int | None = column(
        "Lower bound of the largest member lag over all assignments, in offsets.",
        unit=Unit.OFFSETS,
        at_least=0,
        none_where=WITHOUT_OWNERS,
    )
    lag_lower_bound_equal_counts: int | None = column(
        "Lower bound of the largest member lag over all assignments with equal partition counts, in offsets.",
        unit=Unit.OFFSETS,
        at_least=0,
    )
    cross_rack_share: float | None = column(
        "Share of partitions whose owner's rack has no replica, among those with known racks.",
        at_least=0,
        at_most=1,
        head="Cross\nrack",
        none_where=WITHOUT_OWNERS,
    )
    cross_rack_rate_share: float | None = column(
        "Cross-rack share weighted by offsets per second; null if a rate is unknown or all are 0.",
        at_least=0,
        at_most=1,
    )
    cross_rack_in_sync_share: float | None = column(
        "Cross-rack share over in-sync replicas only.", at_least=0, at_most=1
    )
    cross_leader_share: float | None = column(
        "Share of partitions whose leader is not in the rack of their owner.", at_least=0, at_most=1
    )
    racks_left_out: Int32 = column(
        "Number of owned partitions that the shares exclude because a rack is unknown.",
        unit=Unit.PARTITIONS,
        at_least=0,
    )
    drain_seconds: float | None = column(
        "Seconds until the slowest member has caught up; Infinity if never.",
        at_least=0,
        head="Drain\ntime",
    )
    cross_rack_bytes_per_second: float | None = column(
        "Cross-rack bytes per second without backlog; null if a rate, a record size or follower fetching "
        "is unknown.",
        default=None,
        at_least=0,
    )
    cross_rack_cost_per_month: float | None = column(
        "Cost of the cross-rack traffic in 30 days at price_per_gb; null without a price, or if unknown.",
        default=None,
        at_least=0,
        none_where=(Where("currency", None),),
    )
    currency: str | None = column(
        "Currency of the cost, ISO 4217; null without a price.", default=None, none=True
    )
    stores_in_one_rack: Int32 | None = column(
        "Number of Kafka Streams stores with all copies in one rack; null if none is evaluated.",
        default=None,
        unit=Unit.TASKS,
        at_least=0,
        head="Stores in\none rack",
        none_where=(Where("stores_judged", None),),
    )
    stores_judged: Int32 | None = column(
        "Number of stores with several copies, all in known racks; null without standbys.",
        default=None,
        unit=Unit.TASKS,
        at_least=0,
        none=True,
    )


_FIGURES = tuple(each.name for each in fields(Figures))
_figures_of = attrgetter(*_FIGURES)


@record
class Score(Figures):
    """Figures of an assignment, and its changes compared with the current assignment."""

    @classmethod
    def of(cls, figures: Figures, *, moves: int, newly_owned: int, unowned: int) -> Score:
        """Figures of an assignment, with its changes."""
        known = dict(zip(_FIGURES, _figures_of(figures), strict=True))
        return cls(**known, moves=moves, newly_owned=newly_owned, unowned=unowned)

    moves: Int32 = column("Number of partitions that are reassigned.", at_least=0, head="Moves")
    newly_owned: Int32 = column(
        "Number of unowned partitions that get an owner.",
        unit=Unit.PARTITIONS,
        at_least=0,
        head="Newly\nowned",
    )
    unowned: Int32 = column(
        "Number of partitions without an owner; null without an assignment.",
        unit=Unit.PARTITIONS,
        at_least=0,
    )


@record
class NextChange:
    """
    Moves that a strategy causes when the members of a group change after its deployment.

    A move is a partition that goes from one member to another, including those of a member that leaves. Partitions that
    become unowned, or were unowned, don't count. For a Kafka Streams application, tasks of instances are counted.
    """

    leave_moves_mean: float = column(
        "Number of partitions that are reassigned if one member leaves, including its own: mean over the "
        "simulated members.",
        unit=Unit.PARTITIONS,
        at_least=0,
        head="Moves if\none leaves",
    )
    leave_moves_of_others_mean: float = column(
        "Mean number of those that another member owned; 0 if only the partitions of the leaving member move.",
        unit=Unit.PARTITIONS,
        at_least=0,
    )
    leave_moves_worst: Int32 = column(
        "Number of partitions that are reassigned if one member leaves: maximum over the simulated members.",
        unit=Unit.PARTITIONS,
        at_least=0,
        head="Moves at\nworst",
    )
    join_moves: Int32 = column(
        "Number of partitions that are reassigned if a member joins that is like the first simulated one.",
        at_least=0,
        head="Moves if\none joins",
    )
    restart_moves: int = column(
        "Number of partitions that a rolling restart reassigns in total, extrapolated from the simulated members.",
        at_least=0,
        head="Moves if\nall restart",
    )
    members_tried: Int32 = column(
        "Number of members whose leave was simulated: at most three, fewer with many partitions.",
        unit=Unit.MEMBERS,
        at_least=1,
    )


_ENDS = {
    "low": "p10",
    "expected": "p50",
    "high": "p90",
}

_SOON_LAG = "lag in 15 minutes"
_LAG = "lag in one hour"
_DELAY = "time lag of the last member in one hour, beyond the commit interval"
_DRAINED = (
    "time until no member has a backlog; Infinity if not within one hour, null if a member with a backlog has no known "
    "capacity"
)
_UTILIZATION = "incoming rate divided by capacity of the busiest member, over the next hour"
_INTEGRAL = "lag integrated over the seconds of the next hour"
_GAIN = (
    "reduction of the lag integral of the next hour by the switch, restarts included, compared future by future; "
    "null for the current assignment"
)


def _end(name: str, of: str, unit: Unit, *, none: bool = False, signed: bool = False) -> Any:
    """A percentile of a forecast, as a column; a signed one is optional."""
    said = f"Forecast, {_ENDS[name]}: {of}."
    if signed:
        return column(said, unit=unit, default=None, none=True)
    infinite = "not in 1 h" if of is _DRAINED else "infinite"
    return column(said, unit=unit, at_least=0, none=none, infinite=infinite)


ENDS = tuple(_ENDS)
"""Suffixes of forecast columns: p10, p50 and p90."""


@record
class Forecast:
    """
    Forecast of a group for the next hour with an assignment, the cost of the switch included, and that cost.

    The band from p10 (low) to p90 (high) holds 80% of cases. The utilization is None if no capacity is known, the cost
    if no switch is needed.
    """

    forecast_soon_lag_low: float = _end("low", _SOON_LAG, Unit.OFFSETS)
    forecast_soon_lag_expected: float = _end("expected", _SOON_LAG, Unit.OFFSETS)
    forecast_soon_lag_high: float = _end("high", _SOON_LAG, Unit.OFFSETS)

    forecast_lag_low: float = _end("low", _LAG, Unit.OFFSETS)
    forecast_lag_expected: float = _end("expected", _LAG, Unit.OFFSETS)
    forecast_lag_high: float = _end("high", _LAG, Unit.OFFSETS)

    forecast_delay_seconds_low: float = _end("low", _DELAY, Unit.SECONDS)
    forecast_delay_seconds_expected: float = _end("expected", _DELAY, Unit.SECONDS)
    forecast_delay_seconds_high: float = _end("high", _DELAY, Unit.SECONDS)

    forecast_drained_seconds_low: float | None = _end("low", _DRAINED, Unit.SECONDS)
    forecast_drained_seconds_expected: float | None = _end("expected", _DRAINED, Unit.SECONDS)
    forecast_drained_seconds_high: float | None = _end("high", _DRAINED, Unit.SECONDS)

    forecast_utilization_low: float | None = _end("low", _UTILIZATION, Unit.SHARE, none=True)
    forecast_utilization_expected: float | None = _end(
        "expected", _UTILIZATION, Unit.SHARE, none=True
    )
    forecast_utilization_high: float | None = _end("high", _UTILIZATION, Unit.SHARE, none=True)

    forecast_lag_integral_low: float = _end("low", _INTEGRAL, Unit.OFFSET_SECONDS)
    forecast_lag_integral_expected: float = _end("expected", _INTEGRAL, Unit.OFFSET_SECONDS)
    forecast_lag_integral_high: float = _end("high", _INTEGRAL, Unit.OFFSET_SECONDS)

    overload_per_second: float | None = column(
        "Offsets per second that arrived since the snapshot before beyond the capacity of their members.",
        default=None,
        at_least=0,
        none=True,
    )

    forecast_gain_low: float | None = _end("low", _GAIN, Unit.OFFSET_SECONDS, signed=True)
    forecast_gain_expected: float | None = _end("expected", _GAIN, Unit.OFFSET_SECONDS, signed=True)
    forecast_gain_high: float | None = _end("high", _GAIN, Unit.OFFSET_SECONDS, signed=True)

    price_restarts: Int32 | None = column(
        "Number of member restarts that the switch needs; null if it needs none.",
        default=None,
        unit=Unit.MEMBERS,
        at_least=0,
        none=True,
        head="Restarts",
    )
    price_held_up_offsets: float | None = column(
        "Number of offsets that the restarts delay; null if the switch needs none.",
        default=None,
        at_least=0,
        none=True,
    )
    price_offset_seconds: float | None = column(
        "Increase of the p50 lag integral of the next hour by the restarts; null if the switch needs none.",
        default=None,
        at_least=0,
        none=True,
    )

    def band(self, measure: str) -> tuple[float | None, float | None, float | None]:
        """p10, p50 and p90 of the forecast of a measure: `lag`, `soon_lag`, ..."""
        low, expected, high = (getattr(self, f"forecast_{measure}_{end}") for end in ENDS)
        return low, expected, high
