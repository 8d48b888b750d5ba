"""The fixture ``secured_broker``, and how it is read: by those who may see all, some or nothing of it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from confluent_kafka.admin import AclOperation, ResourceType
from kafka import TopicPartition
from kafka.structs import OffsetAndMetadata

from evenkeel.engine.adapters.kafka import KafkaClusterReader
from evenkeel.engine.config import ClusterSettings
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from tests.helpers.kafka_stage import commit_for
from tests.helpers.secured_broker import Properties, SecuredBroker
from tests.stage.process import sweep, wait_until

SNAPSHOT_ID = "prod-20260301T120000Z-000000"
DENIED = "GROUP_AUTHORIZATION_FAILED (grant this client DESCRIBE on the group)"
EVERYTHING = {"app", "hidden", "secret"}


@pytest.fixture(scope="session")
def secured_broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    """A secured broker with two topics, three idle groups, and a reader who may DESCRIBE some."""
    directory = tmp_path_factory.mktemp("secured")
    try:
        with SecuredBroker(directory / "broker", home=directory) as started:
            _fill(started)
            yield started
    finally:
        sweep(directory)


def _fill(broker: SecuredBroker) -> None:
    with broker.admin() as admin:
        topics = {"orders": 2, "private": 1}
        admin.create_topics(
            {name: {"num_partitions": n, "replication_factor": 1} for name, n in topics.items()}
        )
        wait_until(lambda: topics.keys() <= set(admin.list_topics()), 120, "the topics to appear")
        offsets = {TopicPartition("orders", p): OffsetAndMetadata(0, "", -1) for p in range(2)}
        for group in EVERYTHING:
            commit_for(admin, group, offsets)
    describe = AclOperation.DESCRIBE
    broker.grant(
        [
            (ResourceType.BROKER, "kafka-cluster", describe),
            (ResourceType.GROUP, "app", describe),
            (ResourceType.GROUP, "hidden", describe),
            *((ResourceType.GROUP, f"live-{kind}", describe) for kind in ("classic", "consumer")),
            (ResourceType.TOPIC, "orders", describe),
        ]
    )
    broker.grant(
        [(ResourceType.GROUP, "app", describe), (ResourceType.TOPIC, "orders", describe)],
        "User:CN=auditor",
    )
    login = broker.by_password("SCRAM-SHA-512")
    wait_until(lambda: len(groups(take(broker.address("login"), login))) == 3, 120, "the rules")


def reader(address: str, properties: Properties) -> KafkaClusterReader:
    """A reader of the cluster `prod`."""
    return KafkaClusterReader("prod", ClusterSettings(bootstrap=address, properties=properties))


def take(address: str, properties: Properties) -> ClusterSnapshot:
    """A snapshot of everything."""
    return reader(address, properties).take_snapshot(SNAPSHOT_ID)


def groups(snapshot: ClusterSnapshot) -> dict[str, str | None]:
    """Group -> error."""
    return {row["group_id"]: row["error"] for row in snapshot.tables["groups"].to_pylist()}


def with_wrong_secret(login: Properties) -> Properties:
    """The same with another secret that contains the right one."""
    secrets = [name for name in login if name.endswith((".secret", "sasl.password"))]
    return login | {name: f"{login[name]}-wrong" for name in secrets}
