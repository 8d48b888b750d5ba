"""The workload's topics and first commits on a cluster: made, found again and removed."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from confluent_kafka import Producer
from kafka import TopicPartition
from kafka.admin import KafkaAdminClient, MemberToRemove, OffsetSpec
from kafka.errors import KafkaError, NoError, UnknownTopicOrPartitionError
from kafka.structs import OffsetAndMetadata

from tests.stage.kafka.spreading import are_deleted, await_topics
from tests.stage.process import LocalClusterError, wait_until
from tests.stage.workload.groups import (
    GROUPS,
    RACK_LETTERS,
    TOPICS,
    TOPICS_BY_NAME,
    GroupPlan,
    TopicPlan,
)

FLUSH_SECONDS = 120
SEED_SECONDS = 60
_LEAST_SEGMENT_BYTES = 2**20
_OTHERS_PREFIX = "evenkeel-test-"
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")


@dataclass(frozen=True)
class Placement:
    """Which broker stands for each rack letter, and the rack that its members name.

    On a cluster of our own that is what it says; on another one, with other racks or none or fewer
    brokers, the brokers are taken in turn.
    """

    nodes: dict[str, int]
    racks: dict[str, str]

    @classmethod
    def of(cls, admin: KafkaAdminClient) -> Placement:
        """The placement on the cluster that ``admin`` is connected to."""
        described = admin.describe_cluster()["brokers"]
        up = [broker for broker in described if not broker.get("is_fenced")]
        brokers = sorted(up, key=lambda broker: broker["broker_id"])
        nodes, racks = {}, {}
        for index, letter in enumerate(RACK_LETTERS):
            broker = brokers[index % len(brokers)]
            nodes[letter] = broker["broker_id"]
            racks[letter] = broker["rack"] or f"rack-{letter}"
        return cls(nodes, racks)

    def brokers_of(self, letters: str) -> list[int]:
        """The different brokers that hold a partition with these replicas.

        Every partition of a topic must have as many, so a broker that stands for two racks of a
        partition is joined by another one, if there is another.
        """
        wanted = [self.nodes[letter] for letter in letters]
        known = list(dict.fromkeys([*wanted, *self.nodes.values()]))
        return known[: len(letters)]


def refuse_strangers(bootstrap: str, prefix: str) -> None:
    """Raise LocalClusterError unless it is safe to write: to a cluster on this machine, or (also on
    others) under a prefix that nobody's own topics have."""
    hosts = {address.rpartition(":")[0] for address in bootstrap.split(",")}
    if not prefix.startswith(_OTHERS_PREFIX) and not hosts <= set(_LOOPBACK):
        raise LocalClusterError(
            f"{bootstrap} is not on this machine: use --prefix {_OTHERS_PREFIX}SOMETHING"
        )


def create_topics(
    admin: KafkaAdminClient,
    prefix: str,
    placement: Placement,
    topics: Sequence[TopicPlan] = TOPICS,
) -> None:
    """Create the topics that are missing and wait until every partition has a leader."""
    existing = set(admin.list_topics())
    missing = [topic for topic in topics if prefix + topic.name not in existing]
    for topic in missing:
        replicas = {i: placement.brokers_of(racks) for i, racks in enumerate(topic.replicas)}
        plan = {"assignments": replicas, "configs": _settings(topic)}
        admin.create_topics({prefix + topic.name: plan})
    for topic in topics:
        wait_until(
            lambda topic=topic: _has_leaders(admin, prefix, topic),
            120,
            f"topic {prefix}{topic.name}",
        )
    # Streams ends for good where the broker that it asks has not heard of its topic
    await_topics(admin, [prefix + topic.name for topic in topics])


