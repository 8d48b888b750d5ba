"""
Handing out unassigned partitions, one by one, each to the subscriber with least.

Of several with least it is the first by member id. Source: `GeneralAssignmentBuilder` of Kafka 4.3, the beginning of
`balance`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from heapq import heapify, heapreplace
from itertools import pairwise

import numpy as np

from ....model.arrays import NONE, Ints
from ...kit.orders import places, stable_order
from .current_assignment import CurrentAssignment
from .owned_partitions import OwnedPartitions
from .potential_consumers import PotentialConsumers
from .rack_info import RackInfo


def assign_unassigned(
    unassigned: Ints,
    current: CurrentAssignment,
    owned: OwnedPartitions,
    potential: PotentialConsumers,
    racks: RackInfo | None,
) -> None:
    """
    Hand out *unassigned* (in the order of the topics), where racks matter at first to members on a partition's racks.

    Members without a rack are on every rack.
    """
    if racks is not None:
        unassigned = _assign_rack_aware(unassigned, current, owned, potential, racks)
    size = current.size.copy()
    takers = [np.zeros(0, np.int64)]
    for topic, first, last in _by_topic(unassigned, owned, potential):
        subscribers = potential.among(topic)
        chosen = subscribers[least_first(size[subscribers], last - first)]
        size += np.bincount(chosen, minlength=len(size))
        takers.append(chosen)
    current.give(np.concatenate(takers), unassigned)


def least_first(sizes: Ints, count: int) -> Ints:
    """
    Who gets each of *count* partitions when each goes to the one with least, the first of several.

    >>> least_first(np.array([2, 0, 1]), 5).tolist()
    [1, 1, 2, 0, 1]
    """
    ascending = np.sort(sizes)
    before = np.cumsum(ascending)
    # What it takes to bring the first n up to the size of the n-th; as many of them come level.
    levelled = np.searchsorted(ascending * np.arange(1, len(sizes) + 1) - before, count, "right")
    level, rest = divmod(count + int(before[levelled - 1]), int(levelled))
    turns = np.maximum(level - sizes, 0)
    member = np.repeat(np.arange(len(sizes)), turns)
    ends = np.cumsum(turns)
    height = level - (ends[member] - np.arange(len(member)))
    order = stable_order(height - height.min(initial=0))
    return np.concatenate([member[order], np.flatnonzero(sizes <= level)[:rest]])


def _assign_rack_aware(
    unassigned: Ints,
    current: CurrentAssignment,
    owned: OwnedPartitions,
    potential: PotentialConsumers,
    racks: RackInfo,
) -> Ints:
    """Hand out what finds a subscriber on its racks; returns the rest."""
    place, rack_of = places(potential.by_id), racks.member.tolist()
    start, rack = racks.replicas.start.tolist(), racks.replicas.rack.tolist()
    size = current.size.copy()
    takers = [np.zeros(0, np.int64)]
    for topic, first, last in _by_topic(unassigned, owned, potential):
        subscribers = potential.among(topic)
        keys = size[subscribers] * len(place) + place[subscribers]
        queues: dict[int, list[int]] = {}
        for key, member in zip(keys.tolist(), subscribers.tolist(), strict=True):
            queues.setdefault(rack_of[member], []).append(key)
        for queue in queues.values():
            heapify(queue)
        fitting = (rack[start[p] : start[p + 1]] for p in unassigned[first:last].tolist())
        chosen = _least_on_racks(queues, fitting, len(place))
        found = chosen[chosen != NONE]
        takers.append(np.where(chosen == NONE, NONE, potential.by_id[chosen]))
        size += np.bincount(potential.by_id[found], minlength=len(size))
    members = np.concatenate(takers)
    current.give(members[members != NONE], unassigned[members != NONE])
    rest: Ints = unassigned[members == NONE]
    return rest


def _least_on_racks(queues: dict[int, list[int]], fitting: Iterable[list[int]], step: int) -> Ints:
    """
    Give partition after partition to the first in the queues of its racks, and of those without rack.

    Args:
        queues: Rack -> a heap of size x *step* + place.
        fitting: Per partition the racks it is on.
        step: Number of places.

    Returns:
        The place of each taker, NONE for nobody.
    """
    chosen = []
    everywhere = queues.get(NONE)
    for racks in fitting:
        best = everywhere
        for rack in racks:
            queue = queues.get(rack)
            if queue and (best is None or queue[0] < best[0]):
                best = queue
        if best is None:
            chosen.append(NONE)
        else:
            chosen.append(best[0] % step)
            heapreplace(best, best[0] + step)
    return np.array(chosen, np.int64)


def _by_topic(
    unassigned: Ints, owned: OwnedPartitions, potential: PotentialConsumers
) -> Iterator[tuple[int, int, int]]:
    """(place of the topic, first, behind last) of each run of partitions of one topic."""
    topic = potential.place[owned.topic[unassigned]]
    cuts = np.flatnonzero(np.diff(topic, prepend=-1, append=-1)).tolist()
    for first, last in pairwise(cuts):
        yield int(topic[first]), first, last
