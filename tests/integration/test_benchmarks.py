"""Every benchmark measures: a small case of each. How long it takes is not judged."""

from __future__ import annotations

import json
import re

import pytest

from tests.benchmarks import forecasts, lake, report, watch
from tests.benchmarks.clusters.__main__ import TASKS, Airflow, costs
from tests.benchmarks.fleet import __main__ as fleet
from tests.benchmarks.fleet.bench import STEPS

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


def test_clusters_are_simulated() -> None:
    """Cores and slots are never overdrawn; where there are enough, every snapshot gets its advice before the next."""
    ample, scarce = (Airflow(*size, 5, costs(TASKS)) for size in ((64, 5), (1, 1)))
    for one in (ample, scarce):
        one.run(7200)
        ends = [moment for moment, *_ in one.used[1:]] + [one.now]
        for (begin, work, held), end in zip(one.used, ends, strict=True):
            assert work <= (end - begin) * one.cores + 1e-6
            assert held <= (end - begin) * one.slots["spark"] + 1e-6
    assert {len(each) for each in ample.advised.values()} == {7200 // 300}
    assert max(age for each in ample.advised.values() for _, age in each) < 300
    assert max(len(each) for each in scarce.advised.values()) < 7200 // 300


@pytest.mark.parametrize("source", [(), ("--database",)])
def test_the_report_is_measured(
    source: tuple[str, ...], capfd: pytest.CaptureFixture[str], tmp_path
) -> None:
    """Seconds, megabytes and the page, made of snapshots and of the history."""
    file = tmp_path / "page.html"
    report.main([*source, "--groups", "12", "--snapshots", "4", "--out", str(file)])
    assert re.search(r"made in [\d.]+ s, [\d.]+ MB", capfd.readouterr().out)
    assert "<h3>Strategies</h3>" in file.read_text(encoding="utf-8")


@pytest.mark.spark
@pytest.mark.slow
def test_a_run_goes_from_the_lake_to_postgres(tmp_path):
    """Every step ends well and leaves rows; seconds and memory are those of real processes."""
    assert fleet.main(["20", "--json", str(tmp_path / "fleet.json")]) == 0

    (run,) = json.loads((tmp_path / "fleet.json").read_text())
    steps = {step["step"]: step for step in run["steps"]}
    assert (run["groups"], run["partitions"], run["failed"]) == (20, 2_000, None)
    assert list(steps) == [step.name for step in STEPS]
    spark = steps["measure_and_propose"]
    assert spark["rows"] > 20 * (50 + 12)
    assert all(step["processor_seconds"] > 0 for step in run["steps"])
    assert spark["peak_mb"] > 200
    assert spark["wall_seconds"] > 0.5


@pytest.mark.slow
def test_the_plain_form_is_timed_by_itself(tmp_path):
    """Each part has a time, strategies apart from what is done with their answers."""
    words = ["--plain", "--plain-groups", "3", "--json", str(tmp_path / "plain.json")]

    assert fleet.main(words) == 0

    told = json.loads((tmp_path / "plain.json").read_text())
    parts = ("reading", "measuring", "strategies", "candidates_beyond_strategies")
    assert all(f"{part}_ms" in told for part in parts)
    assert min(told["reading_ms"], told["strategies_ms"], told["giant_reading_s"]) > 0
