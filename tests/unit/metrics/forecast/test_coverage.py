"""How often a band holds what came, where arrivals behave as real ones do; and the program that measures it."""

from __future__ import annotations

import re

import numpy as np
import pytest

from evenkeel.engine.metrics.forecast import AHEAD
from tests.benchmarks import curves as benchmark
from tests.helpers.fluid.curves import (
    RATE,
    SHARES,
    WINDOW,
    read_curve,
    replays,
    rough_curve,
)
from tests.helpers.fluid.plan import EVERY

pytestmark = pytest.mark.slow

STRETCHES = 15
"""One for each way to commit and each capacity."""


@pytest.fixture(scope="module")
def checks():
    """Forecasts of groups to which rough curves arrive."""
    curve = rough_curve(1, STRETCHES * WINDOW)
    groups = list(replays("rough", np.outer(SHARES, curve), STRETCHES))
    assert len(groups) == STRETCHES
    return [check for _, check in benchmark.checked(groups)]


@pytest.mark.parametrize("seconds", AHEAD)
def test_four_in_five_hold_what_came(checks, seconds):
    """Not many fewer, and not many more: a band that holds everything says nothing. Neither side is to blame alone."""
    held, lower, higher = benchmark.shares(checks, seconds)

    assert 0.7 <= held <= 0.9
    assert max(lower, higher) <= 0.2


def test_a_folder_of_series_becomes_a_table(tmp_path, capsys):
    """A line for all, for each series, for what they are together, for each way to commit and each capacity."""
    for number, name in enumerate(("a", "b")):
        (tmp_path / f"{name}.csv").write_text(_rows(rough_curve(number, WINDOW), EVERY))

    assert benchmark.main([str(tmp_path), "--most", "1"]) == 0

    out = capsys.readouterr().out
    labels = re.findall(r"^\| ([\w ]+?) \| [\d,]+ \| \d+%", out, re.MULTILINE)
    assert labels == ["all", "a", "b", "together", "commits 5 s", "healthy"]


def test_a_folder_without_series_is_refused(tmp_path, capsys):
    """It says which folder."""
    with pytest.raises(SystemExit):
        benchmark.main([str(tmp_path)])

    assert str(tmp_path) in capsys.readouterr().err


def test_a_series_by_the_minute_is_summed(tmp_path):
    """Five rows are an interval, the mean is what all curves have, and a rest is left out."""
    path = tmp_path / "by-the-minute.csv"
    path.write_text(_rows([1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 9], 60))

    assert read_curve(path).tolist() == pytest.approx([0.5 * RATE * EVERY, 1.5 * RATE * EVERY])


def _rows(counts, seconds):
    """A file's text: a heading, and a row for each count, so many seconds apart."""
    start = np.datetime64("2026-03-02T00:00:00")
    lines = [f"{start + number * seconds},{count}" for number, count in enumerate(counts)]
    return "\n".join(["moment,count", *lines, ""])
