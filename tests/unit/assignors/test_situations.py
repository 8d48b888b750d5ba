"""Situations that every strategy meets, by name, and what each strategy gives in those of its own."""

from __future__ import annotations

import pytest
from hypothesis import given

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kit.java_order import utf16
from evenkeel.engine.assignors.kit.members import member_order
from evenkeel.engine.model.arrays import NONE
from evenkeel.engine.model.assignments import Deployment
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.owned import owned
from tests.helpers.strategies import Shape, groups

FROM_FIRST_TO_LAST = "range range-server fair lag-aware roundrobin sticky"
EVERY = f"{FROM_FIRST_TO_LAST} uniform racks-server cooperative-sticky"
WITHOUT_MEMBERS = "range range-server fair lag-aware uniform racks-server"
TWO = {"c": ["t"], "d": ["t"]}

ALIKE = [
    ("no members", {}, {"t": 3}, {}, WITHOUT_MEMBERS),
    ("nobody subscribes", {"c": [], "d": []}, {"t": 3}, {"c": "", "d": ""}, EVERY),
    ("the topic is missing", {"c": ["gone"]}, {}, {"c": ""}, EVERY),
    ("a topic without partitions", {"c": ["t"]}, {"t": 0}, {"c": ""}, EVERY),
    ("one member, one topic", {"c": ["t"]}, {"t": 3}, {"c": "t-0 t-1 t-2"}, EVERY),
    ("only subscribed topics", {"c": ["t"]}, {"t": 2, "u": 2}, {"c": "t-0 t-1"}, EVERY),
    ("one of two is missing", {"c": ["t", "gone"]}, {"t": 2}, {"c": "t-0 t-1"}, EVERY),
    ("two topics, one member", {"c": ["t", "u"]}, {"t": 1, "u": 2}, {"c": "t-0 u-0 u-1"}, EVERY),
    ("more members than partitions", TWO, {"t": 1}, {"c": "t-0", "d": ""}, FROM_FIRST_TO_LAST),
    ("a partition each", TWO, {"t": 2}, {"c": "t-0", "d": "t-1"}, EVERY),
    ("named twice", {"c": ["t", "t"], "d": ["t"]}, {"t": 2}, {"c": "t-0", "d": "t-1"}, EVERY),
]

