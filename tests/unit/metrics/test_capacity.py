"""What a member can consume, and how that is known."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.model.states import CapacityBasis
from tests.helpers.series import members_of, observed_series, series, steadily

TWO = members_of([0], [1])


def _capacity(taken, **rule):
    seen = observed_series(taken, **rule).capacity
    return seen.per_second, seen.basis.tolist()


def test_a_member_that_is_behind_does_what_it_can():
    """What it consumed while it had more to do than it did is its capacity."""
    taken = series(TWO, steadily([10, 4], 4, [9000, 0]), steadily([6, 4], 4))

    capacity, basis = _capacity(taken)

    assert capacity[0] == pytest.approx(6)
    assert basis == [CapacityBasis.SATURATED, CapacityBasis.AS_ITS_PEERS]


def test_one_that_keeps_up_can_do_at_least_so_much():
    """Reading at the speed of production says what it can do at least."""
    taken = series(TWO, steadily([10, 4], 4), steadily([10, 4], 4))

    capacity, basis = _capacity(taken)

    assert capacity.tolist() == pytest.approx([10, 4])
    assert basis == [CapacityBasis.AT_LEAST] * 2


def test_one_that_does_more_than_its_busy_peer_is_taken_by_what_it_does():
    """A peer that is full says nothing less of a member that was seen to do more."""
    taken = series(TWO, steadily([10, 8], 4, [9000, 0]), steadily([6, 8], 4))

    capacity, basis = _capacity(taken)

    assert capacity.tolist() == pytest.approx([6, 8])
    assert basis == [CapacityBasis.SATURATED, CapacityBasis.AT_LEAST]


def test_only_the_newest_busy_intervals_count():
    """A member that has become slower is not judged by what it did an hour ago."""
    fast, slow = steadily([9, 4], 4), steadily([3, 4], 4, [9 * 900 + 900, 4 * 1200])
    taken = series(TWO, steadily([10, 4], 8, [90_000, 0]), [*fast, *slow])

    capacity, _ = _capacity(taken)

    assert capacity[0] == pytest.approx(3)


def test_a_commit_that_waits_for_the_next_is_no_backlog():
    """Lag within the commit interval makes nobody busy."""
    taken = series(TWO, steadily([10, 4], 4, [50, 20]), steadily([10, 4], 4))

    _, basis = _capacity(taken)

    assert basis == [CapacityBasis.AT_LEAST] * 2


def test_a_member_whose_commits_stand_still_says_nothing():
    """Who consumes nothing may be hung; that is no capacity of 0."""
    taken = series(TWO, steadily([10, 4], 4, [9000, 0]), steadily([0, 4], 4))

    capacity, basis = _capacity(taken)

    assert np.isnan(capacity[0])
    assert basis[0] is CapacityBasis.UNKNOWN


def test_a_restarted_member_is_recognised():
    """A new member id on the same client id and host is the same member."""
    again = [{**one, "member_id": f"{one['member_id']}-2"} for one in TWO]
    ends, commits = steadily([10, 4], 3, [9000, 0]), steadily([6, 4], 3)

    capacity, _ = _capacity(series(TWO, ends, commits, changed={2: again}))

    assert capacity[0] == pytest.approx(6)


def test_what_another_member_consumed_does_not_count():
    """A partition that changed hands between two samples is nobody's evidence."""
    swapped = members_of([1], [0])
    ends, commits = steadily([10, 10], 2, [9000, 9000]), steadily([6, 6], 2)

    capacity, _ = _capacity(series(TWO, ends, commits, changed={1: swapped}))

    assert np.isnan(capacity).all()


def test_configured_capacity_beats_what_was_seen():
    """The owner's word stands."""
    taken = series(TWO, steadily([10, 4], 3, [9000, 0]), steadily([6, 4], 3))

    capacity, basis = _capacity(taken, capacity_per_second=7.0)

    assert capacity.tolist() == [7.0, 7.0]
    assert basis == [CapacityBasis.CONFIGURED] * 2


def _same_client(*ids):
    return [
        {**one, "member_id": name, "client_id": "x"} for one, name in zip(TWO, ids, strict=True)
    ]


def test_members_nothing_tells_apart_keep_their_own_capacity():
    """Two consumers of one program share client id and host: while they live, their ids tell them apart."""
    same = _same_client("x-1", "x-2")
    taken = series(same, steadily([10, 10], 3, [9000, 9000]), steadily([6, 3], 3))

    capacity, _ = _capacity(taken)

    assert capacity.tolist() == pytest.approx([6, 3])


def test_a_restarted_member_nothing_tells_apart_is_not_guessed():
    """Which of two equal clients came back nobody can say: its capacity is unknown."""
    before, after = _same_client("x-1", "x-2"), _same_client("x-3", "x-4")
    ends, commits = steadily([10, 10], 2, [9000, 9000]), steadily([6, 3], 2)

    capacity, basis = _capacity(series(before, ends, commits, changed={1: after}))

    assert np.isnan(capacity).all()
    assert basis == [CapacityBasis.UNKNOWN] * 2
