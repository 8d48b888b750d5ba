"""State of the forecasts of a group, carried from one snapshot to the next by `evenkeel.engine.metrics.forecast`."""

from __future__ import annotations

from datetime import datetime

from ..model.columns import Int32, column, record


@record
class PendingForecast:
    """A forecast of the lag of a group with its current assignment that is not due yet."""

    due_at: datetime = column("Time of the forecast lag.")
    after_seconds: Int32 = column("Seconds from the forecast to that time.", at_least=0)
    low: float = column("Forecast, p10.", at_least=0)
    high: float = column("Forecast, p90.", at_least=0)


@record
class ForecastCourse:
    """The state of the forecasts of a group, as the next snapshot needs it."""

    at: datetime = column("Start of the snapshot.")
    assignment: str | None = column("Fingerprint of the assignment; null if unknown.")
    stretch: tuple[float, ...] = column(
        "Factors of the distances from p50: p10 and p90 in 15 minutes, p10 and p90 in one hour."
    )
    pending: tuple[PendingForecast, ...] = column("Forecasts that are not due yet, oldest first.")
