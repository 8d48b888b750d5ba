"""Metrics and candidates in this process, as a small snapshot has them."""

from __future__ import annotations

import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline import compute_steps
from evenkeel.engine.snapshots import METRICS
from tests.helpers.snapshots import group, make_snapshot, store, topic

SETTINGS = Settings()
SNAPSHOT = make_snapshot(
    topics=[topic("t", 3)],
    groups=[group(name, members=2, topics=["t"]) for name in ("a", "b1", "b2")],
)
NEWEST = SNAPSHOT.snapshot_id


@pytest.fixture
def lake(tmp_path):
    """A lake with three groups."""
    made = FileLake(tmp_path / "lake")
    store(made, SNAPSHOT)
    return made


def compute(lake, pattern="*"):
    """Both steps, here."""
    here = pipeline.in_this_process(lake, SETTINGS)
    pipeline.compute(lake, SETTINGS, NEWEST, pattern, (), here, lambda line: None)


def rows_of(lake):
    """All rows of both steps."""
    return {name: lake.read(name, [NEWEST]).to_pylist() for name in [*METRICS, "candidates"]}


@pytest.mark.parametrize("chunk", [1, 50_000])
def test_it_writes_the_rows_of_both_steps(lake, monkeypatch, chunk):
    """In their order, however many chunks there are, and the manifest says who computed them."""
    monkeypatch.setattr(compute_steps, "CHUNK", chunk)
    compute(lake)
    written = rows_of(lake)
    expected = pipeline.compute_metrics(lake, SETTINGS, NEWEST)
    expected |= pipeline.propose_candidates(lake, SETTINGS, NEWEST)
    assert written == {name: table.to_pylist() for name, table in expected.items()}
    for step in ("metrics", "candidates"):
        assert lake.manifest(step, NEWEST).facts["computed_by"] == "evenkeel"
        assert pipeline.is_made(lake, SETTINGS, step, NEWEST)


def test_a_pattern_keeps_the_rows_of_other_groups(lake):
    """They stand below those that were computed."""
    compute(lake)
    before = lake.read("group_metrics", [NEWEST]).to_pylist()
    compute(lake, "b*")
    assert lake.read("group_metrics", [NEWEST]).to_pylist() == [*before[1:], before[0]]
    assert pipeline.is_made(lake, SETTINGS, "candidates", NEWEST, "b*")


@pytest.mark.parametrize(("pattern", "size"), [("*", 18), ("b*", 12), ("none", 0)])
def test_the_size_of_a_snapshot_is_that_of_its_groups(lake, pattern, size):
    """Each group counts with its partitions, its members and itself."""
    assert pipeline.size_of(lake, NEWEST, pattern) == size
