"""Uniform with different subscriptions: situations by name, and the limits its authors state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.uniform import Uniform
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.facts import said
from tests.helpers.owned import owned
from tests.helpers.strategies import Shape, groups

UNIFORM = Uniform()


@pytest.mark.parametrize(
    ("situation", "members", "topics", "expected"),
    [
        (
            "mixed topics",
            {"c": ["t"], "d": ["t", "u"], "e": ["t"]},
            {"t": 3, "u": 2},
            {"c": "t-0 t-2", "d": "u-0 u-1", "e": "t-1"},
        ),
        (
            "stairs",
            {"c": ["t"], "d": ["t", "u"], "e": ["t", "u", "v"]},
            {"t": 1, "u": 2, "v": 3},
            {"c": "t-0", "d": "u-0 u-1", "e": "v-0 v-1 v-2"},
        ),
        (
            "the lower levels are filled first",
            {"c": ["t", "u"], "d": ["u"], "e": ["u"]},
            {"t": 3, "u": 5},
            {"c": "t-0 t-1 t-2", "d": "u-0 u-2 u-4", "e": "u-1 u-3"},
        ),
        (
            "a member without topics",
            {"c": [], "d": ["t"]},
            {"t": 2},
            {"c": "", "d": "t-0 t-1"},
        ),
        (
            "nobody subscribes to anything there is",
            {"c": ["gone"], "d": []},
            {"t": 2},
            {"c": "", "d": ""},
        ),
        (
            "the same topics, but for one that is not there",
            {"c": ["t"], "d": ["t", "gone"]},
            {"t": 4},
            {"c": "t-0 t-2", "d": "t-1 t-3"},
        ),
    ],
)
def test_free_partitions_go_to_who_owns_fewest(situation, members, topics, expected):
    """Topics with most partitions per subscriber first; within one, members take turns from the lowest level up."""
    assert owned(UNIFORM, spec(members, topics)) == expected


def test_topics_of_equal_ratio_and_subscribers_come_by_signed_id():
    """An id whose upper half is negative comes first, though it is larger as a UUID."""
    members = {"c": ["t", "u"], "d": ["t", "u"], "e": []}
    group = replace(spec(members, {"t": 1, "u": 1}), topic_ids=(f"{1:032x}", "f" * 32))

    assert owned(UNIFORM, group) == {"c": "u-0", "d": "t-0", "e": ""}


def test_of_topics_with_equal_ratio_the_one_with_fewer_subscribers_comes_first():
    """The topic that can go to fewer members is dealt before the other."""
    members = {"c": ["t", "u"], "d": ["t"], "e": []}
    group = replace(spec(members, {"t": 2, "u": 1}), topic_ids=(f"{1:032x}", f"{2:032x}"))

    assert owned(UNIFORM, group) == {"c": "u-0", "d": "t-0 t-1", "e": ""}


def test_members_keep_what_they_still_subscribe_to():
    """What a member unsubscribed from goes to another; what it did not stays with it."""
    has = {"c": [("t", 0), ("t", 1)], "d": [("t", 2), ("u", 0)]}
    group = spec({"c": ["t"], "d": ["t"], "e": ["t", "u"]}, {"t": 3, "u": 1}, owned=has)

    assert owned(UNIFORM, group) == {"c": "t-0 t-1", "d": "t-2", "e": "u-0"}


def test_a_new_member_gets_the_highest_partitions_of_the_fullest():
    """The last of the fullest gives first, and each gives its highest number."""
    has = {"c": [("t", 0), ("t", 1), ("t", 2)], "d": [("t", 3), ("t", 4), ("t", 5)]}
    group = spec({"c": ["t"], "d": ["t"], "e": ["t"], "f": []}, {"t": 6}, owned=has)

    assert owned(UNIFORM, group) == {"c": "t-0 t-1", "d": "t-3 t-4", "e": "t-2 t-5", "f": ""}


def test_balance_stops_where_neighbours_are_one_apart():
    """The class's own example of its limit: 9, 10 and 11 stay, for no topic has two subscribers two apart."""
    has = {
        "c": [("t", p) for p in range(9)],
        "d": [("t", 9), *(("u", p) for p in range(9))],
        "e": [("u", p) for p in range(9, 20)],
    }
    group = spec({"c": ["t"], "d": ["t", "u"], "e": ["u"]}, {"t": 10, "u": 20}, owned=has)

    answer = UNIFORM.assign(group)

    assert np.bincount(answer.owner).tolist() == [9, 10, 11]
    assert answer.owner.tolist() == group.owner.tolist()


