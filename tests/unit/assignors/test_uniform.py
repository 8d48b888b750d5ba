"""Uniform with equal subscriptions and with different ones: situations by name, and the limits its authors state."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given

from evenkeel.engine.assignors.interface import build_spec, rejoining, spec
from evenkeel.engine.assignors.uniform import Uniform
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.facts import said
from tests.helpers.owned import owned
from tests.helpers.strategies import Shape, groups

UNIFORM = Uniform()


def _all(*members, topics=("t",)):
    return {member: list(topics) for member in members}


def _owned(has):
    """Partitions by member as pairs, out of `t-0 u-1`."""
    pairs = {member: [one.split("-") for one in told.split()] for member, told in has.items()}
    return {member: [(topic, int(n)) for topic, n in each] for member, each in pairs.items()}


def _ids(*numbers):
    """Ids for topics, in their order."""
    return tuple(f"{number:032x}" for number in numbers)


CD, CDE = _all("c", "d"), _all("c", "d", "e")
BOTH = _all("c", "d", topics=("t", "u"))
LAST = (1 << 128) - 1
"""An id whose upper half is negative in Java."""


@pytest.mark.parametrize(
    ("situation", "members", "topics", "has", "expected"),
    [
        ("KAFKA-18688: an extra stays where it is", CDE, {"t": 4},
         {"c": "t-2 t-0", "d": "t-1", "e": "t-3"}, {"c": "t-0 t-2", "d": "t-1", "e": "t-3"}),
        ("KAFKA-18688: of two who have an extra the first keeps it", CDE, {"t": 4},
         {"c": "t-0 t-1", "d": "t-2 t-3"}, {"c": "t-0 t-1", "d": "t-2", "e": "t-3"}),
        ("KAFKA-18688: an extra nobody has goes to the last", CDE, {"t": 4},
         {"c": "t-0", "d": "t-1", "e": "t-2"}, {"c": "t-0", "d": "t-1", "e": "t-2 t-3"}),
        ("who has too many keeps the first it lists", CD, {"t": 4},
         {"c": "t-3 t-1 t-0 t-2"}, {"c": "t-1 t-3", "d": "t-0 t-2"}),
        ("what nobody has is dealt before what is given up", CDE, {"t": 6},
         {"c": "t-0 t-1 t-2 t-3"}, {"c": "t-0 t-1", "d": "t-4 t-5", "e": "t-2 t-3"}),
        ("a member left", CD, {"t": 6}, {"c": "t-0 t-1", "d": "t-2 t-3"}, {"c": "t-0 t-1 t-4", "d": "t-2 t-3 t-5"}),
        ("partitions were added", CD, {"t": 4}, {"c": "t-1", "d": "t-0"}, {"c": "t-1 t-2", "d": "t-0 t-3"}),
        ("who gives up goes by topic as it first lists them, though its list jumps", BOTH, {"t": 2, "u": 2},
         {"c": "u-0 t-0 u-1 t-1"}, {"c": "u-0 u-1", "d": "t-0 t-1"}),
        ("topics that the group left are given up",
         CD, {"t": 2, "u": 2}, {"c": "u-0 u-1 t-1"}, {"c": "t-1", "d": "t-0"}),
        ("topics that are gone are passed over", _all("c", "d", topics=("gone", "t")), {"t": 2},
         {"c": "gone-0 gone-7 t-1"}, {"c": "t-1", "d": "t-0"}),
        ("a target is a set: said twice is said once", CD, {"t": 2}, {"c": "t-1 t-1"}, {"c": "t-1", "d": "t-0"}),
        ("ids that share a bucket come as listed", _all("BB", "Aa"), {"t": 2}, {}, {"BB": "t-0", "Aa": "t-1"}),
        ("here, and only here, the order of the listing shows",
         _all("Aa", "BB"), {"t": 2}, {}, {"Aa": "t-0", "BB": "t-1"}),
    ],
)  # fmt: skip
def test_uniform_assigns(situation, members, topics, has, expected):
    """Members keep what their quota allows; the rest is dealt to who has room, one member after another."""
    assert owned(UNIFORM, spec(members, topics, owned=_owned(has))) == expected


@pytest.mark.parametrize(
    ("situation", "members", "topics", "ids", "has", "expected"),
    [
        ("equal subscriptions: the ids' hashes decide, not the names", BOTH, {"t": 1, "u": 1}, _ids(0, 1), {},
         {"c": "t-0", "d": "u-0"}),
        ("the other way round", BOTH, {"t": 1, "u": 1}, _ids(1, 0), {}, {"c": "u-0", "d": "t-0"}),
        ("of equal ratio and subscribers: by signed id", BOTH | {"e": []}, {"t": 1, "u": 1}, _ids(1, LAST), {},
         {"c": "u-0", "d": "t-0", "e": ""}),
        ("of equal ratio: fewer subscribers first",
         {"c": ["t", "u"], "d": ["t"], "e": []}, {"t": 2, "u": 1}, _ids(1, 2), {},
         {"c": "u-0", "d": "t-0 t-1", "e": ""}),
        ("who unsubscribed gives up, who did not keeps",
         {"c": ["t"], "d": ["t"], "e": ["t", "u"]}, {"t": 3, "u": 1}, None,
         {"c": "t-0 t-1", "d": "t-2 u-0"}, {"c": "t-0 t-1", "d": "t-2", "e": "u-0"}),
        ("the last of the fullest gives first, its highest number", CDE | {"f": []}, {"t": 6}, None,
         {"c": "t-0 t-1 t-2", "d": "t-3 t-4 t-5"}, {"c": "t-0 t-1", "d": "t-3 t-4", "e": "t-2 t-5", "f": ""}),
        ("t-2 goes from d to c, which held it too, and back (the JVM's answer)",
         {"c": ["u", "t"], "d": ["t", "u", "v"], "e": ["u"]}, {"t": 3, "u": 2, "v": 1}, _ids(1, 2, 3),
         {"c": "t-1 t-2 u-0", "d": "t-0 t-2 u-0 u-1"}, {"c": "t-1 u-0", "d": "t-0 t-2 v-0", "e": "u-0 u-1"}),
        ("what a topic left behind has no more is dropped unseen", {"c": ["t"], "d": []}, {"t": 1, "u": 1}, None,
         {"c": "u-9"}, {"c": "t-0", "d": ""}),
    ],
)  # fmt: skip
def test_topics_come_in_an_order_of_ids(situation, members, topics, ids, has, expected):
    """Equal subscriptions: as a set of them is walked; different ones: by ratio, subscribers, id."""
    group = spec(members, topics, owned=_owned(has))
    group = replace(group, topic_ids=ids) if ids else group

    assert owned(UNIFORM, group) == expected, situation


@pytest.mark.parametrize(
    ("situation", "members", "has", "why"),
    [
        ("two members have one", CD, {"c": "t-0", "d": "t-0"}, "t-0 as owned.*PartitionAssignor"),
        ("a topic has shrunk", CD, {"c": "t-2"}, "t-2 as owned.*PartitionAssignor"),
        ("both", CD, {"c": "t-7 t-0", "d": "t-0"}, "t-0 .* and so is 1 more.*PartitionAssignor"),
        ("different ones", {"c": ["t"], "d": []}, {"c": "t-2"}, "t-2 as owned.*ArrayIndexOutOf"),
    ],
)
def test_what_kafka_throws_on_is_infeasible(situation, members, has, why):
    """With a partition owned twice or no more there is more to deal than room, and Kafka's class throws."""
    with pytest.raises(Infeasible, match=why + ".*Exception"):
        UNIFORM.assign(spec(members, {"t": 2}, owned=_owned(has)))


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


def test_balance_stops_where_neighbors_are_one_apart():
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
    assert said(answer.findings) == ("1 partition is assigned to more than one member, t-0",)


def test_a_second_holder_who_gets_the_partition_has_it_once():
    """Moved to a member that held it all along, a partition has one holder again."""
    has = {"c": [("t", 2)], "d": [("t", 0), ("t", 1), ("t", 2)]}
    group = spec({"c": ["t"], "d": ["t", "u"]}, {"t": 3, "u": 0}, owned=has)

    answer = UNIFORM.assign(group)

    assert group.lists(answer) == {"c": [("t", 2)], "d": [("t", 0), ("t", 1)]}
    assert answer.findings == ()


@given(groups(Shape(sound=True)))
def test_nobody_could_take_from_the_fullest_of_a_topic(group):
    """Small groups end balanced: no owner of a partition has two more than another of its subscribers."""
    owner = UNIFORM.assign(group).owner
    sizes = np.bincount(owner[owner != NONE], minlength=len(group.members))

    for topic, subscribers in enumerate(group.subscribers):
        owners = owner[list(group.partitions_of(topic))]
        if len(subscribers) and len(owners):
            assert sizes[owners].max() <= sizes[subscribers].min() + 1
