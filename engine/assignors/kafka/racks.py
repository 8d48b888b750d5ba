"""
Which racks hold a partition, and when Kafka's client assignors look at racks at all (KIP-881).

Every replica counts, in sync or not. A broker without a rack counts for nothing; a partition whose
replicas are unknown is on no rack. Source: `AbstractPartitionAssignor.useRackAwareAssignment` of
Kafka 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...model.arrays import NONE, Flags, Indices, Ints
from ..interface import GroupSpec, once
from ..kit.distinct import distinct
from ..kit.subscribers import Subscribers


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


@once
def replica_racks(group: GroupSpec) -> ReplicaRacks:
    """
    >>> from evenkeel.engine.assignors.interface import spec
    >>> racks = replica_racks(spec({}, {"t": 2}, replicas={"t": [["b", "a", "b"], [None]]}))
    >>> racks.start.tolist(), racks.rack.tolist()
    ([0, 2, 2], [0, 1])
    """
    partitions, racks = group.partition_count, max(len(group.racks), 1)
    of_entry = np.repeat(np.arange(partitions), np.diff(group.replica_start))
    known = group.replica_rack != NONE
    keys = of_entry[known] * racks + group.replica_rack[known]
    partition, rack = np.divmod(distinct(keys, partitions * racks), racks)
    sizes = np.bincount(partition, minlength=partitions)
    return ReplicaRacks(
        start=np.concatenate([[0], np.cumsum(sizes)]), partition=partition, rack=rack
    )


def rack_aware_topics(group: GroupSpec, subscribers: Subscribers, replicas: ReplicaRacks) -> Flags:
    """
    (T) where racks can make a difference.

    A subscriber's rack must be among the partitions' racks, and not every partition may be on all
    of these.
    """
    topics, racks = len(group.topics), max(len(group.racks), 1)
    topic_of_entry = group.topic_of[replicas.partition].astype(np.int64)
    offered = distinct(topic_of_entry * racks + replicas.rack, topics * racks)
    offered_count = np.bincount(offered // racks, minlength=topics)
    partial = np.diff(replicas.start) != offered_count[group.topic_of]
    varied = np.bincount(group.topic_of[partial], minlength=topics) > 0
    wanted = wanted_racks(group, subscribers)
    met = wanted[np.isin(wanted, offered)] // racks
    return varied & (np.bincount(met, minlength=topics) > 0)


def wanted_racks(group: GroupSpec, subscribers: Subscribers) -> Ints:
    """The distinct (topic, rack of a subscriber) as topic x number of racks + rack, ascending."""
    racks = max(len(group.racks), 1)
    rack: Indices = group.member_rack[subscribers.member]
    known = rack != NONE
    return distinct(subscribers.topic[known] * racks + rack[known], len(group.topics) * racks)
