"""Every benchmark measures: a small case of each. How long it takes is not judged."""

from __future__ import annotations

import re

import pytest

from tests.benchmarks import forecasts, lake, report, watch

pytestmark = [pytest.mark.nightly, pytest.mark.postgres]


def test_forecasts_are_measured() -> None:
    """A row for each shape, with a time and the memory."""
    [row] = forecasts.rows([(20, 4)])
    assert row[:2] == ["20", "4"]
    assert float(row[2]) > 0


def test_judging_is_measured(capfd: pytest.CaptureFixture[str]) -> None:
    """A line for each size, with the two shares of groups."""
    assert watch.main(["30"]) == 0
    line = next(line for line in capfd.readouterr().out.splitlines() if re.search(r"\b30\b", line))
    assert len(re.findall(r"\d+%", line)) == 2


def test_the_lake_is_measured(capfd: pytest.CaptureFixture[str]) -> None:
    """Every dataset that a run writes, the compaction, and reading before and after it."""
    asked = ["--groups", "20", "--snapshots", "2", "--no-candidates", "--markdown"]
    assert lake.main(asked) == 0
    out = capfd.readouterr().out
    measured = re.findall(r"^\| `(\w+)` ", out, re.MULTILINE)
    assert measured == [*lake.SNAPSHOT, *lake.METRICS]
    assert re.search(r"reading, whole: \d+ ms, out of the day's file \d+ ms", out)


@pytest.mark.parametrize("source", [(), ("--database",)])
def test_the_report_is_measured(
    source: tuple[str, ...], capfd: pytest.CaptureFixture[str], tmp_path
) -> None:
    """Seconds, megabytes and the page, made of snapshots and of the history."""
    file = tmp_path / "page.html"
    report.main([*source, "--groups", "12", "--snapshots", "4", "--out", str(file)])
    assert re.search(r"made in [\d.]+ s, [\d.]+ MB", capfd.readouterr().out)
    assert "Strategies compared" in file.read_text(encoding="utf-8")
