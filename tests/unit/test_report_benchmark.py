"""The benchmark of reports: that it measures; how long it takes is not judged."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks import report as benchmark


def test_it_measures_a_small_fleet(capfd: pytest.CaptureFixture[str], tmp_path) -> None:
    """Seconds and megabytes, and the page itself."""
    file = tmp_path / "page.html"
    assert benchmark.main(["--groups", "12", "--snapshots", "3", "--out", str(file)]) == 0

    assert re.search(r"3 snapshots: .* made in [\d.]+ s, [\d.]+ MB", capfd.readouterr().out)
    assert file.read_text(encoding="utf-8").startswith("<!doctype html>")
