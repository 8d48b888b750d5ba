"""What a sticky assignor decides, before it is written down as an answer."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model.arrays import NONE, Flags, Indices, Ints
from ....model.assignments import Lists
from .owned_partitions import OwnedPartitions


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StickyPlan:
    """
    Each member's list, entry by entry in its order.

    Attributes:
        member: (entries) ascending.
        partition: (entries) into the P + V partitions of `OwnedPartitions`.
        transferring: (P) the new owner of a partition that somebody else must give up first, NONE elsewhere. None: the
            plan does not tell; `transferring_of` works it out as `cooperative-sticky` does.
    """

    member: Ints
    partition: Ints
    transferring: Indices | None


def lists_of(
    plan: StickyPlan, owned: OwnedPartitions, transferring: Indices | None = None
) -> Lists:
    """
    The plan as lists of topics and numbers.

    Args:
        plan: The plan.
        owned: What it was made from.
        transferring: (P) the new owner of what is not given yet, NONE elsewhere.
    """
    member, partition = plan.member, plan.partition
    if transferring is not None:
        waits = np.append(transferring, NONE)[np.minimum(partition, owned.size)] == member
        member, partition = member[~waits], partition[~waits]
    start = np.zeros(len(owned.hash_order) + 1, np.int64)
    np.cumsum(np.bincount(member, minlength=len(owned.hash_order)), out=start[1:])
    return Lists(
        start=start,
        topic=owned.topic[partition].astype(np.int32),
        partition=owned.number[partition].astype(np.int32),
    )


def transferring_of(plan: StickyPlan, owned: OwnedPartitions) -> Indices:
    """
    (P) the new owner of what a member gets that it did not say it owns, while another said so and loses it.

    Source: `CooperativeStickyAssignor.computePartitionsTransferringOwnership` of Kafka 4.3.
    """
    if plan.transferring is not None:
        return plan.transferring
    size = len(owned.topic)
    added = ~_among(plan.member, plan.partition, owned.member, owned.partition, size)
    lost = ~_among(owned.member, owned.partition, plan.member, plan.partition, size)
    revoked = np.zeros(size, np.bool_)
    revoked[owned.partition[lost]] = True
    moved = added & revoked[plan.partition]
    transferring = np.full(size, NONE, np.int32)
    transferring[plan.partition[moved]] = plan.member[moved]
    return transferring[: owned.size]


def _among(member: Ints, partition: Ints, members: Ints, partitions: Ints, size: int) -> Flags:
    """Pair by pair, whether it is among other pairs; nearly always each partition has one member there."""
    holder = np.full(size, NONE, np.int64)
    holder[partitions] = members
    among: Flags = holder[partition] == member
    several = np.bincount(partitions, minlength=size) > 1
    unsure = np.flatnonzero(~among & several[partition])
    if len(unsure):
        crowded = several[partitions]
        known = members[crowded] * size + partitions[crowded]
        among[unsure] = np.isin(member[unsure] * size + partition[unsure], known)
    return among


def unassigned_partitions(
    wanted: Ints, kept: Ints, owned: OwnedPartitions, topic_place: Ints
) -> Ints:
    """
    The partitions that are left to hand out, as Kafka finds them.

    It goes through both sorted lists side by side, so from the first kept partition that has vanished on it takes none
    for kept, and hands out what sorts behind a second time.

    Args:
        wanted: All partitions of assignable topics, by (place of topic, number).
        kept: Those that members keep, vanished ones included.
        owned: What they point into.
        topic_place: (T) the place of each topic.
    """
    taken = np.zeros(len(owned.topic), np.bool_)
    taken[kept] = True
    vanished = kept[kept >= owned.size]
    if len(vanished):
        first = int(topic_place[owned.topic[vanished]].min())
        behind = kept[topic_place[owned.topic[kept]] > first]
        taken[behind] = False
    unassigned: Ints = wanted[~taken[wanted]]
    return unassigned
