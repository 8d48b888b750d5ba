"""State of the forecasts of a group, carried from one snapshot to the next by `evenkeel.engine.metrics.forecast`."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from ..model.columns import column, record

NONE = (0.0,) * 4


class PendingForecast(NamedTuple):
    """
    A forecast of the lag of a group with its current assignment that is not due yet.

    Attributes:
        due: Unix time of the forecast lag.
        after_seconds: Seconds from the forecast to that time.
        low, high: p10 and p90, in offsets.
    """

    due: float
    after_seconds: float
    low: float
    high: float


@record
class ForecastCourse:
    """The state of the forecasts of a group, as the next snapshot needs it."""

    at: datetime = column("Start of the snapshot.")
    assignment: str | None = column("Fingerprint of the assignment; null if unknown.")
    stretch: tuple[float, ...] = column(
        "Factors of the distances from p50: p10 and p90 in 15 minutes, p10 and p90 in one hour."
    )
    # lists of numbers: they are read for every group of every snapshot
    due: tuple[float, ...] = column("Forecasts that are not due yet: Unix times of the lag.")
    after_seconds: tuple[float, ...] = column("Their seconds until then.")
    low: tuple[float, ...] = column("Their p10.")
    high: tuple[float, ...] = column("Their p90.")
    margins: tuple[float, ...] = column(
        "Offsets by which these ends are moved away from p50 beyond that.", default=NONE
    )
    largest: tuple[float, ...] = column("The largest such offsets needed lately.", default=NONE)

    @property
    def correction(self) -> tuple[float, ...]:
        """The factors, then the margins."""
        return (*self.stretch, *self.margins)

    @property
    def pending(self) -> tuple[PendingForecast, ...]:
        """The forecasts that are not due yet, oldest first."""
        rows = zip(self.due, self.after_seconds, self.low, self.high, strict=True)
        return tuple(PendingForecast(*row) for row in rows)

    @classmethod
    def of(
        cls,
        at: datetime,
        assignment: str | None,
        stretch: Iterable[float],
        pending: Iterable[PendingForecast],
        margins: Iterable[float] = NONE,
        largest: Iterable[float] = NONE,
    ) -> ForecastCourse:
        """The state after a snapshot."""
        due, ahead, low, high = zip(*pending, strict=True) if pending else ((), (), (), ())
        return cls(
            at=at,
            assignment=assignment,
            stretch=tuple(stretch),
            margins=tuple(margins),
            largest=tuple(largest),
            due=due,
            after_seconds=ahead,
            low=low,
            high=high,
        )
