"""A file of an earlier snapshot that is damaged or gone: what looks back goes on without that snapshot."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import ClusterSettings, Settings
from evenkeel.engine.model.errors import LakeError
from evenkeel.engine.pipeline.evaluate_groups import judge_groups
from tests.helpers.snapshots import group, make_snapshot, store, topic

SETTINGS = Settings(clusters={"test": ClusterSettings(bootstrap="b:9092")})


def stored(lake: FileLake) -> list[str]:
    """Four snapshots of a group that does nothing any more and of one that is gone from the second on."""
    ids = list[str]()
    for number in range(4):
        names = ("orders-app", "gone") if number == 0 else ("orders-app",)
        groups = [group(name, members=1, committed={"orders": [1000]}) for name in names]
        end = 1000 * (number + 1)
        made = make_snapshot(number=number, topics=[topic("orders", end=end)], groups=groups)
        ids += store(lake, made)
    return ids


@pytest.mark.parametrize("how", ["cut", "removed"])
@pytest.mark.parametrize("dataset", ["groups", "members", "partitions", "commits"])
def test_a_damaged_snapshot_is_left_out_of_the_past(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, dataset: str, how: str
) -> None:
    """The newest is evaluated and measured, by the others; the log says in a line what is damaged."""
    lake = FileLake(tmp_path)
    _, _, damaged, newest = stored(lake)
    (path,) = (tmp_path / dataset).rglob(f"{damaged}*.parquet")
    if how == "cut":
        os.truncate(path, path.stat().st_size // 2)
    else:
        path.unlink()
    judged = judge_groups(lake, SETTINGS, newest)
    assert "gone" in judged.odd
    (row,) = pipeline.compute_metrics(lake, SETTINGS, newest)["group_metrics"].to_pylist()
    assert row["production_per_second"] > 0
    told = [record for record in caplog.records if damaged in record.getMessage()]
    assert told
    assert all(record.exc_info is None for record in told)


def test_a_newest_snapshot_that_is_damaged_is_an_error(tmp_path: Path) -> None:
    """Nothing is said of groups that cannot be read."""
    lake = FileLake(tmp_path)
    *_, newest = stored(lake)
    (path,) = (tmp_path / "commits").rglob(f"{newest}*.parquet")
    path.unlink()
    for step in (judge_groups, pipeline.compute_metrics):
        with pytest.raises(LakeError, match="is gone"):
            step(lake, SETTINGS, newest)
