"""
An article on Kafka's partition assignment strategies (in Chinese, of 2018, its pictures at honeypps.com): every
assignment it prints, section by section.

Known errors of the document, each named at its test:

1. Round robin's skip: the numbers are right; it does not say that who is passed over loses its turn.
2. "These 3 topics have 1, 2 partitions": 1, 2 and 3. `partition.asssignment.strategy`: two s.
3. Candidates are "all strategies that any member supports", and a member without the winner errors: it is the
   intersection, such a member is refused when it joins, and ties go by Java's hash order.
4. The default is no longer range alone; `internals.PartitionAssignor` is gone since Kafka 3.0.
5. Its rack example goes by the leader's rack; Kafka's own rack assignment (KIP-881) by any replica's.
6. Its RandomAssignor asks an unseeded generator: nobody can say what it would do.
7. The next leader by `members.keys.head` still holds: the first key of a hash map.

Its sticky table after C1 left is stale, as KIP-54's (there error 4).
"""

from __future__ import annotations

from importlib.metadata import EntryPoint

import numpy as np
import pytest

from evenkeel.engine.advice.scoring import subscribed
from evenkeel.engine.assignors import by_name, custom
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kafka.election import elect
from evenkeel.engine.assignors.kafka.protocol_names import CLIENT_SETTING, CLIENT_SIDE
from evenkeel.engine.assignors.random import Random
from evenkeel.engine.metrics.balance import fairly_balanced, member_counts
from evenkeel.engine.metrics.racks import leader_crossing
from evenkeel.engine.model.arrays import NONE
from tests.helpers.next_round import next_round
from tests.helpers.owned import owned

STAIRS = {"C0": ["t0"], "C1": ["t0", "t1"], "C2": ["t0", "t1", "t2"]}
STEPS = {"t0": 1, "t1": 2, "t2": 3}
"""Error 2: the third topic has 3 partitions; the text forgets it, the list of partitions after it does not."""

FOUR = {"t0": 2, "t1": 2, "t2": 2, "t3": 2}


def _sets(lists):
    return {member: set(pairs.split()) for member, pairs in lists.items()}


def _alike(names, topics):
    return {name: list(topics) for name in names}


@pytest.mark.parametrize(
    ("members", "counts"),
    [(1, [7]), (2, [4, 3]), (3, [3, 2, 2]), (8, [1, 1, 1, 1, 1, 1, 1, 0])],
)
def test_introduction_seven_partitions_among_ever_more_consumers(members, counts):
    """One consumer, a second, a third; of eight the last, C7, has nothing to consume."""
    group = spec(_alike([f"C{n}" for n in range(members)], ["t"]), {"t": 7})

    assert [len(pairs.split()) for pairs in owned(by_name("range"), group).values()] == counts


@pytest.mark.parametrize(("partitions", "consumers"), [(7, 3), (7, 8), (8, 4), (0, 2), (10, 4)])
def test_range_the_first_m_get_n_plus_1(partitions, consumers):
    """With n = P div C and m = P mod C, the first m own n + 1 partitions each, the others n."""
    group = spec(_alike([f"C{n}" for n in range(consumers)], ["t"]), {"t": partitions})
    n, m = divmod(partitions, consumers)
    counts = [len(pairs.split()) for pairs in owned(by_name("range"), group).values()]

    assert counts == [n + 1] * m + [n] * (consumers - m)


@pytest.mark.parametrize(
    ("strategy", "partitions", "table"),
    [
        ("range", 4, {"C0": "t0-0 t0-1 t1-0 t1-1", "C1": "t0-2 t0-3 t1-2 t1-3"}),
        ("range", 3, {"C0": "t0-0 t0-1 t1-0 t1-1", "C1": "t0-2 t1-2"}),
        ("roundrobin", 3, {"C0": "t0-0 t0-2 t1-1", "C1": "t0-1 t1-0 t1-2"}),
    ],
)
def test_two_consumers_of_two_topics(strategy, partitions, table):
    """Range is even with four partitions each and not with three, where round robin is."""
    group = spec(_alike(["C0", "C1"], ["t0", "t1"]), {"t0": partitions, "t1": partitions})

    assert owned(by_name(strategy), group) == table


ROUND_ROBIN_1 = {"C0": "t0-0", "C1": "t1-0", "C2": "t1-1 t2-0 t2-1 t2-2"}
"""The article's result set 1."""
STICKY_2 = {"C0": "t0-0", "C1": "t1-0 t1-1", "C2": "t2-0 t2-1 t2-2"}
"""The article's result set 2."""


