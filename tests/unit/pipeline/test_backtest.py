"""What would have been said over many snapshots, and how it came out."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from evenkeel.engine.adapters.memory import MemoryHistory
from evenkeel.engine.adapters.recording import Recording, open_recording
from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline.backtest import (
    AHEAD,
    DiagnosisChange,
    ForecastCheck,
    Message,
    RegretCheck,
    backtest,
    coverage,
)
from tests.helpers.fluid import CLUSTER, EVERY, FIRST, SITUATIONS, record, simulate, snapshots
from tests.helpers.fluid.fork import fork
from tests.helpers.lake_snapshots import write_taken

pytestmark = pytest.mark.slow

NAMES = (
    "healthy-locked",
    "healthy-drifting",
    "healthy-diurnal",
    "skewed-load",
    "skewed-taken-up",
    "slow-member",
)


@pytest.fixture(scope="module")
def events(tmp_path_factory):
    """All that is said of some simulated groups."""
    path = tmp_path_factory.mktemp("backtest") / "fluid.evenkeel"
    record(path, simulate([SITUATIONS[name].group for name in NAMES]))
    return list(backtest(open_recording(path), MemoryHistory(), Settings(), CLUSTER))


def _checks(events, group):
    return [e for e in events if isinstance(e, ForecastCheck) and e.group == group]


def test_each_change_of_a_diagnosis_is_said_once(events):
    """Two events in a row of one group never say the same."""
    said = {}
    for event in events:
        if isinstance(event, DiagnosisChange):
            assert said.get(event.group) is not event.diagnosis
            said[event.group] = event.diagnosis

    assert said.keys() == set(NAMES)


def test_what_a_switch_would_have_saved_is_what_a_fork_saves(events):
    """Hour by hour, of who has something to gain, and of nobody who is well."""
    found = [event for event in events if isinstance(event, RegretCheck)]
    assert {event.group for event in found} <= {"skewed-load", "skewed-taken-up", "slow-member"}
    own = [event.regret for event in found if event.group == "skewed-load"]
    assert len(own) >= 8
    assert all(one.until == other.since for one, other in pairwise(own))
    for regret in own[2:5]:
        snapshot = round((regret.since - FIRST).total_seconds() / EVERY)
        group = SITUATIONS["skewed-load"].group
        gain = fork(group, snapshot, regret.strategy, seconds=3600).gain(3600)
        assert regret.saved == pytest.approx(gain, rel=0.1)
        assert regret.saved_low <= gain <= regret.saved_high


def test_a_switch_is_verified_by_how_late_the_group_would_have_been(events):
    """The message says both."""
    [verified] = [e for e in events if isinstance(e, Message) and e.kind == "verified"]
    assert re.search(r"roundrobin verified: 3\d min late without, 0 s with", verified.title)


def test_a_pattern_leaves_the_others_out(tmp_path):
    """Nothing is said of a group that was not asked about."""
    path = tmp_path / "fluid.evenkeel"
    record(path, simulate([SITUATIONS[name].group for name in NAMES], snapshots=4))

    events = backtest(open_recording(path), MemoryHistory(), Settings(), CLUSTER, "skewed-*")

    assert {event.group for event in events} == {"skewed-load", "skewed-taken-up"}


@pytest.mark.parametrize("group", NAMES)
@pytest.mark.parametrize("seconds", AHEAD)
def test_most_forecasts_hold_what_came(events, group, seconds):
    """Four in five should; whether a group keeps up or not, it is near that."""
    inside, known = coverage(_checks(events, group), seconds)

    assert known > 80
    assert 0.6 <= inside / known <= 0.98


def test_no_forecast_is_judged_over_a_change_of_the_assignment(events):
    """Who is restarted with another strategy gets another future."""
    checks = _checks(events, "skewed-taken-up")

    unknown = [check for check in checks if check.actual is None]
    around = [check for check in unknown if check.due < max(c.at for c in checks)]
    assert around
    assert all(check.low <= check.expected <= check.high for check in checks)


def test_what_came_is_read_when_it_was_due():
    """Not from a snapshot before, however little that is early: a partition that stands still has less lag then."""
    group = SITUATIONS["stuck-partition"].group
    history = simulate([group], snapshots=45)
    lake = Recording()
    write_taken(lake, snapshots(history))

    checks = _checks(backtest(lake, MemoryHistory(), Settings(), CLUSTER), group.name)

    came = [check for check in checks if check.actual is not None]
    lag, a_second = history.lag(group.name), 2000  # ends are read a second after the snapshot began
    assert {(check.due - check.at).total_seconds() for check in came} == set(AHEAD)
    for check in came:
        number = round((check.due - FIRST).total_seconds() / EVERY)
        assert 0 <= check.actual - lag[number] < a_second
