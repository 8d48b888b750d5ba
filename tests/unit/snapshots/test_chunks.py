"""Work is estimated per group, and groups are cut into chunks by it."""

from __future__ import annotations

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.snapshots.chunks import cut, work_of
from tests.helpers.snapshots import group, make_snapshot, store, topic


def test_work_counts_what_strategies_work_on(tmp_path):
    """Subscribed partitions count even without a commit, commits even without a member."""
    snapshot = make_snapshot(
        topics=[topic("wide", 50), topic("small", 2)],
        groups=[
            group("idle", members=3, topics=["wide"]),
            group("left", committed={"small": 5}),
            group("nothing"),
        ],
    )
    lake = FileLake(tmp_path / "lake")
    store(lake, snapshot)
    assert work_of(lake, snapshot.snapshot_id) == {"idle": 1 + 50 + 3, "left": 1 + 2, "nothing": 1}
    assert work_of(lake, snapshot.snapshot_id, "l*") == {"left": 1 + 2}


def test_a_giant_group_is_a_chunk_of_its_own():
    """One group heavier than a chunk shares with nobody, and no other waits for it."""
    chunks = cut({"a": 3, "giant": 100, "b": 3, "c": 3}, 10)
    assert [chunk.groups for chunk in chunks] == [("a",), ("giant",), ("b", "c")]


def test_chunks_are_numbered_in_listing_order_and_lose_nobody():
    """Every group is in one chunk, and no chunk that could be smaller is too large."""
    work = {f"g{i}": i % 7 + 1 for i in range(100)}
    chunks = cut(work, 20)
    assert [name for chunk in chunks for name in chunk.groups] == list(work)
    assert [chunk.number for chunk in chunks] == list(range(len(chunks)))
    assert all(chunk.work == sum(work[name] for name in chunk.groups) <= 20 for chunk in chunks)


def test_no_group_needs_no_chunk():
    """An empty snapshot is cut into nothing."""
    assert cut({}, 5) == []
