"""Fair: situations by name, and the literal rule against which whole runs of topics are checked."""

from __future__ import annotations

import pytest
from hypothesis import given

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kit.java_order import utf16
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.assignments import Deployment
from tests.helpers.owned import owned
from tests.helpers.strategies import groups

FAIR = ASSIGNORS["fair"]


@pytest.mark.parametrize(
    ("situation", "members", "topics", "expected"),
    [
        ("one member, no topic", {"c": []}, {"t": 3}, {"c": ""}),
        ("no member", {}, {"t": 3}, {}),
        ("the topic does not exist", {"c": ["gone"]}, {}, {"c": ""}),
        ("a topic without partitions", {"c": ["t"]}, {"t": 0}, {"c": ""}),
        ("one member, one topic", {"c": ["t"]}, {"t": 3}, {"c": "t-0 t-1 t-2"}),
        ("only subscribed topics", {"c": ["t"]}, {"t": 3, "u": 3}, {"c": "t-0 t-1 t-2"}),
        ("one of two topics does not exist", {"c": ["t", "gone"]}, {"t": 2}, {"c": "t-0 t-1"}),
        ("two topics, one member", {"c": ["t", "u"]}, {"t": 1, "u": 2}, {"c": "t-0 u-0 u-1"}),
        ("more members than partitions", {"c": ["t"], "d": ["t"]}, {"t": 1}, {"c": "t-0", "d": ""}),
        ("a partition each", {"c": ["t"], "d": ["t"]}, {"t": 2}, {"c": "t-0", "d": "t-1"}),
        (
            "the topic with one subscriber comes first",
            {"c": ["t"], "d": ["t", "u"], "e": ["t"]},
            {"t": 3, "u": 2},
            {"c": "t-0 t-2", "d": "u-0 u-1", "e": "t-1"},
        ),
        (
            "two topics, six partitions",
            {"c": ["t", "u"], "d": ["t", "u"]},
            {"t": 3, "u": 3},
            {"c": "t-0 t-2 u-1", "d": "t-1 u-0 u-2"},
        ),
        (
            "of topics with as many subscribers the larger comes first",
            {"c": ["a", "z"], "d": ["a", "z"]},
            {"a": 1, "z": 2},
            {"c": "a-0 z-0", "d": "z-1"},
        ),
        (
            "of topics alike the first by name comes first",
            {"c": ["t2", "t10"], "d": ["t2", "t10"]},
            {"t2": 1, "t10": 1},
            {"c": "t10-0", "d": "t2-0"},
        ),
        (
            "counts go on from topic to topic",
            {"c": ["a"], "d": ["a", "b"], "e": ["b", "c"], "f": ["c"]},
            {"a": 3, "b": 2, "c": 2},
            {"c": "a-0 a-2", "d": "a-1 b-1", "e": "b-0 c-1", "f": "c-0"},
        ),
        (
            "a member that names a topic twice is one subscriber of it",
            {"c": ["t", "t"], "d": ["u"], "e": ["u", "t"]},
            {"t": 1, "u": 2},
            {"c": "t-0", "d": "u-0", "e": "u-1"},
        ),
    ],
)  # fmt: skip
def test_fair_assigns(situation, members, topics, expected):
    """Whoever has fewest gets the next partition, the most constrained topics first."""
    assert owned(FAIR, spec(members, topics)) == expected


def test_instance_ids_and_racks_do_not_matter():
    """Members are ordered by member id alone, and partitions go out over racks as if there were none."""
    members, replicas = {"c": ["t"], "d": ["t"]}, {"t": [["a"], ["b"]]}
    racked = spec(
        members,
        {"t": 2},
        racks={"c": "b", "d": "a"},
        replicas=replicas,
        instance_ids={"d": "a-first-name"},
    )

    assert owned(FAIR, racked) == {"c": "t-0", "d": "t-1"}


def test_the_past_does_not_matter():
    """Who owned a partition before has no claim to it."""
    group = spec({"c": ["t"], "d": ["t"]}, {"t": 2}, owned={"c": [("t", 1)], "d": [("t", 0)]})

    assert owned(FAIR, group) == {"c": "t-0", "d": "t-1"}


def test_a_more_even_assignment_may_exist():
    """What is dealt is not taken back: a ends with two, c with none, though c could have t1-0."""
    members = {"a": ["t1", "t2"], "b": ["t0", "t2"], "c": ["t1"]}

    assert owned(FAIR, spec(members, {"t0": 1, "t1": 1, "t2": 1})) == {
        "a": "t1-0 t2-0",
        "b": "t0-0",
        "c": "",
    }


def test_a_user_ships_it_as_a_class():
    """It never became a class of Kafka."""
    assert FAIR.deployment is Deployment.CLASS


def _one_by_one(group):
    """The rule as the KIP words it, partition by partition."""
    topics = [t for t, s in enumerate(group.subscribers) if len(s)]
    topics.sort(
        key=lambda t: (
            len(group.subscribers[t]),
            -len(group.partitions_of(t)),
            utf16(group.topics[t]),
        )
    )
    count = [0] * len(group.members)
    owner = [NONE] * group.partition_count
    for topic in topics:
        for partition in group.partitions_of(topic):
            taker = min(
                group.subscribers[topic].tolist(), key=lambda m: (count[m], utf16(group.members[m]))
            )
            owner[partition] = taker
            count[taker] += 1
    return owner


@given(groups())
def test_fair_agrees_with_the_rule_partition_by_partition(group):
    """Topics dealt together equal partitions dealt one by one."""
    assert FAIR.assign(group).owner.tolist() == _one_by_one(group)


def test_large_uneven_starts_agree_with_the_rule_too():
    """Counts far apart are filled up level by level, also where a deal ends amid a level."""
    sizes = {"deep": 40, "mid": 9, "wide": 33}
    members = {"a": ["deep", "wide"], "b": ["mid", "wide"], "c": ["mid", "wide"], "d": ["wide"]}
    for extra in range(25):
        group = spec(members, sizes | {"wide": 33 + extra})

        assert FAIR.assign(group).owner.tolist() == _one_by_one(group)
