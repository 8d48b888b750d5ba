"""What the judge says of an assignment: its figures, and with its changes its score; and what may move after it."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from .columns import Int32, Unit, Where, column, record


@record
class Figures:
    """What the judge says of an assignment by itself. Shares are fractions of 1; None is unknown or undefined."""

    partition_spread: Int32 | None = column(
        "Most minus fewest partitions among members of equal subscription.",
        unit=Unit.PARTITIONS,
        at_least=0,
        head="Spread\n(partitions)",
    )
    balanced: bool | None = column(
        "KIP-54: nobody with two partitions fewer could take one of somebody else's."
    )
    most_partitions: Int32 = column("Number of partitions of the member that has most.", at_least=0)
    fewest_partitions: Int32 = column(
        "Number of partitions of the member that has fewest.", at_least=0
    )
    largest_member_lag: int | None = column(
        "Largest lag of a member, in offsets; null when a lag is unknown.",
        at_least=0,
        head="Largest\nmember lag",
        none_where=(Where("members", 0),),
    )
    lag_skew: float | None = column(
        "Largest member lag over mean member lag; null when the total is 0 or unknown.",
        unit=Unit.RATIO,
        at_least=1 - 1e-9,  # the mean of equal numbers may come out a little above them
        head="Skew",
        none_where=(Where("total_lag", 0), Where("members", 0), Where("largest_member_lag", 0)),
    )
    lag_lower_bound: int | None = column(
        "No assignment has a smaller largest member lag than this, in offsets.",
        unit=Unit.OFFSETS,
        at_least=0,
        none_where=(Where("members", 0),),
    )
    lag_lower_bound_equal_counts: int | None = column(
        "No assignment with equal partition counts has a smaller largest member lag than this, in offsets.",
        unit=Unit.OFFSETS,
        at_least=0,
    )
    cross_rack_share: float | None = column(
        "Partitions whose owner's rack holds no replica, over those where both are known; a fraction of 1.",
        at_least=0,
        at_most=1,
        head="Cross\nrack",
        none_where=(Where("members", 0),),
    )
    cross_rack_rate_share: float | None = column(
        "Cross-rack share weighted by offsets per second; null when a rate is unknown or all are 0.",
        at_least=0,
        at_most=1,
    )
    cross_rack_in_sync_share: float | None = column(
        "Cross-rack share over in-sync replicas only.", at_least=0, at_most=1
    )
    cross_leader_share: float | None = column(
        "Cross-rack share against the leader's rack alone; a fraction of 1.", at_least=0, at_most=1
    )
    racks_left_out: Int32 = column(
        "Number of owned partitions left out of the shares because a rack is unknown.",
        unit=Unit.PARTITIONS,
        at_least=0,
    )
    drain_seconds: float | None = column(
        "Seconds until the slowest member has caught up; Infinity: never.",
        at_least=0,
        head="Drain\ntime",
    )
    cross_rack_bytes_per_second: float | None = column(
        "Bytes per second across racks once it keeps up; null when a rate, a size or who serves reads is unknown.",
        default=None,
        at_least=0,
    )
    cross_rack_cost_per_month: float | None = column(
        "What that costs in 30 days at the configured price_per_gb; null without a price or when it is unknown.",
        default=None,
        at_least=0,
        none_where=(Where("currency", None),),
    )
    currency: str | None = column(
        "Currency of the cost, ISO 4217; null without a price.", default=None, none=True
    )
    stores_in_one_rack: Int32 | None = column(
        "Number of Kafka Streams stores all copies of which stand in one rack; null where none is judged.",
        default=None,
        unit=Unit.TASKS,
        at_least=0,
        head="Stores in\none rack",
        none_where=(Where("stores_judged", None),),
    )
    stores_judged: Int32 | None = column(
        "Number of stores with several copies, all in racks that are known; null where no copies are kept.",
        default=None,
        unit=Unit.TASKS,
        at_least=0,
        none=True,
    )


@record
class Score(Figures):
    """What the judge says of an assignment: its figures, and what it changes for those who own partitions now."""

    @classmethod
    def of(cls, figures: Figures, *, moves: int, newly_owned: int, unowned: int) -> Score:
        """The figures of an assignment, and its changes beside them."""
        known = {one.name: getattr(figures, one.name) for one in fields(Figures)}
        return cls(**known, moves=moves, newly_owned=newly_owned, unowned=unowned)

    moves: Int32 = column("Number of partitions whose owner changes.", at_least=0, head="Moves")
    newly_owned: Int32 = column(
        "Number of unowned partitions that get an owner.",
        unit=Unit.PARTITIONS,
        at_least=0,
        head="Newly\nowned",
    )
    unowned: Int32 = column(
        "Number of partitions that nobody owns; null when there is no assignment to score.",
        unit=Unit.PARTITIONS,
        at_least=0,
    )


@record
class NextChange:
    """
    What a strategy would move when the members of a group change, once its assignment is in force.

    Counted are partitions that go from one member to another, those of a member that leaves included: somebody has to
    take them over. What becomes unowned, or was unowned, is not a move. Of an application of Kafka Streams they are
    tasks, and members are instances.
    """

    leave_moves_mean: float = column(
        "Partitions that change owner when one member leaves, its own included: mean over the members tried.",
        unit=Unit.PARTITIONS,
        at_least=0,
        head="Moves if\none leaves",
    )
    leave_moves_of_others_mean: float = column(
        "Of those, partitions that another member owned: mean. 0: what the leaving one had is all that moves.",
        unit=Unit.PARTITIONS,
        at_least=0,
    )
    leave_moves_worst: Int32 = column(
        "Partitions that change owner when the member tried leaves that moves most by it.",
        unit=Unit.PARTITIONS,
        at_least=0,
        head="Moves at\nworst",
    )
    join_moves: Int32 = column(
        "Partitions that change owner when a member joins that is like the first of those tried.",
        at_least=0,
        head="Moves if\none joins",
    )
    restart_moves: int = column(
        "Partitions that change owner in all while one after another restarts; scaled up from those tried.",
        at_least=0,
        head="Moves if\nall restart",
    )
    members_tried: Int32 = column(
        "How many of its members were let leave: three at most, fewer where there are many partitions.",
        unit=Unit.MEMBERS,
        at_least=1,
    )


_ENDS = {
    "low": "one case in ten lies below",
    "expected": "half lie below",
    "high": "one in ten above",
}

_SOON_LAG = "lag 15 minutes ahead, as a snapshot would show it"
_LAG = "lag an hour ahead, as a snapshot would show it"
_DELAY = "how far behind the last member is an hour ahead, beyond its commits"
_DRAINED = "time until nobody has a backlog; Infinity: not within the hour"
_UTILISATION = "what arrives in the coming hour over what the busiest member can do"
_INTEGRAL = "offsets behind, summed over the seconds of the coming hour"


def _end(name: str, of: str, unit: Unit, *, none: bool = False) -> Any:
    """An end of a band, as a column."""
    said = f"Forecast, {name} ({_ENDS[name]}): {of}."
    infinite = "not in 1 h" if of is _DRAINED else "without end"
    return column(said, unit=unit, at_least=0, none=none, infinite=infinite)


ENDS = tuple(_ENDS)
"""How the columns of a forecast end that say how sure it is."""


@record
class Forecast:
    """
    What becomes of a group in the coming hour under an assignment, and what it costs to get there.

    Four cases of five lie between a low and a high end. None is unknown: the utilisation where no capacity is known;
    the price where there is none, since nothing has to be done.
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

    forecast_drained_seconds_low: float = _end("low", _DRAINED, Unit.SECONDS)
    forecast_drained_seconds_expected: float = _end("expected", _DRAINED, Unit.SECONDS)
    forecast_drained_seconds_high: float = _end("high", _DRAINED, Unit.SECONDS)

    forecast_utilisation_low: float | None = _end("low", _UTILISATION, Unit.SHARE, none=True)
    forecast_utilisation_expected: float | None = _end(
        "expected", _UTILISATION, Unit.SHARE, none=True
    )
    forecast_utilisation_high: float | None = _end("high", _UTILISATION, Unit.SHARE, none=True)

    forecast_lag_integral_low: float = _end("low", _INTEGRAL, Unit.OFFSET_SECONDS)
    forecast_lag_integral_expected: float = _end("expected", _INTEGRAL, Unit.OFFSET_SECONDS)
    forecast_lag_integral_high: float = _end("high", _INTEGRAL, Unit.OFFSET_SECONDS)

    price_restarts: Int32 | None = column(
        "How many members have to be restarted for it, one counted as often as it is; null without a need.",
        default=None,
        unit=Unit.MEMBERS,
        at_least=0,
        none=True,
        head="Restarts",
    )
    price_held_up_offsets: float | None = column(
        "Offsets that arrive while their partitions are held up by that; null without a need.",
        default=None,
        at_least=0,
        none=True,
    )
    price_offset_seconds: float | None = column(
        "What these add to the expected lag integral of the coming hour; null without a need.",
        default=None,
        at_least=0,
        none=True,
    )

    def band(self, measure: str) -> tuple[float | None, float | None, float | None]:
        """Low end, expected value and high end of what is foreseen of a measure: `lag`, `soon_lag`, ..."""
        low, expected, high = (getattr(self, f"forecast_{measure}_{end}") for end in ENDS)
        return low, expected, high
