"""Groups as read from Kafka: brokers, members, partitions."""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import NamedTuple

import numpy as np

from .arrays import Column, Flags, Indices, Ints
from .coordinators import CoordinatorSettings, InForce, in_force
from .moments import check_aware
from .states import (
    REBALANCING,
    WITHOUT_MEMBERS,
    GroupType,
    places_tasks,
)
from .text import member_names

MOST_BYTES = 1000
"""Names that are longer, in UTF-8, fit no key of the history; Kafka takes up to 32 kB of a group and of a client."""


def can_be_kept(name: str) -> bool:
    """Whether the history can remember a group or member of this id: one that it refuses must not cost the others."""
    return "\0" not in name and len(name.encode()) <= MOST_BYTES


def not_kept(name: str) -> str:
    r"""
    Why it cannot, as a clause.

    >>> not_kept("x" * 1200), not_kept("a\0")
    ('its id has 1,200 bytes, 1,000 at most can be kept', 'its id has a null character, which cannot be kept')
    """
    size = len(name.encode())
    if size > MOST_BYTES:
        return f"its id has {size:,} bytes, {MOST_BYTES:,} at most can be kept"
    return "its id has a null character, which cannot be kept"


class WatchOf(enum.StrEnum):
    """The subjects of incidents: groups or the pipeline."""

    GROUPS = "groups"
    PIPELINE = "pipeline"


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A broker: its id, address and rack (None when it has none configured)."""

    node_id: int
    host: str
    port: int
    rack: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemberTasks:
    """
    Tasks and metadata of a thread of a Kafka Streams application; tasks are `<sub-topology>_<partition>`.

    Attributes:
        active, standby, warmup: Its tasks. The classic protocol calls warm-ups standbys.
        reads: (task, topic, partition) for each partition it reads.
        offsets: Task -> sum of the restored offsets that the thread reported last: -2 for an active task, -3 unknown.
            None if not reported.
        ends: Task -> sum of the ends of its changelogs, if the protocol exposes them.
        tags: Client tags (KIP-708).
    """

    active: tuple[str, ...] = ()
    standby: tuple[str, ...] = ()
    warmup: tuple[str, ...] = ()
    reads: tuple[tuple[str, str, int], ...] = ()
    offsets: Mapping[str, int] | None = None
    ends: Mapping[str, int] | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


CONFIGURED = "configured"
"""The source of a rack that the configuration sets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """
    A member of a group.

    *subscription* is None if the group's protocol doesn't expose it; *rack_source* is the source of the rack
    (`subscription`, `describe`, `configured`), None if the rack is unknown. *user_data* is the data for the assignor,
    if evenkeel doesn't know the assignor. *follows* is the strategy of the plan that the group leader reports; None
    without a plan. *assigned_user_data* is whether the leader sends user data with its assignment; None unknown.
    *tasks* are None except for threads of Kafka Streams. *shares* is the number of partitions of a member of a share
    group, each of which others may have, too; None elsewhere.
    """

    id: str
    client_id: str
    host: str
    instance_id: str | None = None
    rack: str | None = None
    rack_source: str | None = None
    subscription: tuple[str, ...] | None = None
    subscription_regex: str | None = None
    generation: int | None = None
    process_id: str | None = None
    kind: str | None = None
    user_data: bytes | None = None
    follows: str | None = None
    assigned_user_data: bool | None = None
    tasks: MemberTasks | None = None
    shares: int | None = None

    @property
    def identity(self) -> str:
        """Identity that survives restarts: the instance id, otherwise client id and host."""
        return self.instance_id or f"{self.client_id}@{self.host}"

    @property
    def sends_rack(self) -> bool:
        """Whether it reports its rack itself, so that Kafka knows it."""
        return bool(self.rack) and self.rack_source != CONFIGURED

    @property
    def is_static(self) -> bool:
        """Whether it has an instance id: it can be absent for its session timeout without a rebalance (KIP-345)."""
        return self.instance_id is not None


