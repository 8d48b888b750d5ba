"""Which candidates may speak for a switch by their figures, on columns: all others need not be looked at one by one."""

from __future__ import annotations

from ..model.arrays import NONE, Flags, Floats, Ints
from ..model.assignments import ABLE
from ..model.tables import Table
from ..snapshots.arrays import floats_of, truths_of
from .by_racks import LEAST_SHARE

SMALLER = (
    *("unowned", "cross_rack_bytes_per_second", "cross_rack_rate_share"),
    "cross_rack_cost_per_month",
)
"""A gain, or why there is none, takes less of one of these than the live assignment has, or a forecast."""


def may_speak(candidates: Table, live: Ints) -> Flags:
    """
    (n) whether a candidate has a forecast, or a figure that is better than that of its group's live assignment.

    Without one a switch to it gains nothing, and no reason to stay names it other than in a list (`decide`). Reasons to
    stay look at fewer figures, and only at what a group can get. What it cannot get is named only where it would pay:
    by its forecast, where that gains in nine of ten futures.

    Args:
        candidates: Scores and forecasts, one row per candidate.
        live: (n) the row of the live assignment of each row's group, or its own where there is none.
    """

    def figure(name: str) -> Floats:
        return floats_of(candidates[name])

    able = candidates["feasibility"].index_in(ABLE) != NONE
    speaks: Flags = candidates["forecast_lag_expected"].known & able
    speaks |= figure("forecast_gain_low") > 0
    for name in SMALLER:
        own = figure(name)
        speaks |= own < own[live]
    share, spread = figure("cross_rack_share"), figure("most_partitions")
    spread = spread - figure("fewest_partitions")
    even, is_known = truths_of(candidates["balanced"]), candidates["balanced"].known
    evener = is_known & (even | (spread < spread[live]))
    uneven = is_known & ~even
    better = (share[live] - share >= LEAST_SHARE) | (uneven[live] & evener)
    speaks |= better & able
    return speaks
