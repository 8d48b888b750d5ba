"""How much a member was seen to consume."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.measuring import observed
from tests.helpers.snapshots import EVERY, group, groups, make_snapshot, member, topic

STEP = EVERY.total_seconds()


def _capacity(*samples, configured=None):
    """Capacity of the members of the last of some (members, committed) samples on topic t, end 1000."""
    taken = []
    for number, (members, committed) in enumerate(samples):
        snapshot = make_snapshot(
            number=number,
            topics=[topic("t", 2, end=1000)],
            groups=[group("g", members=members, committed={"t": committed})],
        )
        taken.append(groups(snapshot)[0])
    seen = observed(taken[-1], taken[-2::-1], capacity_per_second=configured)
    return seen.capacity, seen.capacity_basis


A = member("a-1", ["t"], {"t": [0]}, client_id="a")
B = member("b-1", ["t"], {"t": [1]}, client_id="b")


def test_capacity_is_the_best_consumption_while_there_was_lag():
    """The fastest of several steps, per member."""
    capacity, basis = _capacity(([A, B], [0, 900]), ([A, B], [600, 950]), ([A, B], [700, 960]))

    assert capacity.tolist() == pytest.approx([600 / STEP, 50 / STEP])
    assert basis == ["seen", "seen"]


def test_a_member_that_never_had_lag_has_no_known_capacity():
    """Reading at the speed of production says nothing about how fast one could."""
    capacity, basis = _capacity(([A, B], [1000, 0]), ([A, B], [1000, 10]))

    assert np.isnan(capacity[0])
    assert basis[0] is None


def test_a_restarted_member_is_recognised():
    """A new member id on the same client id and host is the same member."""
    again = member("a-2", ["t"], {"t": [0]}, client_id="a")
    capacity, _ = _capacity(([A, B], [0, 0]), ([again, B], [300, 10]))

    assert capacity[0] == pytest.approx(300 / STEP)


def test_what_another_member_consumed_does_not_count():
    """A partition that changed hands between two samples is nobody's evidence."""
    swapped = [
        member("a-1", ["t"], {"t": [1]}, client_id="a"),
        member("b-1", ["t"], {"t": [0]}, client_id="b"),
    ]
    capacity, _ = _capacity(([A, B], [0, 0]), (swapped, [300, 10]))

    assert np.isnan(capacity).all()


def test_configured_capacity_beats_what_was_seen():
    """The owner's word stands."""
    capacity, basis = _capacity(([A, B], [0, 0]), ([A, B], [300, 10]), configured=7.0)

    assert capacity.tolist() == [7.0, 7.0]
    assert basis == ["configured", "configured"]


def test_members_nothing_tells_apart_keep_their_own_capacity():
    """Two consumers of one program share client id and host: while they live, their ids tell them apart."""
    same = [
        member("x-1", ["t"], {"t": [0]}, client_id="x"),
        member("x-2", ["t"], {"t": [1]}, client_id="x"),
    ]
    capacity, _ = _capacity((same, [0, 0]), (same, [300, 30]), (same, [600, 60]))

    assert capacity.tolist() == pytest.approx([300 / STEP, 30 / STEP])


def test_a_restarted_member_nothing_tells_apart_is_not_guessed():
    """Which of two equal clients came back nobody can say: its capacity is unknown."""
    before = [
        member("x-1", ["t"], {"t": [0]}, client_id="x"),
        member("x-2", ["t"], {"t": [1]}, client_id="x"),
    ]
    after = [
        member("x-3", ["t"], {"t": [0]}, client_id="x"),
        member("x-4", ["t"], {"t": [1]}, client_id="x"),
    ]
    capacity, basis = _capacity((before, [0, 0]), (after, [300, 30]))

    assert np.isnan(capacity).all()
    assert basis == [None, None]


def test_members_are_recognised_wherever_they_are_listed():
    """One that left moves all others up in the list; who shares a client with it is told by the id alone."""
    gone = member("x-0", ["t"], {}, client_id="x")
    stays = member("x-1", ["t"], {"t": [0]}, client_id="x")
    again = member("b-2", ["t"], {"t": [1]}, client_id="b")
    capacity, _ = _capacity(([gone, stays, B], [0, 0]), ([stays, again], [300, 30]))
    assert capacity.tolist() == pytest.approx([300 / STEP, 30 / STEP])
    capacity, _ = _capacity(([B, stays], [0, 0]), ([stays, B], [300, 30]))
    assert capacity.tolist() == pytest.approx([300 / STEP, 30 / STEP])