@dataclass(frozen=True, kw_only=True, eq=False)
class Roster:
    """
    The members of a group by property, so that none has to be created: parallel sequences of length M.

    Attributes:
        ids, identities, client_ids, hosts, instance_ids, racks, rack_sources, kinds, follows: As in `Member`.
    """

    ids: Sequence[str]
    identities: Sequence[str]
    client_ids: Sequence[str]
    hosts: Sequence[str]
    instance_ids: Sequence[str | None]
    racks: Sequence[str | None]
    rack_sources: Sequence[str | None]
    kinds: Sequence[str | None]
    follows: Sequence[str | None]

    @classmethod
    def of(cls, members: Sequence[Member]) -> Roster:
        """That of members that are there one by one."""
        return Roster(
            ids=[m.id for m in members],
            identities=[m.identity for m in members],
            client_ids=[m.client_id for m in members],
            hosts=[m.host for m in members],
            instance_ids=[m.instance_id for m in members],
            racks=[m.rack for m in members],
            rack_sources=[m.rack_source for m in members],
            kinds=[m.kind for m in members],
            follows=[m.follows for m in members],
        )

    def __len__(self) -> int:
        return len(self.ids)

    @cached_property
    def names(self) -> list[str]:
        """(M) what people call them."""
        own = zip(self.instance_ids, self.client_ids, strict=True)
        return member_names([instance or client for instance, client in own], self.hosts, self.ids)

    @cached_property
    def static(self) -> list[bool]:
        """(M) which of them have an instance id (`Member.is_static`)."""
        return [instance is not None for instance in self.instance_ids]

    @cached_property
    def send_rack(self) -> list[bool]:
        """(M) which of them report their rack themselves (`Member.sends_rack`)."""
        sources = zip(self.racks, self.rack_sources, strict=True)
        return [bool(rack) and source != CONFIGURED for rack, source in sources]