@pytest.mark.parametrize(("strategy", "table"), [("roundrobin", ROUND_ROBIN_1), ("sticky", STICKY_2)])  # fmt: skip
def test_unequal_subscriptions(strategy, table):
    """One, two and three topics: round robin gives C2 four partitions, sticky three."""
    assert _sets(owned(by_name(strategy), spec(STAIRS, STEPS))) == _sets(table)


@pytest.mark.parametrize(("strategy", "balanced"), [("roundrobin", False), ("sticky", True)])
def test_unequal_subscriptions_are_judged_as_the_article_does(strategy, balanced):
    """Round robin's is not the best, since t1p1 could go to C1; sticky's is."""
    group = spec(STAIRS, STEPS)
    owner = by_name(strategy).assign(group).owner
    counts = member_counts(owner, 3)

    assert fairly_balanced(counts, owner, subscribed(group)).all() == balanced


def test_error_1_who_is_passed_over_loses_its_turn():
    """C0 is passed over for t1 and t2 and its turn does not come back: a fourth topic for all goes on at C0."""
    group = spec({m: [*topics, "t3"] for m, topics in STAIRS.items()}, STEPS | {"t3": 1})

    assert owned(by_name("roundrobin"), group) == {"C0": "t0-0 t3-0"} | {
        m: ROUND_ROBIN_1[m] for m in ("C1", "C2")
    }


@pytest.mark.parametrize(
    ("strategy", "held", "table", "kept"),
    [
        ("roundrobin", ROUND_ROBIN_1, {"C1": "t0-0 t1-1", "C2": "t1-0 t2-0 t2-1 t2-2"}, 3),
        ("sticky", STICKY_2, {"C1": "t1-0 t1-1 t0-0", "C2": "t2-0 t2-1 t2-2"}, 5),
    ],
)
def test_unequal_subscriptions_after_c0_left(strategy, held, table, kept):
    """Round robin keeps three of the five partitions that C1 and C2 had, sticky all of them."""
    left = {m: topics for m, topics in STAIRS.items() if m != "C0"}
    found = _sets(owned(by_name(strategy), next_round(left, STEPS, held)))

    assert found == _sets(table)
    assert sum(len(found[m] & set(held[m].split())) for m in left) == kept


@pytest.mark.parametrize("strategy", ["sticky", "roundrobin"])
def test_sticky_four_topics_from_scratch(strategy):
    """At first sight it is what round robin gives, and it is."""
    group = spec(_alike(["C0", "C1", "C2"], FOUR), FOUR)

    assert _sets(owned(by_name(strategy), group)) == {
        "C0": {"t0-0", "t1-1", "t3-0"},
        "C1": {"t0-1", "t2-0", "t3-1"},
        "C2": {"t1-0", "t2-1"},
    }


HELD = {"C0": "t0-0 t1-1 t3-0", "C1": "t0-1 t2-0 t3-1", "C2": "t1-0 t2-1"}


def test_round_robin_four_topics_after_c1_left():
    """It begins anew."""
    group = next_round(_alike(["C0", "C2"], FOUR), FOUR, HELD)

    assert owned(by_name("roundrobin"), group) == {
        "C0": "t0-0 t1-0 t2-0 t3-0",
        "C2": "t0-1 t1-1 t2-1 t3-1",
    }


def test_stale_sticky_four_topics_after_c1_left():
    """
    Kafka's class no longer gives the article's table, but what it says of it holds: C0 and C2 keep what they had,
    C1's burden is shared, and both own four.
    """
    printed = {"C0": "t0-0 t1-1 t3-0 t2-0", "C2": "t1-0 t2-1 t0-1 t3-1"}
    group = next_round(_alike(["C0", "C2"], FOUR), FOUR, HELD)
    found = _sets(owned(by_name("sticky"), group))

    assert found == _sets({"C0": "t0-0 t3-0 t1-1 t0-1", "C2": "t1-0 t2-1 t2-0 t3-1"})
    assert found != _sets(printed)
    assert all(found[m] >= set(HELD[m].split()) for m in found)
    assert {len(pairs) for pairs in found.values()} == {4}