def test_balance_passes_over_who_has_nothing_of_the_topic():
    """The fullest member gives nothing of a topic it has nothing of; the next one does."""
    has = {"c": [("u", p) for p in range(6)], "d": [("t", p) for p in range(4)]}
    group = spec({"c": ["t", "u"], "d": ["t"], "e": ["t"]}, {"t": 4, "u": 6}, owned=has)

    assert np.bincount(UNIFORM.assign(group).owner).tolist() == [6, 2, 2]


def test_balance_ends_after_sixteen_sweeps():
    """Along a chain of overlapping subscriptions it takes more to get even; these are the JVM's counts after 16."""
    topics = {f"t{n}": 100 for n in range(10)}
    names = list(topics)
    members = {f"m{n}": names[max(n - 1, 0) : n + 1] for n in range(10)}
    has = {f"m{n}": [(names[n], p) for p in range(100)] for n in range(5)}
    ids = tuple(f"{n + 1:032x}" for n in range(10))
    group = replace(spec(members, topics, owned=has), topic_ids=ids)

    counts = np.bincount(UNIFORM.assign(group).owner).tolist()

    assert counts == [95, 96, 97, 98, 100, 101, 102, 103, 104, 104]


def test_two_holders_of_one_partition_both_keep_it_and_it_is_said():
    """Kafka lets a partition have two holders here; the lists show it, and a finding names it."""
    has = {"c": [("t", 0)], "d": [("t", 0)]}
    group = spec({"c": ["t"], "d": ["t", "u"]}, {"t": 2, "u": 1}, owned=has)

    answer = UNIFORM.assign(group)

    assert group.lists(answer) == {"c": [("t", 0), ("t", 1)], "d": [("t", 0), ("u", 0)]}
    assert said(answer.findings) == ("1 partition is given to more than one member, t-0",)


def test_a_second_holder_who_gets_the_partition_has_it_once():
    """Moved to a member that held it all along, a partition has one holder again."""
    has = {"c": [("t", 2)], "d": [("t", 0), ("t", 1), ("t", 2)]}
    group = spec({"c": ["t"], "d": ["t", "u"]}, {"t": 3, "u": 0}, owned=has)

    answer = UNIFORM.assign(group)

    assert group.lists(answer) == {"c": [("t", 2)], "d": [("t", 0), ("t", 1)]}
    assert answer.findings == ()


def test_a_second_holder_who_got_the_partition_and_gave_it_away_has_it_no_more():
    """The JVM's answer where t-2 goes from d to c, which held it too, and back; u-0 stays c's beside e."""
    has = {
        "c": [("t", 1), ("t", 2), ("u", 0)],
        "d": [("t", 0), ("t", 2), ("u", 0), ("u", 1)],
    }
    members = {"c": ["u", "t"], "d": ["t", "u", "v"], "e": ["u"]}
    ids = tuple(f"{n:032x}" for n in (1, 2, 3))
    group = replace(spec(members, {"t": 3, "u": 2, "v": 1}, owned=has), topic_ids=ids)

    assert owned(UNIFORM, group) == {"c": "t-1 u-0", "d": "t-0 t-2 v-0", "e": "u-0 u-1"}


def test_a_partition_that_is_no_more_is_infeasible():
    """Kafka's class throws when a member has a number beyond its topic's end, and the error names it."""
    group = spec({"c": ["t"], "d": []}, {"t": 2}, owned={"c": [("t", 2)]})

    with pytest.raises(Infeasible, match=r"t-2 as owned.*ArrayIndexOutOfBoundsException"):
        UNIFORM.assign(group)


def test_a_partition_of_a_topic_left_behind_may_be_no_more():
    """What a member no longer subscribes to is dropped unseen."""
    group = spec({"c": ["t"], "d": []}, {"t": 1, "u": 1}, owned={"c": [("u", 9)]})

    assert owned(UNIFORM, group) == {"c": "t-0", "d": ""}


@given(groups(Shape(sound=True)))
def test_nobody_could_take_from_the_fullest_of_a_topic(group):
    """Small groups end balanced: no owner of a partition has two more than another of its subscribers."""
    owner = UNIFORM.assign(group).owner
    sizes = np.bincount(owner[owner != NONE], minlength=len(group.members))

    for topic, subscribers in enumerate(group.subscribers):
        owners = owner[list(group.partitions_of(topic))]
        if len(subscribers) and len(owners):
            assert sizes[owners].max() <= sizes[subscribers].min() + 1
