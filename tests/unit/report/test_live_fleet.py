"""A live cluster as numbers: simulated groups, each in a situation whose answer is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from evenkeel.engine.adapters.memory import MemoryHistory
from evenkeel.engine.adapters.recording import RecordedCluster, Recording
from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.pipeline.pipeline import Ran
from evenkeel.engine.pipeline.whatif import PastDay, RememberedDays, seen_of, sizes_of
from evenkeel.engine.ports import ServedGroup
from evenkeel.engine.report import live_fleet
from evenkeel.engine.report.live_fleet import LiveFleet
from tests.helpers.fluid import CLUSTER, simulate, snapshots
from tests.helpers.fluid.plan import Capacity, Leave, members, steady, topics
from tests.helpers.lake_snapshots import write_taken

pytestmark = pytest.mark.slow

SNAPSHOTS = 20

SETTINGS = Settings()

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
            RecordedCluster(lake, ids), Recording(), MemoryHistory(), SETTINGS, CLUSTER
        )

    return of


def served(fleet: LiveFleet) -> Mapping[str, ServedGroup]:
    """The groups of the next snapshot."""
    [cluster] = fleet.look()
    return {group.group_id: group for group in cluster.groups}


def noting(asked: list[str], size: Callable[..., object]) -> Callable[..., object]:
    """As `LiveFleet._size`, and which group was asked about."""
    return lambda seen, *more: asked.append(seen.group.group) or size(seen, *more)


def test_more_members_help_where_they_do(fleet):
    """A group that is too small needs as many as keep up; a hot partition or a full house is not helped."""
    live = fleet(SMALL, HOT, FULL)
    for _ in range(12):
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
    for _ in range(16):
        [cluster] = live.look()
        checked.append({ahead: known for ahead, (_, known) in cluster.held.items()})
        assert all(0 <= inside <= known for inside, known in cluster.held.values())
    assert checked[2] == {900.0: 0, 3600.0: 0}
    assert checked[-1][900.0] > checked[-1][3600.0] > 0


def test_a_group_that_keeps_up_has_the_numbers_of_a_full_replay(fleet, monkeypatch):
    """Though its strategy is asked about one number of members at most, and again only if the group has changed."""
    wide = replace(steady(topics=topics(3, 4, 10), members=members(6, 100)), name="wide")
    sticky = replace(wide, strategy="sticky", name="sticky")
    few = replace(sticky, members=members(14, 100), name="few")
    apart = replace(
        steady(topics=topics(2, 6, 10), strategy="roundrobin", name="apart"),
        members=(*members(3, 100), replace(members(1, 100)[0], topics=("t0",))),
    )
    late = steady(
        name="late",
        events=(
            Capacity(at=3000, members=(0,), factor=0.2),
            Capacity(at=4500, members=(0,), factor=1),
        ),
    )
    groups = (steady(name="even"), wide, sticky, few, apart, late)
    live = fleet(*groups, SMALL)
    asked, ran, ask = list[str](), list[Ran](), live._ask
    monkeypatch.setattr(live, "_ask", lambda *given: ran.append(given[0]) or ask(*given))
    monkeypatch.setattr(live, "_size", noting(asked, live._size))
    seen = set[Diagnosis]()
    for look in range(SNAPSHOTS):
        found = served(live)
        seen.add(found["late"].diagnosis)
        if look % 4 != 3:
            continue
        every = {
            one.group.group: one for made in ran[look].looked for one in seen_of(SETTINGS, *made)
        }
        for name in (group.name for group in groups):
            group, whole = found[name], every[name]
            if group.diagnosis not in (Diagnosis.HEALTHY, Diagnosis.CATCHING_UP):
                continue
            strategy = live_fleet._asked_of(whole)
            full = sizes_of(SETTINGS, whole, (), strategy)
            assert full.keeps_up
            assert group.members_useful == full.most, name
            assert group.members_needed == min(group.members, full.most), name
            assert group.scaling_helps is False, name
    assert {Diagnosis.HEALTHY, Diagnosis.CATCHING_UP} <= seen
    assert Counter(asked)["even"] == Counter(asked)["sticky"] == 0
    assert Counter(asked)["wide"] == Counter(asked)["apart"] == 2
    assert Counter(asked)["small"] > SNAPSHOTS / 2


def test_after_a_day_fewer_members_are_asked_about_once_an_hour(fleet, monkeypatch):
    """What then keeps up with the peak of the day is served until the next time."""
    monkeypatch.setattr(
        RememberedDays, "of", lambda *_: PastDay(covered_seconds=86_400, peak_per_second=150)
    )
    live = fleet(steady(topics=topics(1, 4, 30), members=members(4, 100), name="even"))
    able = Rule(groups="*", capacity_per_second=100)
    monkeypatch.setattr(live, "settings", Settings(rules=(able,)))
    asked = list[str]()
    monkeypatch.setattr(live, "_size", noting(asked, live._size))
    for _ in range(SNAPSHOTS):
        found = served(live)
    assert found["even"].members_needed == 2
    assert found["even"].scaling_helps is False
    hours = SNAPSHOTS * 300 / 3600
    assert 1 < len(asked) <= hours + 2


def test_groups_take_turns_when_there_are_too_many_to_ask(fleet, monkeypatch):
    """Who was not asked yet comes first; an answer stays until the group's turn comes again."""
    monkeypatch.setattr(live_fleet, "ASKED", 1)
    live = fleet(SMALL, HOT, FULL)
    asked = list[str]()
    monkeypatch.setattr(live, "_size", noting(asked, live._size))
    for _ in range(12):
        served(live)
    assert all({*asked[at : at + 3]} == {"small", "hot", "full"} for at in range(3, len(asked) - 3))
    assert 6 < len(asked) <= 12


def test_a_group_that_is_too_large_or_cannot_be_asked_takes_no_turn_of_others(fleet, monkeypatch):
    """Larger than what a look may cost, it has its own; without members it costs nothing."""
    monkeypatch.setattr(live_fleet, "ASKED", 5)
    gone = replace(SMALL, name="gone", events=(Leave(at=0, members=(0, 1)),))
    live = fleet(SMALL, HOT, gone)
    for _ in range(SNAPSHOTS):
        found = served(live)
    assert found["small"].members_needed is not None
    assert found["hot"].scaling_helps is False
    assert found["gone"].members_needed is None
    # its last commit is older than what it is looked back on
    assert found["gone"].time_lag_seconds is None
    assert found["gone"].time_lag_at_least_seconds >= 2 * Settings().lookback * 300
    assert found["small"].time_lag_seconds > found["small"].delay_seconds > 0
    assert found["small"].time_lag_at_least_seconds is None


def test_what_nobody_looks_back_on_is_forgotten(fleet):
    """The memory does not grow with the number of snapshots."""
    live = fleet(FULL)
    for _ in range(SNAPSHOTS):
        served(live)
    kept = Settings().lookback + 1
    assert len(live._lake.lake.snapshots(CLUSTER, limit=99)) == kept
    assert len(live.history.tables.snapshots) == len(live.history.tables.advice) == kept