def _settings(topic: TopicPlan) -> dict[str, str]:
    """Small and short-lived: a demo may run for days."""
    segment = max(topic.kept_bytes // 5, _LEAST_SEGMENT_BYTES)
    return {"retention.bytes": str(topic.kept_bytes), "segment.bytes": str(segment)}


def _has_leaders(admin: KafkaAdminClient, prefix: str, topic: TopicPlan) -> bool:
    (answer,) = admin.describe_topics([prefix + topic.name])
    partitions = answer["partitions"]
    if partitions and len(partitions) != topic.partitions:
        raise LocalClusterError(
            f"topic {prefix}{topic.name} exists with {len(partitions)} partitions and not"
            f" {topic.partitions}: it is not the workload's, choose another --prefix"
        )
    return bool(partitions) and all(partition["leader_id"] >= 0 for partition in partitions)


def fill(
    admin: KafkaAdminClient,
    producer: Producer,
    prefix: str,
    topics: Sequence[TopicPlan] = TOPICS,
) -> None:
    """Write the first records of each partition that has none yet; returns when they are stored."""
    partitions = {
        TopicPartition(prefix + topic.name, number): OffsetSpec.LATEST
        for topic in topics
        for number in range(topic.partitions)
    }
    plans = {topic.name: topic for topic in topics}
    ends: dict[TopicPartition, Any] = wait_until(
        lambda: _ends(admin, partitions), 120, "every broker to know the topics"
    )
    for partition, end in ends.items():
        topic = plans[partition.topic.removeprefix(prefix)]
        count = 0 if end.offset else topic.backlog[partition.partition]
        for number in range(count):
            producer.produce(partition.topic, record(topic, number), partition=partition.partition)
    if producer.flush(FLUSH_SECONDS):
        raise LocalClusterError(
            f"the brokers did not take the first records within {FLUSH_SECONDS} s"
        )


def _ends(admin: KafkaAdminClient, partitions: dict[TopicPartition, OffsetSpec]) -> Any:
    """What `list_partition_offsets` says; None where who is asked has not heard of a topic yet."""
    with suppress(UnknownTopicOrPartitionError):
        return admin.list_partition_offsets(partitions)
    return None


def record(topic: TopicPlan, number: int) -> str:
    """The value of a record; twenty different ones, so that Streams has something to count."""
    return f"{topic.name} {number % 20}".ljust(topic.record_bytes)


def seed_commits(admin: KafkaAdminClient, prefix: str, plan: GroupPlan) -> None:
    """Commit for a group that has no commits and no members yet, as its plan says."""
    group = prefix + plan.name
    partitions = {
        TopicPartition(prefix + name, partition): OffsetSpec.LATEST
        for name in plan.topics
        for partition in range(TOPICS_BY_NAME[name].partitions)
    }

    def seeded() -> bool:
        # a coordinator may still be loading, or wait for members of an earlier run that were killed
        with suppress(KafkaError):
            known = admin.list_group_offsets({group: [*partitions]})[group]
            if any(commit.offset >= 0 for commit in known.values()):
                return True
            ends = admin.list_partition_offsets(partitions)
            commits = {}
            for partition, end in ends.items():
                count = TOPICS_BY_NAME[partition.topic.removeprefix(prefix)].partitions
                offset = int(end.offset * plan.committed_part(partition.partition, count))
                commits[partition] = OffsetAndMetadata(offset, "", None)
            return set(admin.alter_group_offsets(group, commits).values()) == {NoError}
        return False

    wait_until(seeded, SEED_SECONDS, f"the first commits of {group}", interval=0.2)


def remove_static_members(admin: KafkaAdminClient, prefix: str) -> None:
    """Static members never leave by themselves; the coordinator would keep them until they expire."""
    for plan in GROUPS:
        if plan.static:
            names = [f"{prefix}{plan.name}-{number}" for number in range(1, plan.members + 1)]
            members = [MemberToRemove(group_instance_id=name) for name in names]
            with suppress(KafkaError):
                admin.remove_group_members(prefix + plan.name, members)


def remove(admin: KafkaAdminClient, prefix: str) -> None:
    """Delete the workload's groups and topics, those that Streams made for it included."""
    if not prefix:
        raise LocalClusterError("--remove needs a --prefix: without one, topics could be anybody's")
    remove_static_members(admin, prefix)
    names = {prefix + plan.name for plan in GROUPS}
    wait_until(lambda: _groups_gone(admin, names), 120, "the groups to be deleted", interval=0.2)
    streams = tuple(f"{prefix}{plan.name}-" for plan in GROUPS if plan.kind.startswith("streams"))
    planned = {prefix + topic.name for topic in TOPICS}

    def is_ours(topic: str) -> bool:
        return topic in planned or topic.startswith(streams)

    wait_until(lambda: are_deleted(admin, is_ours), 120, "the topics to be deleted", interval=0.2)


def _groups_gone(admin: KafkaAdminClient, names: set[str]) -> bool:
    left = [group["group_id"] for group in admin.list_groups() if group["group_id"] in names]
    if left:
        # One that still has members is refused, and asked again.
        with suppress(KafkaError):
            admin.delete_groups(left)
    return not left
