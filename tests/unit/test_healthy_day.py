"""A day of many healthy groups through the backtest."""

from __future__ import annotations

import pytest

from tests.benchmarks import healthy_day


@pytest.mark.slow
def test_nobody_is_woken_by_healthy_groups(capsys):
    """A few of them for a few hours; what a thousand say in a day takes a quarter of an hour."""
    assert healthy_day.main(["--groups", "20", "--snapshots", "60"]) == 0
    assert "20 groups x 60 snapshots: 0 messages" in capsys.readouterr().out
