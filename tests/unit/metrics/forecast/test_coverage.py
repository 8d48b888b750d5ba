"""How often a band holds what came, where arrivals behave as real ones do."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.metrics.forecast import AHEAD
from tests.benchmarks import curves as benchmark
from tests.helpers.fluid.curves import (
    SHARES,
    WINDOW,
    replays,
    rough_curve,
)

pytestmark = pytest.mark.slow

STRETCHES = 15
"""One for each way to commit and each capacity; every other one is taken."""


@pytest.fixture(scope="module")
def checks():
    """Forecasts of groups to which rough curves arrive."""
    curve = rough_curve(1, STRETCHES * WINDOW)
    groups = list(replays("rough", np.outer(SHARES, curve), STRETCHES))[::2]
    assert len(groups) == 8
    return [check for _, check in benchmark.checked(groups)]


@pytest.mark.parametrize("seconds", AHEAD)
def test_four_in_five_hold_what_came(checks, seconds):
    """Not many fewer, and not many more: a band that holds everything says nothing. Neither side is to blame alone."""
    held, lower, higher = benchmark.shares(checks, seconds)

    assert 0.7 <= held <= 0.9
    assert max(lower, higher) <= 0.2
