"""Past snapshots judged again on Spark: what the command makes in its own process."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenkeel.engine.datasets import split_snapshot_id
from evenkeel.engine.ports import ALL
from evenkeel.engine.steps.backfilled import Judged, Stretch, judge_stretch
from evenkeel.engine.steps.chunks import work_of
from evenkeel.spark_tasks import backfill
from tests.integration.spark_tasks.lakes import NEWEST, SETTINGS, make_lake, measure_newest

pytestmark = pytest.mark.spark


@pytest.mark.parametrize("smallest", [1, 1_000_000])
def test_what_workers_make_is_what_the_plain_form_makes(spark, tmp_path, smallest, monkeypatch):
    """The same rows of groups and of candidates, however many tasks share the work; the lake is only read."""
    monkeypatch.setattr(backfill, "SMALLEST", smallest)
    lake = make_lake(tmp_path)
    measure_newest(lake)
    cluster = split_snapshot_id(NEWEST)[0]
    ids = tuple(lake.snapshots(cluster, limit=ALL)[::-1])
    stretch = Stretch(
        cluster=cluster,
        ids=ids[2:],
        earlier=ids[:2][::-1],
        covered_seconds=dict.fromkeys(ids[2:], 300.0),
        proposed=frozenset(ids[-1:]),
        learned={"racks": 17.0},
    )
    work = work_of(lake, NEWEST)
    before = files(tmp_path)
    expected = judge_stretch(lake, SETTINGS, stretch, list(work))
    judged = backfill.judge_on(spark, lake, SETTINGS)(stretch, work)

    assert rows(judged) == rows(expected)
    assert len({row["taken_at"] for row in judged.groups.to_pylist()}) == len(ids) - 2
    assert {row["diagnosis_then"] is None for row in judged.groups.to_pylist()} == {True, False}
    assert len({row["strategy"] for row in judged.candidates.to_pylist()}) > 5
    assert files(tmp_path) == before


def files(folder: Path) -> dict[Path, int]:
    """When each file was written."""
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


def rows(judged: Judged) -> tuple[list[dict], list[dict]]:
    """What was made, in order of snapshots and groups."""
    key = [("taken_at", "ascending"), ("group_id", "ascending")]
    groups = judged.groups.sort_by(key).to_pylist()
    of_strategies = judged.candidates.sort_by([*key, ("strategy", "ascending")]).to_pylist()
    return groups, of_strategies
