"""How a Spark step cuts a snapshot's groups, without Spark."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.config import Settings
from evenkeel.engine.snapshots.chunks import CHUNK
from evenkeel.spark_tasks import chunk_tasks, propose_candidates
from tests.helpers.snapshots import group, make_snapshot, store, topic

TASKS = 4
SPARK = SimpleNamespace(conf=SimpleNamespace(get={"spark.sql.shuffle.partitions": f"{TASKS}"}.get))
"""A session that says how many tasks run at once."""


def test_ten_small_groups_are_one_task(tmp_path, monkeypatch):
    """Another task would begin another Python worker, which takes longer than the work on all ten."""
    lake, chunks = FileLake(tmp_path / "lake"), []
    small = [group(f"g{n}", members=4, topics=["t"]) for n in range(10)]
    snapshot = make_snapshot(topics=[topic("t", 100)], groups=small)
    store(lake, snapshot)
    only = snapshot.snapshot_id
    pipeline.record_metrics(lake, only, pipeline.compute_metrics(lake, Settings(), only))
    monkeypatch.setattr(
        chunk_tasks, "on_workers", lambda spark, cut, make: chunks.extend(cut) or []
    )

    propose_candidates.run(SPARK, lake, Settings(), only)

    assert [(len(chunk.groups), chunk.work) for chunk in chunks] == [(10, 10 * (1 + 100 + 4))]


@pytest.mark.parametrize(
    ("groups", "each", "sizes"),
    [
        (10, 200, [10]),
        (10, 201, [9, 1]),
        (20, 1_900, [2] * 10),
        (30, CHUNK // 2, [2] * 15),
        (0, 1, []),
    ],
)
def test_chunks_are_neither_too_small_for_a_task_nor_too_large_for_a_worker(groups, each, sizes):
    """So many that all tasks have some; fewer where that leaves too little for each, more where memory ends."""
    work = {f"g{n}": each for n in range(groups)}

    chunks = chunk_tasks.plan(SPARK, work, propose_candidates.SMALLEST)

    assert [len(chunk.groups) for chunk in chunks] == sizes
