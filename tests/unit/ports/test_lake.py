"""What every lake promises: a folder, something like S3, and the snapshots of a recording."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.model.errors import LakeError, SnapshotNotFound
from evenkeel.engine.model.tables import Table, empty
from evenkeel.engine.ports import Lake, WrittenPart
from evenkeel.engine.snapshots import METRICS, SNAPSHOT
from tests.helpers.object_store import lake_in_store
from tests.helpers.snapshots import group, make_snapshot, snapshot_id, store, topic

ONLY = snapshot_id(0)


@pytest.fixture(params=["folder", "store", "memory"])
def lake(request: pytest.FixtureRequest, tmp_path: Path) -> Lake:
    """An empty lake of each kind."""
    if request.param == "memory":
        return Recording()
    return FileLake(tmp_path / "lake") if request.param == "folder" else lake_in_store(tmp_path)[0]


def metrics(*names: str, lag: int = 0) -> dict[str, Table]:
    """Tables of the step `metrics` with a row for each of some groups, and two partitions of each."""
    keys = [dict(snapshot_id=ONLY, cluster="test", group_id=name) for name in names]
    rows: dict[str, list[Any]] = {
        "group_metrics": [key | {"total_lag": lag} for key in keys],
        "member_metrics": [],
        "partition_metrics": [
            key | {"topic": f"of-{key['group_id']}", "partition": p, "lag": lag}
            for key in keys
            for p in range(2)
        ],
    }
    return {name: Table.from_rows(rows.get(name, []), schema) for name, schema in METRICS.items()}


def part(lake: Lake, run: str, number: int, *names: str, lag: int = 0) -> WrittenPart:
    """Write a part of the metrics."""
    return lake.write_part("metrics", ONLY, run, number, metrics(*names, lag=lag))


def measured(lake: Lake) -> list[str]:
    """The groups that have metrics, in the order in which they are read."""
    return lake.read("group_metrics", [ONLY])["group_id"].to_pylist()


def test_parts_are_seen_when_they_are_finished_and_read_in_their_order(lake: Lake) -> None:
    """Whatever order they were written in; the manifest counts the rows of all."""
    late = part(lake, "a", 1, "c", "a")
    early = part(lake, "a", 0, "d", "b")
    with pytest.raises(SnapshotNotFound):
        measured(lake)
    manifest = lake.finish("metrics", ONLY, "a", [late, early], {"why": "test"})
    assert measured(lake) == ["d", "b", "c", "a"]
    assert manifest.rows == {
        "group_metrics": 4,
        "member_metrics": 0,
        "partition_metrics": 8,
        "rebalances": 0,
    }
    assert lake.manifest("metrics", ONLY) == manifest
    assert manifest.facts == {"why": "test"}


def test_a_part_written_twice_counts_once(lake: Lake) -> None:
    """A task that runs again replaces what it wrote: the one handed in last is read."""
    part(lake, "a", 0, "x", lag=1)
    first, second = part(lake, "a", 0, "x", lag=2), part(lake, "a", 0, "x", lag=3)
    lake.finish("metrics", ONLY, "a", [first, second], {})
    assert lake.read("group_metrics", [ONLY])["total_lag"].to_pylist() == [3]


def test_a_run_replaces_another_whole(lake: Lake) -> None:
    """Also one of fewer parts, and one of none."""
    lake.finish("metrics", ONLY, "a", [part(lake, "a", n, f"g{n}") for n in range(3)], {})
    lake.finish("metrics", ONLY, "b", [part(lake, "b", 0, "g9")], {})
    assert measured(lake) == ["g9"]
    lake.finish("metrics", ONLY, "c", [], {})
    assert measured(lake) == []
    assert lake.read("partition_metrics", [ONLY]).schema == METRICS["partition_metrics"]


def test_parts_of_two_runs_are_not_finished_together(lake: Lake) -> None:
    """What was there stays."""
    lake.finish("metrics", ONLY, "a", [part(lake, "a", 0, "x")], {})
    mixed = [part(lake, "b", 0, "y"), part(lake, "c", 1, "z")]
    with pytest.raises(LakeError, match=r"part 1 .*run"):
        lake.finish("metrics", ONLY, "b", mixed, {})
    assert measured(lake) == ["x"]


def test_only_some_groups_topics_and_columns_are_read(lake: Lake) -> None:
    """Rows keep their order, columns come as asked for; nobody is in no group."""
    two = [group(name, lag={f"of-{name}": [1, 2], "all": [3]}) for name in "abc"]
    topics = [topic("all"), *(topic(f"of-{name}", 2) for name in "abc")]
    ids = store(lake, *(make_snapshot(topics=topics, groups=two, number=n) for n in (0, 1)))
    whole = lake.read("commits", ids)

    some = lake.read("commits", ids, groups={"c", "a", "nobody"})
    assert some.equals(whole.filter(~whole["group_id"].equal("b")))
    some = lake.read("commits", ids, groups=["b"], topics=["of-b"], columns=["partition", "topic"])
    assert some.to_pylist() == [{"partition": p, "topic": "of-b"} for p in (0, 1, 0, 1)]
    assert [*some.schema.items()] == [(n, SNAPSHOT["commits"][n]) for n in ("partition", "topic")]
    some = lake.read("partitions", ids[:1], topics=("all",), columns=["end_offset"])
    assert some.to_pylist() == [{"end_offset": 1000}]
    assert lake.read("members", ids, groups=[]).equals(empty(SNAPSHOT["members"]))


@pytest.mark.parametrize(
    "asked", [{"columns": ["nonsense"]}, {"groups": ["a"]}, {"groups": [], "columns": ["topic"]}]
)
def test_a_column_that_a_dataset_does_not_have_is_named(lake: Lake, asked: Any) -> None:
    """Asked for, or asked about."""
    ids = store(lake, make_snapshot(topics=[topic("t")]))
    with pytest.raises(LakeError, match=r"nonsense|group_id"):
        lake.read("partitions", ids, **asked)
