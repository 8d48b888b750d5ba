"""Uniform with equal subscriptions: situations by name, and what both ways of assigning share."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import assume, given

from evenkeel.engine.assignors.interface import build_spec, rejoining, spec
from evenkeel.engine.assignors.uniform import Uniform
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.owned import owned
from tests.helpers.strategies import Shape, groups

UNIFORM = Uniform()


def _all(*members, topics=("t",)):
    return {member: list(topics) for member in members}


@pytest.mark.parametrize(
    ("situation", "members", "topics", "has", "expected"),
    [
        ("no members", {}, {"t": 3}, {}, {}),
        ("nobody subscribes", {"c": [], "d": []}, {"t": 3}, {}, {"c": "", "d": ""}),
        ("topic missing", {"c": ["gone"]}, {}, {}, {"c": ""}),
        ("topic without partitions", {"c": ["t"]}, {"t": 0}, {}, {"c": ""}),
        ("one member", {"c": ["t"]}, {"t": 3}, {}, {"c": "t-0 t-1 t-2"}),
        ("only subscribed topics", {"c": ["t"]}, {"t": 2, "u": 2}, {}, {"c": "t-0 t-1"}),
        ("each member is filled in turn", _all("c", "d"), {"t": 4}, {}, {"c": "t-0 t-1", "d": "t-2 t-3"}),
        ("the last have the extras", _all("c", "d", "e"), {"t": 5}, {}, {"c": "t-0", "d": "t-1 t-2", "e": "t-3 t-4"}),
        ("more members than partitions", _all("c", "d"), {"t": 1}, {}, {"c": "", "d": "t-0"}),
        ("a topic named twice", {"c": ["t", "t"], "d": ["t"]}, {"t": 2}, {}, {"c": "t-0", "d": "t-1"}),
        ("KAFKA-18688: an extra stays where it is", _all("c", "d", "e"), {"t": 4},
         {"c": "20", "d": "1", "e": "3"}, {"c": "t-0 t-2", "d": "t-1", "e": "t-3"}),
        ("KAFKA-18688: of two who have an extra the first keeps it", _all("c", "d", "e"), {"t": 4},
         {"c": "01", "d": "23"}, {"c": "t-0 t-1", "d": "t-2", "e": "t-3"}),
        ("KAFKA-18688: an extra nobody has goes to the last", _all("c", "d", "e"), {"t": 4},
         {"c": "0", "d": "1", "e": "2"}, {"c": "t-0", "d": "t-1", "e": "t-2 t-3"}),
        ("who has too many keeps the first it lists", _all("c", "d"), {"t": 4},
         {"c": "3102"}, {"c": "t-1 t-3", "d": "t-0 t-2"}),
        ("what nobody has is dealt before what is given up", _all("c", "d", "e"), {"t": 6},
         {"c": "0123"}, {"c": "t-0 t-1", "d": "t-4 t-5", "e": "t-2 t-3"}),
        ("a member left", _all("c", "d"), {"t": 6}, {"c": "01", "d": "23"}, {"c": "t-0 t-1 t-4", "d": "t-2 t-3 t-5"}),
        ("partitions were added", _all("c", "d"), {"t": 4}, {"c": "1", "d": "0"}, {"c": "t-1 t-2", "d": "t-0 t-3"}),
    ],
)  # fmt: skip
def test_uniform_assigns(situation, members, topics, has, expected):
    """Members keep what their quota allows; the rest is dealt to who has room, one member after another."""
    past = {member: [("t", int(number)) for number in numbers] for member, numbers in has.items()}

    assert owned(UNIFORM, spec(members, topics, owned=past)) == expected


def test_topics_of_one_member_come_as_it_first_lists_them():
    """A member that must give up something goes by topic, even where its list jumps between topics."""
    past = {"c": [("u", 0), ("t", 0), ("u", 1), ("t", 1)]}
    group = spec(_all("c", "d", topics=("t", "u")), {"t": 2, "u": 2}, owned=past)

    assert owned(UNIFORM, group) == {"c": "u-0 u-1", "d": "t-0 t-1"}


def test_topics_nobody_subscribes_to_any_more_are_given_up():
    """What a member has of a topic that the group left counts for nothing."""
    past = {"c": [("u", 0), ("u", 1), ("t", 1)]}
    group = spec(_all("c", "d"), {"t": 2, "u": 2}, owned=past)

    assert owned(UNIFORM, group) == {"c": "t-1", "d": "t-0"}


def test_topics_that_are_gone_are_passed_over():
    """Neither a subscription to nor a partition of a deleted topic changes the answer."""
    past = {"c": [("gone", 0), ("gone", 7), ("t", 1)]}
    group = spec(_all("c", "d", topics=("gone", "t")), {"t": 2}, owned=past)

    assert owned(UNIFORM, group) == {"c": "t-1", "d": "t-0"}


@pytest.mark.parametrize(
    ("situation", "has", "why"),
    [
        ("two members have one partition", {"c": [("t", 0)], "d": [("t", 0)]}, "t-0 as owned"),
        ("a topic has shrunk", {"c": [("t", 2)]}, "t-2 as owned"),
        ("both", {"c": [("t", 7), ("t", 0)], "d": [("t", 0)]}, "t-0 .* and so is 1 more"),
    ],
)
def test_what_kafka_throws_on_is_infeasible(situation, has, why):
    """With a partition owned twice or no more there is more to deal than room, and Kafka's class throws."""
    group = spec(_all("c", "d"), {"t": 2}, owned=has)

    with pytest.raises(Infeasible, match=why + ".*PartitionAssignorException"):
        UNIFORM.assign(group)


