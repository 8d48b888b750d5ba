"""The benchmark of reports from the history: that it measures; how long it takes is not judged."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks import report as benchmark

pytestmark = pytest.mark.postgres


def test_it_measures_a_small_history(capfd: pytest.CaptureFixture[str], tmp_path) -> None:
    """Seconds and megabytes, and the page itself, with every strategy and a line over time."""
    file = tmp_path / "page.html"
    benchmark.main(["--database", "--groups", "12", "--snapshots", "4", "--out", str(file)])

    assert re.search(
        r"12 groups, 4 snapshots: read from the history in [\d.]+ s .* page made in [\d.]+ s, [\d.]+ MB",
        capfd.readouterr().out,
    )
    assert "Strategies compared" in file.read_text(encoding="utf-8")
