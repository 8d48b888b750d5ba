"""Rows of groups that a consumer of another library than Java's leads."""

from __future__ import annotations

from typing import Any

import pytest

from evenkeel.engine.config import Rule, Settings
from tests.helpers.measuring import proposed
from tests.helpers.snapshots import group, groups, make_snapshot, member, topic


def _rows(client: str | None, *members: dict[str, Any]) -> dict[str, dict[str, Any]]:
    snapshot = make_snapshot(
        topics=[topic("t", 3), topic("u", 2)], groups=[group("g", members=members)]
    )
    rows = proposed(Settings(rules=(Rule(client=client),)), groups(snapshot)[0], [])
    return {row["strategy"]: row for row in rows}


MIXED = (
    member("a", ["t", "u"], {"t": [0, 1], "u": [0]}),
    member("b", ["t", "u"], {"t": [2], "u": [1]}, instance_id="host"),
)
TOLD = "in the variant of the group leader librdkafka: static and dynamic members in one order"


@pytest.mark.parametrize(("client", "moves"), [(None, 5), ("java", 5), ("librdkafka", 0)])
def test_range_is_replayed_in_the_leaders_order(client, moves):
    """Kafka has static members first, librdkafka all by their ids, and what it gave is what it gives again."""
    row = _rows(client, *MIXED)["range"]

    assert row["moves"] == moves
    assert (TOLD in row["reason"]) == (client == "librdkafka")
    assert (row["members_tried"] is None) == (client == "librdkafka")


def test_client_ids_tell_the_library_where_no_rule_does():
    """Who keeps librdkafka's own client id is of it."""
    row = _rows(None, *({**each, "client_id": "rdkafka"} for each in MIXED))["range"]

    assert row["moves"] == 0


def test_kafka_pythons_way_with_mixed_members_is_a_flaw():
    """Who is left out hangs on the order in which members joined, so the row is shown and not advised."""
    row = _rows("kafka-python", *MIXED)["range"]

    [flaw] = row["findings"]
    assert "its range leaves some out, by the order in which they joined" in flaw


def test_kafka_pythons_roundrobin_throws_where_it_must_skip():
    """A member whose turn it is does not subscribe: its library has no answer, so there is none."""
    row = _rows(
        "kafka-python", member("a", ["t"], {"t": [0, 1, 2]}), member("b", ["u"], {"u": [0]})
    )

    assert row["roundrobin"]["feasibility"] == "not applicable"
    assert "has a roundrobin that throws if a member" in row["roundrobin"]["reason"]


@pytest.mark.parametrize("strategy", ["sticky", "cooperative-sticky"])
def test_sticky_strategies_of_others_are_said_to_be_others(strategy):
    """franz-go has code of its own; the row says that Kafka's was asked."""
    row = _rows("franz-go", *MIXED)[strategy]

    assert "the group leader franz-go uses its own code" in row["reason"]


def test_franz_go_sees_no_racks():
    """It takes no racks into account by default, so the members' own change nothing."""
    racked = [{**each, "rack": rack} for each, rack in zip(MIXED, ("b", "a"), strict=True)]
    row = _rows("franz-go", *racked)["range"]

    assert "in the variant of the group leader franz-go: without racks" in row["reason"]


def test_a_known_library_lacks_what_it_lacks():
    """librdkafka has no sticky: a rule that names the library says so of the row."""
    row = _rows("librdkafka", *MIXED)["sticky"]

    assert row["feasibility"] == "not deployable here"