def test_a_partition_listed_twice_by_one_member_is_no_trouble():
    """A target is a set, so saying the same twice says it once."""
    group = spec(_all("c", "d"), {"t": 2}, owned={"c": [("t", 1), ("t", 1)]})

    assert owned(UNIFORM, group) == {"c": "t-1", "d": "t-0"}


def _with_ids(ids):
    group = spec(_all("c", "d", topics=("t", "u")), {"t": 1, "u": 1})
    return replace(group, topic_ids=ids)


def test_topics_are_dealt_in_the_order_of_a_set_of_ids():
    """The ids' hashes decide which topic comes first, not the names."""
    first, second = f"{0:032x}", f"{1:032x}"

    assert owned(UNIFORM, _with_ids((first, second))) == {"c": "t-0", "d": "u-0"}
    assert owned(UNIFORM, _with_ids((second, first))) == {"c": "u-0", "d": "t-0"}


def test_at_twelve_topics_the_set_of_ids_is_twice_as_large():
    """Java makes a copied set of 12 with room for 32 buckets, where one that grew would have 16."""
    names = [f"t{n:02}" for n in range(12)]
    ids = [f"{16:032x}", *(f"{n:032x}" for n in range(1, 12))]
    group = build_spec(
        members=["c", "d"],
        instance_ids=[None, None],
        member_racks=[None, None],
        subscriptions=[names, names],
        topics=names,
        topic_ids=ids,
        partition_counts=[1] * 12,
        replica_racks=[[]] * 12,
    )

    assert owned(UNIFORM, group)["c"] == "t01-0 t02-0 t03-0 t04-0 t05-0 t06-0"


def test_members_come_in_the_order_of_a_map():
    """Ids that share a bucket come as listed, so here, and only here, the order of the listing shows."""
    assert owned(UNIFORM, spec(_all("BB", "Aa"), {"t": 2})) == {"BB": "t-0", "Aa": "t-1"}
    assert owned(UNIFORM, spec(_all("Aa", "BB"), {"t": 2})) == {"Aa": "t-0", "BB": "t-1"}


def test_racks_and_instance_ids_do_not_matter():
    """Uniform hands out over racks and static members as if there were none."""
    plain = spec(_all("c", "d"), {"t": 3})
    rich = spec(
        _all("c", "d"),
        {"t": 3},
        racks={"c": "b", "d": "a"},
        replicas={"t": [["a"], ["a"], ["b"]]},
        instance_ids={"d": "0"},
    )

    assert owned(UNIFORM, rich) == owned(UNIFORM, plain)


@given(groups(Shape(fewest_members=1, sound=True)))
def test_what_is_settled_stays(group):
    """Asked again about its own answer, nothing moves where all subscribe to the same."""
    names = group.members
    alike = len({frozenset(group.subscribed(m).tolist()) for m in range(len(names))}) == 1
    assume(alike)
    answer = UNIFORM.assign(group).owner

    assert UNIFORM.assign(rejoining(group, answer)).owner.tolist() == answer.tolist()


@given(groups(Shape(fewest_members=2, together=True, sound=True)))
def test_nothing_moves_between_those_who_stay(group):
    """When a member leaves, the others only gain: no partition goes from one of them to another."""
    before = UNIFORM.assign(group).owner
    gone = 0
    left = [m for m in range(len(group.members)) if m != gone]
    after = _without(group, before, gone)

    moved = [
        (a, left[b])
        for a, b in zip(before.tolist(), UNIFORM.assign(after).owner.tolist(), strict=True)
        if a not in (gone, NONE) and a != left[b]
    ]

    assert moved == []


def _without(group, owner, gone):
    """The group after a member left, the others owning what they had."""
    stay = [m for m in range(len(group.members)) if m != gone]
    names = [
        (group.topics[t], int(n)) for t, n in zip(group.topic_of, group.number_of, strict=True)
    ]
    return build_spec(
        members=[group.members[m] for m in stay],
        instance_ids=[None] * len(stay),
        member_racks=[None] * len(stay),
        subscriptions=[[group.topics[t] for t in group.subscribed(m)] for m in stay],
        topics=group.topics,
        partition_counts=[
            len(group.partitions_of(t)) if group.topic_exists[t] else None
            for t in range(len(group.topics))
        ],
        replica_racks=[[]] * group.partition_count,
        owned=[
            [pair for pair, o in zip(names, owner.tolist(), strict=True) if o == m] for m in stay
        ],
    )