MIXED = {"c": ["t"], "d": ["t", "u"], "e": ["t"]}, {"t": 3, "u": 2}
BOTH = {m: ["t", "u"] for m in "cd"}
OWN = [
    ("mixed topics", *MIXED, {"c": "t-0", "d": "t-1 u-0 u-1", "e": "t-2"}, "range roundrobin"),
    ("the topic with one subscriber comes first", *MIXED,
     {"c": "t-0 t-2", "d": "u-0 u-1", "e": "t-1"}, "fair sticky uniform"),
    ("the first have the extras, topic by topic", {m: ["t", "u"] for m in "cde"}, {"t": 5, "u": 4},
     {"c": "t-0 t-1 u-0 u-1", "d": "t-2 t-3 u-2", "e": "t-4 u-3"}, "range range-server"),
    ("only a topic's subscribers count", {"c": ["t"], "d": ["t", "u"], "e": ["u"]}, {"t": 3, "u": 3},
     {"c": "t-0 t-1", "d": "t-2 u-0 u-1", "e": "u-2"}, "range range-server"),
    ("members are taken by id, not as listed", {"d": ["t"], "c": ["t"]}, {"t": 3},
     {"d": "t-2", "c": "t-0 t-1"}, "range range-server"),
    ("the turn goes on over topics", BOTH, {"t": 1, "u": 1}, {"c": "t-0", "d": "u-0"},
     "roundrobin sticky fair"),
    ("two topics, six partitions", BOTH, {"t": 3, "u": 3},
     {"c": "t-0 t-2 u-1", "d": "t-1 u-0 u-2"}, "fair roundrobin sticky"),
    ("of topics with as many subscribers the larger comes first", {m: ["a", "z"] for m in "cd"},
     {"a": 1, "z": 2}, {"c": "a-0 z-0", "d": "z-1"}, "fair"),
    ("of topics alike the first by name comes first", {m: ["t2", "t10"] for m in "cd"},
     {"t2": 1, "t10": 1}, {"c": "t10-0", "d": "t2-0"}, "fair roundrobin sticky"),
    ("counts go on from topic to topic",
     {"c": ["a"], "d": ["a", "b"], "e": ["b", "c"], "f": ["c"]}, {"a": 3, "b": 2, "c": 2},
     {"c": "a-0 a-2", "d": "a-1 b-1", "e": "b-0 c-1", "f": "c-0"}, "fair"),
    ("a member that names a topic twice is one subscriber of it",
     {"c": ["t", "t"], "d": ["u"], "e": ["u", "t"]}, {"t": 1, "u": 2},
     {"c": "t-0", "d": "u-0", "e": "u-1"}, "fair"),
    ("what is dealt is not taken back, though c could have a-0",
     {"a": ["t1", "t2"], "b": ["t0", "t2"], "c": ["t1"]}, {"t0": 1, "t1": 1, "t2": 1},
     {"a": "t1-0 t2-0", "b": "t0-0", "c": ""}, "fair"),
    ("each topic's list is in the order dealt", {m: ["t2", "t10"] for m in "cd"},
     {"t2": 3, "t10": 3}, {"c": "t10-0 t10-2 t2-1", "d": "t10-1 t2-0 t2-2"}, "roundrobin"),
    ("topics by name", {m: ["t2", "t10"] for m in "cd"}, {"t2": 2, "t10": 1},
     {"c": "t10-0 t2-1", "d": "t2-0"}, "sticky"),
    ("the topic with fewest subscribers first", {"c": ["t", "u"], "d": ["t"]}, {"t": 3, "u": 1},
     {"c": "u-0 t-1", "d": "t-0 t-2"}, "sticky"),
    ("who has more gets nothing", {"c": ["t"], "d": ["t", "u"]}, {"t": 3, "u": 3},
     {"c": "t-0 t-1 t-2", "d": "u-0 u-1 u-2"}, "sticky"),
    ("a topic named twice, three partitions", {"c": ["t", "t"], "d": ["t"]}, {"t": 3},
     {"c": "t-0 t-2", "d": "t-1"}, "sticky"),
    ("stairs", {"c": ["t"], "d": ["t", "u"], "e": ["t", "u", "v"]}, {"t": 1, "u": 2, "v": 3},
     {"c": "t-0", "d": "u-0 u-1", "e": "v-0 v-1 v-2"}, "uniform"),
    ("the lower levels are filled first", {"c": ["t", "u"], "d": ["u"], "e": ["u"]},
     {"t": 3, "u": 5}, {"c": "t-0 t-1 t-2", "d": "u-0 u-2 u-4", "e": "u-1 u-3"}, "uniform"),
    ("a member without topics", {"c": [], "d": ["t"]}, {"t": 2}, {"c": "", "d": "t-0 t-1"},
     "uniform"),
    ("the same topics, but for one that is not there", {"c": ["t"], "d": ["t", "gone"]}, {"t": 4},
     {"c": "t-0 t-2", "d": "t-1 t-3"}, "uniform"),
    ("each member is filled in turn", TWO, {"t": 4}, {"c": "t-0 t-1", "d": "t-2 t-3"}, "uniform"),
    ("the last have the extras", {m: ["t"] for m in "cde"}, {"t": 5},
     {"c": "t-0", "d": "t-1 t-2", "e": "t-3 t-4"}, "uniform"),
    ("the last have what is there", TWO, {"t": 1}, {"c": "", "d": "t-0"}, "uniform"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "situation", "members", "topics", "expected"),
    [
        (name, situation, members, topics, expected)
        for situation, members, topics, expected, names in (*ALIKE, *OWN)
        for name in names.split()
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_a_fresh_group_gets(name, situation, members, topics, expected):
    """Without racks and past: to subscribers only, whatever odd the group says, each by its own rule."""
    lags = {topic: [0] * size for topic, size in topics.items()}

    assert owned(ASSIGNORS[name], spec(members, topics, lags=lags)) == expected, situation


@pytest.mark.parametrize("ids", [{"c": "i-2", "d": "i-1"}, {"d": "i-1"}])
@pytest.mark.parametrize(
    ("name", "first", "second"),
    [
        ("range", "t-0 t-1", "t-2"),
        ("range-server", "t-0 t-1", "t-2"),
        ("roundrobin", "t-0 t-2", "t-1"),
    ],
)
def test_static_members_come_first(name, first, second, ids):
    """Static members stand before dynamic ones, by instance id."""
    group = spec(TWO, {"t": 3}, instance_ids=ids)

    assert owned(ASSIGNORS[name], group) == {"c": second, "d": first}


@pytest.mark.parametrize("name", ["range", "range-server"])
def test_static_members_keep_their_ranges_after_a_restart(name):
    """New member ids under the same instance ids get what the old ones had; who subscribes to more changes nothing."""
    topics = {"t": 5, "u": 4}
    before = spec(
        {m: ["t", "u"] for m in "abc"}, topics, instance_ids={"a": "i-1", "b": "i-2", "c": "i-0"}
    )
    after = spec(
        {m: ["t", "u"] for m in "xyz"}, topics, instance_ids={"y": "i-1", "x": "i-2", "z": "i-0"}
    )

    had, has = owned(ASSIGNORS[name], before), owned(ASSIGNORS[name], after)

    assert (has["y"], has["x"], has["z"]) == (had["a"], had["b"], had["c"])


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("fair", {"c": "t-0 t-2", "d": "t-1"}),
        ("roundrobin", {"c": "t-1", "d": "t-0 t-2"}),
        ("range-server", {"c": "t-2", "d": "t-0 t-1"}),
        ("uniform", {"c": "t-0", "d": "t-1 t-2"}),
    ],
)
def test_racks_do_not_matter(name, first):
    """It deals out over racks as if there were none; instance ids count only with those that order members by them."""
    replicas = {"t": [["a"], ["a"], ["b"]]}
    instance_ids = {"d": "0"}
    plain = spec(TWO, {"t": 3}, instance_ids=instance_ids)
    racked = spec(
        TWO, {"t": 3}, racks={"c": "b", "d": "a"}, replicas=replicas, instance_ids=instance_ids
    )

    assert owned(ASSIGNORS[name], racked) == owned(ASSIGNORS[name], plain) == first


