"""How large logs are, and what is said where that may not be known."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from kafka.protocol.admin import DescribeLogDirsResponse

from evenkeel.engine.adapters.kafka import log_dirs
from evenkeel.engine.adapters.kafka.connection import Unanswered
from evenkeel.engine.adapters.kafka.log_dirs import read_log_sizes
from evenkeel.engine.adapters.kafka.topics import Partition
from tests.helpers.facts import said
from tests.helpers.scripted_connection import ScriptedConnection, run, unreachable

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


def test_brokers_too_old_for_the_request_are_not_asked() -> None:
    """It is said."""
    connection = ScriptedConnection(unreachable, versions={"DescribeLogDirsRequest": -1})

    found = run(read_log_sizes(connection, [on(1, "a", 0)]))

    assert said(found.unknown) == ("log directories: the brokers do not know DescribeLogDirs",)
    assert connection.asked == []
