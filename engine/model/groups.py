"""Groups as they are: brokers, members, partitions."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property

import numpy as np

from .arrays import Column, Flags, Indices, Ints
from .moments import check_aware
from .states import (
    REBALANCING,
    GroupType,
    places_tasks,
)

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
    """With what of a cluster something may be wrong."""

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
    What a thread of a Kafka Streams application has and says; tasks are `<sub-topology>_<partition>`.

    Attributes:
        active, standby, warmup: Its tasks. The classic protocol calls warm-ups standbys.
        reads: (task, topic, partition) for each partition it reads.
        offsets: Task -> sum of the offsets its copy had reached when the thread last told: -2 for one it ran, -3
            unknown. None where that is not told.
        ends: Task -> sum of the ends of its changelogs, where the protocol tells them.
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
"""The source of a rack that the member did not tell itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Member:
    """
    A member of a group.

    *subscription* is None when the group's protocol does not tell it; *rack_source* says where the rack came
    from (`subscription`, `describe`, `configured`) and is None when the rack is unknown. *user_data* is what it sent to
    the group's strategy, if that is none of ours. *follows* is by which strategy the plan was made that its leader says
    it follows; None without a plan. *tasks* are None but for threads of Kafka Streams.
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
    tasks: MemberTasks | None = None

    @property
    def identity(self) -> str:
        """What stays the same over restarts: the instance id, else client id and host."""
        return self.instance_id or f"{self.client_id}@{self.host}"

    @property
    def sends_rack(self) -> bool:
        """Whether it tells its rack itself, so that Kafka sees it."""
        return bool(self.rack) and self.rack_source != CONFIGURED

    @property
    def is_static(self) -> bool:
        """Whether it has an instance id: it may be away for its session without a rebalance (KIP-345)."""
        return self.instance_id is not None


@dataclass(frozen=True, kw_only=True, eq=False)
class PartitionTable:
    """
    The partitions a group subscribes to, owns or has committed: parallel arrays of length n.

    Sorted by (topic name, partition). *topics* and *topic_ids* are the name tables *topic* points into.
    Replica racks are a ragged array: those of row i are `replica_rack[replica_start[i]:replica_start[i + 1]]`,
    indices into *racks*, `NONE` for a broker without a rack; no entry at all means the replicas are unknown.
    *commit_unread* marks partitions whose commit could not be read, which is not the same as no commit.
    *target_turn* is ascending along each target owner's list, in the order in which the coordinator of a KIP-848 group
    walks it and brokers list it; NONE without target owner. *cleanup_policies* and *retention_ms* (-1: for ever) are
    per topic, None where unknown. *log_bytes* is what the whole log takes on its leader's disk.
    """

    topics: tuple[str, ...]
    topic_ids: tuple[str | None, ...]
    cleanup_policies: tuple[str | None, ...]
    retention_ms: tuple[int | None, ...]
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
        """(n) the partitions that a group's members share: existing ones of topics somebody subscribes to."""
        return self.exists & self.subscribed

    @cached_property
    def compacted(self) -> Flags:
        """(n) whether the row's topic is known to be compacted, so that offsets are more than records."""
        told = [policy is not None and "compact" in policy for policy in self.cleanup_policies]
        return np.array(told, np.bool_)[self.topic]


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupHeader:
    """
    What one snapshot says of a group beside its members and partitions.

    *assignor* is the name on the wire (elected protocol or server-side assignor), *error* why the group could not
    be read; then members and partitions are what little is known. *follower_fetching* is whether brokers let consumers
    read from the nearest replica (KIP-392), *group_assignors* what members of a KIP-848 group can ask every broker for,
    by the names on the wire; None unknown.
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
    error: str | None = None
    topology: str | None = None
    follower_fetching: bool | None = None
    group_assignors: frozenset[str] | None = None

    def __post_init__(self) -> None:
        check_aware(self.taken_at, "taken_at")

    @property
    def places_tasks(self) -> bool:
        """Whether it is a Kafka Streams application, of either protocol: it assigns tasks, not partitions."""
        return places_tasks(self.type, self.assignor)

    @property
    def rebalancing(self) -> bool:
        """Whether ownership was in motion when the snapshot was taken."""
        return self.state in REBALANCING


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupSnapshot(GroupHeader):
    """
    One group as one snapshot saw it.

    *stores* are the changelog partitions of a Kafka Streams application, None elsewhere.
    """

    members: tuple[Member, ...]
    partitions: PartitionTable
    stores: PartitionTable | None = None

    @cached_property
    def topics(self) -> frozenset[str]:
        """The topics that a member subscribes to, existing or not."""
        return frozenset(topic for m in self.members for topic in m.subscription or ())
