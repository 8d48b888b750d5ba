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


@pytest.mark.parametrize(
    ("situation", "members", "topics", "has", "expected"),
    [
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
