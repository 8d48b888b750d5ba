"""Kafka 3.9: what it knows is read in the versions that it speaks, what it does not know is unknown and no error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing

import pytest
from confluent_kafka import Consumer, TopicPartition

from evenkeel.engine.adapters.kafka import KafkaClusterReader
from evenkeel.engine.advice.protocol_readiness import readiness_of
from evenkeel.engine.config import ClusterSettings, Rule
from evenkeel.engine.model.states import GroupType, Readiness
from evenkeel.engine.snapshots import groups_of
from tests.helpers.facts import said
from tests.helpers.group_tool import described
from tests.helpers.own_brokers import brokers_with_topics
from tests.stage.kafka.jars import OLDER_VERSION
from tests.stage.process import wait_until

NOT_SERVED = "the brokers don't serve the consumer protocol: it needs Kafka 4.0 and the feature group.version 1"

pytestmark = [pytest.mark.nightly, pytest.mark.kafka, pytest.mark.slow]


@pytest.fixture(scope="module")
def older(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Three brokers of the older version, with a topic of two replicas."""
    directory = tmp_path_factory.mktemp("older")
    with brokers_with_topics(directory, OLDER_VERSION, ["orders"]) as bootstrap:
        yield bootstrap


def test_a_group_of_an_older_cluster_is_read_whole(older: str) -> None:
    """Members with racks, owners, commits and lag, as Kafka's own tool has them; types are told, epochs are not."""
    member = Consumer(
        {
            "bootstrap.servers": older,
            "group.id": "app",
            "client.rack": "rack-a",
            "partition.assignment.strategy": "range",
            "log_level": 1,
        }
    )
    with (
        closing(member),
        closing(KafkaClusterReader("older", ClusterSettings(bootstrap=older))) as reader,
    ):
        member.subscribe(["orders"])
        wait_until(lambda: member.poll(0.2) or len(member.assignment()) == 4, 120, "all partitions")
        member.commit(
            offsets=[TopicPartition("orders", p, 0) for p in range(4)], asynchronous=False
        )
        printed = described(older, "app")
        snapshot = reader.take_snapshot("older-20260301T120000Z-000000")
    assert snapshot.problems == ()
    assert said(snapshot.notes) == (
        "brokers of about Kafka 3.9 don't report which brokers are down, or their racks (reported from 4.0 on)",
        "brokers of about Kafka 3.9 don't report which members of a KIP-848 group still speak the classic protocol"
        " (reported from 4.0 on)",
    )
    (group,) = groups_of(snapshot.tables, snapshot.started_at)
    assert (group.type, group.state, group.assignor) == (GroupType.CLASSIC, "Stable", "range")
    assert (group.epoch, group.error) == (None, None)
    ready = readiness_of(group, Rule())
    assert ready.readiness is Readiness.BLOCKED
    assert said(ready.why) == (NOT_SERVED,)
    assert [(m.rack, m.rack_source) for m in group.members] == [("rack-a", "subscription")]
    rows = {
        (row["TOPIC"], row["PARTITION"]): (row["CURRENT-OFFSET"], row["LAG"]) for row in printed
    }
    table = group.partitions
    ours = zip(table.names, table.partition.tolist(), table.committed.tolist(), strict=True)
    assert rows == {(topic, str(p)): (str(offset), "0") for topic, p, offset in ours}
    assert table.owner.tolist() == [0] * 4
    assert all(topic_id is not None for topic_id in table.topic_ids)


def test_what_an_older_cluster_lacks_is_told_by_doctor_not_by_errors(older: str) -> None:
    """The group protocols it does not speak are named as such, and that is no fault."""
    with closing(KafkaClusterReader("older", ClusterSettings(bootstrap=older))) as reader:
        health = reader.ping()
    (versions,) = (finding for finding in health.findings if finding.what == "versions")
    assert versions.ok
    newer = "streams protocol groups (from 4.1), share groups (from 4.1), lag of share groups (from 4.2)"
    assert versions.seen.endswith(f"without {newer}")
