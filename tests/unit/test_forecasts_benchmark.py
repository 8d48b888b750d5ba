"""The benchmark of forecasts: that it measures; how long they take is not judged."""

from __future__ import annotations

from tests.benchmarks import forecasts


def test_it_measures_a_small_group():
    """A row per shape, with a time and the memory."""
    [row] = forecasts.rows([(20, 4)])

    assert row[:2] == ["20", "4"]
    assert float(row[2]) > 0
