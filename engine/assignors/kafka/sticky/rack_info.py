"""
Racks as the sticky assignors look at them: one switch for the whole group.

Source: `AbstractPartitionAssignor.useRackAwareAssignment` and `AbstractStickyAssignor.RackInfo` of Kafka 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model.arrays import NONE, Flags, Indices, Ints
from ...interface import GroupSpec
from ..racks import ReplicaRacks, replica_racks
from .owned_partitions import OwnedPartitions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RackInfo:
    """
    The racks of a group in which they make a difference.

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


def rack_info(group: GroupSpec, owned: OwnedPartitions) -> RackInfo | None:
    """
    What to know of racks; None where they make no difference.

    They do when a member's rack is among the partitions', and not every partition is on all of these.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> from evenkeel.engine.assignors.kafka.sticky.owned_partitions import MemberData, owned_partitions
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 2}, racks={"a": "x"}, replicas={"t": [["x", "y"], ["y"]]})
    >>> nothing = MemberData(start=np.zeros(3, np.int64), topic=group.owned_topic,
    ...                  partition=group.owned_partition, generation=group.generation)
    >>> racks = rack_info(group, owned_partitions(group, nothing))
    >>> racks.nearby_members.tolist(), racks.mismatch(np.array([0, 0, 1]), np.array([0, 1, 1])).tolist()
    ([1, 0], [False, True, False])
    """
    known = group.member_rack[group.member_rack != NONE]
    if not len(known):
        return None
    replicas = replica_racks(group)
    assignable = owned.assignable[group.topic_of]
    offered = np.zeros(len(group.racks), np.bool_)
    offered[replicas.rack[assignable[replicas.partition]]] = True
    partial = np.diff(replicas.start) != offered.sum()
    if not offered[known].any() or not (partial & assignable).any():
        return None
    living = np.bincount(known, minlength=len(group.racks))
    nearby_members = np.bincount(
        replicas.partition, weights=living[replicas.rack], minlength=group.partition_count
    )
    return RackInfo(
        member=group.member_rack, replicas=replicas, nearby_members=nearby_members.astype(np.int64)
    )
