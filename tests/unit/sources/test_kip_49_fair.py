"""
KIP-49, fair: its inventory, its three tables, its rules.

Known errors and gaps of the document: the tables are right; the ties that the two rules
leave open are broken by topic name, then by member id; `org.apache.kafka.clients.consumer.FairAssignor`, which it
tells people to configure, never existed.
"""

from __future__ import annotations

import pytest

from evenkeel.engine.assignors import by_name
from evenkeel.engine.assignors.interface import spec
from evenkeel.engine.assignors.kafka.protocol_names import CLIENT_SIDE, wire_name
from tests.helpers.owned import owned

TOPICS = {"T1": 2, "T2": 1, "T3": 2, "T4": 1, "T5": 2}
FIVE, THREE = ["T1", "T2", "T3", "T4", "T5"], ["T1", "T3", "T5"]
MEMBERS = {"C1": FIVE, "C2": THREE, "C3": THREE, "C4": FIVE}

RANGE = {"C1": "T1-0 T2-0 T3-0 T4-0 T5-0", "C2": "T1-1 T3-1 T5-1", "C3": "", "C4": ""}
ROUND_ROBIN = {"C1": "T1-0 T3-0 T5-0", "C2": "T1-1 T3-1 T5-1", "C3": "", "C4": "T2-0 T4-0"}
FAIR = {"C1": "T2-0 T3-0", "C2": "T1-0 T3-1", "C3": "T1-1 T5-0", "C4": "T4-0 T5-1"}


@pytest.mark.parametrize(
    ("strategy", "table"), [("range", RANGE), ("roundrobin", ROUND_ROBIN), ("fair", FAIR)]
)
def test_the_example(strategy, table):
    """Eight partitions of five topics, four members of two kinds of subscription: all three tables."""
    assert owned(by_name(strategy), spec(MEMBERS, TOPICS)) == table


def test_sticky_from_scratch_gives_the_same():
    """What KIP-49 wanted came with KIP-54's general algorithm: for this example partition by partition."""
    lists = owned(by_name("sticky"), spec(MEMBERS, TOPICS))

    assert {m: " ".join(sorted(pairs.split())) for m, pairs in lists.items()} == FAIR


@pytest.mark.parametrize(
    ("situation", "members", "counts"),
    [
        ("before the restart, all read three topics", dict.fromkeys(MEMBERS, THREE), [1, 1, 2, 2]),
        ("amid the rolling restart", MEMBERS, [2, 2, 2, 2]),
        ("after it, all read five", dict.fromkeys(MEMBERS, FIVE), [2, 2, 2, 2]),
    ],
)
def test_a_rolling_change_of_subscriptions_stays_even(situation, members, counts):
    """The situation that the note under the example tells of, before, amid and after."""
    lists = owned(by_name("fair"), spec(members, TOPICS))

    assert sorted(len(pairs.split()) for pairs in lists.values()) == counts


def test_rule_topics_with_fewest_consumers_first():
    """The most constrained partitions are dealt before the counts are up."""
    members = {"a": ["free"], "b": ["bound", "free"]}
    lists = owned(by_name("fair"), spec(members, {"bound": 2, "free": 2}))

    assert lists == {"a": "free-0 free-1", "b": "bound-0 bound-1"}


def test_rule_of_those_the_topic_with_more_partitions_first():
    """The larger of two topics with as many consumers sets the counts, the smaller fills them up."""
    both = {"a": ["large", "all"], "b": ["small", "all"], "c": ["large", "small", "all"]}
    lists = owned(by_name("fair"), spec(both, {"small": 1, "large": 3, "all": 0}))

    assert lists == {"a": "large-0 large-2", "b": "small-0", "c": "large-1"}


def test_open_ties_go_by_topic_name_and_member_id():
    """The KIP does not say; its author's class does, and so do its tables."""
    lists = owned(by_name("fair"), spec({"b": ["u", "t"], "a": ["u", "t"]}, {"u": 1, "t": 1}))

    assert lists == {"b": "u-0", "a": "t-0"}


def test_the_class_it_names_never_existed():
    """Who deploys it ships ours, not one of Kafka; who has its author's runs the same."""
    assert CLIENT_SIDE["fair"].java == "io.evenkeel.EvenkeelFairAssignor"
    assert wire_name("com.cerner.common.kafka.consumer.assignors.FairAssignor") == "fair"
    assert not CLIENT_SIDE["fair"].stock
