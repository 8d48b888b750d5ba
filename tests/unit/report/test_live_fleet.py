"""A live cluster as numbers: simulated groups, each in a situation whose answer is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from evenkeel.engine.adapters.memory import MemoryHistory
from evenkeel.engine.adapters.recording import RecordedCluster, Recording
from evenkeel.engine.config import Settings
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.ports import ServedGroup
from evenkeel.engine.report import live_fleet
from evenkeel.engine.report.live_fleet import LiveFleet
from tests.helpers.fluid import CLUSTER, simulate, snapshots
from tests.helpers.fluid.plan import Leave, members, steady, topics
from tests.helpers.lake_snapshots import write_taken

pytestmark = pytest.mark.slow

SNAPSHOTS = 20

SMALL = replace(steady(topics=topics(1, 8, 20), members=members(2, 50)), name="small")
"""160 records/s arrive, two members do 100; it takes four."""
HOT = replace(
    steady(
        topics=(*topics(1, 7, 5), replace(topics(1, 1, 90)[0], name="hot")), members=members(3, 50)
    ),
    name="hot",
)
"""One partition of eight gets 90 records/s, and no member does more than 50."""
FULL = replace(steady(topics=topics(1, 4, 30), members=members(4, 20)), name="full")
"""Each of four members has one partition, and each does less than arrives there."""

Fleet = Callable[..., LiveFleet]


@pytest.fixture
def fleet(monkeypatch: pytest.MonkeyPatch) -> Fleet:
    """A cluster that replays these groups, its snapshots under their own times."""

    def of(*groups: object) -> LiveFleet:
        lake = Recording()
        ids = list(write_taken(lake, snapshots(simulate(list(groups), SNAPSHOTS))))
        names = iter(ids)
        monkeypatch.setattr(
            "evenkeel.engine.pipeline.snapshot.new_snapshot_id", lambda *_: next(names)
        )
        return LiveFleet(
            RecordedCluster(lake, ids), Recording(), MemoryHistory(), Settings(), CLUSTER
        )

    return of


def served(fleet: LiveFleet) -> Mapping[str, ServedGroup]:
    """The groups of the next snapshot."""
    [cluster] = fleet.look()
    return {group.group_id: group for group in cluster.groups}


def test_more_members_help_where_they_do(fleet):
    """A group that is too small needs as many as keep up; a hot partition or a full house is not helped."""
    live = fleet(SMALL, HOT, FULL)
    for _ in range(SNAPSHOTS):
        found = served(live)
    small, hot, full = (found[name] for name in ("small", "hot", "full"))
    assert small.diagnosis is Diagnosis.UNDER_PROVISIONED
    assert (small.members, small.members_needed, small.members_useful) == (2, 4, 8)
    assert small.scaling_helps is True
    assert small.capacity_per_second == pytest.approx(100, rel=0.05)
    assert hot.diagnosis is Diagnosis.HOT_PARTITION
    assert (hot.members_needed, hot.scaling_helps) == (None, False)
    assert (full.members_useful, full.scaling_helps) == (4, False)


def test_forecasts_are_held_against_what_came(fleet):
    """Those of 15 minutes are due first."""
    live = fleet(SMALL)
    checked = []
    for _ in range(SNAPSHOTS):
        [cluster] = live.look()
        checked.append({ahead: known for ahead, (_, known) in cluster.held.items()})
        assert all(0 <= inside <= known for inside, known in cluster.held.values())
    assert checked[2] == {900.0: 0, 3600.0: 0}
    assert checked[-1][900.0] > checked[-1][3600.0] > 0


def test_groups_take_turns_when_there_are_too_many_to_ask(fleet, monkeypatch):
    """Who was not asked yet comes first; an answer stays until the group's turn comes again."""
    monkeypatch.setattr(live_fleet, "ASKED", 11)
    live = fleet(SMALL, HOT, FULL)
    asked, size = list[str](), live._size
    monkeypatch.setattr(
        live, "_size", lambda seen, of: asked.append(seen.group.group) or size(seen, of)
    )
    for _ in range(6):
        served(live)
    # 8 partitions and 2 or 3 members each, or 4 and 4
    assert {*asked[:3]} == {"small", "hot", "full"}
    assert len(asked) == 6


def test_a_group_that_is_too_large_or_cannot_be_asked_takes_no_turn_of_others(fleet, monkeypatch):
    """Larger than what a look may cost, it has its own; without members it costs nothing."""
    monkeypatch.setattr(live_fleet, "ASKED", 5)
    gone = replace(SMALL, name="gone", events=(Leave(at=0, members=(0, 1)),))
    live = fleet(SMALL, HOT, gone)
    for _ in range(8):
        found = served(live)
    assert found["small"].members_needed is not None
    assert found["hot"].scaling_helps is False
    assert found["gone"].members_needed is None


def test_what_nobody_looks_back_on_is_forgotten(fleet):
    """The memory does not grow with the number of snapshots."""
    live = fleet(FULL)
    for _ in range(SNAPSHOTS):
        served(live)
    kept = Settings().lookback + 1
    assert len(live._lake.lake.snapshots(CLUSTER, limit=99)) == kept
    assert len(live.history.tables.snapshots) == len(live.history.tables.advice) == kept
