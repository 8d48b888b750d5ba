"""Data of the charts as plain lists: times in seconds, numbers with visible digits only."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from .values import FleetReport, GroupReport

POINTS = 400
"""Maximum number of points of a chart."""

MOST_POINTS = 30_000
"""Maximum number of points of all groups, so that a file of a thousand groups stays below 5 MB."""


def chart_data(fleet: FleetReport) -> dict[str, Any]:
    """The data of all charts: shared times, and numbers of each group in the order of the report."""
    moments = [int(at.timestamp()) for at in fleet.taken_at]
    width = bucket(len(moments), len(fleet.groups))
    cuts = [range(a, min(a + width, len(moments))) for a in range(0, len(moments), width)]
    return {
        "width": width,
        "times": [moments[cut[-1]] for cut in cuts],
        "start": moments[0] if moments else 0,
        "groups": [
            _of_group(group, cuts, width, moments[0] if moments else 0) for group in fleet.groups
        ],
    }


def bucket(snapshots: int, groups: int) -> int:
    """
    Number of snapshots per point of a chart.

    >>> bucket(288, 14), bucket(8640, 14), bucket(288, 1000)
    (1, 22, 10)
    """
    most = max(20, min(POINTS, MOST_POINTS // max(groups, 1)))
    return max(1, math.ceil(snapshots / most))


def _of_group(
    group: GroupReport, cuts: Sequence[range], width: int, start: int
) -> Mapping[str, Any]:
    own = group.standings

    def drawn(name: str) -> list[float | None]:
        """The maximum of each point."""
        points = list[float | None]()
        for cut in cuts if own else ():
            known = [getattr(each, name) for at in cut if (each := own[at]) is not None]
            known = [value for value in known if value is not None]
            points.append(shortened(max(known)) if known else None)
        return points

    bands = group.forecasts
    bands = bands[-1::-width][::-1] if width > 1 else bands
    return {
        "lag": drawn("lag"),
        "delay": drawn("delay_seconds"),
        "age": drawn("time_lag_seconds"),
        "due": [int(each.due.timestamp()) - start for each in bands],
        "low": [shortened(each.low) for each in bands],
        "expected": [shortened(each.expected) for each in bands],
        "high": [shortened(each.high) for each in bands],
        "marks": [
            [int(each.at.timestamp()), each.kind, each.severity] for each in group.happenings
        ],
    }


def shortened(number: float) -> float:
    """
    A number rounded to four significant digits.

    >>> shortened(123456), shortened(99.876), shortened(0.123456), shortened(0.0)
    (123500, 99.88, 0.1235, 0)
    """
    if number == 0 or not math.isfinite(number):
        return 0 if number == 0 else number
    short = round(number, 3 - math.floor(math.log10(abs(number))))
    return int(short) if short == int(short) else short
