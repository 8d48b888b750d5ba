"""Who stands where, who subscribes to what, whether all do to the same, and when racks can make a difference."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenkeel.engine.assignors.interface import build_spec, spec, together
from evenkeel.engine.assignors.kafka.group_coordinator import (
    alike,
    homogeneous,
    subscribed_topics,
)
from evenkeel.engine.assignors.kafka.racks import rack_aware_topics, replica_racks
from evenkeel.engine.assignors.kit.members import member_order, subscribers_in_order
from evenkeel.engine.assignors.kit.orders import distinct
from tests.helpers.strategies import groups


def _ordered(members, instance_ids=None):
    group = spec({m: [] for m in members}, {}, instance_ids=instance_ids or {})
    return [group.members[m] for m in member_order(group)]


def test_dynamic_members_stand_by_id():
    """Member ids sort as strings, so 10 comes before 2."""
    assert _ordered(["c-2", "c-10", "c-1"]) == ["c-1", "c-10", "c-2"]


def test_static_members_stand_first_by_instance_id():
    """A static member's own id does not matter, and the dynamic ones follow."""
    statics = {"c": "host-1", "d": "host-0"}

    assert _ordered(["a", "b", "c", "d"], statics) == ["d", "c", "a", "b"]


def test_astral_names_sort_by_utf16():
    """A character beyond U+FFFF sorts before the private ones below it, as in Java."""
    assert _ordered(["\uffee", "\U0001f600"]) == ["\U0001f600", "\uffee"]


@pytest.mark.parametrize("listed", [["m-0", "m-1"], ["m-1", "m-0"]])
def test_equal_instance_ids_keep_the_order_of_the_map(listed):
    """Two members with one instance id come as Java's map of members is walked."""
    group = build_spec(
        members=listed,
        instance_ids=["same", "same"],
        member_racks=[None, None],
        subscriptions=[[], []],
        topics=[],
        partition_counts=[],
        replica_racks=[],
    )

    assert [group.members[m] for m in member_order(group)] == ["m-1", "m-0"]


def test_subscribers_come_in_the_order_asked_for():
    """Each topic lists its subscribers by their place in the given order, not by index."""
    group = spec({"a": ["t"], "b": ["u", "t"], "c": ["t"]}, {"t": 1, "u": 1})

    pairs = subscribers_in_order(group, np.array([2, 0, 1]))

    assert (pairs.start.tolist(), pairs.member.tolist()) == ([0, 3, 4], [2, 0, 1, 1])
    assert pairs.place.tolist() == [0, 1, 2, 2]


def test_topics_without_partitions_have_no_pairs():
    """Missing and empty topics are nobody's, whoever subscribes."""
    group = spec({"a": ["gone", "empty", "t"]}, {"empty": 0, "t": 1})

    assert subscribers_in_order(group, np.array([0])).count.tolist() == [0, 1, 0]


@given(groups())
def test_pairs_equal_the_groups_own_subscribers(group):
    """In the order of listing, the pairs are those of the group itself."""
    pairs = subscribers_in_order(group, np.arange(len(group.members)))

    sizes = np.diff(group.topic_start)
    expected = [s.tolist() if n else [] for s, n in zip(group.subscribers, sizes, strict=True)]
    cuts = zip(pairs.start[:-1], pairs.start[1:], strict=True)
    assert [pairs.member[a:b].tolist() for a, b in cuts] == expected


def test_few_keys_in_a_wide_range_are_found_by_sorting():
    """Both ways to find distinct keys agree: a table for dense keys, sorting for sparse ones."""
    keys = np.array([9, 2, 9, 0, 2])

    assert distinct(keys, 10).tolist() == distinct(keys, 10**12).tolist() == [0, 2, 9]


def test_no_keys_are_no_keys():
    """Nothing distinct is found in nothing."""
    assert distinct(np.zeros(0, np.int64), 5).tolist() == []


def test_each_topic_is_judged_by_its_own_subscribers():
    """A racked member makes no difference to a topic it does not subscribe to."""
    group = spec(
        {"c0": ["t"], "c1": ["u"]},
        {"t": 2, "u": 2},
        racks={"c0": "a"},
        replicas={"t": [["a"], ["b"]], "u": [["a"], ["b"]]},
    )

    pairs = subscribers_in_order(group, np.array([0, 1]))

    assert rack_aware_topics(group, pairs, replica_racks(group)).tolist() == [True, False]


@pytest.mark.parametrize(
    ("situation", "members", "expected"),
    [
        ("no members", {}, True),
        ("nobody names anything", {"a": [], "b": []}, True),
        ("the same as sent", {"a": ["t", "u"], "b": ["t", "u"]}, True),
        ("in another order", {"a": ["t", "u"], "b": ["u", "t"]}, True),
        ("some twice", {"a": ["t", "u"], "b": ["u", "t", "u"]}, True),
        ("as many, but one twice", {"a": ["t", "u"], "b": ["t", "t"]}, False),
        ("one more", {"a": ["t"], "b": ["t", "u"]}, False),
        ("one less", {"a": ["t", "u"], "b": ["t"]}, False),
        ("others", {"a": ["t"], "b": ["u"]}, False),
        ("one names nothing", {"a": ["t"], "b": []}, False),
        ("one more that does not exist", {"a": ["t"], "b": ["t", "gone"]}, False),
    ],
)
def test_homogeneous_means_equal_sets_of_names(situation, members, expected):
    """Order and repetition do not count, topics that do not exist do."""
    assert homogeneous(spec(members, {"t": 1, "u": 1})) is expected


@given(groups())
def test_homogeneous_is_one_distinct_set(group):
    """Whatever the shortcuts, it is the same as comparing all sets."""
    sets = {frozenset(group.subscribed(m).tolist()) for m in range(len(group.members))}

    assert homogeneous(group) == (len(sets) <= 1)


@given(st.lists(groups(), min_size=1, max_size=4))
def test_groups_are_homogeneous_each_by_itself(some):
    """Whatever stands beside it."""
    assert alike(together(some)).tolist() == [homogeneous(group) for group in some]


def test_subscribed_topics_are_those_there_are_each_once():
    """In the order of first mention."""
    group = spec({"a": ["u", "gone", "t", "u"]}, {"t": 1, "u": 0})

    assert [group.topics[t] for t in subscribed_topics(group, 0)] == ["u", "t"]