@dataclass(frozen=True, kw_only=True, eq=False)
class PartitionTable:
    """
    The partitions a group subscribes to, owns or has committed: parallel arrays of length n.

    Sorted by (topic name, partition). *topics* and *topic_ids* are the name tables *topic* points into. Replica racks
    are a ragged array: those of row i are `replica_rack[replica_start[i]:replica_start[i + 1]]`, indices into *racks*,
    `NONE` for a broker without a rack; no entry at all means the replicas are unknown. *commit_unread* marks partitions
    whose commit could not be read, which is not the same as no commit. *target_turn* is ascending along each target
    owner's list, in the order in which the coordinator of a KIP-848 group walks it and brokers list it; NONE without
    target owner. *cleanup_policies*, *retention_ms* and *retention_bytes* (-1: unlimited) are per topic, None where
    unknown. Of a share group *committed* is the start offset, *reported_lag* the lag that the broker tells (KIP-1226),
    and nobody owns a partition: its members share them. *end* is the high watermark, or the last stable offset of a
    group that reads committed records only. *log_bytes* is what the whole log takes on its leader's disk.
    """

    topics: tuple[str, ...]
    topic_ids: tuple[str | None, ...]
    cleanup_policies: tuple[str | None, ...]
    retention_ms: tuple[int | None, ...]
    retention_bytes: tuple[int | None, ...]
    racks: tuple[str, ...]
    topic: Indices
    partition: Indices
    exists: Flags
    subscribed: Flags
    owner: Indices
    target_owner: Indices
    target_turn: Indices
    begin: Column
    end: Column
    committed: Column
    reported_lag: Column
    high_watermark: Column
    last_stable: Column
    log_bytes: Column
    begin_at_ms: Column
    end_at_ms: Column
    committed_at_ms: Column
    commit_unread: Flags
    leader_rack: Indices
    replica_start: Ints
    replica_rack: Indices
    in_sync: Flags

    def __len__(self) -> int:
        return len(self.topic)

    @cached_property
    def names(self) -> list[str]:
        """The topic name of each row."""
        return [self.topics[t] for t in self.topic.tolist()]

    @cached_property
    def assignable(self) -> Flags:
        """(n) the partitions that are assigned to members: existing ones of subscribed topics."""
        return self.exists & self.subscribed

    @cached_property
    def compacted(self) -> Flags:
        """(n) whether the row's topic is known to be compacted, so that offsets are more than records."""
        told = [policy is not None and "compact" in policy for policy in self.cleanup_policies]
        return np.array(told, np.bool_)[self.topic]


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupHeader:
    """
    Properties of a group in a snapshot, without its members and partitions.

    *assignor* is the name of the elected protocol or server-side assignor in the Kafka protocol. *error* is the read
    error; members and partitions may then be incomplete. *follower_fetching* is whether consumers may fetch from the
    closest replica (KIP-392), *group_assignors* the assignors that members of a KIP-848 group can request from every
    broker, by their names in the protocol, *coordinator* the other settings of that protocol, *coordinator_id* the
    broker that coordinates the group, *kafka_release* the release of the brokers, *offset_reset* is
    `share.auto.offset.reset` of a share group, *settings* are those that were set for the group on the brokers; None
    unknown.
    """

    snapshot_id: str
    cluster: str
    taken_at: datetime
    group: str
    type: GroupType
    state: str
    protocol_type: str | None = None
    assignor: str | None = None
    epoch: int | None = None
    coordinator_id: int | None = None
    error: str | None = None
    topology: str | None = None
    follower_fetching: bool | None = None
    group_assignors: frozenset[str] | None = None
    coordinator: CoordinatorSettings | None = None
    kafka_release: str | None = None
    offset_reset: str | None = None
    settings: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        check_aware(self.taken_at, "taken_at")

    @property
    def places_tasks(self) -> bool:
        """Whether it is a Kafka Streams application, of either protocol: it assigns tasks, not partitions."""
        return places_tasks(self.type, self.assignor)

    def in_force(self, setting: str) -> InForce | None:
        """What holds of a time that brokers keep for the group (`coordinators.in_force`)."""
        return in_force(setting, self.settings, self.coordinator)

    @property
    def shares_partitions(self) -> bool:
        """Whether it is a share group (KIP-932): its broker deals records to members, so no partition has an owner."""
        return self.type is GroupType.SHARE

    @property
    def rebalancing(self) -> bool:
        """Whether the group was rebalancing when the snapshot was taken."""
        return self.state in REBALANCING

    @property
    def members_unread(self) -> bool:
        """Whether members that it does not have here may be there: unless its state says that there are none."""
        return self.error is not None and self.state not in WITHOUT_MEMBERS


class MemberCounts(NamedTuple):
    """
    How many members a group has.

    Attributes:
        members: All.
        unresolved: Those with a pattern that stands for no topic yet.
        unknown: Those whose subscription is unknown.
    """

    members: int
    unresolved: int
    unknown: int


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupSnapshot(GroupHeader):
    """
    A group in a snapshot.

    *stores* are the changelog partitions of a Kafka Streams application, None elsewhere.
    """

    members: tuple[Member, ...]
    partitions: PartitionTable
    stores: PartitionTable | None = None

    @cached_property
    def member_counts(self) -> MemberCounts:
        """How many members it has, and of how many the topics are not known."""
        patterns = (m.subscription_regex is not None and not m.subscription for m in self.members)
        unknown = (m.subscription is None for m in self.members)
        return MemberCounts(len(self.members), sum(patterns), sum(unknown))

    @cached_property
    def roster(self) -> Roster:
        """Its members by property."""
        return Roster.of(self.members)

    @cached_property
    def topics(self) -> frozenset[str]:
        """The topics that a member subscribes to, existing or not."""
        return frozenset(topic for m in self.members for topic in m.subscription or ())
