"""The random groups of the oracle."""

from __future__ import annotations

from random import Random

import pytest

from evenkeel.engine.cli.cases import read_case
from tests.oracle.compare import FEATURES, features
from tests.oracle.groups import SERVER_SIDE, follow_up, fresh
from tests.oracle.jvm import STRATEGIES

SEEDS = range(150)


def dealt(case):
    """An answer: each partition of a topic to its subscribers in turn."""
    lists = {m["id"]: [] for m in case["members"]}
    for topic, racks in case["topics"].items():
        who = [m["id"] for m in case["members"] if topic in m["topics"]]
        for number in range(len(racks["partitions"]) if who else 0):
            lists[who[number % len(who)]].append([topic, number])
    return {"assignment": lists}


def chain(strategy, seed):
    """A group, and the same some time later."""
    random = Random(seed)
    first = fresh(strategy, random)
    return first, follow_up(first, dealt(first), random)


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_group_is_a_case(strategy):
    """What is asked can be read by `evenkeel assign`."""
    for seed in SEEDS:
        for case in chain(strategy, seed):
            group, named = read_case({"id": seed, **case})

            assert named == strategy
            assert len(group.members) == len(case["members"])


def test_a_seed_makes_the_same_groups():
    """Whoever reports a seed reports its groups."""
    assert chain("sticky", 7) == chain("sticky", 7)
    assert chain("sticky", 7) != chain("sticky", 8)


def test_every_kind_of_group_occurs():
    """Among some hundred groups each kind that a table counts is there, and so is its opposite."""
    told = {"assignment": {}}
    seen = [features(c, told) for seed in SEEDS for c in chain("cooperative-sticky", seed)]
    of_the_answer = {"partitions held back", "an exception of Kafka's"}
    counts = {kind: sum(kind in kinds for kinds in seen) for kind in set(FEATURES) - of_the_answer}

    assert [kind for kind, count in counts.items() if not 5 <= count <= len(seen) - 5] == []


def test_time_passing_leaves_the_first_group_as_it_was():
    """A follow-up shares nothing with the group it came from."""
    random = Random(3)
    case = fresh("sticky", random)
    before = repr(case)

    follow_up(case, dealt(case), random)

    assert repr(case) == before


def test_a_follow_up_remembers_the_answer():
    """Members that stayed tell of what they were given, in the way of their strategy."""
    told = {"sticky": 0, "cooperative-sticky": 0, "uniform": 0}
    for strategy in told:
        for seed in SEEDS:
            random = Random(seed)
            first = fresh(strategy, random)
            given = dealt(first)["assignment"]
            after = follow_up(first, {"assignment": given}, random)
            for member in after["members"]:
                past = (member["user_data"] or {}) if strategy == "sticky" else member
                told[strategy] += bool(past.get("owned")) and past["owned"] == given.get(
                    member["id"]
                )

    assert min(told.values()) > 100


def test_a_coordinator_knows_whether_subscriptions_are_equal():
    """Server-side cases say so, topic ids included; client-side ones do not."""
    for strategy in STRATEGIES:
        for seed in SEEDS:
            case = fresh(strategy, Random(seed))
            kinds = {frozenset(m["topics"]) for m in case["members"]}
            expected = "homogeneous" if len(kinds) <= 1 else "heterogeneous"
            server = strategy in SERVER_SIDE

            assert case.get("subscription_type") == (expected if server else None)
            assert all(("id" in topic) == server for topic in case["topics"].values())
