"""For how long rebalances stop a group, as far as snapshots show it."""

from __future__ import annotations

import numpy as np
import pytest

from evenkeel.engine.records.pause_course import spans_of
from tests.helpers.series import STEP, members_of, observed_series, series, steadily
from tests.helpers.snapshots import member

BUSY, PEER = members_of([0], [1])
"""Ten records/s arrive for one that does six, four for one that keeps up."""

OFF = STEP / 20
"""Seconds by which capacities may be off."""

STOOD = 60
"""Seconds that nobody consumes in the interval in which members come and go."""


def _seen(*others, stood=STOOD, busy=BUSY, early=0, samples=6):
    """
    Some samples of them; up to the third the first *others* are there, from the fourth on the second.

    In the interval in between they stand still; *early* seconds of the second are in the commits of the first.
    """
    did = [[0, 0]]
    for number in range(1, samples):
        paused = {1: -early, min(3, samples - 1): stood}.get(number, 0)
        did.append([round(did[-1][0] + 6 * (STEP - paused)), round(4 * STEP * number)])
    taken = series(
        [BUSY, PEER, *others[0]],
        steadily([10, 4], samples, [90_000, 0]),
        did,
        changed={min(3, samples - 1): [busy, PEER, *others[1]]},
    )
    return observed_series(taken)


def _others(number, first=0, **told):
    return [member(f"o-{n}", ["t"], {}, **told) for n in range(first, first + number)]


def _spans(seen):
    """The ends of what was observed of rebalances."""
    [course] = seen.pauses
    return [] if course is None else [each[1:] for each in spans_of(course.rebalances)]


@pytest.mark.parametrize(
    ("others", "spans"),
    [
        ((_others(0), _others(2)), [(STOOD - OFF, STOOD + OFF)]),
        ((_others(2), _others(0)), [(STOOD - OFF, STOOD + OFF)]),
        ((_others(2), _others(2, 2)), [(0, (STOOD + OFF) / 2)]),
        ((_others(2), _others(2)), []),
    ],
    ids=["two join", "two leave", "two leave and two join", "nobody came or went"],
)
def test_who_was_behind_all_the_time_shows_how_long_a_rebalance_lasts(others, spans):
    """What it consumed less than it can is what it stood still, unless it may have read what others had meanwhile."""
    assert _spans(_seen(*others)) == [pytest.approx(np.divide(each, 2)) for each in spans]


def test_a_pause_that_a_capacity_a_little_off_would_explain_may_be_none():
    """A twentieth of the interval may be either; the half of two would be."""
    seen = _seen(_others(0), _others(2), stood=STEP / 20)

    assert _spans(seen) == [pytest.approx((0, STEP / 20))]


def test_commits_that_come_in_one_interval_or_the_next_widen_what_is_known():
    """In one interval it did 40 s more than it can, so 60 s less may be 20."""
    seen = _seen(_others(0), _others(2), early=40)

    assert _spans(seen) == [pytest.approx(((STOOD - 40) / 2, (STOOD + 40) / 2))]


def test_who_restarted_itself_says_nothing_of_rebalances():
    """Its own restart is in it, and nobody knows how long that took."""
    again = {**BUSY, "member_id": "another-id"}

    assert _spans(_seen(_others(0), _others(0), stood=90, busy=again)) == []


def test_who_was_seen_for_too_short_says_nothing():
    """By how much its capacity is off shows in several intervals."""
    seen = _seen(_others(0), _others(2), samples=3)

    assert _spans(seen) == []


def test_an_interval_with_rebalances_says_nothing_of_what_a_member_can_do():
    """Others that know no rebalance do."""
    seen = _seen(_others(0), _others(2))

    assert seen.capacity.saturated[0] == pytest.approx(6)
