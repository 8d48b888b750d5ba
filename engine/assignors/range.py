"""
Kafka's RangeAssignor: topic by topic, a contiguous range of partitions for each subscriber.

Promises, the first before the second:

1. Per topic, subscribers own equally many partitions; those first in member order own one more
   where it does not divide. Member order: static members by instance id, then dynamic ones by
   member id.
2. Topics with the same subscribers and equally many partitions are co-partitioned: partition p of
   each has one owner.
3. Where racks can make a difference, a subscriber gets partitions with a replica on its rack, as
   far as 1 and 2 allow (KIP-881); what is left over is dealt out as plain ranges.

Three partitions of each topic, and the first member has the extra one of every topic:

>>> from evenkeel.engine.assignors.interface import spec
>>> group = spec({"C0": ["t0", "t1"], "C1": ["t0", "t1"]}, {"t0": 3, "t1": 3})
>>> for member, owned in group.lists(Range().assign(group)).items():
...     print(member, owned)
C0 [('t0', 0), ('t0', 1), ('t1', 0), ('t1', 1)]
C1 [('t0', 2), ('t1', 2)]

With racks, ranges give way to locality:

>>> group = spec({"C0": ["t"], "C1": ["t"]}, {"t": 2},
...              racks={"C0": "b", "C1": "a"}, replicas={"t": [["a"], ["b"]]})
>>> group.lists(Range().assign(group))
{'C0': [('t', 1)], 'C1': [('t', 0)]}

Cost: O(partitions + subscriptions), in arrays; the rack phase adds a plain loop over the replica
entries and subscriptions of the topics it touches. Source: `RangeAssignor` of Kafka 4.3 (rack phase
since 3.5, KAFKA-14891 included).

What it does not do: it looks at no lag, keeps no past ownership, and never evens out over topics:
with many small topics the members first in order own everything. Once one topic needs racks,
co-partitioned topics that do not need them go through the rack phase too, as in Kafka.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import ClassVar

import numpy as np

from ..model.arrays import NONE, Ints
from ..model.assignments import Assignment, Deployment
from ..model.facts import reason
from .interface import USUAL_PROMISES, Answers, GroupSpec, Promise
from .kafka.racks import ReplicaRacks, rack_aware_topics, replica_racks, wanted_racks
from .kit.members import Subscribers, subscribers_by_member_order
from .kit.why import Steps, in_ranges, shares


class Range:
    """Kafka's `range`."""

    name: ClassVar[str] = "range"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset({"racks"})
    deployment: ClassVar[Deployment] = Deployment.SETTING
    source: ClassVar[str] = "org.apache.kafka.clients.consumer.RangeAssignor 4.3, KIP-881"
    promises: ClassVar[frozenset[Promise]] = USUAL_PROMISES | {Promise.EVEN_TOPICS}

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition of a subscribed topic; a group without members owns nothing.
        """
        return self.assign_many(group).one()

    def assign_many(self, groups: GroupSpec) -> Answers:
        """As `assign`, for each of many groups."""
        subscribers = subscribers_by_member_order(groups)
        slot = _rack_phase(groups, subscribers)
        _fill_ranges(groups, subscribers, slot)
        members = np.append(subscribers.member, np.int32(NONE))  # slot NONE reads the last entry
        return Answers(assignment=Assignment(owner=members[slot]))

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """Its share, then its rack where that decides, else the range it is in; nothing without subscribers."""
        subscribers, topic = subscribers_by_member_order(group), int(group.topic_of[partition])
        pairs = slice(*subscribers.start[topic : topic + 2].tolist())
        order = subscribers.member[pairs].tolist()
        if not order:
            return ()
        slot = _rack_phase(group, subscribers)
        if (slot[slice(*group.topic_start[topic : topic + 2].tolist())] == NONE).all():
            return in_ranges(group, partition, order)
        by_rack = bool(slot[partition] != NONE)
        _fill_ranges(group, subscribers, slot)
        owner = int(subscribers.member[slot[partition]])
        racks = [group.racks[r] for r in [int(group.member_rack[owner])] if r != NONE]
        own = reason("why_first_near" if by_rack else "why_rest", [group.members[owner], *racks])
        return shares(group, topic, len(order)), own


def _shares(group: GroupSpec, subscribers: Subscribers) -> tuple[Ints, Ints]:
    """(T) what each subscriber of a topic gets at least, and how many get one more."""
    base, extra = np.divmod(group.topic_size, np.maximum(subscribers.count, 1))
    return base, extra


def _fill_ranges(group: GroupSpec, subscribers: Subscribers, slot: Ints) -> None:
    """
    Deal what is unassigned to each topic's subscribers in order, until all have their share.

    Args:
        group: The group.
        subscribers: Its subscribers in member order.
        slot: (P) index into the pairs of *subscribers*, NONE where unassigned; filled in place.
    """
    base, extra = _shares(group, subscribers)
    topic = subscribers.topic
    held = np.bincount(slot[slot != NONE], minlength=len(topic))
    short = held <= base[topic]
    extra -= np.bincount(topic[~short], minlength=len(extra))
    # Extras go to the first who have none yet; their number never exceeds those still short.
    before = np.concatenate([[0], np.cumsum(short)])
    turn = before[:-1] - before[subscribers.start[topic]]
    room = np.where(short, base[topic] - held + (turn < extra[topic]), 0)
    open_partitions = (slot == NONE) & (subscribers.count > 0)[group.topic_of]
    slot[open_partitions] = np.repeat(np.arange(len(topic)), room)


def _rack_phase(group: GroupSpec, subscribers: Subscribers) -> Ints:
    """(P) the pair that gets each partition because of its rack; NONE where racks do not decide."""
    slot = np.full(group.partition_count, NONE, np.int64)
    if not (group.member_rack != NONE).any():
        return slot
    replicas = replica_racks(group)
    needed = rack_aware_topics(group, subscribers, replicas)
    if not needed.any():
        return slot
    # one topic is enough for all of its group
    concerned = np.zeros(group.group_count, np.bool_)
    concerned[group.group_of_topic[needed]] = True
    base, extra = _shares(group, subscribers)
    for topics in _co_partitioned(group, subscribers):
        first = topics[0]
        if not concerned[group.group_of_topic[first]]:
            continue
        pairs = slice(int(subscribers.start[first]), int(subscribers.start[first + 1]))
        racks = group.member_rack[subscribers.member[pairs]].tolist()
        share = int(base[first]), int(extra[first])
        size = len(group.partitions_of(first))
        if len(topics) > 1:
            places = _match_together(racks, _common_racks(group, topics, replicas), *share)
        elif needed[first]:
            places = _match_alone(racks, _listed_by_rack(group, first, replicas), size, *share)
        else:
            continue
        _put(group, subscribers, topics, places, slot)
    return slot


def _put(
    group: GroupSpec, subscribers: Subscribers, topics: Sequence[int], places: list[int], slot: Ints
) -> None:
    """Write the places (one per partition number, NONE for nobody) into the slots of the topics."""
    found = np.array(places, np.int64)
    for topic in topics:
        span = slice(int(group.topic_start[topic]), int(group.topic_start[topic + 1]))
        slot[span] = np.where(found == NONE, NONE, found + subscribers.start[topic])


def _co_partitioned(group: GroupSpec, subscribers: Subscribers) -> Iterator[list[int]]:
    """Topics with a racked subscriber, grouped by equal subscribers and number of partitions."""
    sizes = group.topic_size.tolist()
    start = subscribers.start.tolist()
    racked = np.unique(wanted_racks(group, subscribers) // max(len(group.racks), 1))
    alike: dict[tuple[int, bytes], list[int]] = {}
    for topic in racked.tolist():
        who = subscribers.member[start[topic] : start[topic + 1]].tobytes()
        alike.setdefault((sizes[topic], who), []).append(topic)
    yield from alike.values()


def _entries(group: GroupSpec, topic: int, replicas: ReplicaRacks) -> tuple[Ints, Ints]:
    """(partition number, rack) of a topic's replica entries, ascending."""
    first, last = group.topic_start[topic], group.topic_start[topic + 1]
    span = slice(int(replicas.start[first]), int(replicas.start[last]))
    return replicas.partition[span] - first, replicas.rack[span]


