"""The benchmark of fleets runs what the DAG runs: on a fleet that is small, but has all kinds of groups."""

from __future__ import annotations

import json

import pytest

from tests.benchmarks.fleet import __main__ as command
from tests.benchmarks.fleet.steps import STEPS

pytestmark = [pytest.mark.nightly, pytest.mark.spark, pytest.mark.postgres, pytest.mark.slow]


def test_a_run_goes_from_the_lake_to_postgres(tmp_path):
    """Every step ends well and leaves rows; seconds and memory are those of real processes."""
    assert command.main(["20", "--json", str(tmp_path / "fleet.json")]) == 0

    (run,) = json.loads((tmp_path / "fleet.json").read_text())
    steps = {step["step"]: step for step in run["steps"]}
    assert (run["groups"], run["partitions"], run["failed"]) == (20, 2_000, None)
    assert list(steps) == [step.name for step in STEPS]
    spark = steps["measure_and_propose"]
    assert spark["rows"] > 20 * (50 + 12)
    assert all(step["processor_seconds"] > 0 for step in run["steps"])
    assert spark["peak_mb"] > 200
    assert spark["wall_seconds"] > 0.5


def test_the_plain_form_is_timed_by_itself(tmp_path):
    """Each part has a time, strategies apart from what is done with their answers."""
    words = ["--plain", "--plain-groups", "3", "--json", str(tmp_path / "plain.json")]

    assert command.main(words) == 0

    told = json.loads((tmp_path / "plain.json").read_text())
    parts = ("reading", "measuring", "strategies", "candidates_beyond_strategies")
    assert all(f"{part}_ms" in told for part in parts)
    assert min(told["reading_ms"], told["strategies_ms"], told["giant_reading_s"]) > 0
