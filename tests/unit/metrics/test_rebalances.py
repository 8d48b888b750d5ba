"""For how long rebalances stop a group, as far as snapshots show it."""

from __future__ import annotations

import numpy as np
import pytest

from tests.helpers.series import STEP, members_of, observed_series, series, steadily
from tests.helpers.snapshots import member

BUSY, PEER = members_of([0], [1])
"""Ten records/s arrive for one that does six, four for one that keeps up."""

STOOD = 60
"""Seconds that nobody consumes in the interval in which members come and go."""


def _seen(*others, stood=STOOD, busy=BUSY):
    """Six samples of them; before the fourth the first *others* come and go, before the fifth they are the second."""
    did = [[0, 0]]
    for number in range(1, 6):
        paused = stood if number == 3 else 0
        did.append([round(did[-1][0] + 6 * (STEP - paused)), round(4 * STEP * number)])
    taken = series(
        [BUSY, PEER, *others[0]],
        steadily([10, 4], 6, [90_000, 0]),
        did,
        changed={3: [busy, PEER, *others[1]]},
    )
    return observed_series(taken)


def _others(number, first=0, **told):
    return [member(f"o-{n}", ["t"], {}, **told) for n in range(first, first + number)]


@pytest.mark.parametrize(
    ("others", "seconds"),
    [
        ((_others(0), _others(2)), STOOD / 2),
        ((_others(2), _others(2, 2)), STOOD / 4),
        ((_others(2), _others(2)), np.nan),
    ],
    ids=["two join: two rebalances", "two restart: four", "nobody came or went"],
)
def test_who_was_behind_all_the_time_shows_how_long_a_rebalance_lasts(others, seconds):
    """What it consumed less than it can is what it stood still, for each that came or went."""
    seen = _seen(*others)

    assert seen.rebalance_seconds.tolist() == pytest.approx([seconds], nan_ok=True)


def test_a_pause_that_a_capacity_a_little_off_would_explain_is_unknown():
    """A twentieth of the interval may be either."""
    seen = _seen(_others(0), _others(2), stood=STEP / 20)

    assert np.isnan(seen.rebalance_seconds).all()


def test_who_restarted_itself_stood_still_for_that_too():
    """Thirty of the seconds are its own restart; it alone left and came back."""
    again = {**BUSY, "member_id": "another-id"}

    seen = _seen(_others(0), _others(0), stood=90, busy=again)

    assert seen.rebalance_seconds.tolist() == pytest.approx([(90 - 30) / 2])


def test_an_interval_with_rebalances_says_nothing_of_what_a_member_can_do():
    """Others that know no rebalance do."""
    seen = _seen(_others(0), _others(2))

    assert seen.capacity.saturated[0] == pytest.approx(6)
