"""
Racks as the sticky assignors look at them: one switch for the whole group.

Source: `AbstractPartitionAssignor.useRackAwareAssignment` and `AbstractStickyAssignor.RackInfo` of Kafka 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenkeel.engine.assignor import GroupSpec
from evenkeel.engine.kit.racks import ReplicaRacks, replica_racks
from evenkeel.engine.kit.sticky.owned import Past
from evenkeel.engine.model import NONE, Flags, Indices, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StickyRacks:
    """
    The racks of a group in which they make a difference.

    Attributes:
        member: (M) each member's rack, NONE without.
        replicas: The distinct racks of each partition, ascending.
        crowd: (P) how many members live on the racks of each partition.
    """

    member: Indices
    replicas: ReplicaRacks
    crowd: Ints

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
        there = np.minimum(partitions, len(self.crowd))
        first, last = self.replicas.start[there], np.append(self.replicas.start[1:], 0)[there]
        shared = np.zeros(len(rack), np.bool_)
        for turn in range(int(np.diff(self.replicas.start).max(initial=0))):
            at = np.minimum(first + turn, len(self.replicas.rack) - 1)
            shared |= (first + turn < last) & (self.replicas.rack[at] == rack)
        return shared


def sticky_racks(group: GroupSpec, past: Past) -> StickyRacks | None:
    """
    What to know of racks; None where they make no difference.

    They do when a member's rack is among the partitions', and not every partition is on all of these.

    >>> from evenkeel.engine.assignor import spec
    >>> from evenkeel.engine.kit.sticky.owned import Claims, read_past
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 2}, racks={"a": "x"}, replicas={"t": [["x", "y"], ["y"]]})
    >>> nothing = Claims(start=np.zeros(3, np.int64), topic=group.owned_topic,
    ...                  partition=group.owned_partition, generation=group.generation)
    >>> racks = sticky_racks(group, read_past(group, nothing))
    >>> racks.crowd.tolist(), racks.mismatch(np.array([0, 0, 1]), np.array([0, 1, 1])).tolist()
    ([1, 0], [False, True, False])
    """
    known = group.member_rack[group.member_rack != NONE]
    if not len(known):
        return None
    replicas = replica_racks(group)
    in_play = past.in_play[group.topic_of]
    offered = np.zeros(len(group.racks), np.bool_)
    offered[replicas.rack[in_play[replicas.partition]]] = True
    partial = np.diff(replicas.start) != offered.sum()
    if not offered[known].any() or not (partial & in_play).any():
        return None
    living = np.bincount(known, minlength=len(group.racks))
    crowd = np.bincount(
        replicas.partition, weights=living[replicas.rack], minlength=group.partition_count
    )
    return StickyRacks(member=group.member_rack, replicas=replicas, crowd=crowd.astype(np.int64))
