"""librdkafka's assignors, called by a consumer that a coordinator of a few lines tells to lead."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from evenkeel.engine.assignors import ASSIGNORS
from evenkeel.engine.assignors.kafka.other_clients import as_led_by
from evenkeel.engine.cli.assign_cases import read_case
from tests.oracle.clients.compare import SAME, cases, kind_of, owners, without_racks
from tests.oracle.clients.coordinator import Leader, librdkafka

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("strategy", ["range", "roundrobin"])
def test_members_of_one_sort_get_kafkas_answer(strategy):
    """Without racks it agrees with Kafka on groups of static members, and on groups of dynamic ones."""
    alike = [without_racks(c) for c in cases(strategy, 100, seed=2026) if _one_sort(c)]

    with Leader(librdkafka(), strategy) as leader:
        found = Counter(kind_of(each, leader.ask) for each in alike)

    assert found == {SAME: len(alike)}
    assert len(alike) > 30


@pytest.mark.parametrize("strategy", ["range", "roundrobin"])
def test_mixed_groups_are_replayed_in_its_order(strategy):
    """With static members named as brokers name them the replay gives its answer, which is not Kafka's."""
    mixed = [_named(without_racks(c)) for c in cases(strategy, 200, seed=2026) if not _one_sort(c)]

    with Leader(librdkafka(), strategy) as leader:
        wrong = [each["id"] for each in mixed if _replayed(each) != owners(leader.ask(each))]
        kinds = Counter(kind_of(each, leader.ask) for each in mixed)

    assert wrong == []
    assert len(mixed) > 30
    assert kinds["static and dynamic members in one order"] > 10


def _one_sort(case: dict[str, Any]) -> bool:
    return len({member["instance_id"] is None for member in case["members"]}) == 1


def _named(case: dict[str, Any]) -> dict[str, Any]:
    """The case with ids as brokers give them to static members."""
    return {
        **case,
        "members": [
            {**m, "id": f"{m['instance_id']}-{m['id']}" if m["instance_id"] else m["id"]}
            for m in case["members"]
        ],
    }


def _replayed(case: dict[str, Any]) -> list[tuple[tuple[str, int], str]]:
    group, _ = as_led_by("librdkafka", case["strategy"], read_case(case)[0])
    answer = ASSIGNORS[case["strategy"]].assign(group)
    lists = {member: list(map(list, own)) for member, own in group.lists(answer).items()}
    return owners({"assignment": lists})
