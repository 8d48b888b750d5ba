"""
Kafka's uniform assignor where all members subscribe to the same topics: quotas, filled from what members have.

Source: `UniformHomogeneousAssignmentBuilder` of Kafka 4.3 (extras as since 4.0.1, KAFKA-18688).
"""

from __future__ import annotations

import numpy as np

from ....model.arrays import NONE, Flags, Indices, Ints, starts_of
from ....model.errors import Infeasible
from ...interface import GroupSpec
from ...kit.java_order import Uuids, bucket_orders, uuid_hashes
from ...kit.members import partition_order
from ...kit.orders import stable_order
from ..group_coordinator import topics_named
from .target import MemberPartitions, held_wrongly, refusals


def assign_homogeneous(
    groups: GroupSpec,
    which: Flags,
    order: Indices,
    target: MemberPartitions,
    ids: Uuids,
    owner: Indices,
) -> dict[int, Infeasible]:
    """
    Let each member keep what its quota allows, and deal the rest to those that have room.

    The quotas add up to the number of partitions. So whoever owns one that another member owns too, or that is no
    more, leaves more to deal than there is room for, and Kafka's class throws.

    Args:
        groups: The groups.
        which: (G) those to assign, of one member at least.
        order: (M) the members by place, as they are asked.
        target: What they should own at present.
        ids: The topics' ids.
        owner: (P) filled with who gets what.

    Returns:
        Why a group has no answer, by its number: a partition is owned twice, or is no more.
    """
    topics = topics_named(groups, order[groups.member_start[:-1][which]])
    problems = dict[int, Infeasible]()
    wanted = np.zeros(len(groups.topics), np.bool_)
    wanted[topics] = True
    if not wanted.all():
        target = target.take(wanted[target.topic])
    owned = target.partition
    if owned is None:
        problems = refusals(
            groups,
            target.take(held_wrongly(groups, target)),
            "is owned twice or is no more",
            "PartitionAssignorException, partitions were left unassigned",
        )
        refused = np.isin(groups.group_of_topic, list(problems))
        topics, target = topics[~refused[topics]], target.take(~refused[target.topic])
        owned = groups.topic_start[target.topic] + target.number
    # places ascend: numpy counts all entries in twice the time
    has = np.diff(np.searchsorted(target.place, np.arange(len(order) + 1, dtype=np.int32)))
    partitions = np.zeros(groups.group_count, np.int64)
    np.add.at(partitions, groups.group_of_topic[topics], groups.topic_size[topics])
    quota = quotas(has, partitions, groups.member_start)
    keeps = np.minimum(has, quota)
    owner[owned] = np.repeat(order, has)
    ends = np.cumsum(has - keeps)
    dealt = owned[np.repeat(np.cumsum(has) - ends, has - keeps) + np.arange(ends[-1])]
    if len(owned) < partitions.sum():
        every = partition_order(groups, _as_walked(groups, topics, ids))
        free = every[owner[every] == NONE]
        both = np.concatenate([free, dealt])
        dealt = both[stable_order(groups.group_of[both])] if len(dealt) else free
    owner[dealt] = np.repeat(order, quota - keeps)
    return problems


def _as_walked(groups: GroupSpec, topics: Ints, ids: Uuids) -> Ints:
    """The topics, group after group, as a `HashSet` made of all those of a group at once is walked."""
    counts = np.bincount(groups.group_of_topic[topics], minlength=groups.group_count)
    return topics[bucket_orders(uuid_hashes(ids[topics]), starts_of(counts), copied=True)]


def quotas(has: Ints, partitions: Ints, start: Ints) -> Ints:
    """
    How many partitions each member may own (M).

    The members of a group that already have more than the others keep one more, as long as there is one; what then
    remains of the extras goes to the last members.

    Args:
        has: (M) how many of them each member has, in the order in which members are asked.
        partitions: (G) how many there are to own.
        start: (G + 1) where each group's members begin.

    >>> quotas(np.array([1, 3, 0, 1, 1, 1, 1, 1]), np.array([6, 6]), np.array([0, 4, 8])).tolist()
    [1, 2, 1, 2, 1, 1, 2, 2]
    """
    members = np.diff(start)
    group = np.arange(len(members)).repeat(members)
    least, extras = np.divmod(partitions, np.maximum(members, 1))
    least, extras = least[group], extras[group]
    has_more = has > least
    claimed = starts_of(has_more.astype(np.int64))
    left = extras - (claimed[:-1] - claimed[start[group]])
    needed_by_all = left >= start[group + 1] - np.arange(len(has))
    found: Ints = least + ((has_more & (left > 0)) | needed_by_all)
    return found
