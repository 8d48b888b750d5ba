"""Fewer members are advised only if they keep up with the peak of a day."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest

from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.config import Rule, Settings
from evenkeel.engine.messages.wording import words
from evenkeel.engine.pipeline import lookback_of
from evenkeel.engine.pipeline.whatif import PastDay, RememberedDays, day_of, seen_of
from evenkeel.engine.pipeline.whatif.day import sizes_for_a_day
from evenkeel.engine.pipeline.whatif.sizes import BUDGET
from evenkeel.engine.snapshots.groups_with_past import read_with_past
from tests.helpers.fluid import simulate, snapshots
from tests.helpers.fluid.plan import DAY, EVERY, Traffic, at, members, steady, topics
from tests.helpers.lake_snapshots import write_taken

pytestmark = pytest.mark.slow

SETTINGS = Settings(rules=(Rule(capacity_per_second=100.0, commit_interval_seconds=5),))

SNAPSHOTS = int(DAY / EVERY) + 1

ROOMY = steady(topics=topics(1, 8, 20), members=members(4, 100))
"""160 records/s arrive; of members that do 100 it takes two."""

NOON = (at(SNAPSHOTS // 2), 3600.0, 1.5)
"""An hour of 240 records/s, of which it takes three."""


@cache
def _seen(group, count):
    """What is seen of a group after some snapshots, and what arrived in the day before."""
    lake = Recording()
    newest = list(write_taken(lake, snapshots(simulate([group], count))))[-1]
    lookback = lookback_of(lake, SETTINGS, newest)
    [seen] = seen_of(SETTINGS, read_with_past(lake, SETTINGS, lookback, [group.name]))
    return seen, day_of(lake, newest, seen.group)


def _sizes(seen, day):
    return sizes_for_a_day(SETTINGS, seen, (), ASSIGNORS["range"], BUDGET, lambda: day)


def test_two_hours_say_nothing_of_a_day():
    """Two members do what arrives now, but nobody knows of noon: fewer than four are not advised, and it says why."""
    seen, day = _seen(ROOMY, 25)
    found = _sizes(seen, day)

    assert day.covered_seconds == 2 * 3600
    assert (found.fewest, found.enough, found.keeps_up) == (None, None, True)
    assert [words(why) for why in found.why] == [
        "fewer than 4 members must keep up with the peak of 24 h, and snapshots cover 2 h"
    ]


def test_an_hour_of_the_day_decides():
    """Three for noon, though two would do now."""
    seen, day = _seen(replace(ROOMY, traffic=Traffic(wander=0, bursts=(NOON,))), SNAPSHOTS)
    found = _sizes(seen, day)

    assert day.covered_seconds == DAY
    assert day.peak_per_second == pytest.approx(240, rel=0.05)
    assert found.fewest == 3
    assert "at the peak (p99) of 24 h" in words(found.why[0])


@pytest.mark.parametrize(("peak", "members"), [(160.0, 2), (480.0, 4)])
def test_a_peak_takes_as_many_as_do_it_and_no_more_than_there_are(peak, members):
    """Without one two are enough; beyond what all four can do nobody may go, and no more are advised by it."""
    seen, _ = _seen(ROOMY, 25)
    found = _sizes(seen, PastDay(covered_seconds=DAY, peak_per_second=peak))

    assert found.fewest == found.enough == members


def test_what_is_remembered_from_snapshot_to_snapshot_is_the_same():
    """As what a lake has of the day, up to the digits that are kept; of a group that is gone nothing is kept."""
    group = replace(ROOMY, traffic=Traffic(wander=0, bursts=((at(12), 3600.0, 1.5),)))
    lake, days = Recording(), RememberedDays()
    for newest in write_taken(lake, snapshots(simulate([group], 37))):
        lookback = lookback_of(lake, SETTINGS, newest)
        [seen] = seen_of(SETTINGS, read_with_past(lake, SETTINGS, lookback, [group.name]))
        days.see(seen.observation)
    expected, found = day_of(lake, newest, seen.group), days.of(group.name)

    assert found.covered_seconds == expected.covered_seconds
    assert found.peak_per_second == pytest.approx(expected.peak_per_second)
    days.keep({"other"})
    assert days.of(group.name) == PastDay()
