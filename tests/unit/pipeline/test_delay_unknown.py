"""How far behind a group is of which nobody saw a commit."""

from __future__ import annotations

import pytest

from evenkeel.engine.config import Rule, Settings
from tests.helpers.measuring import metric_rows
from tests.helpers.snapshots import group, groups, make_snapshot, topic

PLAIN = Settings()


def _row(settings=PLAIN, *, members=0, committed=1000, growth=1000):
    """The row of a group at the second of two snapshots, whose commit stays where it is."""
    now, before = (
        groups(
            make_snapshot(
                number=number,
                topics=[topic("t", 1, end=1000 + number * growth)],
                groups=[group("g", members=members, topics=["t"], committed={"t": committed})],
            )
        )[0]
        for number in (1, 0)
    )
    [row] = metric_rows(settings, now, [before])["group_metrics"]
    return row


def test_nobody_is_there_and_no_commit_was_seen():
    """By how much it is late beyond a commit interval that nobody knows is unknown, not 0; its time lag is known."""
    row = _row()
    assert (row["members"], row["total_lag"], row["commit_interval_seconds"]) == (0, 1000, None)
    assert row["time_lag_seconds"] == pytest.approx(300, rel=0.1)
    assert row["delay_seconds"] is None


def test_what_is_read_to_its_end_is_not_late():
    """Whatever the interval is: nothing is behind."""
    assert _row(committed=1000, growth=0)["delay_seconds"] == 0


def test_an_interval_that_is_known_tells_it():
    """Then it is late by what is beyond."""
    settings = Settings(rules=(Rule(commit_interval_seconds=60),))
    assert _row(settings)["delay_seconds"] == pytest.approx(240, rel=0.1)


def test_while_somebody_is_there_it_is_late_once_no_interval_explains_it():
    """A group that may commit hourly is not behind by five minutes."""
    assert _row(members=1)["delay_seconds"] == 0
