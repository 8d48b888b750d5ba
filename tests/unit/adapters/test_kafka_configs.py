"""What brokers are configured to, how large logs are, and what is said where that may not or cannot be known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from kafka.protocol.admin import (
    DescribeConfigsResponse,
    DescribeLogDirsResponse,
    ListConfigResourcesRequest,
    ListConfigResourcesResponse,
)
from kafka.protocol.metadata import ApiVersionsResponse

from evenkeel.engine.adapters.kafka import log_dirs
from evenkeel.engine.adapters.kafka.configs import TopicConfig, read_configs
from evenkeel.engine.adapters.kafka.connection import Unanswered
from evenkeel.engine.adapters.kafka.log_dirs import read_log_sizes
from evenkeel.engine.adapters.kafka.topics import Partition
from evenkeel.engine.adapters.kafka.versions import group_version, untold
from tests.helpers.facts import said
from tests.helpers.scripted_connection import ScriptedConnection, run, unreachable

RACK_AWARE = "org.apache.kafka.common.replica.RackAwareReplicaSelector"
LEADER = "org.apache.kafka.common.replica.LeaderSelector"

OURS = "io.evenkeel.EvenkeelServerAssignor,org.apache.kafka.coordinator.group.assignor.UniformAssignor,range, acme.Own"

Told = Mapping[str, Mapping[str, str | None] | int]


def answering(told: Told, own: Mapping[str, Sequence[str]] | int = 31) -> Any:
    """Resource name -> its values, or an error code; *own* has the names of values that were set for groups."""

    def answer(request: Any, node: int | None) -> Any:
        if isinstance(request, ListConfigResourcesRequest):
            resource = ListConfigResourcesResponse.ConfigResource
            listed = [] if isinstance(own, int) else own
            return ListConfigResourcesResponse(
                error_code=own if isinstance(own, int) else 0,
                config_resources=[resource(resource_name=one, resource_type=32) for one in listed],
            )
        result = DescribeConfigsResponse.DescribeConfigsResult
        config = result.DescribeConfigsResourceResult
        results = []
        for one in request.resources:
            said = told[one.resource_name]
            code = said if isinstance(said, int) else 0
            values = {} if isinstance(said, int) else said
            given = () if isinstance(own, int) else own.get(one.resource_name, ())
            results.append(
                result(
                    error_code=code,
                    error_message=None,
                    resource_type=one.resource_type,
                    resource_name=one.resource_name,
                    configs=[
                        config(name=key, value=values[key], config_source=8 if key in given else 5)
                        for key in one.configuration_keys or values
                        if key in values
                    ],
                )
            )
        return DescribeConfigsResponse(results=results)

    return answer


def test_topics_and_brokers_tell_what_they_are_configured_to() -> None:
    """Policies sorted; each broker is asked of itself."""
    told: Told = {
        "orders": {
            "cleanup.policy": "delete,compact",
            "retention.ms": "604800000",
            "retention.bytes": "1000000",
        },
        "state": {
            "cleanup.policy": "compact",
            "retention.ms": "-1",
            "remote.storage.enable": "false",
        },
        "clicks": {"retention.ms": "1", "remote.storage.enable": "true"},
        "1": {"replica.selector.class": RACK_AWARE, "group.consumer.assignors": OURS},
        "2": {
            "replica.selector.class": LEADER,
            "group.consumer.assignors": "uniform,range",
            "group.consumer.migration.policy": "upgrade",
        },
        "3": {"replica.selector.class": None},
    }
    connection = ScriptedConnection(answering(told), nodes=(1, 2, 3))

    found = run(read_configs(connection, ["state", "orders", "clicks"], [1, 2, 3]))

    assert found.topics == {
        "orders": TopicConfig("compact,delete", 604_800_000, 1_000_000, remote_storage=False),
        "state": TopicConfig("compact", -1, None, remote_storage=False),
        "clicks": TopicConfig(None, 1, None, remote_storage=True),
    }
    assert found.follower_fetching == {1: True, 2: False, 3: False}
    assert found.group_assignors == {
        1: ("evenkeel-racks", "uniform", "range", "acme.Own"),
        2: ("uniform", "range"),
    }
    assert found.coordinators == {1: {}, 2: {"group.consumer.migration.policy": "upgrade"}, 3: {}}
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


def test_share_groups_tell_where_they_begin() -> None:
    """By their setting on the broker; it takes a right of its own, which is said once."""
    told: Told = {"queue": {"share.auto.offset.reset": "earliest"}, "a": 30, "b": 30}
    names = ["queue", "b", "a"]

    found = run(read_configs(ScriptedConnection(answering(told)), [], [], names, names))

    assert found.offset_resets == {"queue": "earliest"}
    assert list(said(found.unknown)) == [
        "configurations of 2 groups: not allowed (grant this client DESCRIBE_CONFIGS on the groups)"
    ]


SESSION = "consumer.session.timeout.ms"


def test_only_groups_that_set_something_are_asked() -> None:
    """What they set, not what brokers give them; others set nothing, and one that may not be asked is unknown."""
    told: Told = {
        "own": {SESSION: "60000", "consumer.heartbeat.interval.ms": "5000"},
        "secret": 30,
        "gone": {SESSION: "50000"},
    }
    connection = ScriptedConnection(answering(told, {name: [SESSION] for name in told}))

    found = run(read_configs(connection, [], [], {"own", "plain", "secret"}))

    assert found.groups == {"own": {SESSION: "60000"}, "plain": {}}
    assert [what for what, _ in connection.asked] == ["ListConfigResources", "DescribeConfigs"]
    assert list(said(found.unknown)) == [
        "configurations of 1 group: not allowed (grant this client DESCRIBE_CONFIGS on the groups)"
    ]


@pytest.mark.parametrize(
    ("own", "versions", "said_of_it"),
    [
        (31, {}, []),
        (42, {}, ["configurations of 2 groups: INVALID_REQUEST"]),
        ({}, {"ListConfigResourcesRequest": 0}, []),
    ],
)
def test_what_groups_set_is_unknown_where_brokers_do_not_list_it(
    own: Any, versions: dict[str, int], said_of_it: list[str]
) -> None:
    """Without the right, which brokers need for their own settings, or before Kafka 4.1, nothing more is said."""
    connection = ScriptedConnection(answering({}, own), versions=versions)

    found = run(read_configs(connection, [], [], ["a", "b"]))

    assert (found.groups, list(said(found.unknown))) == ({}, said_of_it)


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


Sizes = Mapping[tuple[str, int], int]


def on(leader: int | None, topic: str, number: int) -> Partition:
    """A partition and who leads it."""
    return Partition(
        topic=topic, topic_id=None, number=number, leader=leader, replicas=[], in_sync=[]
    )


def directory(sizes: Sizes, *, error: int = 0, future: bool = False) -> Any:
    """One log directory of a broker."""
    result = DescribeLogDirsResponse.DescribeLogDirsResult
    topic = result.DescribeLogDirsTopic
    row = topic.DescribeLogDirsPartition
    return result(
        error_code=error,
        log_dir="/data",
        topics=[
            topic(
                name=name,
                partitions=[
                    row(partition_index=p, partition_size=size, offset_lag=0, is_future_key=future)
                ],
            )
            for (name, p), size in sizes.items()
        ],
    )


def asked(request: Any) -> set[tuple[str, int]]:
    """The partitions a request speaks of."""
    return {(topic.topic, p) for topic in request.topics for p in topic.partitions}


def test_each_leader_tells_the_sizes_of_what_it_leads() -> None:
    """A log that is still being moved into a directory does not count; one without leader is not asked for."""
    sizes = {1: {("a", 0): 500, ("a", 2): 0}, 2: {("a", 1): 70}}
    seen: dict[int, set[tuple[str, int]]] = {}

    def answer(request: Any, node: int | None) -> Any:
        assert node is not None
        seen[node] = asked(request)
        moving = directory(dict.fromkeys(sizes[node], 1), future=True)
        return DescribeLogDirsResponse(results=[directory(sizes[node]), moving])

    rows = [on(1, "a", 0), on(2, "a", 1), on(1, "a", 2), on(None, "b", 0)]
    found = run(read_log_sizes(ScriptedConnection(answer), rows))

    assert found.bytes == {**sizes[1], **sizes[2]}
    assert seen == {1: {("a", 0), ("a", 2)}, 2: {("a", 1)}}
    assert said(found.unknown) == ()


@pytest.mark.parametrize(
    "refusal",
    [DescribeLogDirsResponse(error_code=31, results=[]), DescribeLogDirsResponse(results=[])],
)
def test_a_missing_right_is_said_once(refusal: Any) -> None:
    """Brokers before 2.8 say it by saying nothing."""
    found = run(
        read_log_sizes(ScriptedConnection(lambda *_: refusal), [on(1, "a", 0), on(2, "a", 1)])
    )

    assert found.bytes == {}
    assert list(said(found.unknown)) == [
        "log directories of 2 brokers: not allowed (grant this client DESCRIBE on the cluster)"
    ]


def test_a_broken_disk_or_a_silent_broker_costs_only_its_own_logs() -> None:
    """The rest is known, the cause is said."""

    def answer(request: Any, node: int | None) -> Any:
        if node == 2:
            raise Unanswered("broker 2: timed out")
        return DescribeLogDirsResponse(results=[directory({("a", 0): 9}), directory({}, error=56)])

    found = run(read_log_sizes(ScriptedConnection(answer), [on(1, "a", 0), on(2, "a", 1)]))

    assert found.bytes == {("a", 0): 9}
    assert list(said(found.unknown)) == [
        "log directories of 1 broker: KAFKA_STORAGE_ERROR",
        "log directories of 1 broker: broker 2: timed out",
    ]


def test_requests_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five partitions at two a request are three requests."""
    monkeypatch.setattr(log_dirs, "_BATCH", 2)

    def answer(request: Any, node: int | None) -> Any:
        return DescribeLogDirsResponse(results=[directory(dict.fromkeys(asked(request), 1))])

    connection = ScriptedConnection(answer)
    found = run(read_log_sizes(connection, [on(1, "a", p) for p in range(5)]))

    assert len(found.bytes) == 5
    assert len(connection.asked) == 3


