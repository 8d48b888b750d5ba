"""
What members say they own, and which of it counts.

A claim counts when its topic still has partitions and somebody subscribes to it; the partition itself may be gone
(it has *vanished*). Of two claims on one partition the newer generation counts. The claims of equal generations both
fall, and the partition is *disputed*. Kafka takes a claimant's own generation from where the strategy keeps it, but the
other one's always from its Subscription, which for the eager `sticky` usually carries none. That is kept, because
it shows. Source: `AbstractStickyAssignor.allSubscriptionsEqual` and `updatePrevAssignment` of Kafka 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenkeel.engine.assignor import GroupSpec
from evenkeel.engine.kit.java_order import map_order
from evenkeel.engine.kit.orders import places
from evenkeel.engine.model import NONE, Column, Flags, Indices, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Claims:
    """
    What members say they own, as it came.

    Attributes:
        start, topic, partition: Ragged, member -> claims in its own order.
        generation: (M) the generation a member claims for; unknown where it has none.
    """

    start: Ints
    topic: Indices
    partition: Indices
    generation: Column


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Past:
    """
    The claims on topics in play, and which of them count. C claims; V of the partitions claimed have vanished.

    Attributes:
        size: P, the number of the group's partitions.
        walk: (M) the members in the order in which Kafka walks them.
        in_play: (T) topics that have partitions and a subscriber.
        topic, number: (P + V) of each partition: first the group's own, then the vanished ones.
        generation: (M) what each member claims for, -1 without.
        member, partition: (C) each claim, by member, in its own order; *partition* points into the P + V.
        counts: (C) whether the claim counts.
        disputed: (P + V) whether a partition was claimed twice for one generation.
    """

    size: int
    walk: Ints
    in_play: Flags
    topic: Ints
    number: Ints
    generation: Ints
    member: Ints
    partition: Ints
    counts: Flags
    disputed: Flags


def read_past(group: GroupSpec, claims: Claims) -> Past:
    """
    >>> from evenkeel.engine.assignor import spec
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 2, "u": 1},
    ...              owned={"a": [("u", 0), ("t", 0), ("t", 5)], "b": [("t", 0), ("t", 1)]})
    >>> past = read_past(group, Claims(start=group.owned_start, topic=group.owned_topic,
    ...                                partition=group.owned_partition, generation=group.generation))
    >>> past.partition.tolist(), past.counts.tolist(), past.disputed.tolist()
    ([0, 3, 0, 1], [False, True, False, True], [True, False, False, False])
    """
    in_play = topics_in_play(group)
    useful = (claims.topic != NONE) & np.append(in_play, False)[claims.topic]
    member = np.repeat(np.arange(len(group.members)), np.diff(claims.start))[useful]
    topic, number = claims.topic[useful].astype(np.int64), claims.partition[useful].astype(np.int64)
    gone = (number < 0) | (number >= np.diff(group.topic_start)[topic])
    partition = group.topic_start[topic] + number
    lost, partition[gone] = _vanished(group, topic[gone], number[gone])
    walk = map_order(group.members)
    generation = claims.generation.filled(NONE)
    counts = np.ones(len(partition), np.bool_)
    disputed = np.zeros(group.partition_count + len(lost[0]), np.bool_)
    several = np.flatnonzero(np.bincount(partition, minlength=1)[partition] > 1)
    if len(several):
        walked = several[np.argsort(places(walk)[member[several]], kind="stable")]
        told = group.generation.filled(NONE)
        standing, disputes = _rivals(walked, member, partition, generation, told)
        counts[several] = False
        counts[standing] = True
        disputed[disputes] = True
    return Past(
        size=group.partition_count,
        walk=walk,
        in_play=in_play,
        topic=np.concatenate([group.topic_of, lost[0]]),
        number=np.concatenate([group.number_of, lost[1]]),
        generation=generation,
        member=member,
        partition=partition,
        counts=counts,
        disputed=disputed,
    )


def topics_in_play(group: GroupSpec) -> Flags:
    """(T) the topics Kafka looks at: with partitions, and named by some subscription."""
    subscribed = np.zeros(len(group.topics), np.bool_)
    subscribed[group.subscription_topic] = True
    in_play: Flags = subscribed & (np.diff(group.topic_start) > 0)
    return in_play


def previous_owners(past: Past) -> Indices:
    """
    (P) who claims a partition for a generation before the newest, NONE for nobody.

    Of several the newest, then the first that Kafka walks past; whether it counts does not matter, nor whether it
    still subscribes.
    """
    owners = np.full(past.size, NONE, np.int32)
    newest = past.generation.max(initial=NONE)
    stale = (past.generation[past.member] < newest) & (past.partition < past.size)
    if not stale.any():
        return owners
    member, partition = past.member[stale], past.partition[stale]
    order = np.lexsort((-places(past.walk)[member], past.generation[member]))
    owners[partition[order]] = member[order]  # written last, the newest of the first stays
    return owners


def _vanished(group: GroupSpec, topic: Ints, number: Ints) -> tuple[tuple[Ints, Ints], Ints]:
    """The distinct vanished partitions as (topics, numbers), and the index of the one each claim is on."""
    pairs = list(zip(topic.tolist(), number.tolist(), strict=True))
    index = {pair: group.partition_count + i for i, pair in enumerate(dict.fromkeys(pairs))}
    table = np.array(list(index), np.int64).reshape(-1, 2)
    claimed = np.array([index[pair] for pair in pairs], np.int64)
    return (table[:, 0], table[:, 1]), claimed


def _rivals(
    claims: Ints, member: Ints, partition: Ints, own: Ints, told: Ints
) -> tuple[list[int], list[int]]:
    """
    Settle claims on the same partitions.

    Args:
        claims: The claims on partitions claimed more than once, as Kafka walks them.
        member, partition: (C) of each claim.
        own: (M) the generation a member claims for.
        told: (M) the generation in its Subscription, which is what a later claimant is compared with.

    Returns:
        The claims that stand, and the partitions disputed, maybe several times.
    """
    holder: dict[int, int] = {}
    standing: dict[int, int] = {}
    disputed: list[int] = []
    rows = zip(claims.tolist(), member[claims].tolist(), partition[claims].tolist(), strict=True)
    for claim, claimant, wanted in rows:
        rival = holder.get(wanted, NONE)
        mine = own[claimant]
        if rival == NONE:
            standing[wanted] = claim
        elif mine == told[rival]:
            disputed.append(wanted)
            standing.pop(wanted, None)
        elif mine < told[rival]:
            continue
        elif rival != claimant or wanted in standing:  # else Kafka adds it and takes it out again
            standing[wanted] = claim
        holder[wanted] = claimant
    return list(standing.values()), disputed
