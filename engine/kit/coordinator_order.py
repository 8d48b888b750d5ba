"""
The order in which the coordinator of a live KIP-848 group walks what its members should own.

A coordinator rebuilds each target from its log as a map of sets, so neither names nor numbers order it,
and a member that must give something up gives up what comes last. A snapshot knows owners only, from
which the order follows. Source: `Assignment.fromRecord` of Kafka 4.3.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from evenkeel.engine.assignor import GroupSpec
from evenkeel.engine.kit.java_order import Hashes, capacity, uuid_hashes
from evenkeel.engine.kit.topic_ids import topic_ids
from evenkeel.engine.model import Ints


def as_coordinator_walks(group: GroupSpec) -> GroupSpec:
    """
    The group with each member's claims in its coordinator's order.

    Topics that share a bucket, and numbers that do, stay as they are listed.

    Args:
        group: A group whose claims are topics of its tables, each partition once per member.

    >>> from evenkeel.engine.assignor import spec
    >>> group = spec({"a": ["t"]}, {"t": 40}, owned={"a": [("t", 1), ("t", 5), ("t", 17)]})
    >>> as_coordinator_walks(group).claim_partition.tolist()
    [1, 17, 5]
    """
    topic = group.claim_topic.astype(np.int64)
    member = np.repeat(np.arange(len(group.members)), np.diff(group.claim_start))
    _, first, run = np.unique(
        member * max(len(group.topics), 1) + topic, return_index=True, return_inverse=True
    )
    topics_of = np.bincount(member[first], minlength=len(group.members))
    of_topic = _buckets(uuid_hashes(topic_ids(group))[topic], _grown(topics_of)[member])
    of_number = _buckets(group.claim_partition.astype(np.uint32), _copied(np.bincount(run))[run])
    order = np.lexsort((of_number, first[run], of_topic, member))
    return replace(
        group, claim_topic=group.claim_topic[order], claim_partition=group.claim_partition[order]
    )


def _buckets(hashes: Hashes, capacities: Ints) -> Ints:
    spread = (hashes ^ (hashes >> np.uint32(16))).astype(np.int64)
    return spread & (capacities - 1)


def _grown(sizes: Ints) -> Ints:
    """The capacity of maps that took so many keys one by one."""
    return np.array([capacity(n) for n in range(int(sizes.max(initial=0)) + 1)], np.int64)[sizes]


def _copied(sizes: Ints) -> Ints:
    """The capacity of sets made of so many keys at once."""
    asked = [max(16, int(n / 0.75) + 1) for n in range(int(sizes.max(initial=0)) + 1)]
    return np.array([capacity(0, initial) for initial in asked], np.int64)[sizes]
