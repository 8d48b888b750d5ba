"""What becomes of a group's backlog, held against what can be worked out by hand, and which futures a past has."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from evenkeel.engine.metrics.forecast import (
    HORIZON_SECONDS,
    PATHS,
    STEPS,
    AssignmentBatch,
    ForecastInput,
    Load,
    futures,
    outlooks,
)
from evenkeel.engine.metrics.forecast.backlog import tail
from evenkeel.engine.model.arrays import NONE

HOUR = HORIZON_SECONDS


def _load(rates, *, capacity, owner, backlog=0.0, ages=(0.0,), stuck=False, intervals=12):
    """Partitions in which so much arrives in every interval, and members whose capacity is certain."""
    count = len(rates)
    return Load(
        arrivals=np.tile(np.array(rates, np.float64), (intervals, 1)),
        backlog=np.broadcast_to(np.array(backlog, np.float64), count),
        capacity=np.array(capacity, np.float64),
        uncertainty=np.zeros(len(capacity)),
        ages=np.array(ages, np.float64),
        owner=np.array(owner, np.int32),
        stuck=np.broadcast_to(np.array(stuck), count),
    )


def _outlooks(load, *owners):
    chosen = [np.array(owner, np.int32) for owner in owners] or [load.owner]
    return outlooks(AssignmentBatch([ForecastInput(load=load, owners=chosen)]))


def test_a_group_that_keeps_up_shows_what_waits_for_its_next_commit():
    """Ten a second, commits half a minute old: 300 offsets, now and in an hour."""
    seen = _outlooks(_load([4, 6], capacity=[8, 8], owner=[0, 1], ages=[30.0]))

    assert seen.lag[0, -1].tolist() == pytest.approx([300, 300, 300])
    assert seen.lag_integral[0].tolist() == [0, 0, 0]
    assert seen.drained_seconds[0].tolist() == [0, 0, 0]


def test_what_a_member_cannot_do_piles_up():
    """Two a second too many are 7,200 offsets in an hour."""
    seen = _outlooks(_load([5, 5], capacity=[8, 8], owner=[0, 0]))

    assert seen.lag[0, -1].tolist() == pytest.approx([7200] * 3)
    assert seen.utilization[0].tolist() == pytest.approx([10 / 8] * 3)
    assert np.isinf(seen.drained_seconds[0]).all()
    assert seen.lag_integral[0].tolist() == pytest.approx([7200 * HOUR / 2] * 3)


def test_another_assignment_of_the_same_partitions():
    """Dealt out to both members, nobody has too much; the backlog goes along and is gone after 1,000 / 3 s."""
    load = _load([5, 5], capacity=[8, 8], owner=[0, 0], backlog=1000.0)

    seen = _outlooks(load, [0, 0], [0, 1])

    assert seen.lag[:, -1, 1].tolist() == pytest.approx([2000 + 7200, 0])
    assert seen.drained_seconds[1].tolist() == pytest.approx([1000 / 3] * 3)
    assert seen.lag_integral[1, 1] < seen.lag_integral[0, 1]


def test_what_nobody_owns_or_gets_on_with_is_not_consumed():
    """Whatever a member could do, its stuck partition stays; so does one without owner."""
    load = _load([1, 1], capacity=[9], owner=[0, 0], stuck=[True, False])

    assert _outlooks(load).lag[0, -1, 1] == pytest.approx(HOUR)
    assert _outlooks(load, [0, NONE]).lag[0, -1, 1] == pytest.approx(2 * HOUR)


def test_a_member_of_unknown_capacity_is_taken_to_keep_up():
    """Nothing says that it could not."""
    seen = _outlooks(_load([50], capacity=[np.nan], owner=[0]))

    assert seen.lag[0, -1].tolist() == [0, 0, 0]
    assert np.isnan(seen.utilization[0]).all()


def test_who_never_waits_is_forecast_the_same_beside_who_does():
    """Alone, nothing is worked out step by step."""
    load = _load([4, 6], capacity=[np.nan, 8], owner=[0, 0], ages=[3.0, 30.0])
    load = replace(load, arrivals=load.arrivals * np.linspace(0.5, 1.5, 12)[:, None])

    alone, both = _outlooks(load), _outlooks(load, [0, 0], [0, NONE])

    assert both.integrals[1].min() > 0
    for name in ("lag", "delay_seconds", "drained_seconds", "utilization", "integrals"):
        np.testing.assert_array_equal(getattr(alone, name)[0], getattr(both, name)[0])


def test_what_varied_will_vary():
    """The band holds the mean of the past, and is not empty; the same past gives the same band."""
    random = np.random.default_rng(3)
    load = _load([10], capacity=[100], owner=[0], ages=[60.0])
    arrivals = random.gamma(9, 10 / 9, (12, 1))
    load = replace(load, arrivals=arrivals)

    low, expected, high = _outlooks(load).lag[0, -1]

    assert low < 60 * arrivals.mean() < high
    assert low < expected < high
    assert _outlooks(load).lag.tolist() == _outlooks(load).lag.tolist()


def test_partitions_of_one_moment_come_together():
    """Two partitions of which one is busy whenever the other rests are steady in all."""
    load = _load([0, 0], capacity=[100, 100], owner=[0, 1], ages=[60.0])
    arrivals = np.array([[10, 0], [0, 10]] * 6, np.float64)
    seen = _outlooks(replace(load, arrivals=arrivals))

    assert seen.lag[0, -1].tolist() == pytest.approx([600, 600, 600])


def test_a_short_past_makes_a_wide_band():
    """Of three intervals the least and the most are the band."""
    assert tail(3) == 0
    assert tail(12) < tail(100) < 0.1


def _totals(past):
    """(R, T) what arrives in all, future by future."""
    drawn = futures(past)
    return past[drawn.interval] * drawn.scale


def test_a_steady_past_stays_as_it_is():
    """Whatever the walk, the same comes."""
    assert _totals(np.full(12, 7.0)) == pytest.approx(np.full((PATHS, STEPS), 7.0))


def test_what_grew_within_its_past_may_grow_as_much_again_or_lose_it():
    """By 4 % an interval: in an hour about half of the futures are far above what there is, the others far below."""
    past = 100 * 1.04 ** -np.arange(12.0)

    last = _totals(past)[:, -1]

    assert np.mean(last > 100 * 1.04**6) > 0.4
    assert np.mean(last < 100 * 1.04**-6) > 0.4


def test_a_wave_that_ends_where_it_began_is_not_carried_on():
    """The level went up and came down again: no future leaves it far behind."""
    past = 100 + 10 * np.sin(np.arange(12) * 2 * np.pi / 11)

    assert 70 < _totals(past).min() <= _totals(past).max() < 130


@pytest.mark.parametrize("past", [[0.0], [5.0], [0.0, 0.0], [0.0, 9.0], [0.0, 0.0, 0.0, 9.0, 0.0]])
def test_a_past_without_traffic_or_of_one_interval_has_futures(past):
    """All numbers are known, and nothing comes of nothing."""
    totals = _totals(np.array(past))

    assert totals.shape == (PATHS, STEPS)
    assert np.isfinite(totals).all()
    assert (totals >= 0).all()
    assert totals.max() <= 2 * max(past)
