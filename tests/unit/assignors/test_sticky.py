"""Sticky: situations by name, with racks and without, and what balance and stickiness mean on any group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.advice.scoring import subscribed
from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import fresh, rejoining, spec
from evenkeel.engine.metrics.balance import fairly_balanced
from evenkeel.engine.model.arrays import NONE
from tests.helpers.owned import owned
from tests.helpers.sticky_groups import told_in_subscription, told_in_user_data
from tests.helpers.strategies import Shape, groups

STICKY, COOPERATIVE = ASSIGNORS["sticky"], ASSIGNORS["cooperative-sticky"]


@pytest.mark.parametrize(
    ("situation", "members", "topics", "told", "expected"),
    [
        ("nothing changed", "cd", {"t": 3}, {"c": "t-2 t-0", "d": "t-1"}, {"c": "t-0 t-2", "d": "t-1"}),
        ("a member left", "cd", {"t": 4}, {"c": "t-0", "d": "t-3"}, {"c": "t-0 t-1", "d": "t-3 t-2"}),
        ("a member joined", "cde", {"t": 6}, {"c": "t-0 t-1 t-2", "d": "t-3 t-4 t-5"},
         {"c": "t-0 t-1", "d": "t-3 t-4", "e": "t-2 t-5"}),
        ("kept by number before topic", "cd", {"t": 2, "u": 2}, {"c": "t-0 t-1 u-0 u-1"},
         {"c": "t-0 u-0", "d": "t-1 u-1"}),
        ("the first on Kafka's walk keeps the extra", "edc", {"t": 4}, {"d": "t-2 t-3", "c": "t-0 t-1"},
         {"c": "t-0 t-1", "d": "t-2", "e": "t-3"}),
        ("a topic went", "cd", {"t": 2}, {"c": "t-0 gone-0", "d": "t-1 gone-1"}, {"c": "t-0", "d": "t-1"}),
        ("members that own nothing join many", "cdef", {"t": 2}, {"c": "t-0 t-1"},
         {"c": "t-0", "d": "t-1", "e": "", "f": ""}),
    ],
)  # fmt: skip
def test_with_equal_subscriptions_members_keep(situation, members, topics, told, expected):
    """Everybody keeps up to the share, by partition number; only what is above it, or free, moves."""
    subscriptions = {m: list(topics) for m in members}
    past = {m: (pairs, 1) for m, pairs in told.items()}

    assert owned(STICKY, told_in_user_data(subscriptions, topics, past)) == expected


@pytest.mark.parametrize(
    ("situation", "members", "topics", "told", "expected"),
    [
        ("nothing changed", {"c": ["t", "u"], "d": ["u"]}, {"t": 1, "u": 2},
         {"c": "t-0 u-1", "d": "u-0"}, {"c": "t-0 u-1", "d": "u-0"}),
        ("in the order told", {"c": ["t", "u"], "d": ["u"]}, {"t": 2, "u": 2},
         {"c": "u-0 t-1 t-0", "d": "u-1"}, {"c": "t-1 t-0", "d": "u-1 u-0"}),
        ("no longer subscribed", {"c": ["t"], "d": ["t", "u"]}, {"t": 1, "u": 1},
         {"c": "t-0 u-0"}, {"c": "t-0", "d": "u-0"}),
        ("moved until balanced", {"c": ["t", "u"], "d": ["t"], "e": ["u"]}, {"t": 3, "u": 3},
         {"c": "t-0 t-1 t-2 u-0 u-1 u-2"}, {"c": "u-1 u-2", "d": "t-0 t-1 t-2", "e": "u-0"}),
        ("who may have all it could is set aside", {"c": ["t"], "d": ["u"], "e": ["u"]},
         {"t": 5, "u": 2}, {"d": "u-0 u-1"}, {"c": "t-0 t-1 t-2 t-3 t-4", "d": "u-1", "e": "u-0"}),
    ],
)  # fmt: skip
def test_with_unequal_subscriptions_members_keep(situation, members, topics, told, expected):
    """Everybody keeps what it still subscribes to, and gives up only to who has two fewer."""
    past = {m: (pairs, 1) for m, pairs in told.items()}

    assert owned(STICKY, told_in_user_data(members, topics, past)) == expected


def test_of_one_topic_two_members_do_not_swap():
    """t-1 and t-3 went from c to b; when t-0 is to go from b to c, the first of both in a HashSet goes back instead."""
    members = {"a": ["u"], "b": ["t", "u"], "c": ["t", "u"]}
    told = {"b": ("t-0 t-2", 1), "c": ("t-1 t-3 t-4 u-0 u-1 u-2", 1)}

    assert owned(STICKY, told_in_user_data(members, {"t": 5, "u": 3}, told)) == {
        "a": "u-0 u-1",
        "b": "t-0 t-2 t-1",
        "c": "t-4 u-2 t-3",
    }


@given(st.integers(1, 12), st.integers(0, 12), st.integers(0, 11))
def test_who_leaves_moves_its_partitions_only(count, partitions, leaver):
    """With equal subscriptions, whoever stays keeps all it had when one member leaves."""
    members = {f"c{m}": ["t", "u"] for m in range(count + 1)}
    topics = {"t": partitions, "u": 7}
    before = STICKY.assign(spec(members, topics)).owner
    gone = leaver % (count + 1)
    stays = [m for m in range(count + 1) if m != gone]
    place = np.array([stays.index(m) if m != gone else NONE for m in range(count + 1)])
    group = spec({f"c{m}": ["t", "u"] for m in stays}, topics)

    after = STICKY.assign(rejoining(group, place[before].astype(np.int32))).owner

    assert (after == place[before])[before != gone].all()


@given(groups(Shape(fewest_members=1)).map(fresh))
def test_nobody_could_take_over_from_who_has_two_more(group):
    """Any fresh answer is balanced as KIP-54 means it, found by what knows no strategy."""
    answer = STICKY.assign(group)
    counts = np.bincount(answer.owner[answer.owner != NONE], minlength=len(group.members))

    assert answer.findings or fairly_balanced(counts, answer.owner, subscribed(group)).all()


PAIR = {m: ["t"] for m in "cd"}
CROSSED = {"c": "b", "d": "a"}
"""The first member lives where the second partition is."""


@pytest.mark.parametrize(
    ("situation", "racks", "replicas", "expected"),
    [
        ("a rack each", CROSSED, {"t": "a b"}, {"c": "t-1", "d": "t-0"}),
        ("no member has one", {"c": None, "d": None}, {"t": "a b"}, {"c": "t-0", "d": "t-1"}),
        ("an empty rack is none", {"c": "", "d": ""}, {"t": "a b"}, {"c": "t-0", "d": "t-1"}),
        ("all partitions on all racks", CROSSED, {"t": "ab ba"}, {"c": "t-0", "d": "t-1"}),
        ("nobody lives there", {"c": "x", "d": "y"}, {"t": "a b"}, {"c": "t-0", "d": "t-1"}),
        ("one partition with replicas unknown", CROSSED, {"t": "b ?"}, {"c": "t-0", "d": "t-1"}),
        ("any replica counts", CROSSED, {"t": "xa b"}, {"c": "t-1", "d": "t-0"}),
        ("balance first", CROSSED, {"t": "a a"}, {"c": "t-0", "d": "t-1"}),
        ("racks of one topic that differ turn them on for another", CROSSED, {"t": "a a", "u": "b b"},
         {"c": "u-0 u-1", "d": "t-0 t-1"}),
        ("a member without rack gets what is left over", {"c": None, "d": "a"}, {"t": "a b"},
         {"c": "t-1", "d": "t-0"}),
        ("what fewest members live beside is dealt first", {"c": "a", "d": "a", "e": "b"},
         {"t": "ab a b"}, {"c": "t-1", "d": "t-0", "e": "t-2"}),
        ("members on a rack take turns, and do not start over", {"c": "a", "d": "b", "e": "a", "f": "b"},
         {"t": "a b a b a b a b"}, {"c": "t-0 t-4", "d": "t-1 t-5", "e": "t-2 t-6", "f": "t-3 t-7"}),
        ("then the first there with just enough has one more", {"c": "a", "d": "b", "e": "b"},
         {"t": "a a b b a"}, {"c": "t-0 t-1", "d": "t-2 t-4", "e": "t-3"}),
    ],
)  # fmt: skip
def test_with_equal_subscriptions_racks_decide(situation, racks, replicas, expected):
    """A free partition goes to a member on one of its racks, where that can make a difference."""
    on = {topic: [word.strip("?") for word in words.split()] for topic, words in replicas.items()}
    group = spec(
        {member: list(on) for member in racks},
        {topic: len(words) for topic, words in on.items()},
        racks={member: rack for member, rack in racks.items() if rack is not None},
        replicas={topic: [list(word) for word in words] for topic, words in on.items()},
    )

    assert owned(STICKY, group) == expected, situation


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
