"""What a single test puts on a real cluster, and how it is removed again."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

from confluent_kafka import Consumer, Producer
from kafka import TopicPartition
from kafka.admin import KafkaAdminClient
from kafka.structs import OffsetAndMetadata

from tests.helpers.local.process import wait_until


class Stage:
    """A place to put topics, commits and members under one prefix."""

    def __init__(self, bootstrap: str, prefix: str, admin: KafkaAdminClient) -> None:
        self.bootstrap, self.prefix, self.admin = bootstrap, prefix, admin
        self.ending = ExitStack()

    @classmethod
    @contextmanager
    def on(cls, bootstrap: str, prefix: str) -> Iterator[Stage]:
        """Everything made on it is removed afterwards."""
        with closing(KafkaAdminClient(bootstrap_servers=bootstrap.split(","))) as admin:
            stage = cls(bootstrap, prefix, admin)
            try:
                with stage.ending:
                    yield stage
            finally:
                stage.remove()

    def remove(self) -> None:
        """Delete the groups and topics of the prefix."""
        mine = [g["group_id"] for g in self.admin.list_groups()]
        self.admin.delete_groups([g for g in mine if g.startswith(self.prefix)])
        topics = [t for t in self.admin.list_topics() if t.startswith(self.prefix)]
        if topics:
            self.admin.delete_topics(topics)

    def topic(self, name: str, records: list[int]) -> str:
        """A topic with this many records in each partition."""
        full = self.prefix + name
        self.admin.create_topics({full: {"num_partitions": len(records)}})
        producer = Producer({"bootstrap.servers": self.bootstrap, "log_level": 1})
        for partition, count in enumerate(records):
            for _ in range(count):
                producer.produce(full, b"x", partition=partition)
        assert producer.flush(60) == 0
        return full

    def commit(self, group: str, topic: str, offsets: dict[int, int]) -> str:
        """An idle group with these committed offsets."""
        values = {
            TopicPartition(topic, p): OffsetAndMetadata(o, "", -1) for p, o in offsets.items()
        }
        self.admin.alter_group_offsets(self.prefix + group, values)
        return self.prefix + group

    def member(self, group: str, topics: list[str], owned: int, **settings: Any) -> Consumer:
        """A live member that has got so many partitions."""
        consumer = Consumer(
            {
                "bootstrap.servers": self.bootstrap,
                "group.id": self.prefix + group,
                "client.id": f"{self.prefix}{group}-client",
                "enable.auto.commit": False,
                "log_level": 1,
                **settings,
            }
        )
        self.ending.callback(consumer.close)
        consumer.subscribe(topics)
        wait_until(
            lambda: consumer.poll(0.1) or len(consumer.assignment()) == owned,
            60,
            f"{owned} partitions for {group}",
        )
        return consumer
