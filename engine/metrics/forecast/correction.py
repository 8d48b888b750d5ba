"""
What came of a group's earlier forecasts, and how much wider or narrower that makes the next one.

Each end of a band has a factor of its own, for each horizon. It is multiplied by the distance of the end from the
middle. Every forecast that comes due moves it:

    factor = factor x exp(RATE x (1 if the lag lies beyond the end else 0 - share that may))

So it rests where that share of lags lies beyond the end, whatever the arrivals do. This is quantile tracking
(Angelopoulos, Candes and Tibshirani, 2023), a form of adaptive conformal inference (Gibbs and Candes, 2021). The factor
has no unit, so one rate fits all groups. The middle stays, and so do the futures and the differences of assignments.

A factor moves no end that lies on the middle, as that of a group that keeps up but reads nothing for a part of each
hour. So each end is moved away by a margin, too, in offsets, in steps of the largest margin that was needed lately:

    margin = margin + MARGIN_RATE x largest x (1 if the lag lies beyond the end else 0 - share that may)

Factors and forecasts that are not due yet are stored with a group's metrics. The next snapshot reads them there, so a
retry, a backtest and a backfill find the same. Only stored forecasts count: those of groups that may need a switch. A
group without earlier forecasts has factors of 1.
"""

from __future__ import annotations

import math
from datetime import datetime

import numpy as np

from ...model.arrays import Floats
from ...records.forecast_course import ForecastCourse, PendingForecast
from ..observe import Observation
from .futures import AHEAD, HORIZON_SECONDS, STEPS, step_after

RATE = 0.1
"""How far one outcome moves the logarithm of a factor."""

MAY_MISS = 0.1
"""The share of lags that may lie beyond an end."""

MARGIN_RATE, KEEPS = 0.2, 0.93
"""How far one outcome moves a margin, and what is left of the largest one after each: half after ten."""

LEAST_STRETCH, MOST_STRETCH = 0.2, 20.0
"""The limits of a factor."""

NO_STRETCH = (1.0,) * (2 * len(AHEAD))
"""The factors of a group without earlier forecasts: low and high for each horizon."""

NO_CORRECTION = (*NO_STRETCH, *(0.0,) * len(NO_STRETCH))
"""Its factors, then its margins."""

LEAST_APART = HORIZON_SECONDS / STEPS / 2
"""Seconds between two forecasts that are kept until they are due: those of a snapshot each minute say the same."""

NEAR = 0.1
"""A snapshot shows what came if it is off the time by no more than this share of the time until then."""


def within(ahead: float, every: float) -> float:
    """
    By how many seconds a snapshot may be off the time of which it shows what came.

    Args:
        ahead: Seconds from the forecast to that time.
        every: Seconds since the snapshot before; off by more than half of that, another is nearer.
    """
    return min(NEAR * ahead, every / 2)


def course_of(seen: Observation, group: int) -> ForecastCourse | None:
    """
    The state of a group's forecasts after what a snapshot shows came of them; None without earlier forecasts.

    Args:
        seen: What the numbers say of the batch.
        group: The number of the group in it.
    """
    before, header = seen.known.forecasts[group], seen.batch.headers[group]
    if before is None or header.error is not None:  # nothing is known, so nothing is due
        return before
    rows = seen.batch.rows(group)
    lag = seen.lag.for_people.take(rows).take(seen.counted[rows]).total()
    assignment = None if header.rebalancing else seen.assignments[group]
    return after(before, header.taken_at, assignment, lag)


def after(
    before: ForecastCourse, at: datetime, assignment: str | None, lag: int | None
) -> ForecastCourse:
    """Take note of the forecasts that are due; with another assignment none of them is of use."""
    every = (at - before.at).total_seconds()
    stretch, margins, largest = [*before.stretch], [*before.margins], [*before.largest]
    left = list[PendingForecast]()
    for forecast in before.pending if assignment == before.assignment else ():
        late = at.timestamp() - forecast.due
        near = within(forecast.after_seconds, every)
        if late < -near:
            left.append(forecast)
        elif late <= near and lag is not None:
            own = 2 * AHEAD.index(forecast.after_seconds)
            for end, beyond in enumerate((forecast.low - lag, lag - forecast.high), start=own):
                step = (beyond > 0) - MAY_MISS
                factor = stretch[end] * math.exp(RATE * step)
                stretch[end] = min(max(factor, LEAST_STRETCH), MOST_STRETCH)
                largest[end] = max(
                    margins[end] + beyond if beyond > 0 else 0.0, KEEPS * largest[end]
                )
                margin = margins[end] + MARGIN_RATE * largest[end] * step
                margins[end] = min(max(margin, 0.0), largest[end])
    return ForecastCourse.of(at, assignment, stretch, left, margins, largest)


def with_forecast(
    course: ForecastCourse | None, at: datetime, assignment: str | None, lag: Floats
) -> ForecastCourse:
    """
    The state of a group's forecasts with a new one.

    Args:
        course: The state before; None without earlier forecasts.
        at: Start of the snapshot.
        assignment: Fingerprint of the assignment.
        lag: (T, 3) forecast with the current assignment, low, expected and high at each step.
    """
    pending = list(course.pending) if course else []
    for seconds in AHEAD:
        due = at.timestamp() + seconds
        others = [one.due for one in pending if one.after_seconds == seconds]
        if not others or due - others[-1] >= LEAST_APART:
            low, _, high = lag[step_after(seconds)].tolist()
            pending.append(PendingForecast(due, seconds, low, high))
    known = course or ForecastCourse.of(at, assignment, NO_STRETCH, ())
    return ForecastCourse.of(at, assignment, known.stretch, pending, known.margins, known.largest)


def corrected(lag: Floats, correction: Floats) -> Floats:
    """
    Bands with their ends moved away from the middle, or towards it.

    Args:
        lag: (K, T, 3) low, expected and high at each step.
        correction: (K, 4 x horizons), or one for all: factors and margins, see `ForecastCourse`; between horizons they
            change evenly.
    """
    moments = np.arange(1, STEPS + 1) * HORIZON_SECONDS / STEPS
    weights = np.array([np.interp(moments, AHEAD, each) for each in np.eye(len(AHEAD))])
    ends = correction.reshape(-1, 2, len(AHEAD), 2)
    low, high, less, more = np.einsum("kfhe,ht->fekt", ends, weights).reshape(4, -1, STEPS)
    middle = lag[..., 1]
    return np.stack(
        [
            np.maximum(middle - low * (middle - lag[..., 0]) - less, 0.0),
            middle,
            middle + high * (lag[..., 2] - middle) + more,
        ],
        axis=-1,
    )
