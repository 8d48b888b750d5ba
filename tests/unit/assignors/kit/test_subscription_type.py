"""When a group is homogeneous."""

from __future__ import annotations

import pytest
from hypothesis import given

from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kafka.group_coordinator import homogeneous, subscribed_topics
from tests.helpers.strategies import groups


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


def test_subscribed_topics_are_those_there_are_each_once():
    """In the order of first mention."""
    group = spec({"a": ["u", "gone", "t", "u"]}, {"t": 1, "u": 0})

    assert [group.topics[t] for t in subscribed_topics(group, 0)] == ["u", "t"]
