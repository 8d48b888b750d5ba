"""Stored forecasts of groups, compared with actual values."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from ..metrics.forecast import HORIZON_SECONDS, SOON_SECONDS, within
from .values import ForecastBand, Standing

Standings = Mapping[str, Sequence[Standing | None]]
"""The metrics of each group in each snapshot; None if the group was not there."""

_COLUMNS = {
    SOON_SECONDS: ("soon_low", "soon_expected", "soon_high"),
    HORIZON_SECONDS: ("low", "expected", "high"),
}


@dataclass(frozen=True, kw_only=True)
class Bands:
    """
    The forecasts of each group, by seconds ahead and group, oldest first.

    *newest* is the newest snapshot; None to show the last forecast of each group regardless of its age.
    """

    by_ahead: Mapping[float, Mapping[str, Sequence[ForecastBand]]]
    newest: datetime | None

    def of_group(self, name: str) -> tuple[ForecastBand, ...]:
        """The forecasts of the short horizon, and the newest one of the long horizon."""
        near = self.by_ahead[SOON_SECONDS].get(name, ())
        far = self.by_ahead[HORIZON_SECONDS].get(name, ())
        return (*near, *(band for band in far[-1:] if self.newest in (None, band.made_at)))

    def held(self, ahead: float) -> tuple[int, int]:
        """Number of forecasts with this horizon whose band contained the actual value, and number of checked ones."""
        every = [band for own in self.by_ahead[ahead].values() for band in own]
        known = [(band, band.came) for band in every if band.came is not None]
        return sum(band.low <= came <= band.high for band, came in known), len(known)


def bands_of(
    rows: Sequence[Mapping[str, Any]], taken_at: Sequence[datetime], standings: Standings
) -> Bands:
    """
    The forecasts, with actual values if the assignment was unchanged.

    Args:
        rows: Rows of the statement `report_forecasts`.
        taken_at: Times of the snapshots.
        standings: Metrics of groups in them.
    """
    forecasts: dict[float, dict[str, list[ForecastBand]]] = {ahead: {} for ahead in _COLUMNS}
    by_group: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for row in rows:
        by_group[row["group_id"]].append(row)
    for name, own in by_group.items():
        seen = [
            (at, one.lag)
            for at, one in zip(taken_at, standings.get(name, ()), strict=False)
            if one is not None
        ]
        for ahead in _COLUMNS:
            bands = _bands(own, ahead, seen)
            if bands:
                forecasts[ahead][name] = bands
    return Bands(by_ahead=forecasts, newest=taken_at[-1] if taken_at else None)


def _bands(
    rows: Sequence[Mapping[str, Any]], ahead: float, seen: Sequence[tuple[datetime, int | None]]
) -> list[ForecastBand]:
    """The forecasts of a group."""
    changes = [row["taken_at"] for row in rows if row["changed"]]
    moments = [at for at, _ in seen]
    bands = []
    for row in rows:
        low, expected, high = (row[name] for name in _COLUMNS[ahead])
        if expected is None:
            continue
        made_at = row["taken_at"]
        due = made_at + timedelta(seconds=ahead)
        at = _nearest(moments, made_at, due)
        next_change = bisect_left(changes, made_at + timedelta(microseconds=1))
        stayed = at is not None and not any(
            each <= moments[at] for each in changes[next_change:][:1]
        )
        bands.append(
            ForecastBand(
                made_at=made_at,
                due=due,
                low=low,
                expected=expected,
                high=high,
                came=seen[at][1] if at is not None and stayed else None,
            )
        )
    return bands


def _nearest(moments: Sequence[datetime], made_at: datetime, due: datetime) -> int | None:
    """The snapshot with the actual value: the first one close enough to the moment, as in `backtest`."""
    ahead = (due - made_at).total_seconds()
    first = bisect_left(moments, due - timedelta(seconds=within(ahead, float("inf"))))
    for at in range(max(first, 1), len(moments)):
        near = within(ahead, (moments[at] - moments[at - 1]).total_seconds())
        late = (moments[at] - due).total_seconds()
        if late >= -near:
            return at if late <= near else None
    return None
