"""How often groups commit, learned where no metrics remember it."""

from __future__ import annotations

import pytest

from evenkeel.engine.adapters.replay import Recording
from evenkeel.engine.config import Settings
from evenkeel.engine.errors import SnapshotNotFound
from evenkeel.engine.ports import Lake
from evenkeel.engine.steps.learning import LearningLake
from evenkeel.engine.steps.measure import compute_metrics, record_metrics
from tests.helpers.fleet.lake import Taken, write_taken
from tests.helpers.fluid import SITUATIONS, simulate, snapshots

SETTINGS = Settings(lookback=3)
COLUMNS = ["group_id", "commit_interval_seconds"]


@pytest.fixture(scope="module")
def every() -> list[Taken]:
    """Groups that show their commit interval, and that stop to."""
    names = ("skewed-withdrawn", "stopped", "unreadable", "vanished")
    return list(snapshots(simulate([SITUATIONS[name].group for name in names], 24)))


@pytest.fixture
def ids_and_lake(every: list[Taken]) -> tuple[list[str], Recording]:
    """Their snapshots, without metrics."""
    lake = Recording()
    return write_taken(lake, every), lake


def known(lake: Lake, snapshot_id: str) -> dict[str, float]:
    """The commit intervals of a snapshot."""
    rows = lake.read("group_metrics", [snapshot_id], columns=COLUMNS).to_pylist()
    pairs = [(row["group_id"], row["commit_interval_seconds"]) for row in rows]
    return {group: seconds for group, seconds in pairs if seconds is not None}


def test_what_is_learned_is_what_metrics_would_keep(every, ids_and_lake):
    """Snapshot by snapshot, also of a group that shows nothing within what is looked back on."""
    ids, lake = ids_and_lake
    measured, learning = Recording(), LearningLake(lake, SETTINGS)
    for one in write_taken(measured, every):
        record_metrics(measured, one, compute_metrics(measured, SETTINGS, one))
        learning.learn(one)
    found = [known(learning, one) for one in ids]

    assert found == [known(measured, one) for one in ids]
    assert len(found[-1]) >= 2


def test_nothing_is_written(ids_and_lake):
    """What is learned stays beside the lake."""
    ids, lake = ids_and_lake
    LearningLake(lake, SETTINGS).learn(ids[0])
    with pytest.raises(SnapshotNotFound):
        known(lake, ids[0])


def test_metrics_that_are_stored_are_taken_as_they_are(ids_and_lake):
    """The pipeline went by these."""
    ids, lake = ids_and_lake
    learning = LearningLake(lake, SETTINGS)
    own = compute_metrics(lake, SETTINGS, ids[0])
    record_metrics(learning, ids[0], {**own, "group_metrics": own["group_metrics"].slice(0, 0)})
    learning.learn(ids[0])
    assert known(learning, ids[0]) == {}
