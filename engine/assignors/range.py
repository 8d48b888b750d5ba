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

Cost: O(partitions + subscriptions), in arrays; the rack phase adds a loop, compiled where there is much
to do, over the replica entries and subscriptions of the topics it touches. Source: `RangeAssignor` of Kafka 4.3
(rack phase since 3.5, KAFKA-14891 included).

What it does not do: it looks at no lag, keeps no past ownership, and never evens out over topics:
with many small topics the members first in order own everything. Once one topic needs racks,
co-partitioned topics that do not need them go through the rack phase too, as in Kafka.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ..model.arrays import NONE, Flags, Ints, ragged_entries, starts_of
from ..model.assignments import Assignment, Deployment
from ..model.facts import reason
from .interface import USUAL_PROMISES, Answers, GroupSpec, Promise
from .kafka.racks import rack_aware_topics, replica_racks
from .kit.kernels import Kernel, Tally, at_work, kernel
from .kit.members import Subscribers, subscriber_classes, subscribers_by_member_order
from .kit.orders import counted, distinct, numbered, stable_order
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


@kernel
def match_together(
    sets: Any,
    base: Any,
    extra: Any,
    line_start: Any,
    place_start: Any,
    place: Any,
    member: Any,
    head: Any,
    end: Any,
    held: Any,
    taker: Any,
) -> None:
    """
    Give each line, in order, to the first subscriber with room on a rack of the line.

    Args:
        sets: The sets this is for.
        base: (S) share of every subscriber.
        extra: (S) how many may have one more; counted down.
        line_start: (S + 1) where each set's lines begin.
        place_start, place: Ragged, line -> the racks it is on, each a list of subscribers.
        member: (pairs) the subscribers, list by list.
        head, end: Where in *member* each list begins and ends; *head* moves past who has no room left.
        held: (pairs) how many lines each has; counted.
        taker: (lines) filled.
    """
    for number in sets:
        share, more = base[number], extra[number]
        for line in range(line_start[number], line_start[number + 1]):
            room = share + 1 if more > 0 else share
            chosen = NONE
            for one in range(place_start[line], place_start[line + 1]):
                rack = place[one]
                at, last = head[rack], end[rack]
                while at < last and held[member[at]] >= room:  # room never grows
                    at += 1
                head[rack] = at
                if at < last and (chosen == NONE or member[at] < chosen):
                    chosen = member[at]
            if chosen != NONE:
                taker[line] = chosen
                held[chosen] += 1
                if held[chosen] > share:
                    more -= 1


@kernel
def match_alone(
    sets: Any,
    base: Any,
    extra: Any,
    pair_start: Any,
    rack_of: Any,
    line: Any,
    head: Any,
    end: Any,
    taker: Any,
) -> None:
    """
    Let each subscriber, in order, take its share of the first free lines on its rack.

    Args:
        sets, base, extra, taker: As for `match_together`.
        pair_start: (S + 1) where each set's subscribers begin.
        rack_of: (pairs) the rack of each, a list of lines.
        line: The lines, list by list.
        head, end: Where in *line* each list begins and ends; *head* moves past what was looked at.
    """
    for number in sets:
        share, more = base[number], extra[number]
        for member in range(pair_start[number], pair_start[number + 1]):
            room = share + 1 if more > 0 else share
            rack = rack_of[member]
            at, last, left = head[rack], end[rack], room
            while left > 0 and at < last:
                if taker[line[at]] == NONE:
                    taker[line[at]] = member
                    left -= 1
                at += 1
            head[rack] = at
            if room - left > share:
                more -= 1


_STEPS = 10
"""About how many elementary steps it takes to look at one subscriber, or at one line on one rack."""

_ASKED = Tally()
"""Small groups come one after another, alone or in batches."""


