"""
Rows of a snapshot in the lake: brokers, groups, members, partitions and commits.

Rows are stored as read, so nearly every column may be null. Validation checks the required ones.
"""

from __future__ import annotations

from datetime import datetime

from ..model.columns import Int32, Unit, column, record
from .keys import OfSnapshot


@record
class BrokerRow(OfSnapshot):
    """One row per broker."""

    node_id: Int32 | None = column("Id of the broker.")
    host: str | None = column("Host name.")
    port: Int32 | None = column("Port.")
    rack: str | None = column("Rack; null if none is configured.")
    follower_fetching: bool | None = column(
        "True if consumers may fetch from the closest replica (KIP-392)."
    )
    group_assignors: tuple[str, ...] | None = column(
        "Server-side assignors for KIP-848 groups (group.consumer.assignors), by the names that members request."
    )
    group_settings: str | None = column(
        "Settings for the consumer protocol (KIP-848) and the level of group.version, as JSON.",
        default=None,
    )
    kafka_release: str | None = column(
        "Release of Kafka, such as 4.4, as inferred from the requests that brokers support.",
        default=None,
    )


@record
class GroupRow(OfSnapshot):
    """One row per consumer group."""

    group_id: str | None = column("Consumer group.", head="Group")
    group_type: str | None = column(
        "Type of the group: classic, consumer (KIP-848), streams (KIP-1071), share or unknown.",
        head="Type",
    )
    state: str | None = column("State of the group as reported by the broker.")
    protocol_type: str | None = column(
        "Protocol type of a classic group, such as `consumer`.", none=True
    )
    assignor: str | None = column(
        "Name of the elected protocol or server-side assignor in the Kafka protocol."
    )
    coordinator: Int32 | None = column("Id of the broker that coordinates the group.")
    epoch: Int32 | None = column(
        "Epoch of a KIP-848, KIP-1071 or share group; null for classic groups."
    )
    assignment_epoch: Int32 | None = column(
        "Epoch of the target assignment; null for classic groups."
    )
    topology: str | None = column("Sub-topologies of a Kafka Streams application, as JSON.")
    error: str | None = column("Read error; null if it was read.")
    offset_reset: str | None = column(
        "Setting share.auto.offset.reset of a share group; null for other groups.", default=None
    )
    group_settings: str | None = column(
        "Settings that were set for this group on the brokers, as JSON; null if unknown.",
        default=None,
    )


@record
class MemberRow(OfSnapshot):
    """One row per member of a group."""

    group_id: str | None = column("Consumer group.")
    position: Int32 | None = column("Position in the response of the broker, from 0.", at_least=0)
    member_id: str | None = column(
        "Member id assigned by the coordinator; it changes when the member restarts."
    )
    client_id: str | None = column("Value of client.id.")
    client_host: str | None = column("Host of the member as seen by the broker.")
    instance_id: str | None = column("Value of group.instance.id; null for a dynamic member.")
    rack: str | None = column("Rack of the member; null if unknown.")
    rack_source: str | None = column("Source of the rack: subscription, describe or configured.")
    kind: str | None = column("Type of the member in a group that is migrating between protocols.")
    subscription: tuple[str, ...] | None = column(
        "Subscribed topics; null if its protocol doesn't expose them."
    )
    subscription_regex: str | None = column("Subscription pattern, as stored by the broker.")
    generation: Int32 | None = column("Generation or epoch of its assignment.")
    process_id: str | None = column("Id of its Kafka Streams process.")
    assigned_topics: tuple[str, ...] | None = column(
        "Topics of its assigned partitions, one entry per partition."
    )
    assigned_partitions: tuple[Int32, ...] | None = column(
        "Numbers of its assigned partitions, in the same order."
    )
    assigned_tasks: tuple[str, ...] | None = column("Tasks of those partitions, in the same order.")
    target_topics: tuple[str, ...] | None = column(
        "Topics of its target partitions, one entry per partition."
    )
    target_partitions: tuple[Int32, ...] | None = column(
        "Numbers of its target partitions, in the same order."
    )
    active_tasks: tuple[str, ...] | None = column("Active tasks.")
    standby_tasks: tuple[str, ...] | None = column("Standby tasks, as <sub-topology>_<partition>.")
    warmup_tasks: tuple[str, ...] | None = column("Warm-up tasks.")
    task_offsets: str | None = column("Sum of the restored offsets by task, as JSON.")
    task_end_offsets: str | None = column("Sum of the changelog end offsets by task, as JSON.")
    client_tags: str | None = column("Client tags (KIP-708), as JSON.")
    user_data: bytes | None = column(
        "User data for the assignor, if the assignor is not known to evenkeel; null otherwise."
    )
    follows: str | None = column(
        "Strategy of the plan that it follows, as reported by the group leader; null if it follows none."
    )
    assigned_user_data: bool | None = column(
        "True if the leader sent user data with its assignment, as custom assignors may.",
        default=None,
    )
    metadata: bytes | None = column("Raw subscription metadata from the join request.")
    assignment: bytes | None = column("Raw assignment.")


@record
class PartitionRow(OfSnapshot):
    """One row per partition of the cluster."""

    topic: str | None = column("Name of the topic.")
    topic_id: str | None = column(
        "Id of the topic; a topic that is deleted and recreated gets a new id."
    )
    partition: Int32 | None = column("Number of the partition in its topic.", at_least=0)
    leader: Int32 | None = column("Id of the leader.")
    replicas: tuple[Int32, ...] | None = column("Ids of the brokers with a replica.")
    in_sync: tuple[Int32, ...] | None = column("Ids of the brokers with an in-sync replica.")
    begin_offset: int | None = column("Log start offset.", at_least=0)
    end_offset: int | None = column("High watermark.", at_least=0)
    last_stable_offset: int | None = column("Last stable offset.", at_least=0)
    begin_at: datetime | None = column("Time when the log start offset was read.")
    end_at: datetime | None = column("Time when the end offset was read.")
    cleanup_policy: str | None = column("Topic setting cleanup.policy.")
    retention_ms: int | None = column(
        "Topic setting retention.ms; -1 if unlimited.", unit=Unit.MILLISECONDS
    )
    retention_bytes: int | None = column(
        "Topic setting retention.bytes; -1 if unlimited.", default=None
    )
    log_bytes: int | None = column("Size of the log on the disk of the leader.")
    error: str | None = column("Error of reading its offsets; null if they were read.")


@record
class CommitRow(OfSnapshot):
    """One row per group and partition with a committed offset."""

    group_id: str | None = column("Consumer group.")
    topic: str | None = column("Name of the topic.")
    partition: Int32 | None = column("Number of the partition in its topic.", at_least=0)
    committed_offset: int | None = column(
        "Committed offset, for a share group the start offset; null if there is none.", at_least=0
    )
    read_at: datetime | None = column("Time when it was read.")
    error: str | None = column("Read error; null if it was read.")
    reported_lag: int | None = column(
        "Lag of a share group as reported by the broker (KIP-1226); null for other groups.",
        default=None,
        at_least=0,
    )
