"""
What one reading of a cluster leaves in the lake: brokers, groups, members, partitions and commits.

A row is kept as it was read, so nearly everything may be unknown: what must be there is for validation to say.
"""

from __future__ import annotations

from datetime import datetime

from ..model.columns import Int32, Unit, column, record
from .keys import OfSnapshot


@record
class BrokerRow(OfSnapshot):
    """A broker."""

    node_id: Int32 | None = column("Id of the broker.")
    host: str | None = column("Host it is reached at.")
    port: Int32 | None = column("Port it is reached at.")
    rack: str | None = column("Its rack; null when it has none configured.")
    follower_fetching: bool | None = column(
        "Whether it lets consumers read from the nearest replica (KIP-392)."
    )
    group_assignors: tuple[str, ...] | None = column(
        "Assignors of KIP-848 groups that it has (group.consumer.assignors), by the names that members ask for."
    )


@record
class GroupRow(OfSnapshot):
    """A group."""

    group_id: str | None = column("The consumer group.", head="Group")
    group_type: str | None = column(
        "Type of the group: classic, consumer (KIP-848), streams (KIP-1071), share or unknown.",
        head="Type",
    )
    state: str | None = column("State of the group, as the broker names it.")
    protocol_type: str | None = column(
        "What members of a classic group say they are, as `consumer`.", none=True
    )
    assignor: str | None = column("Elected protocol or server-side assignor, as named on the wire.")
    coordinator: Int32 | None = column("Id of the broker that coordinates it.")
    epoch: Int32 | None = column("Epoch of a group of the new protocols.")
    assignment_epoch: Int32 | None = column("Epoch its target assignment was made for.")
    topology: str | None = column("Sub-topologies of a Kafka Streams application, as JSON.")
    error: str | None = column("Why it could not be read.")


@record
class MemberRow(OfSnapshot):
    """A member of a group."""

    group_id: str | None = column("The consumer group.")
    position: Int32 | None = column("Its place in the broker's answer, from 0.", at_least=0)
    member_id: str | None = column(
        "Id the coordinator gave it; it changes when the member restarts."
    )
    client_id: str | None = column("Its client.id.")
    client_host: str | None = column("The host it connects from, as the broker sees it.")
    instance_id: str | None = column("Its group.instance.id; null for a dynamic member.")
    rack: str | None = column("Its rack; null when unknown.")
    rack_source: str | None = column(
        "Where the rack is known from: subscription, describe or configured."
    )
    kind: str | None = column("Type of the member in a group in migration.")
    subscription: tuple[str, ...] | None = column(
        "Topics it subscribes to; null when its protocol does not tell."
    )
    subscription_regex: str | None = column("Pattern it subscribes with, as the broker keeps it.")
    generation: Int32 | None = column("Generation (or epoch) in which it got what it owns.")
    process_id: str | None = column("Id of its Kafka Streams process.")
    assigned_topics: tuple[str, ...] | None = column(
        "Topics of the partitions it owns, one per partition."
    )
    assigned_partitions: tuple[Int32, ...] | None = column(
        "Numbers of the partitions it owns, beside their topics."
    )
    assigned_tasks: tuple[str, ...] | None = column("Tasks of those partitions, beside them.")
    target_topics: tuple[str, ...] | None = column(
        "Topics of the partitions it is to own, one per partition."
    )
    target_partitions: tuple[Int32, ...] | None = column(
        "Numbers of the partitions it is to own, beside their topics."
    )
    active_tasks: tuple[str, ...] | None = column("Tasks it runs.")
    standby_tasks: tuple[str, ...] | None = column(
        "Tasks it keeps a copy of, as <sub-topology>_<partition>."
    )
    warmup_tasks: tuple[str, ...] | None = column(
        "Tasks it catches up on before it takes them over."
    )
    task_offsets: str | None = column("Sum of the offsets of each task's copy, by task, as JSON.")
    task_end_offsets: str | None = column(
        "Sum of the changelog ends of each task, by task, as JSON."
    )
    client_tags: str | None = column("Its client tags (KIP-708), as JSON.")
    user_data: bytes | None = column(
        "What it sent to the group's strategy, of a strategy that is not known; null otherwise."
    )
    follows: str | None = column(
        "By which strategy the plan was made that it follows, as its leader says; null: none."
    )
    metadata: bytes | None = column("What it sent to join, as read.")
    assignment: bytes | None = column("What it was assigned, as read.")


@record
class PartitionRow(OfSnapshot):
    """A partition of the cluster."""

    topic: str | None = column("The topic.")
    topic_id: str | None = column(
        "Id of the topic: a topic made again under the same name has another."
    )
    partition: Int32 | None = column("Number of the partition in its topic.", at_least=0)
    leader: Int32 | None = column("Id of the broker that leads it.")
    replicas: tuple[Int32, ...] | None = column("Ids of the brokers that hold a replica.")
    in_sync: tuple[Int32, ...] | None = column("Ids of the brokers whose replica is in sync.")
    begin_offset: int | None = column("Log start offset.", at_least=0)
    end_offset: int | None = column("High watermark.", at_least=0)
    last_stable_offset: int | None = column("End for readers of committed records.", at_least=0)
    begin_at: datetime | None = column("When the log start was read.")
    end_at: datetime | None = column("When the end offset was read.")
    cleanup_policy: str | None = column("The topic's cleanup.policy.")
    retention_ms: int | None = column(
        "The topic's retention.ms; -1: for ever.", unit=Unit.MILLISECONDS
    )
    log_bytes: int | None = column("What the log takes on its leader's disk.")
    error: str | None = column("Why its offsets could not be read.")


@record
class CommitRow(OfSnapshot):
    """What a group has committed on a partition."""

    group_id: str | None = column("The consumer group.")
    topic: str | None = column("The topic.")
    partition: Int32 | None = column("Number of the partition in its topic.", at_least=0)
    committed_offset: int | None = column("Committed offset; null when there is none.", at_least=0)
    read_at: datetime | None = column("When it was read.")
    error: str | None = column("Why it could not be read.")
