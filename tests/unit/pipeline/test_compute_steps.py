"""Metrics and candidates in this process, as a small snapshot has them."""

from __future__ import annotations

import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Settings
from evenkeel.engine.model.errors import LakeError
from evenkeel.engine.pipeline import compute_steps, measure, stored_metrics
from evenkeel.engine.snapshots import METRICS, groups_with_past
from tests.helpers.snapshots import group, make_snapshot, store, topic

SETTINGS = Settings(lookback=3)
SNAPSHOTS = [
    make_snapshot(
        number=number,
        topics=[topic("t", 3, end=1000 + 400 * number)],
        groups=[
            group(name, members=2, lag={"t": [300 * number, 40, 0]}) for name in ("a", "b1", "b2")
        ],
    )
    for number in range(3)
]
NEWEST = SNAPSHOTS[-1].snapshot_id


@pytest.fixture
def lake(tmp_path):
    """A lake with three groups that fall behind."""
    made = FileLake(tmp_path / "lake")
    store(made, *SNAPSHOTS)
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
    """As steps of their own would, however many chunks there are; the manifest says who computed them."""
    monkeypatch.setattr(compute_steps, "CHUNK", chunk)
    compute(lake)
    written = rows_of(lake)
    expected = pipeline.compute_metrics(lake, SETTINGS, NEWEST)
    expected |= pipeline.propose_candidates(lake, SETTINGS, NEWEST)
    assert expected["candidates"]["forecast_lag_expected"].known.any()
    assert written == {name: table.to_pylist() for name, table in expected.items()}
    for step in ("metrics", "candidates"):
        assert lake.manifest(step, NEWEST).facts["computed_by"] == "evenkeel"
        assert pipeline.is_made(lake, SETTINGS, step, NEWEST)


@pytest.mark.parametrize(
    ("place", "name"),
    [(groups_with_past, "batch_of_tables"), (measure, "observe"), (stored_metrics, "_fits")],
)
def test_a_group_that_fails_costs_only_itself(lake, monkeypatch, place, name):
    """It has the reason, as in steps of their own, and the others have their rows."""
    compute(lake)
    before, do = rows_of(lake), getattr(place, name)

    def failing(groups, *others, **more):
        names = (
            groups["members"]["group_id"].to_pylist()
            if isinstance(groups, dict)
            else [header.group for header in groups.headers]
        )
        if "b1" in names:
            raise ArithmeticError("odd")
        return do(groups, *others, **more)

    monkeypatch.setattr(place, name, failing)
    with pipeline.in_this_process(lake, SETTINGS) as run:
        run(compute_steps.BOTH, NEWEST, "*")
        rows = rows_of(lake)
        for step in compute_steps.BOTH:
            run((step,), NEWEST, "*")
    assert rows == rows_of(lake)
    for dataset, own in before.items():
        assert others(rows[dataset]) == others(own)
    broken = [row["reason"] for row in rows["candidates"] if row["group_id"] == "b1"]
    assert all("ArithmeticError: odd" in reason for reason in broken)
    assert broken


def others(rows):
    """The rows of the groups that do not fail."""
    return [row for row in rows if row["group_id"] != "b1"]


def test_a_run_that_fails_leaves_what_was_there(lake, monkeypatch):
    """Neither the metrics nor the candidates of a run that did not make all of both are read."""
    compute(lake)
    before = rows_of(lake)

    def fails(*_, **__):
        raise LakeError("the lake is full.")

    monkeypatch.setattr(compute_steps, "propose_chunk", fails)
    with (
        pytest.raises(LakeError),
        pipeline.in_this_process(lake, Settings(lookback=2)) as run,
    ):
        run(compute_steps.BOTH, NEWEST, "*")
    assert rows_of(lake) == before
    assert pipeline.is_made(lake, SETTINGS, "metrics", NEWEST)


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
