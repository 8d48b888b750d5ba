"""The forecasts of a group's assignments side by side, and what getting there adds to them."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest

from evenkeel.engine.metrics.forecast import HORIZON_SECONDS, Load, forecasts, futures, outlooks

TOGETHER, APART = np.array([0, 0], np.int32), np.array([0, 1], np.int32)


def _load(capacity=(8.0, 8.0), backlog=1000.0):
    """Two partitions of five a second, both with the first of two members."""
    return Load(
        arrivals=np.full((12, 2), 5.0),
        backlog=np.full(2, backlog),
        capacity=np.array(capacity),
        uncertainty=np.zeros(2),
        ages=np.zeros(1),
        owner=TOGETHER,
        stuck=np.zeros(2, np.bool_),
    )


def test_each_assignment_gets_what_it_would_get_alone():
    """Ends, delay, utilization and integral are those of the outlook; two that are equal are told the same."""
    load = _load()
    together, apart, again = forecasts(load, [TOGETHER, APART, TOGETHER.copy()], [None] * 3)
    alone = outlooks(load, [APART], futures(load.arrivals.sum(axis=1)))

    assert together == again
    assert together.forecast_lag_expected == pytest.approx(2000 + 2 * HORIZON_SECONDS)
    assert together.forecast_soon_lag_expected == pytest.approx(2000 + 2 * 900)
    assert together.forecast_drained_seconds_expected == float("inf")
    assert together.forecast_utilization_high == pytest.approx(10 / 8)
    assert apart.forecast_lag_integral_expected == alone.lag_integral[0, 1]
    assert apart.forecast_drained_seconds_expected == 600


def test_what_is_held_up_is_worked_off_later():
    """Thirty seconds of ten a second: 300 offsets more, for the whole hour where a member is full anyway."""
    held_up = np.full(2, 30.0)
    stays, goes = forecasts(_load(), [TOGETHER, TOGETHER], [None, held_up])

    assert (stays.price_held_up_offsets, stays.price_offset_seconds) == (None, None)
    assert goes.price_held_up_offsets == 300
    assert goes.price_offset_seconds == pytest.approx(300 * HORIZON_SECONDS)
    assert goes.forecast_lag_integral_expected == stays.forecast_lag_integral_expected


def test_what_costs_nothing_adds_nothing():
    """A price of 0 is not an unknown one."""
    [free] = forecasts(_load(), [APART], [np.zeros(2)])

    assert (free.price_held_up_offsets, free.price_offset_seconds) == (0, 0)


def test_what_no_capacity_is_known_of_has_no_utilization():
    """Not even 0: it is unknown, and the group is taken to keep up."""
    [unknown] = forecasts(_load(capacity=(np.nan, np.nan), backlog=0.0), [APART], [None])

    assert unknown.forecast_utilization_expected is None
    assert unknown.forecast_drained_seconds_high == 0
    assert not any(np.isnan(value) for value in asdict(unknown).values() if value is not None)
