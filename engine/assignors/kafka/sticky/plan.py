"""
What members say they own and which of it is valid, and what a sticky assignor decides of it.

An owned partition is valid when its topic still has partitions and somebody subscribes to it; the partition itself may
be gone (it has *vanished*). Of two members that own one partition the one of the newer generation keeps it; of equal
generations none does, and the partition has multiple owners. Kafka takes the later member's generation from where the
strategy keeps it, but the earlier one's always from its Subscription, which for the eager `sticky` usually carries
none. That is kept, because it shows.

Source: `AbstractStickyAssignor.allSubscriptionsEqual` and `updatePrevAssignment` of Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ....model.arrays import NONE, Column, Flags, Indices, Ints, starts_of
from ....model.assignments import Lists
from ....model.errors import Infeasible
from ...interface import GroupSpec
from ...kit.members import assignable_topics, hash_order
from ...kit.orders import places


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MemberData:
    """
    What members say they own, as it came.

    Attributes:
        start, topic, partition: Ragged, member -> partitions in its own order; *partition* numbers within the topic.
        generation: (M) the generation in which it owned them; unknown where it has none.
    """

    start: Ints
    topic: Indices
    partition: Indices
    generation: Column


def nothing_told(groups: GroupSpec) -> MemberData:
    """Of members that own nothing."""
    nothing, count = np.zeros(0, np.int32), len(groups.members)
    return MemberData(
        start=np.zeros(count + 1, np.int64),
        topic=nothing,
        partition=nothing,
        generation=Column.unknown(count),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class OwnedPartitions:
    """
    C owned partitions of assignable topics, member by member; V of the partitions have vanished.

    Attributes:
        topic_start: (T + 1) where each topic's partitions begin.
        lost: (V) topics and numbers of the vanished partitions.
        assignable: (T) topics that have partitions and a subscriber.
        generation: (M) the generation in which each member owned, -1 without.
        member, partition: (C) who owns what, by member, in its own order; *partition* points into the P + V.
        valid: (C) whether the member may keep it as far as others are concerned.
        multiple_owners: (P + V) whether two members owned a partition in one generation.
    """

    topic_start: Ints
    lost: tuple[Ints, Ints]
    assignable: Flags
    generation: Ints
    member: Ints
    partition: Ints
    valid: Flags
    multiple_owners: Flags

    @property
    def size(self) -> int:
        """P, the number of the groups' partitions."""
        return int(self.topic_start[-1])

    @cached_property
    def topic(self) -> Ints:
        """(P + V) of each partition: first the groups' own, then the vanished ones."""
        sizes = np.diff(self.topic_start)
        return np.concatenate([np.arange(len(sizes)).repeat(sizes), self.lost[0]])

    @cached_property
    def number(self) -> Ints:
        """(P + V) the same."""
        begin = self.topic_start[:-1].repeat(np.diff(self.topic_start))
        return np.concatenate([np.arange(self.size) - begin, self.lost[1]])

    def lists(self, member: Ints, partition: Ints) -> Lists:
        """Who gets which of the P + V partitions, by member, as lists of topics and numbers."""
        return Lists(
            start=starts_of(np.bincount(member, minlength=len(self.generation))),
            topic=self.topic[partition].astype(np.int32),
            partition=self.number[partition].astype(np.int32),
        )


def owned_partitions(group: GroupSpec, member_data: MemberData) -> OwnedPartitions:
    """
    >>> from evenkeel.engine.assignors.interface import spec
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 2, "u": 1},
    ...              owned={"a": [("u", 0), ("t", 0), ("t", 5)], "b": [("t", 0), ("t", 1)]})
    >>> owned = owned_partitions(group, MemberData(start=group.owned_start, topic=group.owned_topic,
    ...                                            partition=group.owned_partition, generation=group.generation))
    >>> owned.partition.tolist(), owned.valid.tolist(), owned.multiple_owners.tolist()
    ([0, 3, 0, 1], [False, True, False, True], [True, False, False, False])
    """
    assignable = assignable_topics(group)
    useful = (member_data.topic != NONE) & np.append(assignable, False)[member_data.topic]
    member = np.repeat(np.arange(len(group.members)), np.diff(member_data.start))[useful]
    topic = member_data.topic[useful].astype(np.int64)
    number = member_data.partition[useful].astype(np.int64)
    gone = (number < 0) | (number >= group.topic_size[topic])
    partition = group.topic_start[topic] + number
    lost, partition[gone] = _vanished(group, topic[gone], number[gone])
    generation = member_data.generation.filled(NONE)
    valid = np.ones(len(partition), np.bool_)
    multiple_owners = np.zeros(group.partition_count + len(lost[0]), np.bool_)
    several = np.flatnonzero(np.bincount(partition, minlength=1)[partition] > 1)
    if len(several):
        entries = several[np.argsort(places(hash_order(group))[member[several]], kind="stable")]
        subscription_generation = group.generation.filled(NONE)
        kept, unsettled = _resolved(entries, member, partition, generation, subscription_generation)
        valid[several] = False
        valid[kept] = True
        multiple_owners[unsettled] = True
    return OwnedPartitions(
        topic_start=group.topic_start,
        lost=lost,
        assignable=assignable,
        generation=generation,
        member=member,
        partition=partition,
        valid=valid,
        multiple_owners=multiple_owners,
    )


