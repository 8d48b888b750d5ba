"""Sticky with racks: when they count, what is kept, and who gets what is free."""

from __future__ import annotations

import pytest

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import spec
from tests.helpers.owned import owned
from tests.helpers.sticky_groups import told_in_subscription, told_in_user_data

STICKY, COOPERATIVE = ASSIGNORS["sticky"], ASSIGNORS["cooperative-sticky"]
PAIR = {m: ["t"] for m in "cd"}
CROSSED = {"c": "b", "d": "a"}
"""The first member lives where the second partition is."""


@pytest.mark.parametrize(
    ("situation", "racks", "replicas", "expected"),
    [
        ("a rack each", CROSSED, [["a"], ["b"]], {"c": "t-1", "d": "t-0"}),
        ("no member has one", {}, [["a"], ["b"]], {"c": "t-0", "d": "t-1"}),
        ("an empty rack is none", {"c": "", "d": ""}, [["a"], ["b"]], {"c": "t-0", "d": "t-1"}),
        ("all partitions on all racks", CROSSED, [["a", "b"], ["b", "a"]], {"c": "t-0", "d": "t-1"}),
        ("nobody lives there", {"c": "x", "d": "y"}, [["a"], ["b"]], {"c": "t-0", "d": "t-1"}),
        ("one partition with replicas unknown", CROSSED, [["b"], []], {"c": "t-0", "d": "t-1"}),
        ("any replica counts", CROSSED, [["x", "a"], ["b"]], {"c": "t-1", "d": "t-0"}),
        ("balance first", CROSSED, [["a"], ["a"]], {"c": "t-0", "d": "t-1"}),
    ],
)  # fmt: skip
def test_with_equal_subscriptions_racks_decide(situation, racks, replicas, expected):
    """A free partition goes to a member on one of its racks, where that can make a difference."""
    group = spec(PAIR, {"t": 2}, racks=racks, replicas={"t": replicas})

    assert owned(STICKY, group) == expected


def test_the_switch_is_one_for_the_whole_group():
    """Racks of one topic that differ turn them on for another on which all partitions are alike."""
    members = {m: ["t", "u"] for m in "cd"}
    alike = spec(members, {"t": 2}, racks=CROSSED, replicas={"t": [["a"], ["a"]]})
    replicas = {"t": [["a"], ["a"]], "u": [["b"], ["b"]]}
    differing = spec(members, {"t": 2, "u": 2}, racks=CROSSED, replicas=replicas)

    assert owned(STICKY, alike) == {"c": "t-0", "d": "t-1"}
    assert owned(STICKY, differing) == {"c": "u-0 u-1", "d": "t-0 t-1"}


def test_scarce_partitions_are_dealt_first():
    """What fewest members live beside is handed out before what many could take."""
    racks = {"c": "a", "d": "a", "e": "b"}
    replicas = {"t": [["a", "b"], ["a"], ["b"]]}
    group = spec({m: ["t"] for m in "cde"}, {"t": 3}, racks=racks, replicas=replicas)

    assert owned(STICKY, group) == {"c": "t-1", "d": "t-0", "e": "t-2"}


def test_the_turn_goes_on_from_where_it_stopped():
    """Members on a rack take turns, and do not start over with the first for each partition."""
    racks = {"c": "a", "d": "b", "e": "a", "f": "b"}
    replicas = {"t": [["a"], ["b"], ["a"], ["b"], ["a"], ["b"], ["a"], ["b"]]}
    group = spec({m: ["t"] for m in "cdef"}, {"t": 8}, racks=racks, replicas=replicas)

    assert owned(STICKY, group) == {"c": "t-0 t-4", "d": "t-1 t-5", "e": "t-2 t-6", "f": "t-3 t-7"}


def test_who_has_enough_takes_the_extra_ones_on_its_rack():
    """Once nobody on a rack is short, the first there with just enough may have one more, up to the extras."""
    racks = {"c": "a", "d": "b", "e": "b"}
    replicas = {"t": [["a"], ["a"], ["b"], ["b"], ["a"]]}
    group = spec({m: ["t"] for m in "cde"}, {"t": 5}, racks=racks, replicas=replicas)

    assert owned(STICKY, group) == {"c": "t-0 t-1", "d": "t-2 t-4", "e": "t-3"}


def test_a_member_without_rack_gets_what_is_left_over():
    """With equal subscriptions it matches no rack; it takes what nobody else could."""
    group = spec(PAIR, {"t": 2}, racks={"d": "a"}, replicas={"t": [["a"], ["b"]]})

    assert owned(STICKY, group) == {"c": "t-1", "d": "t-0"}


@pytest.mark.parametrize(
    ("situation", "members", "expected"),
    [
        ("equal subscriptions", PAIR, {"c": "t-1", "d": "t-0"}),
        ("unequal ones", {**PAIR, "e": ["u"]}, {"c": "t-1", "d": "t-0", "e": ""}),
    ],
)
def test_what_is_on_another_rack_is_not_kept(situation, members, expected):
    """When racks count, a member loses what has no replica on its own."""
    group = told_in_user_data(
        members,
        {"t": 2},
        {"c": ("t-0", 1), "d": ("t-1", 1)},
        racks=CROSSED,
        replicas={"t": [["a"], ["b"]]},
    )

    assert owned(STICKY, group) == expected


def test_what_moves_for_its_rack_is_given_up_first():
    """Cooperative members get it in the next round."""
    told = {"c": ("t-0", 1), "d": ("t-1", 1)}
    replicas = {"t": [["a"], ["b"]]}
    group = told_in_subscription(PAIR, {"t": 2}, told, racks=CROSSED, replicas=replicas)

    assert owned(COOPERATIVE, group) == {"c": "", "d": ""}
    assert COOPERATIVE.assign(group).transferring.tolist() == [1, 0]


@pytest.mark.parametrize(
    ("situation", "racks", "expected"),
    [
        ("a rack each", {"c": "b", "d": "a"}, {"c": "t-1 t-3", "d": "t-0 t-2", "e": ""}),
        ("no rack matches every rack", {"c": "b"}, {"c": "t-1 t-3", "d": "t-0 t-2", "e": ""}),
        ("balance first", {"c": "b", "d": "b"}, {"c": "t-1 t-0", "d": "t-3 t-2", "e": ""}),
    ],
)
def test_with_unequal_subscriptions_racks_decide(situation, racks, expected):
    """Of the subscribers on its racks, the one with least gets a partition; the rest goes to anybody."""
    members = {"c": ["t"], "d": ["t"], "e": ["u"]}
    replicas = {"t": [["a"], ["b"], ["a"], ["b"]]}
    group = spec(members, {"t": 4}, racks=racks, replicas=replicas)

    assert owned(STICKY, group) == expected


def test_moving_towards_balance_looks_at_no_rack():
    """What must move goes to the subscriber with least, though another one lives where the partition is."""
    members = {"c": ["t"], "d": ["t"], "e": ["t"], "f": ["u"]}
    racks = {"c": "a", "d": "b", "e": "a", "f": "b"}
    replicas = {"t": [["a"], ["a"], ["a"], ["a"]], "u": [["b"]]}
    told = {"c": ("t-0 t-1 t-2", 1), "e": ("t-3", 1)}
    group = told_in_user_data(members, {"t": 4, "u": 1}, told, racks=racks, replicas=replicas)

    assert owned(STICKY, group) == {"c": "t-1 t-2", "d": "t-0", "e": "t-3", "f": "u-0"}
