"""What came of earlier forecasts makes the next band wider or narrower, each end by itself."""

from __future__ import annotations

from datetime import datetime, timedelta

import numpy as np
import pytest

from evenkeel.engine.metrics.forecast import NO_CORRECTION, STEPS, step_after, with_forecast
from evenkeel.engine.metrics.forecast.correction import (
    LEAST_STRETCH,
    MOST_STRETCH,
    after,
    corrected,
)
from evenkeel.engine.records import record_of, row_of
from evenkeel.engine.records.forecast_course import ForecastCourse
from tests.helpers.fluid.plan import FIRST

EVERY = timedelta(seconds=300)

BAND = np.tile([80.0, 100.0, 120.0], (STEPS, 1))
"""The same at each step."""


def _at(snapshot: int) -> datetime:
    return FIRST + snapshot * EVERY


def _foreseen(course: ForecastCourse | None, snapshot: int, band=BAND, assignment="a"):
    return with_forecast(course, _at(snapshot), assignment, band)


def _through(lags, band=BAND):
    """The course after some snapshots with these lags, each with a forecast; whether each lag was in its band."""
    course, held = _foreseen(None, 0, band), []
    for snapshot, lag in enumerate(lags, 1):
        due = [one for one in course.pending if one.due == _at(snapshot).timestamp()]
        held += [one.low <= lag <= one.high for one in due if one.after_seconds == 900]
        course = after(course, _at(snapshot), "a", lag)
        told = corrected(band[None], np.array(course.correction))[0]
        course = _foreseen(course, snapshot, told)
    return course, held


@pytest.mark.parametrize("spread", [8.0, 15.0, 60.0])
def test_four_in_five_hold_whatever_the_band_was(spread):
    """A band of 20 either way around what varies by less than that, by as much, or by three times."""
    lags = np.random.default_rng(5).normal(100, spread, 600)

    _, held = _through(lags)

    assert np.mean(held[150:]) == pytest.approx(0.8, abs=0.05)


def test_each_end_goes_by_what_came_beyond_it():
    """Lags that rise for good: the high end is moved away as far as it may, the low end comes near."""
    rising = [1_000 * 2**snapshot for snapshot in range(100)]

    course, _ = _through(rising)

    soon_low, soon_high, low, high = course.stretch
    assert soon_high >= high > 1 > low >= soon_low >= LEAST_STRETCH
    assert soon_high == MOST_STRETCH
    assert course.margins[0] == course.margins[2] == 0 < min(course.margins[1], course.margins[3])


def test_a_margin_moves_an_end_that_a_factor_cannot():
    """A group that is behind every other hour: a band without a width comes to hold that, too."""
    lags, none = [*[100] * 12, *[10_000] * 12] * 6, np.tile([100.0, 100.0, 100.0], (STEPS, 1))

    course, held = _through(lags, none)

    assert np.mean(held[-72:]) > 0.6
    assert _through([*lags, *[100] * 60], none)[0].margins[1] < course.margins[1] / 50


def test_what_is_not_known_teaches_nothing():
    """A lag that is unknown, and a snapshot that was not taken when a forecast was due."""
    course = _foreseen(None, 0)

    unknown = after(course, _at(3), "a", None)
    late = after(course, _at(9), "a", 10_000)

    assert unknown.correction == late.correction == NO_CORRECTION
    assert [one.after_seconds for one in unknown.pending] == [3600]
    assert [one.after_seconds for one in late.pending] == [3600]


def test_a_snapshot_off_the_minute_tells_what_came():
    """A tenth of the time ahead, or half the time between two snapshots where that is less."""
    course = after(_foreseen(None, 0), _at(2), "a", 100)

    near = after(course, _at(3) - timedelta(seconds=80), "a", 10_000)
    too_early = after(course, _at(3) - timedelta(seconds=200), "a", 10_000)

    assert near.stretch[1] > 1
    assert too_early.correction == NO_CORRECTION


def test_another_assignment_ends_what_was_foreseen():
    """It was foreseen of the one before; what is known of its width stays."""
    course, _ = _through([10_000] * 6)

    moved = after(course, _at(7), "b", 100)

    assert moved.pending == ()
    assert moved.correction == course.correction


def test_snapshots_of_each_minute_keep_few_forecasts():
    """One in three minutes is enough, and none is kept for longer than it is due."""
    course = None
    for minute in range(90):
        at = FIRST + timedelta(minutes=minute)
        course = None if course is None else after(course, at, "a", 100)
        course = with_forecast(course, at, "a", BAND)

    ahead = [one.after_seconds for one in course.pending]
    assert (ahead.count(900), ahead.count(3600)) == (5, 20)


def test_the_middle_stays_and_no_lag_is_below_0():
    """Between the horizons ends move evenly, by factors and margins."""
    lag = np.tile([10.0, 20.0, 40.0], (1, STEPS, 1))

    told = corrected(lag, np.array([3.0, 1.0, 3.0, 2.0, 0, 0, 0, 5]))

    assert (told[..., 1] == 20).all()
    assert (told[..., 0] == 0).all()
    assert told[0, [step_after(900), -1], 2].tolist() == [40, 65]
    assert (np.diff(told[0, step_after(900) :, 2]) > 0).all()


def test_the_course_survives_its_row():
    """As it is stored and read by the next snapshot."""
    course, _ = _through([100, 10_000, 100])

    assert record_of(ForecastCourse, row_of(course)) == course
