"""Work is estimated per group and packed so that tasks are about equal."""

from __future__ import annotations

from evenkeel.spark_tasks.packing import costs_of, pack
from tests.helpers.snapshots import group, make_snapshot, topic


def test_cost_counts_what_strategies_work_on():
    """Subscribed partitions count even without a commit, commits even without a member."""
    snapshot = make_snapshot(
        topics=[topic("wide", 50), topic("small", 2)],
        groups=[
            group("idle", members=3, topics=["wide"]),
            group("left", committed={"small": 5}),
            group("nothing"),
        ],
    )
    assert costs_of(["nothing", "idle", "left"], snapshot.tables) == {
        "nothing": 1,
        "idle": 1 + 50 + 3,
        "left": 1 + 2,
    }


def test_a_heavy_group_gets_a_bucket_of_its_own():
    """One group as heavy as all others together shares with nobody."""
    packed = pack({"heavy": 100, **{f"g{i}": 10 for i in range(10)}}, 2)
    assert [name for name, bucket in packed.items() if bucket == packed["heavy"]] == ["heavy"]


def test_buckets_are_filled_evenly():
    """The fullest bucket exceeds the emptiest by at most one group's cost."""
    costs = {f"g{i}": i % 7 + 1 for i in range(100)}
    packed = pack(costs, 8)
    loads = [sum(costs[n] for n, b in packed.items() if b == bucket) for bucket in range(8)]
    assert max(loads) - min(loads) <= 7


def test_packing_does_not_depend_on_the_order_of_groups():
    """The same groups in another order go to the same buckets."""
    costs = {"a": 3, "b": 3, "c": 1}
    assert pack(costs, 2) == pack(dict(reversed(costs.items())), 2)


def test_no_group_needs_no_bucket():
    """An empty snapshot packs to nothing."""
    assert pack({}, 0) == {}
