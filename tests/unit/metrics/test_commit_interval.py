"""How often a group commits, learned from the age of its commits."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.series import STEP, members_of, observed_series, series, steadily

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
