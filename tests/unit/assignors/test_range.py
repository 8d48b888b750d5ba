"""Range without racks: situations by name, and a literal second opinion."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import spec
from tests.helpers.owned import owned
from tests.helpers.plain_range import plain_range
from tests.helpers.strategies import Shape, groups

RANGE = ASSIGNORS["range"]


@pytest.mark.parametrize(
    ("situation", "members", "topics", "expected"),
    [
        ("no members", {}, {"t": 3}, {}),
        ("one member, no topic", {"c": []}, {"t": 3}, {"c": ""}),
        ("topic missing", {"c": ["gone"]}, {}, {"c": ""}),
        ("topic without partitions", {"c": ["t"]}, {"t": 0}, {"c": ""}),
        ("one member, one topic", {"c": ["t"]}, {"t": 3}, {"c": "t-0 t-1 t-2"}),
        ("only subscribed topics", {"c": ["t"]}, {"t": 2, "u": 2}, {"c": "t-0 t-1"}),
        ("one member, several topics", {"c": ["t", "u"]}, {"t": 1, "u": 2}, {"c": "t-0 u-0 u-1"}),
        ("a topic named twice", {"c": ["t", "t"], "d": ["t"]}, {"t": 2}, {"c": "t-0", "d": "t-1"}),
        ("more members than partitions", {"c": ["t"], "d": ["t"]}, {"t": 1}, {"c": "t-0", "d": ""}),
        ("as many members", {"c": ["t"], "d": ["t"]}, {"t": 2}, {"c": "t-0", "d": "t-1"}),
        (
            "mixed topics",
            {"c": ["t"], "d": ["t", "u"], "e": ["t"]},
            {"t": 3, "u": 2},
            {"c": "t-0", "d": "t-1 u-0 u-1", "e": "t-2"},
        ),
    ],
)
def test_range_assigns(situation, members, topics, expected):
    """Each subscriber gets a contiguous range, the first ones an extra partition."""
    assert owned(RANGE, spec(members, topics)) == expected


def test_members_are_taken_by_id_not_as_listed():
    """The order in which members joined does not decide who has the extra partition."""
    group = spec({"d": ["t"], "c": ["t"]}, {"t": 3})

    assert owned(RANGE, group) == {"d": "t-2", "c": "t-0 t-1"}


@pytest.mark.parametrize(
    ("situation", "instance_ids", "expected"),
    [
        ("two static members", {"c": "i-2", "d": "i-1"}, {"c": "t-2", "d": "t-0 t-1"}),
        ("a static and a dynamic one", {"d": "i-1"}, {"c": "t-2", "d": "t-0 t-1"}),
    ],
)
def test_static_members_come_first(situation, instance_ids, expected):
    """Static members stand before dynamic ones, by instance id."""
    group = spec({"c": ["t"], "d": ["t"]}, {"t": 3}, instance_ids=instance_ids)

    assert owned(RANGE, group) == expected


def test_static_members_keep_their_ranges_after_a_restart():
    """New member ids under the same instance ids get what the old ones had."""
    topics = {"t": 5, "u": 4}
    before = spec({"a": ["t", "u"], "b": ["t", "u"]}, topics, instance_ids={"a": "i-1", "b": "i-2"})
    after = spec({"y": ["t", "u"], "x": ["t", "u"]}, topics, instance_ids={"y": "i-1", "x": "i-2"})

    had, has = owned(RANGE, before), owned(RANGE, after)

    assert (has["y"], has["x"]) == (had["a"], had["b"])


@given(groups())
def test_range_agrees_with_the_literal_algorithm(group):
    """Any group, racks and static members included, is assigned as the description says."""
    assert RANGE.assign(group).owner.tolist() == plain_range(group)


@given(groups(Shape(most_topics=3, fewest_members=2, together=True)))
def test_range_agrees_with_the_literal_algorithm_on_co_partitioned_topics(group):
    """Equal topics in racks are matched line by line as the description says."""
    assert RANGE.assign(group).owner.tolist() == plain_range(group)


@given(groups(Shape(most_partitions=24, fewest_members=3)))
def test_range_agrees_with_the_literal_algorithm_on_long_topics(group):
    """Shares of several partitions each are dealt as the description says, too."""
    np.testing.assert_array_equal(RANGE.assign(group).owner, plain_range(group))