def _rack_phase(group: GroupSpec, subscribers: Subscribers) -> Ints:
    """
    (P) the pair that gets each partition because of its rack; NONE where racks do not decide.

    It goes by sets of topics with the same subscribers and equally many partitions. A *line* is the partitions of one
    number in all topics of a set; it is on the racks that all of these are on.
    """
    undecided = np.full(group.partition_count, NONE, np.int64)
    racked = group.member_rack[subscribers.member] != NONE
    if not racked.any():
        return undecided
    needed = rack_aware_topics(group, subscribers, replica_racks(group))
    if not needed.any():
        return undecided
    topics, of_set = _sets(group, subscribers, racked, needed)
    size = np.bincount(of_set)
    lead = np.zeros(len(size), np.int64)
    lead[of_set] = topics
    line_start = starts_of(group.topic_size[lead])
    pair_start, pairs = ragged_entries(subscribers.start, lead)
    first_line = np.full(len(group.topics), NONE)
    first_line[topics] = line_start[of_set]
    line = first_line[group.topic_of]
    line = np.where(line == NONE, NONE, line + group.number_of)

    # Racks are told apart by set; to a subscriber without one, every line is on it.
    racks = len(group.racks) + 1
    first = np.arange(len(size)) * racks
    rack_of = (
        first.repeat(np.diff(pair_start)) + group.member_rack[subscribers.member[pairs]] % racks
    )
    line_first, wanted = (of.repeat(np.diff(line_start)) for of in (first, size))
    on, where = _common_racks(group, line, wanted)
    free = distinct(rack_of[rack_of % racks == racks - 1], len(size) * racks)
    start, everywhere = ragged_entries(line_start, free // racks)
    keys = np.concatenate([rack_of, line_first[on] + where, free.repeat(np.diff(start))])
    names, place = numbered(keys, len(size) * racks)
    rack_of, place = place[: len(pairs)], place[len(pairs) :]
    on = np.concatenate([on, everywhere])

    base, extra = (share[lead] for share in _shares(group, subscribers))
    taker = np.full(len(line_first), NONE)
    several = np.flatnonzero(size > 1)
    if len(several):
        begin = starts_of(np.bincount(rack_of, minlength=len(names)))
        order = stable_order(on)
        _run(
            match_together,
            *(several, base, extra, line_start),
            *(starts_of(np.bincount(on, minlength=len(taker))), place[order]),
            *(stable_order(rack_of), begin[:-1], begin[1:], np.zeros_like(pairs)),
            taker,
        )
    alone = np.flatnonzero(size == 1)
    if len(alone):
        begin = starts_of(np.bincount(place, minlength=len(names)))
        line_at = on[stable_order(place, on)]
        _run(
            match_alone,
            alone,
            base,
            extra,
            pair_start,
            rack_of,
            line_at,
            begin[:-1],
            begin[1:],
            taker,
        )
    shift = np.zeros_like(first_line)
    shift[topics] = subscribers.start[topics] - pair_start[of_set]
    found = np.append(taker, NONE)[line]
    return np.where(found == NONE, NONE, found + shift[group.topic_of])


def _run(loop: Kernel[..., None], *arrays: Ints) -> None:
    """Run a kernel that fills the last of the arrays."""
    run = at_work(loop, _STEPS * (len(arrays[-1]) + len(arrays[4]) + len(arrays[5])), _ASKED)
    if run is not loop:
        run(*(array.copy() for array in arrays[:-1]), arrays[-1])
        return
    lists = [array.tolist() for array in arrays]  # faster to walk than arrays
    run(*lists)
    arrays[-1][:] = lists[-1]


def _sets(
    group: GroupSpec, subscribers: Subscribers, racked: Flags, needed: Flags
) -> tuple[Ints, Ints]:
    """
    The topics that are matched by rack, and the set of each.

    One topic that needs racks is enough for all of its group that have co-partitioned ones.

    Args:
        group: The group.
        subscribers: Its subscribers in member order.
        racked: (pairs) whose rack is known.
        needed: (T) where racks can make a difference.
    """
    concerned = np.zeros(group.group_count, np.bool_)
    concerned[group.group_of_topic[needed]] = True
    topics = distinct(subscribers.topic[racked], len(group.topics))
    topics = topics[concerned[group.group_of_topic[topics]]]
    classes, sizes = subscriber_classes(group, subscribers)[topics], group.topic_size[topics]
    bound = int(sizes.max()) + 1
    _, of_set = numbered(classes * bound + sizes, bound * (int(classes.max()) + 1))
    matched = needed[topics] | (np.bincount(of_set)[of_set] > 1)
    return topics[matched], numbered(of_set[matched], len(topics))[1]


def _common_racks(group: GroupSpec, line: Ints, wanted: Ints) -> tuple[Ints, Ints]:
    """
    (line, rack) pairs, ascending: where each partition of the line has a replica.

    Args:
        group: The group.
        line: (P) the line of each partition, NONE without.
        wanted: (lines) how many partitions each has.
    """
    replicas, racks = replica_racks(group), len(group.racks)
    keys = line[replicas.partition] * racks + replicas.rack
    keys, times = counted(keys[keys >= 0], len(wanted) * racks)
    on = keys // racks
    common = times == wanted[on]
    return on[common], (keys - on * racks)[common]
