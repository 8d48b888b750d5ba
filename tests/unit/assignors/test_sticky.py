"""Sticky: situations by name, and what balance and stickiness mean on any group."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import fresh, rejoining, spec
from evenkeel.engine.metrics.balance import fairly_balanced
from evenkeel.engine.model.arrays import NONE
from tests.helpers.owned import owned
from tests.helpers.sticky_groups import told_in_user_data
from tests.helpers.strategies import Shape, groups

STICKY = ASSIGNORS["sticky"]


@pytest.mark.parametrize(
    ("situation", "members", "topics", "expected"),
    [
        ("one member, no topic", {"c": []}, {"t": 3}, {"c": ""}),
        ("topic missing", {"c": ["gone"]}, {}, {"c": ""}),
        ("one member, one topic", {"c": ["t"]}, {"t": 3}, {"c": "t-0 t-1 t-2"}),
        ("only subscribed topics", {"c": ["t"]}, {"t": 2, "u": 2}, {"c": "t-0 t-1"}),
        ("more members than partitions", {"c": ["t"], "d": ["t"]}, {"t": 1}, {"c": "t-0", "d": ""}),
        ("everybody one in turn", {"c": ["t"], "d": ["t"]}, {"t": 3}, {"c": "t-0 t-2", "d": "t-1"}),
        ("the turn goes on over topics", {m: ["u", "t"] for m in "cd"}, {"u": 1, "t": 1},
         {"c": "t-0", "d": "u-0"}),
        ("topics by name", {m: ["t2", "t10"] for m in "cd"}, {"t2": 2, "t10": 1},
         {"c": "t10-0 t2-1", "d": "t2-0"}),
        ("the topic with fewest subscribers first", {"c": ["t", "u"], "d": ["t"]}, {"t": 3, "u": 1},
         {"c": "u-0 t-1", "d": "t-0 t-2"}),
        ("unequal subscriptions", {"c": ["t"], "d": ["t", "u"], "e": ["t"]}, {"t": 3, "u": 2},
         {"c": "t-0 t-2", "d": "u-0 u-1", "e": "t-1"}),
        ("who has more gets nothing", {"c": ["t"], "d": ["t", "u"]}, {"t": 3, "u": 3},
         {"c": "t-0 t-1 t-2", "d": "u-0 u-1 u-2"}),
        ("a topic named twice", {"c": ["t", "t"], "d": ["t"]}, {"t": 3}, {"c": "t-0 t-2", "d": "t-1"}),
    ],
)  # fmt: skip
def test_a_fresh_group_gets(situation, members, topics, expected):
    """Without a past, each partition goes to the subscriber with least, the first by id."""
    assert owned(STICKY, spec(members, topics)) == expected


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

    assert answer.findings or fairly_balanced(
        counts, group.topic_of, answer.owner, group.subscribers
    )


def test_instance_ids_do_not_matter():
    """Unlike range and roundrobin, sticky deals to static members like to others."""
    members = {"c": ["t"], "d": ["t"]}

    assert owned(STICKY, spec(members, {"t": 1}, instance_ids={"d": "i-1"})) == {
        "c": "t-0",
        "d": "",
    }
