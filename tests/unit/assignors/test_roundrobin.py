"""Round robin: situations by name."""

from __future__ import annotations

import pytest
from hypothesis import given

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kit.java_order import utf16
from evenkeel.engine.assignors.kit.members import member_order
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.owned import owned
from tests.helpers.strategies import Shape, groups

ROUND_ROBIN = ASSIGNORS["roundrobin"]


@pytest.mark.parametrize(
    ("situation", "members", "topics", "expected"),
    [
        ("one member, no topic", {"c": []}, {"t": 3}, {"c": ""}),
        ("topic missing", {"c": ["gone"]}, {}, {"c": ""}),
        ("one member, one topic", {"c": ["t"]}, {"t": 3}, {"c": "t-0 t-1 t-2"}),
        ("only subscribed topics", {"c": ["t"]}, {"t": 2, "u": 2}, {"c": "t-0 t-1"}),
        ("more members than partitions", {"c": ["t"], "d": ["t"]}, {"t": 1}, {"c": "t-0", "d": ""}),
        ("the turn goes on over topics", {m: ["t", "u"] for m in "cd"}, {"t": 1, "u": 1},
         {"c": "t-0", "d": "u-0"}),
        ("a topic named twice", {"c": ["t", "t"], "d": ["t"]}, {"t": 2}, {"c": "t-0", "d": "t-1"}),
        (
            "mixed topics",
            {"c": ["t"], "d": ["t", "u"], "e": ["t"]},
            {"t": 3, "u": 2},
            {"c": "t-0", "d": "t-1 u-0 u-1", "e": "t-2"},
        ),
    ],
)  # fmt: skip
def test_round_robin_assigns(situation, members, topics, expected):
    """Partitions go round the ring; the pointer never comes back for who was passed over."""
    assert owned(ROUND_ROBIN, spec(members, topics)) == expected


def test_topics_come_by_name_and_the_lists_keep_that_order():
    """However topics are listed, t10 is dealt before t2, and each list is in the order dealt."""
    group = spec({"c": ["t2", "t10"], "d": ["t2", "t10"]}, {"t2": 3, "t10": 3})

    assert owned(ROUND_ROBIN, group) == {"c": "t10-0 t10-2 t2-1", "d": "t10-1 t2-0 t2-2"}


@pytest.mark.parametrize(
    ("situation", "instance_ids", "expected"),
    [
        ("two static members", {"c": "i-2", "d": "i-1"}, {"c": "t-1", "d": "t-0 t-2"}),
        ("a static and a dynamic one", {"d": "i-1"}, {"c": "t-1", "d": "t-0 t-2"}),
    ],
)
def test_static_members_come_first(situation, instance_ids, expected):
    """Static members stand before dynamic ones on the ring, by instance id."""
    group = spec({"c": ["t"], "d": ["t"]}, {"t": 3}, instance_ids=instance_ids)

    assert owned(ROUND_ROBIN, group) == expected


def test_racks_do_not_matter():
    """Round robin hands out over racks as if there were none."""
    members, replicas = {"c": ["t"], "d": ["t"]}, {"t": [["a"], ["b"]]}
    racked = spec(members, {"t": 2}, racks={"c": "b", "d": "a"}, replicas=replicas)

    assert owned(ROUND_ROBIN, racked) == {"c": "t-0", "d": "t-1"}


def test_no_members_are_infeasible():
    """Kafka's class throws on an empty group; the error says how many members there are."""
    with pytest.raises(Infeasible, match="0 members"):
        ROUND_ROBIN.assign(spec({}, {"t": 1}))


def _round_the_ring(group):
    """Deal one partition after another, the literal way."""
    ring = member_order(group).tolist()
    owner, at = [NONE] * group.partition_count, 0
    for topic in sorted(range(len(group.topics)), key=lambda t: utf16(group.topics[t])):
        for partition in group.partitions_of(topic):
            if not any(topic in group.subscribed(m) for m in ring):
                continue
            while topic not in group.subscribed(ring[at % len(ring)]):
                at += 1
            owner[partition] = ring[at % len(ring)]
            at += 1
    return owner


@given(groups(Shape(fewest_members=1)))
def test_round_robin_agrees_with_the_literal_ring(group):
    """Whole topics dealt at once equal partitions dealt one by one."""
    assert ROUND_ROBIN.assign(group).owner.tolist() == _round_the_ring(group)
