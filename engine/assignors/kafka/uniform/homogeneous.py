"""
Kafka's uniform assignor where all members subscribe to the same topics: quotas, filled from what members have.

Source: `UniformHomogeneousAssignmentBuilder` of Kafka 4.3 (extras as since 4.0.1, KAFKA-18688).
"""

from __future__ import annotations

import numpy as np

from ....model.arrays import NONE, Indices, Ints
from ....model.assignments import Assignment
from ...interface import GroupSpec
from ...kit.java_order import bucket_order, capacity, uuid_hashes
from ...kit.members import partition_order
from ..group_coordinator import subscribed_topics, topic_ids
from .target import MemberPartitions, held_wrongly, partitions_held_once, refusal


def assign_homogeneous(group: GroupSpec, order: Indices, target: MemberPartitions) -> Assignment:
    """
    Let each member keep what its quota allows, and deal the rest to those that have room.

    The quotas add up to the number of partitions. So whoever owns one that another member owns too, or that is no
    more, leaves more to deal than there is room for, and Kafka's class throws.

    Args:
        group: The group, of one member at least.
        order: (M) the members by place, as they are asked.
        target: What they should own at present.

    Raises:
        Infeasible: A partition is owned twice, or is no more.
    """
    topics = subscribed_topics(group, int(order[0]))
    buckets = capacity(len(topics), max(16, int(len(topics) / 0.75) + 1))
    # as a `HashSet` made of all of them at once is walked
    topics = topics[bucket_order(uuid_hashes(topic_ids(group)[topics]), buckets)]
    wanted = np.zeros(len(group.topics), np.bool_)
    wanted[topics] = True
    target = target.take(wanted[target.topic])
    owned = partitions_held_once(group, target)
    if owned is None:
        raise refusal(
            group,
            target.take(held_wrongly(group, target)),
            "is owned twice or is no more",
            "PartitionAssignorException, partitions were left unassigned",
        )
    has = np.bincount(target.place, minlength=len(order))
    quota = quotas(has, int(group.topic_size[topics].sum()))
    nth = np.arange(len(target)) - np.repeat(np.cumsum(has) - has, has)
    fits = nth < quota[target.place]
    place = np.full(group.partition_count, NONE, np.int64)
    place[owned] = target.place
    partitions = partition_order(group, topics)
    free = partitions[place[partitions] == NONE]
    room = np.maximum(quota - has, 0)
    place[np.concatenate([free, owned[~fits]])] = np.repeat(np.arange(len(order)), room)
    return Assignment(owner=np.append(order, np.int32(NONE))[place])


def quotas(has: Ints, partitions: int) -> Ints:
    """
    How many partitions each member may own (M).

    The members that already have more than the others keep one more, as long as there is one; what then remains of
    the extras goes to the last members.

    Args:
        has: (M) how many of them each member has, in the order in which members are asked.
        partitions: How many there are to own.

    >>> quotas(np.array([1, 3, 0, 1]), 6).tolist(), quotas(np.array([1, 1, 1, 1]), 6).tolist()
    ([1, 2, 1, 2], [1, 1, 2, 2])
    """
    least, extras = divmod(partitions, len(has))
    has_more = has > least
    left = extras - (np.cumsum(has_more) - has_more)
    needed_by_all = left >= np.arange(len(has), 0, -1)
    found: Ints = least + ((has_more & (left > 0)) | needed_by_all)
    return found
