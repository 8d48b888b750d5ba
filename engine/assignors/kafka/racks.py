"""
Which racks hold a partition, and when Kafka's client assignors look at racks at all (KIP-881).

Every replica counts, in sync or not. A broker without a rack counts for nothing; a partition whose
replicas are unknown is on no rack. Source: `AbstractPartitionAssignor.useRackAwareAssignment` of
Kafka 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model.arrays import NONE, Flags, Indices, Ints, starts_of
from ..interface import GroupSpec, once
from ..interface.group import once_of_topics
from ..kit.members import Subscribers, assignable_topics
from ..kit.orders import distinct


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReplicaRacks:
    """
    The distinct racks of each partition, ragged.

    Attributes:
        start: (P + 1) where each partition's racks begin.
        partition, rack: (entries) ascending by both.
    """

    start: Ints
    partition: Ints
    rack: Ints


@once_of_topics
def replica_racks(group: GroupSpec) -> ReplicaRacks:
    """
    >>> from evenkeel.engine.assignors.interface import spec
    >>> racks = replica_racks(spec({}, {"t": 2}, replicas={"t": [["b", "a", "b"], [None]]}))
    >>> racks.start.tolist(), racks.rack.tolist()
    ([0, 2, 2], [0, 1])
    """
    partitions, racks = group.partition_count, max(len(group.racks), 1)
    keys = np.repeat(np.arange(partitions) * racks, np.diff(group.replica_start))
    keys += group.replica_rack
    if (group.replica_rack == NONE).any():
        keys = keys[group.replica_rack != NONE]
    pairs = distinct(keys, partitions * racks)
    partition = pairs // racks  # np.divmod takes several times as long
    sizes = np.bincount(partition, minlength=partitions)
    return ReplicaRacks(start=starts_of(sizes), partition=partition, rack=pairs - partition * racks)


def rack_aware_topics(group: GroupSpec, subscribers: Subscribers, replicas: ReplicaRacks) -> Flags:
    """
    (T) where racks can make a difference.

    A subscriber's rack must be among the partitions' racks, and not every partition may be on all
    of these.
    """
    topics, racks = len(group.topics), max(len(group.racks), 1)
    offered = np.zeros(topics * racks, np.bool_)
    offered[group.topic_of[replicas.partition].astype(np.int64) * racks + replicas.rack] = True
    partial = np.diff(replicas.start) != offered.reshape(-1, racks).sum(axis=1)[group.topic_of]
    varied = np.bincount(group.topic_of[partial], minlength=topics) > 0
    rack: Indices = group.member_rack[subscribers.member]
    met = subscribers.topic[(rack != NONE) & offered[subscribers.topic * racks + rack]]
    return varied & (np.bincount(met, minlength=topics) > 0)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RackInfo:
    """
    The racks of groups, in some of which they make a difference; the others are as if nobody in them had one.

    Attributes:
        member: (M) each member's rack, NONE without.
        replicas: The distinct racks of each partition, ascending.
        nearby_members: (P) how many members live on the racks of each partition.
    """

    member: Indices
    replicas: ReplicaRacks
    nearby_members: Ints

    def mismatch(self, members: Ints, partitions: Ints) -> Flags:
        """
        Pair by pair, whether the member has a rack and the partition is not on it.

        A vanished partition (index P or above) is on no rack.
        """
        mismatch: Flags = ~self.shared(members, partitions) & (self.member[members] != NONE)
        return mismatch

    def shared(self, members: Ints, partitions: Ints) -> Flags:
        """Pair by pair, whether the member has a rack and the partition is on it."""
        rack = self.member[members]
        there = np.minimum(partitions, len(self.nearby_members))
        first, last = self.replicas.start[there], np.append(self.replicas.start[1:], 0)[there]
        shared = np.zeros(len(rack), np.bool_)
        for turn in range(int(np.diff(self.replicas.start).max(initial=0))):
            at = np.minimum(first + turn, len(self.replicas.rack) - 1)
            shared |= (first + turn < last) & (self.replicas.rack[at] == rack)
        return shared


@once
def rack_info(groups: GroupSpec) -> RackInfo | None:
    """
    What the sticky assignors know of racks; None where they make no difference: one switch for each whole group.

    They do when a member's rack is among the partitions', and not every partition is on all of these. Source:
    `AbstractStickyAssignor.RackInfo`.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 2}, racks={"a": "x"}, replicas={"t": [["x", "y"], ["y"]]})
    >>> racks = rack_info(group)
    >>> racks.nearby_members.tolist(), racks.mismatch(np.array([0, 0, 1]), np.array([0, 1, 1])).tolist()
    ([1, 0], [False, True, False])
    """
    told = np.flatnonzero(groups.member_rack != NONE)
    if not len(told):
        return None
    replicas, racks = replica_racks(groups), len(groups.racks)
    counts = assignable_topics(groups)[groups.topic_of]
    cell = groups.group_of[replicas.partition] * racks + replicas.rack
    home = groups.group_of_member * racks + groups.member_rack
    offered = np.zeros((groups.group_count, racks), np.bool_)
    offered.ravel()[cell[counts[replicas.partition]]] = True
    partial = np.diff(replicas.start) != offered.sum(axis=1)[groups.group_of]
    matters, varied = np.zeros((2, groups.group_count), np.bool_)
    varied[groups.group_of[partial & counts]] = True
    matters[groups.group_of_member[told[offered.ravel()[home[told]]]]] = True
    matters &= varied
    if not matters.any():
        return None
    member = np.where(matters[groups.group_of_member], groups.member_rack, np.int32(NONE))
    living = np.bincount(home[member != NONE], minlength=offered.size)
    nearby_members = np.bincount(
        replicas.partition, weights=living[cell], minlength=groups.partition_count
    )
    return RackInfo(
        member=member, replicas=replicas, nearby_members=nearby_members.astype(np.int64)
    )