def test_custom_error_5_the_rack_example_goes_by_leaders():
    """
    Two consumers and two brokers in two racks: each partition to the consumer beside its leader, its only replica.

    Once each broker has a replica of both, any consumer can fetch nearby (KIP-392), KIP-881 sees no difference, and
    who goes by leaders still does.
    """
    members, racks = {"consumer1": ["t"], "consumer2": ["t"]}, {"consumer1": "rack1", "consumer2": "rack2"}  # fmt: skip
    led_the_other_way = [["rack2"], ["rack1"]]
    alone = spec(members, {"t": 2}, racks=racks, replicas={"t": led_the_other_way})
    both = spec(members, {"t": 2}, racks=racks, replicas={"t": [["rack2", "rack1"], ["rack1", "rack2"]]})  # fmt: skip

    assert owned(by_name("range"), alone) == {"consumer1": "t-1", "consumer2": "t-0"}
    assert owned(by_name("range"), both) == {"consumer1": "t-0", "consumer2": "t-1"}
    owner_rack = both.member_rack[by_name("range").assign(both).owner]
    led = np.array([both.racks.index("rack2"), both.racks.index("rack1")], np.int32)
    assert leader_crossing(owner_rack, led).share() == 1.0


def test_custom_error_6_the_random_assignor_needs_a_seed():
    """The article's sample, made to answer the same twice: each partition to one subscriber, another seed another."""
    group = spec(STAIRS, {"t0": 10, "t1": 20, "t2": 30})
    answers = [Random(seed).assign(group).owner.tolist() for seed in (1, 1, 2)]

    assert answers[0] == answers[1] != answers[2]
    assert NONE not in answers[0]
    readers = [[n for n, topics in enumerate(STAIRS.values()) if t in topics] for t in group.topics]
    assert all(o in readers[t] for o, t in zip(answers[0], group.topic_of.tolist(), strict=True))


@pytest.mark.parametrize("name", ["range", "roundrobin", "sticky"])
def test_custom_names_of_kafkas_strategies_are_taken(name):
    """Each of the three has the wire name the article gives, and a class of one's own must not bear it."""
    own = custom([EntryPoint(name=name, value=f"evenkeel.engine.assignors:{name}", group="x")])

    assert CLIENT_SIDE[name].java.rpartition(".")[2].lower() == f"{name}assignor"
    assert list(own.broken) == [name]


def test_error_2_the_setting_has_a_double_s_where_english_has_it():
    """`partition.asssignment.strategy` would be passed over without a word."""
    assert CLIENT_SETTING == "partition.assignment.strategy"


def test_election_the_strategy_most_supported_wins():
    """Two configured strategies each: everybody votes for its first, and most votes win."""
    held = elect(
        {
            "C0": ["range", "roundrobin"],
            "C1": ["roundrobin", "range"],
            "C2": ["roundrobin", "range"],
        }
    )

    assert (held.elected, dict(held.votes)) == ("roundrobin", {"roundrobin": 2, "range": 1})


def test_error_3_candidates_are_what_all_support():
    """Most prefer sticky, but C2 lacks it: no candidate, no vote, and nobody errors."""
    held = elect({"C0": ["sticky", "range"], "C1": ["sticky", "range"], "C2": ["range"]})

    assert held.poll.candidates == ("range",)
    assert (held.elected, dict(held.refused)) == ("range", {})


def test_error_3_who_shares_nothing_is_refused_when_it_joins():
    """Not after the election: the group never gets to one with it."""
    held = elect({"C0": ["range"], "C1": ["sticky"], "C2": ["range", "sticky"]})

    assert dict(held.refused) == {"C1": ("range",)}
    assert list(held.lists) == ["C0", "C2"]


def test_error_3_a_tie_goes_by_hash_order():
    """One vote each: neither the first to join nor the alphabet decides."""
    lists = {"C0": ["sticky", "range"], "C1": ["range", "sticky"]}
    backwards = dict(reversed(lists.items()))

    assert elect(lists).elected == elect(backwards).elected == "sticky"
    assert len(elect(lists).poll.tied) == 2


def test_error_4_today_default_is_range_and_cooperative_sticky():
    """Members with the default elect range, and can all be switched by one list."""
    default = ["range", "cooperative-sticky"]

    assert elect({"C0": default, "C1": default}).elected == "range"
    assert elect({"C0": default, "C1": ["cooperative-sticky"]}).elected == "cooperative-sticky"


def test_election_the_first_to_join_leads():
    """The group has no leader yet."""
    assert elect({"C9": ["range"], "C0": ["range"]}).leader == "C9"


def test_error_7_the_next_leader_is_the_first_key_of_a_hash_map():
    """Once the leader left it is `members.keys.head`: neither the next to join nor the first by name."""
    held = elect({name: ["range"] for name in ("leader", "consumer-b", "consumer-a", "Aa", "BB")})

    assert held.next_leader("leader") == "Aa"
    assert list(held.coordinator_order) != sorted(held.coordinator_order)
