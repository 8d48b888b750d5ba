"""What a report shows of many snapshots in a row."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evenkeel.engine.adapters.memory import MemoryHistory
from evenkeel.engine.adapters.recording import Recording, open_recording
from evenkeel.engine.cli.local_mode import judge
from evenkeel.engine.cli.sources import from_lake
from evenkeel.engine.config import Settings
from evenkeel.engine.messages.wording import because
from evenkeel.engine.model.assignments import Verdict
from evenkeel.engine.model.states import Diagnosis
from evenkeel.engine.report.from_history import stored_report
from evenkeel.engine.report.report import report
from tests.helpers.fluid import CLUSTER, EVERY, SITUATIONS, simulate, snapshots
from tests.helpers.lake_snapshots import write_taken

pytestmark = pytest.mark.slow

RECORDING = Path(__file__).parents[2] / "data" / "cluster-recording.evenkeel"
NOW = datetime(2026, 3, 3, tzinfo=UTC)
NAMES = ("skewed-load", "healthy-locked", "vanished", "racks-much", "slow-member")


@pytest.fixture(scope="module")
def history():
    """What the walk leaves."""
    return MemoryHistory()


@pytest.fixture(scope="module")
def fleet(history):
    """Some groups over two and a half hours; one that is gone after five hours is gone before their end."""
    lake = Recording()
    groups = {name: SITUATIONS[name].group for name in NAMES}
    gone = groups["vanished"]
    sooner = (replace(event, at=event.at - 31 * EVERY) for event in gone.events)
    groups["vanished"] = replace(gone, events=tuple(sooner))
    write_taken(lake, snapshots(simulate([*groups.values()], 31)))
    return report(lake, history, Settings(), CLUSTER, NOW, "fluid")


@pytest.fixture
def groups(fleet):
    """The same by name."""
    return {group.group_id: group for group in fleet.groups}


def test_groups_are_told_whether_they_can_move_to_the_consumer_protocol(fleet):
    """Those of the newest snapshot, in their order."""
    assert fleet.readiness is not None
    assert {row.group_id for row in fleet.readiness.groups} == set(NAMES) - {"vanished"}
    assert [row.place for row in fleet.readiness.groups] == [1, 2, 3, 4]
    assert fleet.readiness.brokers


def test_every_group_that_was_ever_there(fleet, groups):
    """One that is gone is last, and says since when; what was the matter with it before is no date of that."""
    assert groups.keys() == set(NAMES)
    assert fleet.groups[-1].group_id == "vanished"
    gone = groups["vanished"]
    assert gone.gone_since in fleet.taken_at
    assert (gone.diagnosis, gone.diagnosed_at, gone.at_least) == (Diagnosis.UNKNOWN, None, False)
    assert gone.now.lag is None
    assert gone.standings[0] is not None
    assert gone.standings[-1] is None


def test_the_advised_switch(groups):
    """Who owns what now and afterwards: nobody gains or loses a partition or an offset on the way."""
    group = groups["skewed-load"]

    assert group.advice.verdict is Verdict.SWITCH
    assert group.diagnosis is Diagnosis.SKEWED_LOAD
    assert group.open_incident is not None
    assert sum(one.gets for one in group.loads) == sum(one.gives for one in group.loads) > 0
    assert sum(one.partitions_after for one in group.loads) == 12
    assert sum(one.lag_after for one in group.loads) == group.now.lag
    assert max(one.lag_after for one in group.loads) < max(one.lag for one in group.loads)
    assert {move.from_member for move in group.advice.moves} <= {one.name for one in group.loads}


def test_without_advice_nothing_changes_hands(groups):
    """What would be afterwards is not known, not the same."""
    assert groups["healthy-locked"].advice.verdict is Verdict.STAY
    assert {one.partitions_after for one in groups["healthy-locked"].loads} == {None}


def test_all_strategies_are_compared_whoever_is_well(groups):
    """Also of a group that nobody would advise anything."""
    assert len([one for one in groups["healthy-locked"].strategies if one.feasible]) > 5
    assert groups["healthy-locked"].strategies[0].name == "live"


def test_the_reason_to_stay_takes_all_strategies():
    """What `evenkeel advise` says of a group that nobody would advise anything, the report says, too."""
    lake = open_recording(RECORDING)
    source = from_lake(Settings(), lake, None, str(RECORDING))
    advised = {one.advice.group: one.advice for one in judge(source, "racks-*")}
    asked = (source.settings, source.cluster, NOW, "recording", "racks-*")
    looked_at = report(lake, MemoryHistory(), *asked)

    assert advised.keys() == {group.group_id for group in looked_at.groups}
    for group in looked_at.groups:
        expected = advised[group.group_id]
        assert (group.advice.verdict, group.advice.strategy) == (
            expected.verdict,
            expected.strategy,
        )
        assert group.advice.reason == because(expected.facts)


def test_what_came_of_forecasts(fleet, groups):
    """Each has its moment; the last looks an hour ahead; most held."""
    bands = groups["skewed-load"].forecasts
    assert [band.due for band in bands] == sorted(band.due for band in bands)
    assert bands[-1].due - bands[-1].made_at == timedelta(hours=1)
    assert bands[0].due - bands[0].made_at == timedelta(minutes=15)
    inside, known = fleet.held[900.0]
    assert 0 < inside <= known


def test_racks_where_they_are_known(groups):
    """Every owned partition is counted once; nobody tells its rack, nothing is shown."""
    racks = groups["racks-much"].racks
    assert sum(map(sum, racks.counts)) == groups["racks-much"].partitions
    assert len(racks.local) == len(racks.members)
    assert groups["skewed-load"].racks is None


def test_what_was_told_is_by_group(groups):
    """Incidents and advice with their time; of what names many, what is wrong with this one."""
    kinds = {one.kind for one in groups["skewed-load"].happenings}
    assert "switch" in kinds
    assert kinds & {"opened", "digest"}
    assert groups["healthy-locked"].happenings == ()


def test_what_a_history_in_memory_knows_is_shown(fleet, groups):
    """Also what became of advice that nobody was told."""
    kinds = [one.kind for one in groups["skewed-load"].happenings]
    assert kinds.index("proposed") < kinds.index("switch")
    assert fleet.failures is None
    assert [one.groups for one in fleet.snapshots[:1]] == [len(NAMES)]


def test_one_group_alone_is_as_in_the_whole(history, fleet, groups):
    """The rows of one group are asked for by its name."""
    alone = stored_report(history, CLUSTER, group="skewed-load", now=NOW)
    (group,) = alone.groups
    assert alone.taken_at == fleet.taken_at
    assert (group.standings, group.loads, group.advice, group.strategies) == (
        groups["skewed-load"].standings,
        groups["skewed-load"].loads,
        groups["skewed-load"].advice,
        groups["skewed-load"].strategies,
    )


def test_the_newest_snapshots_alone():
    """As far back as one likes."""
    lake = Recording()
    write_taken(lake, snapshots(simulate([SITUATIONS["healthy-locked"].group], 5)))
    looked_at = report(lake, MemoryHistory(), Settings(), CLUSTER, NOW, "fluid", limit=2)

    assert len(looked_at.taken_at) == len(looked_at.snapshots) == 2
