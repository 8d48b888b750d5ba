"""What topics and brokers are configured to, and what is said where that may not be known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafka.protocol.admin import DescribeConfigsResponse

from evenkeel.engine.adapters.kafka.configs import TopicConfig, read_configs
from evenkeel.engine.adapters.kafka.connection import Unanswered
from tests.helpers.facts import said
from tests.helpers.scripted_connection import ScriptedConnection, run, unreachable

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
LEADER = "org.apache.kafka.common.replica.LeaderSelector"

OURS = "io.evenkeel.EvenkeelServerAssignor,org.apache.kafka.coordinator.group.assignor.UniformAssignor,range, acme.Own"

Told = Mapping[str, Mapping[str, str | None] | int]


def answering(told: Told) -> Any:
    """Resource name -> its values, or an error code."""

    def answer(request: Any, node: int | None) -> DescribeConfigsResponse:
        result = DescribeConfigsResponse.DescribeConfigsResult
        config = result.DescribeConfigsResourceResult
        results = []
        for one in request.resources:
            said = told[one.resource_name]
            code = said if isinstance(said, int) else 0
            values = {} if isinstance(said, int) else said
            results.append(
                result(
                    error_code=code,
                    error_message=None,
                    resource_type=one.resource_type,
                    resource_name=one.resource_name,
                    configs=[
                        config(name=key, value=values[key])
                        for key in one.configuration_keys
                        if key in values
                    ],
                )
            )
        return DescribeConfigsResponse(results=results)

    return answer


def test_topics_and_brokers_tell_what_they_are_configured_to() -> None:
    """Policies sorted; each broker is asked of itself."""
    told: Told = {
        "orders": {"cleanup.policy": "delete,compact", "retention.ms": "604800000"},
        "state": {
            "cleanup.policy": "compact",
            "retention.ms": "-1",
            "remote.storage.enable": "false",
        },
        "clicks": {"retention.ms": "1", "remote.storage.enable": "true"},
        "1": {"replica.selector.class": RACK_AWARE, "group.consumer.assignors": OURS},
        "2": {"replica.selector.class": LEADER, "group.consumer.assignors": "uniform,range"},
        "3": {"replica.selector.class": None},
    }
    connection = ScriptedConnection(answering(told), nodes=(1, 2, 3))

    found = run(read_configs(connection, ["state", "orders", "clicks"], [1, 2, 3]))

    assert found.topics == {
        "orders": TopicConfig("compact,delete", 604_800_000, remote_storage=False),
        "state": TopicConfig("compact", -1, remote_storage=False),
        "clicks": TopicConfig(None, 1, remote_storage=True),
    }
    assert found.follower_fetching == {1: True, 2: False, 3: False}
    assert found.group_assignors == {
        1: ("evenkeel-racks", "uniform", "range", "acme.Own"),
        2: ("uniform", "range"),
    }
    assert said(found.unknown) == ()
    assert [node for _, node in connection.asked] == [None, 1, 2, 3]


def test_a_missing_right_is_said_once_for_all_it_concerns() -> None:
    """What may be known is known; nothing fails."""
    told: Told = {"a": 29, "b": 29, "c": {"cleanup.policy": "delete", "retention.ms": "1"}, "1": 31}

    found = run(read_configs(ScriptedConnection(answering(told)), "abc", [1]))

    assert list(found.topics) == ["c"]
    assert (found.follower_fetching, found.group_assignors) == ({}, {})
    assert list(said(found.unknown)) == [
        "configurations of 1 broker: not allowed (grant this client DESCRIBE_CONFIGS)",
        "configurations of 2 topics: not allowed (grant this client DESCRIBE_CONFIGS)",
    ]


def test_brokers_that_do_not_answer_leave_it_unknown() -> None:
    """With the cause; the rest of the snapshot does not care."""

    def answer(request: Any, node: int | None) -> Any:
        raise Unanswered("broker 1 (b:9092): timed out")

    found = run(read_configs(ScriptedConnection(answer), ["a"], [1]))

    assert list(said(found.unknown)) == [
        "configurations of 1 broker: broker 1 (b:9092): timed out",
        "configurations of 1 topic: broker 1 (b:9092): timed out",
    ]


def test_brokers_too_old_for_the_request_are_not_asked() -> None:
    """It is said."""
    connection = ScriptedConnection(unreachable, versions={"DescribeConfigsRequest": -1})

    found = run(read_configs(connection, ["a"], [1]))

    assert said(found.unknown) == ("configurations: the brokers do not know DescribeConfigs",)
    assert connection.asked == []