def previous_owners(groups: GroupSpec, owned: OwnedPartitions) -> Indices:
    """
    (P) who owned a partition in a generation before its group's newest, NONE for nobody.

    Of several the newest, then the first in Kafka's order; whether it is valid does not matter, nor whether the member
    still subscribes. Source: `updatePrevAssignment`.
    """
    owners = np.full(owned.size, NONE, np.int32)
    newest = np.full(groups.group_count, NONE, np.int64)
    np.maximum.at(newest, groups.group_of_member, owned.generation)
    stale = (owned.generation < newest[groups.group_of_member])[owned.member]
    stale &= owned.partition < owned.size
    if not stale.any():
        return owners
    member, partition = owned.member[stale], owned.partition[stale]
    order = np.lexsort((-places(hash_order(groups))[member], owned.generation[member]))
    owners[partition[order]] = member[order]  # written last, the newest of the first stays
    return owners


def _vanished(group: GroupSpec, topic: Ints, number: Ints) -> tuple[tuple[Ints, Ints], Ints]:
    """The distinct vanished partitions as (topics, numbers), and the index of each one given."""
    pairs = list(zip(topic.tolist(), number.tolist(), strict=True))
    index = {pair: group.partition_count + i for i, pair in enumerate(dict.fromkeys(pairs))}
    table = np.array(list(index), np.int64).reshape(-1, 2)
    which = np.array([index[pair] for pair in pairs], np.int64)
    return (table[:, 0], table[:, 1]), which


def _resolved(
    entries: Ints, member: Ints, partition: Ints, generation: Ints, subscription_generation: Ints
) -> tuple[list[int], list[int]]:
    """
    Which members keep partitions that several own.

    Args:
        entries: Of the C, those of partitions owned more than once, in Kafka's order.
        member, partition: (C) who owns what.
        generation: (M) the generation in which each member owned.
        subscription_generation: (M) the one in its Subscription, with which a later owner is compared.

    Returns:
        The entries that are kept, and the partitions of equal generations, maybe several times.
    """
    last_owner: dict[int, int] = {}
    kept: dict[int, int] = {}
    unsettled: list[int] = []
    rows = zip(entries.tolist(), member[entries].tolist(), partition[entries].tolist(), strict=True)
    for entry, owner, owned in rows:
        rival = last_owner.get(owned, NONE)
        own = generation[owner]
        if rival == NONE:
            kept[owned] = entry
        elif own == subscription_generation[rival]:
            unsettled.append(owned)
            kept.pop(owned, None)
        elif own < subscription_generation[rival]:
            continue
        elif rival != owner or owned in kept:  # else Kafka adds it and takes it out again
            kept[owned] = entry
        last_owner[owned] = owner
    return list(kept.values()), unsettled


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class StickyPlan:
    """
    Each member's list, entry by entry in its order.

    Attributes:
        member: (entries) ascending.
        partition: (entries) into the P + V partitions of `OwnedPartitions`.
        transferring: (P) the new owner of a partition that somebody else must give up first, NONE elsewhere.
        untold: (P) the partitions of which that is not told; `transferring_of` works it out as `cooperative-sticky`
            does. None for none.
        problems: Why there is no plan for a group, by its number; nothing above is of it.
    """

    member: Ints
    partition: Ints
    transferring: Indices
    untold: Flags | None = None
    problems: Mapping[int, Infeasible] = field(default_factory=dict)


def given_now(plan: StickyPlan, transferring: Indices | None) -> tuple[Ints, Ints]:
    """
    Members, ascending, and the partitions they get.

    Args:
        plan: The plan.
        transferring: (P) the new owner of what is not given yet, NONE elsewhere.
    """
    member, partition = plan.member, plan.partition
    if transferring is None or transferring.max(initial=NONE) == NONE:
        return member, partition
    size = len(transferring)
    waits = np.append(transferring, NONE)[np.minimum(partition, size)] == member
    return member[~waits], partition[~waits]


def transferring_of(plan: StickyPlan, owned: OwnedPartitions) -> Indices:
    """
    (P) the new owner of what a member gets that it did not say it owns, while another said so and loses it.

    Source: `CooperativeStickyAssignor.computePartitionsTransferringOwnership` of Kafka 4.3.
    """
    if plan.untold is None:
        return plan.transferring
    size = len(owned.multiple_owners)
    added = ~_among(plan.member, plan.partition, owned.member, owned.partition, size)
    lost = ~_among(owned.member, owned.partition, plan.member, plan.partition, size)
    revoked = np.zeros(size, np.bool_)
    revoked[owned.partition[lost]] = True
    moved = added & revoked[plan.partition]
    transferring = np.full(size, NONE, np.int32)
    transferring[plan.partition[moved]] = plan.member[moved]
    return np.where(plan.untold, transferring[: owned.size], plan.transferring)


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
    groups: GroupSpec, wanted: Ints, kept: Ints, owned: OwnedPartitions, topic_place: Ints
) -> Ints:
    """
    The partitions that are left to hand out, as Kafka finds them: where they stand in *wanted*.

    It goes through both sorted lists side by side, so from the first kept partition that has vanished on it takes none
    for kept, and hands out what sorts behind a second time.

    Args:
        groups: The groups.
        wanted: All partitions of assignable topics, by (place of topic, number).
        kept: Those that members keep, vanished ones included.
        owned: What they point into.
        topic_place: (T) the place of each topic.
    """
    taken = np.zeros(len(owned.multiple_owners), np.bool_)
    taken[kept] = True
    vanished = owned.topic[kept[kept >= owned.size]]
    if len(vanished):
        first = np.full(groups.group_count, len(topic_place))
        np.minimum.at(first, groups.group_of_topic[vanished], topic_place[vanished])
        topic = owned.topic[kept]
        behind = kept[topic_place[topic] > first[groups.group_of_topic[topic]]]
        taken[behind] = False
    return np.flatnonzero(~taken[wanted])
