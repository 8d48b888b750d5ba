"""What would have been said over many snapshots, and how it came out."""

from __future__ import annotations

import pytest

from evenkeel.engine.adapters.memory import MemoryHistory
from evenkeel.engine.adapters.recording import Recording, open_recording
from evenkeel.engine.config import Settings
from evenkeel.engine.metrics.forecast import AHEAD
from evenkeel.engine.pipeline.backtest import (
    ForecastCheck,
    backtest,
)
from tests.helpers.fluid import CLUSTER, EVERY, FIRST, SITUATIONS, record, simulate, snapshots
from tests.helpers.lake_snapshots import write_taken

pytestmark = pytest.mark.slow


def test_a_pattern_leaves_the_others_out(tmp_path):
    """Nothing is said of a group that was not asked about."""
    path = tmp_path / "fluid.evenkeel"
    names = ("healthy-locked", "skewed-load", "skewed-taken-up")
    record(path, simulate([SITUATIONS[name].group for name in names], snapshots=4))

    events = backtest(open_recording(path), MemoryHistory(), Settings(), CLUSTER, "skewed-*")

    assert {event.group for event in events} == {"skewed-load", "skewed-taken-up"}


def test_what_came_is_read_when_it_was_due():
    """Not from a snapshot before, however little that is early: a partition that stands still has less lag then."""
    group = SITUATIONS["stuck-partition"].group
    history = simulate([group], snapshots=45)
    lake = Recording()
    write_taken(lake, snapshots(history))

    events = backtest(lake, MemoryHistory(), Settings(), CLUSTER)
    checks = [event for event in events if isinstance(event, ForecastCheck)]
    came = [check for check in checks if check.actual is not None]
    lag = history.lag(group.name)
    assert {(check.due - check.at).total_seconds() for check in came} == set(AHEAD)
    for check in came:
        number = round((check.due - FIRST).total_seconds() / EVERY)
        assert check.actual == lag[number]
