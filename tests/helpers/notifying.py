"""A member of kafka-python that sends its leader something as user data, and leads by a custom strategy."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from kafka import TopicPartition
from kafka.coordinator.assignors.abstract import AbstractPartitionAssignor
from kafka.protocol.consumer.metadata import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)

from evenkeel.engine.assignors.interface import Assignor, build_spec
from evenkeel.engine.followers.members import by_topic


class Telling(AbstractPartitionAssignor):  # type: ignore[misc]
    """One for each consumer: the strategy, and what the member says of itself."""

    name = ""

    def __init__(self, strategy: Assignor, says: Mapping[str, Any]) -> None:
        self.strategy, self.says, self.name = strategy, says, strategy.name

    def metadata(self, topics: Collection[str]) -> ConsumerProtocolSubscription:
        """Topics, and what it says, as JSON."""
        return ConsumerProtocolSubscription(0, sorted(topics), json.dumps(self.says).encode())

    def on_assignment(self, assignment: Any, generation: int) -> None:
        """Nothing is remembered."""

    def assign(self, cluster: Any, members: Sequence[Any]) -> dict[str, ConsumerProtocolAssignment]:
        """What the strategy gives to whom."""
        sent = [member.metadata for member in members]
        sizes = {
            topic: len(cluster.partitions_for_topic(topic) or ())
            for topic in sorted({topic for one in sent for topic in one.topics})
        }
        partitions = [
            TopicPartition(topic, p) for topic, size in sizes.items() for p in range(size)
        ]
        leaders = [cluster.leader_for_partition(one) for one in partitions]
        group = build_spec(
            members=[member.member_id for member in members],
            instance_ids=[None] * len(members),
            member_racks=[None] * len(members),
            subscriptions=[list(one.topics) for one in sent],
            topics=list(sizes),
            partition_counts=list(sizes.values()),
            replica_racks=[[]] * len(partitions),
            leader_racks=[cluster.broker_metadata(leader).rack for leader in leaders],
            user_data=[json.loads(one.user_data) for one in sent],
        )
        return {
            member: ConsumerProtocolAssignment(0, by_topic(own), b"")
            for member, own in group.lists(self.strategy.assign(group)).items()
        }
