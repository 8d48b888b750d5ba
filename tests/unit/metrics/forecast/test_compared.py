"""The forecasts of a group's assignments side by side, and what getting there adds to them."""

from __future__ import annotations

from dataclasses import asdict, replace

import numpy as np
import pytest

from evenkeel.engine.metrics.forecast import (
    HORIZON_SECONDS,
    AssignmentBatch,
    ForecastInput,
    Load,
    forecasts,
    outlooks,
)
from evenkeel.engine.model.pauses import Standstill

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


def _forecasts(load, owners, standstills, live=None):
    [found] = forecasts(
        [ForecastInput(load=load, owners=owners, standstills=standstills, live=live)]
    )
    return found


def test_each_assignment_gets_what_it_would_get_alone():
    """Ends, delay, utilization and integral are those of the outlook; two that are equal are told the same."""
    load = _load()
    together, apart, again = _forecasts(load, [TOGETHER, APART, TOGETHER.copy()], [None] * 3)
    alone = outlooks(AssignmentBatch([ForecastInput(load=load, owners=[APART])]))

    assert together == again
    assert together.forecast_lag_expected == pytest.approx(2000 + 2 * HORIZON_SECONDS)
    assert together.forecast_soon_lag_expected == pytest.approx(2000 + 2 * 900)
    assert together.forecast_drained_seconds_expected == float("inf")
    assert together.forecast_utilization_high == pytest.approx(10 / 8)
    assert apart.forecast_lag_integral_expected == alone.lag_integral[0, 1]
    assert apart.forecast_drained_seconds_expected == pytest.approx(1000 / 3)


def _stands(held_up, lost):
    return Standstill(held_up_seconds=np.array(held_up), lost_seconds=np.array(lost))


def test_a_member_that_is_behind_loses_what_it_could_have_consumed():
    """Thirty seconds of 8 a second are never caught up within the hour; in them 300 arrive."""
    stands = _stands((30.0, 30.0), (30.0, 0.0))
    stays, goes = _forecasts(_load(), [TOGETHER, TOGETHER], [None, stands], live=0)
    lost = 8 * 30 * (HORIZON_SECONDS - 15)

    assert (stays.price_held_up_offsets, stays.price_offset_seconds) == (None, None)
    assert goes.price_held_up_offsets == 300
    assert goes.price_offset_seconds == pytest.approx(lost)
    assert goes.forecast_lag_expected == pytest.approx(stays.forecast_lag_expected + 8 * 30)
    assert stays.forecast_gain_expected is None
    assert goes.forecast_gain_high == goes.forecast_gain_low == pytest.approx(-lost)


def test_a_member_that_keeps_up_only_catches_up_what_arrived():
    """It stands still for 60 s, in which 300 arrive, and has worked them off 100 s later."""
    load = replace(_load(backlog=0.0), owner=APART)
    stands = _stands((60.0, 0.0), (60.0, 0.0))
    stays, goes = _forecasts(load, [APART, APART], [None, stands], live=0)

    assert goes.price_held_up_offsets == 300
    assert goes.price_offset_seconds == pytest.approx(300 * (60 + 100) / 2)
    assert goes.forecast_lag_expected == stays.forecast_lag_expected == 0


def test_who_stands_still_for_longer_than_a_step_does_nothing_in_it():
    """In 450 s 2,250 arrive; the member has them at the end of the second step but for what it did in the rest."""
    load = replace(_load(backlog=0.0), owner=APART)
    stands = _stands((450.0, 0.0), (450.0, 0.0))
    seen = outlooks(
        AssignmentBatch([ForecastInput(load=load, owners=[APART], standstills=[stands])])
    )

    assert seen.lag[0, :2, 1].tolist() == pytest.approx([5 * 300, 5 * 600 - 8 * 150])


def test_a_gain_is_taken_future_by_future():
    """Traffic that may double or not moves both assignments alike: their difference is narrower than either."""
    random = np.random.default_rng(3)
    arrivals = 5.0 * np.exp(random.normal(0, 0.5, 12))[:, None] * np.ones(2)
    load = replace(_load(capacity=(6.0, 6.0)), arrivals=arrivals)
    stays, goes = _forecasts(load, [TOGETHER, APART], [None, None], live=0)
    apart = stays.forecast_lag_integral_low - goes.forecast_lag_integral_high

    assert goes.forecast_gain_low > max(apart, 0)


def test_stuck_and_unowned_partitions_cost_what_arrives():
    """Nobody consumes them before or after: they wait as long as they are held up."""
    load = replace(_load(), stuck=np.array([True, False]))
    [goes] = _forecasts(load, [np.array([0, -1], np.int32)], [_stands((10.0, 10.0), (10.0, 0.0))])

    assert goes.price_held_up_offsets == 100


def test_what_costs_nothing_adds_nothing():
    """A price of 0 is not an unknown one."""
    [free] = _forecasts(_load(), [APART], [_stands((0.0, 0.0), (0.0, 0.0))])

    assert (free.price_held_up_offsets, free.price_offset_seconds) == (0, 0)


def test_what_no_capacity_is_known_of_has_no_utilization():
    """Not even 0: it is unknown, and the group is taken to keep up."""
    [unknown] = _forecasts(_load(capacity=(np.nan, np.nan), backlog=0.0), [APART], [None])

    assert unknown.forecast_utilization_expected is None
    assert unknown.forecast_drained_seconds_high == 0
    assert not any(np.isnan(value) for value in asdict(unknown).values() if value is not None)


@pytest.mark.parametrize(
    ("situation", "more", "known"),
    [
        ("it was seen to do as much", {"seen": np.array([1.0, 5.0])}, True),
        ("a little more than the mean of what it did", {"seen": np.array([1.0, 3.9])}, True),
        ("half as much again", {}, False),
        ("its capacity is known, and too small", {"capacity": np.array([1.0, 4.0])}, True),
        ("nothing was seen of it: it does what its peers do", {"seen": np.array([5.0, np.nan])}, True),
        ("nothing was seen of anybody", {"seen": np.full(2, np.nan)}, False),
    ],
)  # fmt: skip
def test_who_gets_more_than_it_is_known_to_do_has_no_forecast(situation, more, known):
    """That of the assignment it has is told in any case: nobody gets more with it."""
    load = replace(
        _load(), **{"capacity": np.array([1.0, np.nan]), "seen": np.array([1.0, 3.3])} | more
    )

    stays, goes = _forecasts(load, [TOGETHER, APART], [None, None], live=0)
    assert stays is not None
    assert (goes is not None) is known, situation
