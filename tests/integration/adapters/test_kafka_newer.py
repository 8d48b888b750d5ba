"""Kafka 4.4: all kinds of groups are read as from 4.3, and its release is known."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from confluent_kafka import Consumer, TopicPartition

from evenkeel.engine.adapters.kafka import KafkaClusterReader
from evenkeel.engine.config import ClusterSettings
from evenkeel.engine.model.states import GroupType
from evenkeel.engine.snapshots import groups_of
from tests.helpers.own_brokers import brokers_with_topics
from tests.stage.kafka.jars import NEWER_VERSION
from tests.stage.process import wait_until

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.slow]

PROTOCOLS = {
    GroupType.CLASSIC: {"partition.assignment.strategy": "range"},
    GroupType.CONSUMER: {"group.protocol": "consumer", "group.remote.assignor": "range"},
}


@pytest.fixture(scope="module")
def newer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Three brokers of the newer version, with a topic of two replicas."""
    directory = tmp_path_factory.mktemp("newer")
    with brokers_with_topics(directory, NEWER_VERSION, ["orders"]) as bootstrap:
        yield bootstrap


@pytest.mark.parametrize("kind", PROTOCOLS)
def test_a_group_of_a_newer_cluster_is_read_whole(newer: str, kind: GroupType) -> None:
    """Members, owners, commits, assignor and racks, without a problem or a note, and the release of the brokers."""
    settings = {
        "bootstrap.servers": newer,
        "group.id": f"app-{kind}",
        "client.rack": "rack-a",
        "log_level": 1,
    }
    with (
        closing(Consumer(settings | PROTOCOLS[kind])) as member,
        closing(KafkaClusterReader("newer", ClusterSettings(bootstrap=newer))) as reader,
    ):
        member.subscribe(["orders"])
        wait_until(lambda: member.poll(0.2) or len(member.assignment()) == 4, 120, "all partitions")
        member.commit(
            offsets=[TopicPartition("orders", p, 0) for p in range(4)], asynchronous=False
        )
        wait_until(lambda: member.poll(0.2) or True, 10, "a heartbeat")
        snapshot = reader.take_snapshot("newer-20260301T120000Z-000000")
        health = reader.ping()

    assert (snapshot.problems, snapshot.notes) == ((), ())
    (group,) = (
        one for one in groups_of(snapshot.tables, snapshot.started_at) if one.group == f"app-{kind}"
    )
    assert (group.type, group.state, group.assignor) == (kind, "Stable", "range")
    assert group.kafka_release == "4.4"
    assert [member.rack for member in group.members] == ["rack-a"]
    assert group.partitions.owner.tolist() == [0] * 4
    assert group.partitions.committed.tolist() == [0] * 4
    (versions,) = (finding for finding in health.findings if finding.what == "versions")
    assert (versions.ok, versions.seen) == (True, "about 4.4")
