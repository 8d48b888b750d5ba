"""The lake's benchmark: that it measures, and how it extrapolates; how large a lake is is not judged."""

from __future__ import annotations

import re

import pytest

from evenkeel.engine.adapters.lake import FileLake
from tests.benchmarks import lake as benchmark
from tests.helpers.snapshots import group, make_snapshot, store, topic


def test_what_is_extrapolated_is_what_was_measured_times_what_is_missing(tmp_path):
    """Two snapshots of ten groups stand for 288 a day of 10,000 groups, over 90 days."""
    lake = FileLake(tmp_path / "lake")
    groups = [group(f"g{i}", lag={"t": 0}) for i in range(10)]
    ids = store(
        lake, *(make_snapshot(topics=[topic("t")], groups=groups, number=n) for n in (0, 1))
    )
    before = dict.fromkeys(benchmark.DATASETS, 0) | {"groups": 6_000_000, "commits": 2_000_000}
    after = before | {"groups": 4_000_000}
    first, second, total = benchmark.rows(lake, ids, 10, before, after)
    assert [first[0], first[1], *first[3:]] == ["`groups`", "10", "3.00", "2.00", "51,840"]
    assert [second[0], second[1], *second[3:]] == ["`commits`", "10", "1.00", "1.00", "25,920"]
    assert [total[1], *total[3:]] == ["20", "4.00", "3.00", "77,760"]


def test_it_measures_a_small_fleet(capfd: pytest.CaptureFixture[str]) -> None:
    """Every dataset that a run writes, the compaction in a process of its own, and reading before and after."""
    asked = ["--groups", "20", "--snapshots", "2", "--no-candidates", "--markdown"]
    assert benchmark.main(asked) == 0
    out = capfd.readouterr().out
    measured = re.findall(r"^\| `(\w+)` ", out, re.MULTILINE)
    assert measured == [*benchmark.SNAPSHOT, *benchmark.METRICS]
    assert "16 files into 8" in out
    assert re.search(r"reading, whole: \d+ ms, out of the day's file \d+ ms", out)
