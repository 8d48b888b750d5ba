"""Which futures a past has."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.metrics.forecast import PATHS, STEPS, futures


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
