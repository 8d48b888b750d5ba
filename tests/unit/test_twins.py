"""Twins on brokers: the plan of what happens to them, and how a pair is judged by its snapshots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from evenkeel.engine.advice.counterfactual import Present
from evenkeel.engine.metrics.counterfactual import capacity_ends
from evenkeel.engine.model.arrays import Indices
from tests.helpers.fluid.curves import rough_curve
from tests.twins.judged import Judged, Look, judged
from tests.twins.plan import (
    INTERVAL,
    MEMBERS,
    MOVED,
    RATE,
    SHARES,
    SPEEDS,
    WARM,
    Kind,
    Pair,
    pairs,
    stretch,
)
from tests.twins.results import failures, load, save, table

FIRST = datetime(2026, 3, 1, 10, 0, tzinfo=UTC)
RANGE = np.array([0, 0, 1, 1, 2, 2], np.int32)
EVEN = np.array([0, 1, 2, 0, 1, 2], np.int32)


# The plan


def test_range_gives_one_member_too_much_until_a_hot_key_moves() -> None:
    """Taking the hot partitions apart heals that, and so does the key that moves: then it was in vain."""
    can = np.array(SPEEDS[:MEMBERS])

    assert (np.bincount(RANGE, SHARES) > can).tolist() == [True, False, False]
    for owner, shares in ((EVEN, SHARES), (EVEN, MOVED), (RANGE, MOVED)):
        assert (np.bincount(owner, shares) < can).all()


def test_a_stretch_keeps_the_shape_of_its_curve() -> None:
    """As much arrives as planned in the mean, before the switch neither much less nor much more."""
    curve = rough_curve(3, 2000)

    taken = np.array(stretch(curve, 1, 100))

    assert taken.mean() == pytest.approx(RATE)
    assert 0.95 <= taken[: int(WARM / INTERVAL)].mean() / RATE < 1.3
    shapes = curve.reshape(-1, 100)
    assert np.isclose(shapes / shapes.mean(axis=1)[:, None] * RATE, taken).all(axis=1).any()


def test_what_happens_to_a_pair_happens_from_its_switch_on() -> None:
    """Traffic changes with the switch, a hot key moves later, and before it all is as ever."""
    pair = Pair(name="p", kind=Kind.MORE, strategy="x", curve=(10, 20), factor=2, moves_after=30)

    assert pair.rates(15, None) == pytest.approx([20 * share for share in SHARES])
    assert pair.rates(5, 0) == pytest.approx([20 * share for share in SHARES])
    assert pair.rates(99, 30) == pytest.approx([40 * share for share in MOVED])


def test_a_scaler_by_lag_waits_until_half_is_done() -> None:
    """It does not take the member away that it has just added."""
    pair = Pair(name="p", kind=Kind.SCALER, strategy="x", scale_at=300)

    assert [pair.wants_more(0, lag, False) for lag in (300, 301)] == [False, True]
    assert [pair.wants_more(0, lag, True) for lag in (151, 150)] == [True, False]


def test_more_pairs_than_there_are_kinds_have_names_of_their_own() -> None:
    """Topics and groups are named after pairs."""
    named = [one.name for one in pairs(20, 4, [rough_curve(1, 2000)], 50)]

    assert len(set(named)) == 24


# How a pair is judged


SWITCH = 15
"""Number of the first look that shows the new assignment."""

ENDS = np.vstack([np.zeros(6), np.cumsum(np.full((60, 6), RATE * INTERVAL) * SHARES, axis=0)])
CAN = RATE * np.array(SPEEDS[:MEMBERS])
SINCE = FIRST + timedelta(seconds=INTERVAL * (SWITCH - 1) + 1)


def lived(owners: Sequence[Indices]) -> list[Look]:
    """Looks at a group of known capacities, which has these owners at each."""
    waits, found = np.zeros(6), list[Look]()
    for at, own in enumerate(owners):
        waits = waits + ENDS[at] - ENDS[max(at - 1, 0)]
        for member in range(MEMBERS):
            own_waits = waits[own == member].sum()
            left = max(own_waits - CAN[member] * INTERVAL, 0.0)
            waits[own == member] *= left / max(own_waits, 1e-9)
        present = Present(
            partitions="p",
            members=("a", "b", "c"),
            ids=str(own is EVEN),
            assignment=str(own.tolist()),
            owner=own,
            stuck=np.zeros(6, np.bool_),
            ends=ENDS[at],
            rates=RATE * np.array(SHARES),
            backlog=waits.copy(),
            capacity=capacity_ends(CAN, [False] * MEMBERS),
            as_peers=np.zeros(MEMBERS, np.bool_),
            lag=float(waits.sum()),
            arrives=RATE,
            age=0.0,
            delay_seconds=float(waits.max() / 10),
        )
        moment = FIRST + timedelta(seconds=INTERVAL * at)
        late = present.delay_seconds
        found.append(Look(at=moment, lag=round(waits.sum()), late_seconds=late, present=present))
    return found


SWITCHES = [RANGE] * SWITCH + [EVEN] * (len(ENDS) - SWITCH)
STAYS = [RANGE] * len(ENDS)
SWITCHED = {"pair": "p", "kind": Kind.TRACE, "strategy": "roundrobin"}


def test_the_twin_is_where_the_replay_says_from_the_other_group() -> None:
    """What it measures of one that stays and what it replays from one that switched are the same."""
    found = judged(SWITCHED, lived(SWITCHES), lived(STAYS), SINCE)

    assert found.seconds == INTERVAL * (len(ENDS) - SWITCH)
    assert found.measured > 10 * found.came > 0
    assert found.expected == pytest.approx(found.measured, rel=0.02)
    assert found.inside


@pytest.mark.parametrize(("restarted", "begins"), [(SWITCH, SWITCH - 1), (SWITCH - 2, SWITCH - 3)])
def test_a_replay_begins_before_the_first_member_restarts(restarted: int, begins: int) -> None:
    """With the last look before that: what the restarts cost is in what came."""
    goes = lived(SWITCHES)
    for at in range(restarted, len(goes)):
        present = goes[at].present
        assert present is not None
        goes[at] = replace(goes[at], present=replace(present, ids="others"))
    told = FIRST + timedelta(seconds=INTERVAL * (SWITCH - 5))

    found = judged(SWITCHED, goes, lived(STAYS), told)

    assert found.seconds == INTERVAL * (len(ENDS) - 1 - begins)


def test_looks_that_show_nobody_are_passed_over() -> None:
    """While a group rebalances its lag is measured, and the replay goes on with what arrived meanwhile."""
    goes = lived(SWITCHES)
    for at in (SWITCH - 1, SWITCH, SWITCH + 1):
        goes[at] = replace(goes[at], present=None)
    goes[SWITCH] = replace(goes[SWITCH], lag=None)

    found = judged(SWITCHED, goes, lived(STAYS), SINCE)

    assert found.seconds == INTERVAL * (len(ENDS) - SWITCH + 1)
    assert found.expected == pytest.approx(found.measured, rel=0.02)


def test_a_pair_of_which_nobody_switches_differs_by_nothing() -> None:
    """The replay of what a group has is what it has."""
    null = {**SWITCHED, "strategy": None}

    found = judged(null, lived(STAYS), lived(STAYS), SINCE)

    assert (found.measured, found.inside) == (0, True)
    assert found.seconds == INTERVAL * (len(ENDS) - SWITCH)


def test_a_group_of_which_nothing_is_known_has_no_replay() -> None:
    """What is measured is told all the same."""
    goes = [replace(look, present=None) for look in lived(SWITCHES)]

    found = judged(SWITCHED, goes, lived(STAYS), SINCE)

    assert (found.low, found.expected, found.high, found.inside) == (None, None, None, None)
    assert found.measured > 0


def test_a_group_with_other_members_to_the_end_has_no_replay() -> None:
    """A scaler has added one: what came before that is no answer to what staying would have brought by now."""
    goes = lived(SWITCHES)
    for at in range(SWITCH + 5, len(goes)):
        present = goes[at].present
        assert present is not None
        scaled = replace(present, members=("a", "b", "c", "d"), assignment="scaled")
        goes[at] = replace(goes[at], present=scaled)

    found = judged(SWITCHED, goes, lived(STAYS), SINCE)

    assert found.inside is None
    assert found.seconds == INTERVAL * (len(ENDS) - SWITCH)


# What is wrong


def of(strategy: str | None, measured: float) -> Judged:
    """A pair that is replayed to have 90 to 110 more."""
    return Judged(
        pair="p",
        kind="trace",
        strategy=strategy,
        seconds=300,
        came=50,
        measured=measured,
        low=90.0,
        expected=100.0,
        high=110.0,
    )


def test_two_of_ten_may_be_outside() -> None:
    """Ends hold four cases in five."""
    right, wrong = of("roundrobin", 100), of("roundrobin", 120)

    assert failures([right] * 8 + [wrong] * 2) == []
    assert failures([right] * 7 + [wrong] * 3) == ["7 of 10 pairs that switched are inside"]


def test_a_null_that_is_outside_or_differs_is_told() -> None:
    """Then the replay is wrong, or the measuring is."""
    null = replace(of(None, 4), low=-10.0, expected=0.0, high=10.0)

    assert failures([null]) == []
    assert failures([replace(null, measured=-6)]) == [
        "p: its groups differ by -6, and neither switched"
    ]
    assert failures([replace(null, low=5.0)]) == ["p: neither group switched, and it is outside"]


def test_what_is_kept_is_what_is_printed(tmp_path: Path) -> None:
    """A file that is read again makes the same table; what is unknown stays unknown."""
    found = [of("roundrobin", 100), replace(of(None, 4), expected=None)]
    save(found, tmp_path / "kept.json")

    assert load(tmp_path / "kept.json") == found
    assert [*table(found)][2:] == [
        "| trace | roundrobin | 50 | +100 | +100 (+90 to +110) | yes | ? | - | unknown |",
        "| trace | - | 50 | +4 | ? (+90 to +110) | no | ? | - | unknown |",
    ]