@pytest.mark.parametrize("name", ["sticky", "cooperative-sticky"])
def test_instance_ids_do_not_matter_to_the_sticky_ones(name):
    """Unlike range and roundrobin they deal to static members like to others."""
    assert owned(ASSIGNORS[name], spec(TWO, {"t": 1}, instance_ids={"d": "i-1"})) == {
        "c": "t-0",
        "d": "",
    }


def test_the_past_does_not_matter_to_fair():
    """Who owned a partition before has no claim to it."""
    group = spec(TWO, {"t": 2}, owned={"c": [("t", 1)], "d": [("t", 0)]})

    assert owned(ASSIGNORS["fair"], group) == {"c": "t-0", "d": "t-1"}


@pytest.mark.parametrize(
    ("name", "exception"),
    [
        ("roundrobin", "IllegalArgumentException"),
        ("sticky", "ArithmeticException"),
        ("cooperative-sticky", "ArithmeticException"),
    ],
)
def test_no_members_are_infeasible_where_kafkas_class_throws(name, exception):
    """The error says how many members there are, and what Kafka throws."""
    with pytest.raises(Infeasible, match=rf"0 members \(Kafka: {exception}\)"):
        ASSIGNORS[name].assign(spec({}, {"t": 1}))


@pytest.mark.parametrize(
    ("name", "deployment"),
    [
        ("fair", Deployment.CLASS),
        ("lag-aware", Deployment.CLASS),
        ("random", Deployment.NEVER),
        ("min_traffic", Deployment.BASELINE),
        ("balance_subtopology", Deployment.BASELINE),
    ],
)
def test_it_is_got_by(name, deployment):
    """Neither KIP-49's nor KIP-169's became a class of Kafka; KIP-925's are of Streams alone."""
    assert ASSIGNORS[name].deployment is deployment


@given(groups())
def test_live_answers_the_current_owners(group):
    """Whoever owns a partition now, subscribed or not, stands in the answer."""
    assert ASSIGNORS["live"].assign(group).owner.tolist() == group.owner.tolist()


def _by_fewest(group):
    """KIP-49's rule as it is worded, partition by partition."""
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
    assert ASSIGNORS["fair"].assign(group).owner.tolist() == _by_fewest(group)


def test_large_uneven_starts_agree_with_the_rule_too():
    """Counts far apart are filled up level by level, also where a deal ends amid a level."""
    sizes = {"deep": 40, "mid": 9, "wide": 33}
    members = {"a": ["deep", "wide"], "b": ["mid", "wide"], "c": ["mid", "wide"], "d": ["wide"]}
    for extra in range(25):
        group = spec(members, sizes | {"wide": 33 + extra})

        assert ASSIGNORS["fair"].assign(group).owner.tolist() == _by_fewest(group)


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
    assert ASSIGNORS["roundrobin"].assign(group).owner.tolist() == _round_the_ring(group)
