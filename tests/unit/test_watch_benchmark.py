"""The benchmark of judging: that it measures; how long it takes is not judged."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks import watch as benchmark


def test_it_measures_a_small_fleet(capfd: pytest.CaptureFixture[str]) -> None:
    """A line per size: groups, seconds, and which share needed no second look."""
    assert benchmark.main(["30"]) == 0

    line = next(line for line in capfd.readouterr().out.splitlines() if re.search(r"\b30\b", line))
    assert len(re.findall(r"\d+%", line)) == 2
