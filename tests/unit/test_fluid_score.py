"""What the score of the physics oracle is made of: new parts of the simulation, ways on, plain forecasts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from tests.helpers.fluid import SITUATIONS, naive, simulate, snapshots
from tests.helpers.fluid.plan import (
    EVERY,
    Hang,
    Leave,
    Member,
    Swap,
    Switch,
    Topic,
    Traffic,
    at,
    members,
    steady,
)
from tests.helpers.fluid.truth import Kind, not_yet
from tests.helpers.fluid.ways import PLAN, Choice, choices, walked

pytestmark = pytest.mark.slow


# Parts of the simulation


def test_an_open_transaction_is_read_up_to_and_no_further():
    """The last stable offset stays and lag grows; when it is decided all is read."""
    hangs = Hang(at=0, partition=("t0", 1), until=600)
    history = simulate([steady(events=(hangs,))], 5)
    table = list(snapshots(history))[1].tables["partitions"].to_pylist()

    late = history.lag("g")
    waits = [row["end_offset"] - row["last_stable_offset"] for row in table]
    assert [late[0] < 300, late[1] > 8000, late[4] < 300] == [True] * 3
    assert (np.array(waits) > 8000).tolist() == [False, True, False, False]


def test_a_compacted_log_is_not_cut():
    """Its start stays, and nothing is lost however old it gets."""
    topic = Topic(name="t0", rates=(30,) * 4, keeps=600, cut_every=5, compacted=True)
    gone = Leave(at=-3600, members=(0, 1))
    history = simulate([steady(topics=(topic,), events=(gone,))], 2)

    table = next(iter(snapshots(history))).tables["partitions"]

    assert set(table["cleanup_policy"].to_pylist()) == {"compact"}
    assert not history.begin.any()
    assert not history.lost.any()


def test_a_week_changes_traffic_at_midnight():
    """Half as much arrives until Monday."""
    week = Traffic(wander=0, week=(1, 1, 1, 1, 1, 1, 0.5), monday=at(1))
    history = simulate([steady(traffic=week)], 3)

    arrived = np.diff(history.end[[history.step(k) for k in range(3)]], axis=0).sum(axis=1)
    assert arrived / EVERY == pytest.approx([60, 120], rel=0.05)


def test_members_of_one_host_show_its_address():
    """Two on the first, one on the second."""
    shared = tuple(Member(capacity=100, host=host) for host in (0, 0, 1))
    table = next(iter(snapshots(simulate([steady(members=shared)], 1)))).tables["members"]

    assert table["client_host"].to_pylist() == ["/10.0.0.1", "/10.0.0.1", "/10.0.0.2"]


def test_what_begins_as_a_longer_simulation_sees_the_same_records():
    """A shorter one alone sees others."""
    noisy = steady(traffic=Traffic())
    whole = simulate([noisy], 12)
    begins, alone = simulate([noisy], 4, of=12), simulate([noisy], 4)

    same = whole.end[: len(begins.end)]
    assert (begins.end == same).all()
    assert (alone.end != same).any()


def test_a_swap_stops_nobody():
    """From its moment on others own the partitions; a switch gets there later and has more unread by then."""
    uneven = steady(deal=(0, 0, 0, 1), members=members(2, 200), pause=60)
    free, switched = (
        simulate([replace(uneven, events=(way(at=0, to="roundrobin"),))], 3)
        for way in (Swap, Switch)
    )
    step = free.step(0) + 8

    assert free.moments[1].views[0].owner == switched.moments[1].views[0].owner == (0, 1, 0, 1)
    assert free.backlog[step].sum() < 600 < switched.backlog[step].sum()


# Ways on


def test_only_what_is_behind_or_uneven_has_a_choice():
    """A group that keeps up evenly has none, one whose members are overloaded those that it does not run."""
    names = ("healthy-locked", "skewed-load")
    history = simulate([SITUATIONS[name].group for name in names], 31)
    well, skewed = (list(choices(history, group, 30)) for group in history.groups)

    assert well == []
    assert [(one.to, one.bounces) for one in skewed] == [
        ("roundrobin", 1),
        ("cooperative-sticky", 2),
        (PLAN, 1),
    ]


def test_a_way_that_pays_is_told_from_one_that_does_not():
    """Round robin mends skewed load; where one partition is too hot for its member it only costs."""
    names = ("skewed-load", "hot-shared-plan-only")
    groups = [SITUATIONS[name].group for name in names]
    history = simulate(groups, 60)
    some = [Choice(group=group, snapshot=34, to="roundrobin") for group in groups]

    mends, costs = walked(history, some, 7, free=True)

    assert mends.pays()
    assert 0 < mends.price < mends.gain()
    assert mends.gain_hours(1) > 0
    assert costs.gain() < 0
    assert not costs.pays()


# Plain forecasts, and what is known to be wrong


def test_plain_forecasts_go_on_as_they_say():
    """Of a straight line Holt sees the slope, persistence none; a season comes back."""
    line, wave = np.arange(60.0), np.tile([0.0, 5.0, 9.0], 20)

    assert naive.persistence(line, 3)[-1] == 59
    assert naive.holt(line, 3)[-1] == pytest.approx(62, abs=0.1)
    assert naive.seasonal(3, wave, 2)[-1] == 5
    assert naive.bands(wave, 3, naive.persistence)[-1].tolist() == [9, 9, 9]


def test_only_what_is_known_to_be_wrong_passes():
    """A message that must come and does not, by its kind; others of the same group count."""
    situation = replace(SITUATIONS["stuck-partition"], not_yet=frozenset({Kind.SWITCH}))

    assert not_yet(situation, "stuck-partition: no message of kind 'switch' by snapshot 40.")
    assert not not_yet(situation, "stuck-partition: no message of kind 'opened' by snapshot 40.")
