"""What the table of clients other than Java's says of kafka-python, by asking its classes."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from evenkeel.engine.assignors.kafka.other_clients import as_led_by
from evenkeel.engine.cli.assign_cases import read_case
from evenkeel.engine.model.errors import Infeasible
from tests.helpers.examples import examples
from tests.oracle.clients.compare import SAME, cases, kind_of, owners, without_racks
from tests.oracle.clients.kafka_python import ask
from tests.oracle.compare import ours


def case(strategy: str, members: dict[str, dict[str, Any]], **sizes: int) -> dict[str, Any]:
    """Members that subscribe to all topics unless they say otherwise."""
    plain = {"instance_id": None, "rack": None, "owned": [], "generation": None, "user_data": None}
    return {
        "id": 1,
        "strategy": strategy,
        "topics": {topic: {"partitions": [[]] * size} for topic, size in sizes.items()},
        "members": [
            {"id": name, "topics": list(sizes), **plain, **own} for name, own in members.items()
        ],
    }


@pytest.mark.parametrize(
    ("strategy", "ways"),
    [
        ("range", {"without racks", "without members it loses", "a topic listed twice"}),
        ("roundrobin", {"it fails", "without members it loses"}),
    ],
)
def test_it_differs_from_kafka_in_these_ways_alone(strategy, ways):
    """Of random groups some are answered alike, and each way of the table explains some of the others."""
    count = 2 * examples()
    found = Counter(kind_of(each, ask) for each in cases(strategy, count, seed=2026))

    assert set(found) <= ways | {SAME}
    assert found[SAME] > 0.4 * count
    assert len(found) > 2


@pytest.mark.parametrize("strategy", ["sticky", "cooperative-sticky"])
def test_its_sticky_strategies_are_code_of_their_own(strategy):
    """Most groups are answered alike, some with other owners: so no row says that it is replayed exactly."""
    asked = [without_racks(each) for each in cases(strategy, 25, seed=2026)]
    same = sum(owners(ask(each)) == owners(ours(each)) for each in asked)

    assert 12 < same < 25


def test_who_joins_before_a_member_of_the_other_sort_may_be_left_out():
    """Of static, dynamic, static its `range` keeps the last run of each, so the first member gets nothing."""
    asked = case("range", {"a": {"instance_id": "x"}, "b": {}, "c": {"instance_id": "y"}}, t=3)

    assert ours(asked)["assignment"] == {"a": [["t", 0]], "c": [["t", 1]], "b": [["t", 2]]}
    assert owners(ask(asked)) == [(("t", 0), "c"), (("t", 1), "c"), (("t", 2), "b")]


def test_its_sticky_members_do_not_understand_javas():
    """It reads what a member owns behind a version that Java does not send, so it deals out afresh."""
    past = {"user_data": {"owned": [["t", 1]], "generation": 1}, "generation": 1}
    asked = case("sticky", {"a": past, "b": {}}, t=2)

    assert owners(ask(asked)) == [(("t", 0), "b"), (("t", 1), "a")]
    assert owners(ask(asked, python=False)) == [(("t", 0), "a"), (("t", 1), "b")]


def test_roundrobin_is_refused_where_it_throws():
    """Of groups of one sort of members, where it loses none, those are refused that it fails on, and no other."""
    both = Counter[tuple[bool, bool]]()
    for each in cases("roundrobin", 3 * examples(), seed=7):
        if len({member["instance_id"] is None for member in each["members"]}) == 1:
            both[_refused(each), "error" in ask(each)] += 1

    assert set(both) == {(False, False), (True, True)}


def _refused(asked: dict[str, Any]) -> bool:
    try:
        as_led_by("kafka-python", "roundrobin", read_case(asked)[0])
    except Infeasible:
        return True
    return False