def test_brokers_too_old_to_tell_sizes_are_not_asked() -> None:
    """It is said."""
    connection = ScriptedConnection(unreachable, versions={"DescribeLogDirsRequest": -1})

    found = run(read_log_sizes(connection, [on(1, "a", 0)]))

    assert said(found.unknown) == ("log directories: the brokers do not know DescribeLogDirs",)
    assert connection.asked == []


IDS, DOWN, KINDS = "topic ids", "which brokers are down", "classic protocol"


@dataclass
class Brokers:
    """They know these requests up to these versions."""

    version: str
    known: dict[str, int]

    def supports(self, request: Any, version: int = 0) -> bool:
        """As listed."""
        return self.known.get(request.__name__, -1) >= version


@pytest.mark.parametrize(
    ("brokers", "missing"),
    [
        (Brokers("2.7", {"MetadataRequest": 9}), [IDS, DOWN]),
        (Brokers("3.6", {"MetadataRequest": 12, "DescribeClusterRequest": 0}), [DOWN]),
        (
            Brokers(
                "3.9",
                {
                    "MetadataRequest": 12,
                    "DescribeClusterRequest": 1,
                    "ConsumerGroupDescribeRequest": 0,
                },
            ),
            [DOWN, KINDS],
        ),
        (
            Brokers(
                "4.3",
                {
                    "MetadataRequest": 13,
                    "DescribeClusterRequest": 2,
                    "ConsumerGroupDescribeRequest": 1,
                },
            ),
            [],
        ),
    ],
)
def test_what_is_too_new_for_the_brokers_is_said_once_each(
    brokers: Brokers, missing: list[str]
) -> None:
    """With their version; what they have no groups of is no loss."""
    lines = said(untold(brokers))

    assert [what in line for what, line in zip(missing, lines, strict=True)] == [True] * len(
        missing
    )
    assert all(f"Kafka {brokers.version}" in line for line in lines)


@pytest.mark.parametrize(
    ("levels", "error", "version"),
    [
        ({"group.version": 1, "metadata.version": 25}, 0, 1),
        ({"metadata.version": 20}, 0, 0),
        ({}, 35, None),
    ],
)
def test_the_finalized_level_of_a_feature_is_read(
    levels: dict[str, int], error: int, version: int | None
) -> None:
    """A cluster that has not finalized it has level 0; one that refuses to answer tells nothing."""
    feature = ApiVersionsResponse.FinalizedFeatureKey
    told = [feature(name=n, max_version_level=v, min_version_level=v) for n, v in levels.items()]
    answer = ApiVersionsResponse(error_code=error, finalized_features=told)

    assert run(group_version(ScriptedConnection(lambda *_: answer))) == version


def test_brokers_that_tell_no_features_or_do_not_answer() -> None:
    """Those before 2.4 have none; of those that are silent it is unknown."""
    older = ScriptedConnection(unreachable, versions={"ApiVersionsRequest": 2})

    def silent(request: Any, node: int | None) -> Any:
        raise Unanswered("broker 1 (b:9092): timed out")

    assert (run(group_version(older)), older.asked) == (0, [])
    assert run(group_version(ScriptedConnection(silent))) is None