def _common_racks(
    group: GroupSpec, topics: Sequence[int], replicas: ReplicaRacks
) -> list[list[int]]:
    """Per partition number, the racks on which every one of the topics has a replica of it."""
    racks, size = len(group.racks), len(group.partitions_of(topics[0]))
    parts = [_entries(group, topic, replicas) for topic in topics]
    keys = np.concatenate([number * racks + rack for number, rack in parts])
    found, times = np.unique(keys, return_counts=True)
    common: list[list[int]] = [[] for _ in range(size)]
    for key in found[times == len(topics)].tolist():
        common[key // racks].append(key % racks)
    return common


def _match_together(racks: list[int], lines: list[list[int]], base: int, extra: int) -> list[int]:
    """
    Give each line, in order, to the first subscriber with room whose rack fits.

    Args:
        racks: Each subscriber's rack in member order; NONE fits every line.
        lines: Per partition number, the racks that fit.
        base: Share of every subscriber.
        extra: How many may have one more.

    Returns:
        Per line the subscriber's place, NONE for nobody.
    """
    waiting: dict[int, list[int]] = {}
    for place in reversed(range(len(racks))):
        waiting.setdefault(racks[place], []).append(place)
    held = [0] * len(racks)
    places = [NONE] * len(lines)
    for number, fitting in enumerate(lines):
        room = base + (extra > 0)
        chosen = NONE
        for rack in (NONE, *fitting):
            queue = waiting.get(rack)
            while queue and held[queue[-1]] >= room:  # room never grows, so who is full stays full
                queue.pop()
            if queue and (chosen == NONE or queue[-1] < chosen):
                chosen = queue[-1]
        if chosen != NONE:
            places[number] = chosen
            held[chosen] += 1
            extra -= held[chosen] > base
    return places


def _listed_by_rack(group: GroupSpec, topic: int, replicas: ReplicaRacks) -> dict[int, list[int]]:
    """Rack -> the topic's partition numbers on it, ascending; NONE -> all of them."""
    number, rack = _entries(group, topic, replicas)
    order = np.argsort(rack.astype(np.int16) if len(group.racks) < 1 << 15 else rack, kind="stable")
    number, rack = number[order], rack[order]
    cuts = np.flatnonzero(np.diff(rack, prepend=-1, append=-1)).tolist()
    listed = {int(rack[a]): number[a:b].tolist() for a, b in pairwise(cuts)}
    listed[NONE] = list(range(len(group.partitions_of(topic))))
    return listed


def _match_alone(
    racks: list[int], listed: dict[int, list[int]], size: int, base: int, extra: int
) -> list[int]:
    """
    Let each subscriber, in member order, take its share of the first free partitions on its rack.

    Args:
        racks: Each subscriber's rack in member order; NONE takes any partition.
        listed: Rack -> partition numbers on it, ascending.
        size: Number of partitions.
        base: Share of every subscriber.
        extra: How many may have one more.

    Returns:
        Per partition number the subscriber's place, NONE for nobody.
    """
    rest = {rack: iter(numbers) for rack, numbers in listed.items()}
    places = [NONE] * size
    for place, rack in enumerate(racks):
        room = base + (extra > 0)
        if not room:
            break
        taken = 0
        for number in rest.get(rack, ()):
            if places[number] == NONE:
                places[number] = place
                taken += 1
                if taken == room:
                    break
        extra -= taken > base
    return places
