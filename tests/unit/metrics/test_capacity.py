"""What a member can consume and how often a group commits, and how that is known."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.model.states import CapacityBasis
from tests.helpers.series import STEP, members_of, observed_series, series, steadily

TWO = members_of([0], [1])


def _capacity(taken, **rule):
    seen = observed_series(taken, **rule).capacity
    return seen.per_second, seen.basis.tolist()


@pytest.mark.parametrize(
    ("lag", "does", "rule", "capacity", "basis"),
    [
        ([9000, 0], [6, 4], {}, [6, 6], [CapacityBasis.SATURATED, CapacityBasis.AS_ITS_PEERS]),
        ([0, 0], [10, 4], {}, [10, 4], [CapacityBasis.AT_LEAST] * 2),
        ([50, 20], [10, 4], {}, [10, 4], [CapacityBasis.AT_LEAST] * 2),
        ([9000, 0], [6, 4], {"capacity_per_second": 7.0}, [7, 7], [CapacityBasis.CONFIGURED] * 2),
        ([9000, 0], [0, 4], {}, [np.nan, 4], [CapacityBasis.UNKNOWN, CapacityBasis.AT_LEAST]),
    ],
    ids=[
        "what it consumed while it had more to do",
        "who keeps up can do at least so much",
        "a commit that waits for the next is no backlog",
        "configured capacity beats what was seen",
        "who consumes nothing may be hung: that is no capacity of 0",
    ],
)
def test_what_a_member_can_do_and_how_that_is_known(lag, does, rule, capacity, basis):
    """Ten and four records a second arrive for two members."""
    found, known = _capacity(series(TWO, steadily([10, 4], 4, lag), steadily(does, 4)), **rule)

    assert found.tolist() == pytest.approx(capacity, nan_ok=True)
    assert known == basis


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


def test_a_restarted_member_is_recognized():
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


RATE = 10
ONE = members_of([0])


def _learned(ages, **rule):
    """The interval that is learned where records arrive steadily and commits are so many seconds old, oldest first."""
    ends = steadily([RATE], len(ages), [100_000])
    commits = [[round(end - RATE * age)] for [end], age in zip(ends, ages, strict=True)]
    seen = observed_series(series(ONE, ends, commits), **{"commit_interval_seconds": None, **rule})
    return seen


def test_a_commit_that_is_always_as_old_when_it_is_seen():
    """A group that commits in step with the snapshots: that age is what its commits wait for at least."""
    seen = _learned([40.0] * 8)

    assert seen.commit_interval.tolist() == pytest.approx([40], abs=0.2)
    assert seen.delay.max() == 0


def test_commits_whose_age_swings():
    """Seen at any moment between two commits, their ages are spread over the interval."""
    seen = _learned([10, 80, 45, 5, 90, 30, 60, 20])

    assert 60 <= seen.commit_interval[0] <= 90
    assert seen.delay.max() == 0


def test_an_hourly_commit_is_learned_from_two_of_them():
    """Commits that stand still for long and then have all that was there are an hour apart, and no backlog."""
    minutes = [10 + 5 * n for n in range(11)] + [5, 10]
    seen = _learned([60 * age for age in minutes])

    assert seen.commit_interval.tolist() == pytest.approx([3600], rel=0.01)
    assert seen.delay.max() == 0


def test_ages_that_only_rise_are_backlog():
    """Every snapshot finds the commit older: the group falls behind, its commits are no further apart."""
    seen = _learned([20, 60, 100, 140, 180, 220])

    assert seen.commit_interval[0] <= 100
    assert seen.delay.max() > 60


def test_nothing_is_learned_of_a_group_that_was_never_seen_to_commit():
    """It may commit once an hour: what is within that is not called late."""
    seen = _learned([100 + STEP * n for n in range(5)])

    assert np.isnan(seen.commit_interval).all()
    assert seen.delay.max() == 0


def test_what_is_configured_stands():
    """The owner knows better."""
    assert _learned([40.0] * 8, commit_interval_seconds=5.0).commit_interval.tolist() == [5.0]


def test_a_group_without_a_past_has_shown_nothing():
    """One snapshot shows no commit."""
    assert np.isnan(_learned([40.0]).commit_interval).all()


def test_a_lag_that_swings_by_itself_is_no_commit_interval():
    """It rises and falls every half hour, twice so far: its commits are no further apart than where it is least."""
    swings = [5, 60, 120, 170, 110, 50]
    seen = _learned([*swings, *swings, 5])

    assert seen.commit_interval[0] < 60
    assert _learned([*swings, 5]).commit_interval[0] > 100


@pytest.mark.parametrize("every", [70, 95, 110, 140, 200, 225])
def test_regular_commits_repeat_themselves_too(every):
    """Their ages come back, as those of a lag that swings, but go on as time does."""
    seen = _learned([(7 + STEP * number) % every for number in range(13)])

    assert seen.delay.max() < 60


def test_the_way_out_of_a_backlog_is_no_commit_interval():
    """What is left of it is within an interval between snapshots; before, commits were a second old."""
    seen = _learned([1, 1, 1, 400, 900, 1400, 900, 400, 200, 1])

    assert seen.commit_interval[0] <= 1.1
    assert seen.samples.age[1][0] == pytest.approx(200)


def test_a_batch_reader_that_pauses_commits_no_more_rarely():
    """For 20 minutes it reads and commits, for 25 it pauses; then it has read all when it is seen again."""
    pause = [60 * minutes for minutes in (5, 10, 15, 20, 25)]
    seen = _learned([1, 1, 1, 1, *pause, 1, 1, 1])

    assert seen.commit_interval[0] < 60
