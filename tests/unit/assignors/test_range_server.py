"""Server-side range: situations by name, and what tells it from the client's range."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import fresh, rejoining, spec
from evenkeel.engine.assignors.range_server import RangeServer
from evenkeel.engine.model.arrays import NONE
from tests.helpers.owned import owned
from tests.helpers.plain_range import plain_range
from tests.helpers.strategies import Shape, groups

RANGE_SERVER = RangeServer()


@pytest.mark.parametrize(
    ("situation", "members", "topics", "expected"),
    [
        ("no members", {}, {"t": 3}, {}),
        ("nobody subscribes", {"c": [], "d": []}, {"t": 3}, {"c": "", "d": ""}),
        ("topic missing", {"c": ["gone"]}, {}, {"c": ""}),
        ("topic without partitions", {"c": ["t"]}, {"t": 0}, {"c": ""}),
        ("one member", {"c": ["t"]}, {"t": 3}, {"c": "t-0 t-1 t-2"}),
        ("only subscribed topics", {"c": ["t"]}, {"t": 2, "u": 2}, {"c": "t-0 t-1"}),
        ("a topic named twice", {"c": ["t", "t"], "d": ["t"]}, {"t": 2}, {"c": "t-0", "d": "t-1"}),
        ("more members than partitions", {"c": ["t"], "d": ["t"]}, {"t": 1}, {"c": "t-0", "d": ""}),
        (
            "the first have the extras, topic by topic",
            {m: ["t", "u"] for m in "cde"},
            {"t": 5, "u": 4},
            {"c": "t-0 t-1 u-0 u-1", "d": "t-2 t-3 u-2", "e": "t-4 u-3"},
        ),
        (
            "different subscriptions: only a topic's subscribers count",
            {"c": ["t"], "d": ["t", "u"], "e": ["u"]},
            {"t": 3, "u": 3},
            {"c": "t-0 t-1", "d": "t-2 u-0 u-1", "e": "u-2"},
        ),
        (
            "members are taken by id, not as listed",
            {"d": ["t"], "c": ["t"]},
            {"t": 3},
            {"d": "t-2", "c": "t-0 t-1"},
        ),
    ],
)
def test_range_server_assigns(situation, members, topics, expected):
    """Each subscriber gets a contiguous range, the first ones an extra partition."""
    assert owned(RANGE_SERVER, spec(members, topics)) == expected


@pytest.mark.parametrize("others", [["t"], ["t", "u"]])
def test_static_members_come_first(others):
    """Static members stand before dynamic ones, by instance id, whether or not all subscribe to the same."""
    group = spec(
        {"c": ["t"], "d": ["t"], "e": others}, {"t": 3}, instance_ids={"d": "i-2", "e": "i-1"}
    )

    assert owned(RANGE_SERVER, group) == {"c": "t-2", "d": "t-1", "e": "t-0"}


def test_racks_do_not_matter():
    """Where the client's range would follow the racks, the server's does not look."""
    racked = spec(
        {"c": ["t"], "d": ["t"]},
        {"t": 2},
        racks={"c": "b", "d": "a"},
        replicas={"t": [["a"], ["b"]]},
    )

    assert owned(ASSIGNORS["range"], racked) == {"c": "t-1", "d": "t-0"}
    assert owned(RANGE_SERVER, racked) == {"c": "t-0", "d": "t-1"}


@given(groups())
def test_what_members_own_does_not_matter(group):
    """It answers the same whatever members own by now."""
    backwards = rejoining(group, group.owner[::-1].copy())

    expected = RANGE_SERVER.assign(fresh(group)).owner.tolist()

    assert RANGE_SERVER.assign(backwards).owner.tolist() == expected


@given(groups())
def test_range_server_agrees_with_the_literal_range(group):
    """It is the client's range for members without racks, written down partition by partition."""
    rackless = replace(group, member_rack=np.full_like(group.member_rack, NONE))

    assert RANGE_SERVER.assign(group).owner.tolist() == plain_range(rackless)


@given(groups(Shape(most_partitions=24, fewest_members=3)))
def test_range_server_agrees_with_the_literal_range_on_long_topics(group):
    """Shares of several partitions each are dealt as the description says, too."""
    rackless = replace(group, member_rack=np.full_like(group.member_rack, NONE))

    assert RANGE_SERVER.assign(group).owner.tolist() == plain_range(rackless)
