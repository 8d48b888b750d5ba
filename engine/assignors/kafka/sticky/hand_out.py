"""
Handing out what is unassigned, in groups whose members all subscribe to the same topics.

At first, where racks matter, to members on a partition's racks: to those under the minimum quota round a ring, else to
the first of those with exactly that, as long as some may have one more. Then to anybody, in the same turns.

Source: `assignRackAwareRoundRobin` and `assignRoundRobin` of `ConstrainedAssignmentBuilder`, Kafka 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ....model.arrays import NONE, Flags, Ints, ragged_entries, starts_of
from ...kit.kernels import Tally, at_work, kernel
from ...kit.orders import numbered, stable_order
from ..racks import RackInfo

STEPS = 3
"""About how many elementary steps it takes to find a member on a partition's racks."""

ASKED = Tally()
"""By all groups of this process."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnfilledMembers:
    """
    Members with room for more partitions; the quotas are Kafka's minQuota and maxQuota = minQuota + 1.

    Attributes:
        group_of: (M) the group of every member.
        under_min: Members below the minimum quota, group after group, in their turn.
        need: How many each of these lacks.
        exactly_min: Members with exactly the minimum quota that may have one more, group after group, in their turn.
        over_min_left: (G) how many members may still come to have the maximum quota.
    """

    group_of: Ints
    under_min: Ints
    need: Ints
    exactly_min: Ints
    over_min_left: Ints

    @property
    def lacking(self) -> Ints:
        """(G) how many partitions bring everybody to the minimum quota."""
        lacking = np.bincount(
            self.group_of[self.under_min], weights=self.need, minlength=len(self.over_min_left)
        )
        return lacking.astype(np.int64)

    @property
    def room(self) -> Ints:
        """(G) how many partitions there is room for."""
        able = np.concatenate([self.under_min, self.exactly_min])
        return self.lacking + np.bincount(self.group_of[able], minlength=len(self.over_min_left))

    def within(self, chosen: Flags) -> UnfilledMembers:
        """Those of the chosen (G) groups."""
        short = chosen[self.group_of[self.under_min]]
        return replace(
            self,
            under_min=self.under_min[short],
            need=self.need[short],
            exactly_min=self.exactly_min[chosen[self.group_of[self.exactly_min]]],
        )


def assign_near(
    unassigned: Ints, counts: Ints, racks: RackInfo, unfilled: UnfilledMembers
) -> tuple[Ints, UnfilledMembers]:
    """
    Give partitions to members on their racks.

    Args:
        unassigned: Partitions in the order in which they are assigned, group after group.
        counts: (G) how many of them each group has.
        racks: The racks of the groups.
        unfilled: Who has room.

    Returns:
        (unassigned) the member that gets each, NONE where nobody fits; and who has room then.
    """
    groups, short = len(counts), len(unfilled.under_min)
    able = np.concatenate([unfilled.under_min, unfilled.exactly_min])
    width = int(max(racks.member.max(), racks.replicas.rack.max())) + 2
    nowhere = width - 1  # where no partition is
    rack = racks.member[able]
    home = unfilled.group_of[able] * width + np.where(rack == NONE, nowhere, rack)
    near_start, entries = ragged_entries(racks.replicas.start, unassigned)
    of_entry = np.repeat(np.repeat(np.arange(groups), counts), np.diff(near_start))
    ring_start = starts_of(np.bincount(home[:short], minlength=groups * width))
    line_start = starts_of(np.bincount(home, minlength=groups * width))
    exact = short + np.searchsorted(unfilled.group_of[unfilled.exactly_min], np.arange(groups + 1))
    given = [starts_of(counts), near_start, of_entry * width + racks.replicas.rack[entries]]
    ring = [np.argsort(home[:short], kind="stable"), ring_start[:-1].copy(), ring_start[1:]]
    passed = [ring_start[:-1].copy(), np.zeros(groups * width, np.int64)]
    line = [np.zeros(len(able), np.int64), line_start[:-1].copy(), line_start[:-1].copy()]
    changed = [
        unfilled.need.copy(),
        unfilled.over_min_left.copy(),
        np.full(len(able), NONE, np.int64),
        np.full(len(unassigned), NONE, np.int64),
    ]
    run = at_work(assign_in_turns, STEPS * len(unassigned), ASKED)
    arrays = [exact, *given, home, *ring, *passed, *line]
    if run is assign_in_turns:  # lists are faster to walk than arrays
        lists = [array.tolist() for array in changed]
        run(*(array.tolist() for array in arrays), *lists)
        changed = [np.array(each, np.int64) for each in lists]
    else:
        run(*arrays, *changed)
    need, over_min_left, turn, taker = changed
    waiting = np.flatnonzero(turn != NONE)
    waiting = able[waiting[np.argsort(turn[waiting])]]
    return np.append(able, NONE)[taker], UnfilledMembers(
        group_of=unfilled.group_of,
        under_min=unfilled.under_min[need > 0],
        need=need[need > 0],
        exactly_min=waiting[over_min_left[unfilled.group_of[waiting]] > 0],
        over_min_left=over_min_left,
    )


@kernel
def next_lap(place: int, ring: Any, ring_first: Any, ring_end: Any, need: Any) -> int:
    """The first member at a place that lacks one, plus their number; twice that without one."""
    at, end = ring_first[place], ring_end[place]
    while at < end and need[ring[at]] == 0:
        at += 1
    ring_first[place] = at
    return len(need) + (ring[at] if at < end else len(need))


@kernel
def next_in_line(places: Any, line: Any, head: Any, tail: Any, turn: Any) -> int:
    """The first member that queues up at one of the places, and now leaves; -1 without one."""
    best, found = -1, -1
    for place in places:
        if head[place] < tail[place]:
            member = line[head[place]]
            if best < 0 or turn[member] < turn[best]:
                best, found = member, place
    if best >= 0:
        head[found] += 1
        turn[best] = -1
    return best


@kernel
def queue_up(member: int, home: Any, line: Any, tail: Any, turn: Any, clock: int) -> int:
    """Let a member queue up at its place; whose turn is next."""
    place = home[member]
    line[tail[place]] = member
    tail[place] += 1
    turn[member] = clock
    return clock + 1


@kernel
def take_turns(
    group: int,
    clock: int,
    first: Any,
    near_start: Any,
    near: Any,
    home: Any,
    ring: Any,
    ring_first: Any,
    ring_end: Any,
    passed: Any,
    lap_of: Any,
    line: Any,
    head: Any,
    tail: Any,
    need: Any,
    over_min_left: Any,
    turn: Any,
    taker: Any,
) -> int:
    """Find a member for each partition of a group; whose turn it is to queue up. Arguments as of `assign_in_turns`."""
    short, cursor, lap = len(need), 0, 0
    for partition in range(first[group], first[group + 1]):
        begin, behind = near_start[partition], near_start[partition + 1]
        member = 2 * short
        for entry in range(begin, behind):
            place = near[entry]
            at, end = ring_first[place], ring_end[place]
            if lap_of[place] == lap:
                at = passed[place]
            while at < end and (ring[at] < cursor or need[ring[at]] == 0):
                at += 1
            passed[place] = at
            lap_of[place] = lap
            if at < end:
                member = min(member, ring[at])
            elif member >= short:  # else somebody comes before the next lap
                member = min(member, next_lap(place, ring, ring_first, ring_end, need))
        if member < 2 * short:
            lap += member // short
            member %= short
            cursor = member + 1
            need[member] -= 1
            if need[member] == 0 and over_min_left[group] > 0:
                clock = queue_up(member, home, line, tail, turn, clock)
            taker[partition] = member
        elif over_min_left[group] > 0:
            member = next_in_line(near[begin:behind], line, head, tail, turn)
            over_min_left[group] -= member >= 0
            taker[partition] = member
    return clock


@kernel
def assign_in_turns(
    exact_first: Any,
    first: Any,
    near_start: Any,
    near: Any,
    home: Any,
    ring: Any,
    ring_first: Any,
    ring_end: Any,
    passed: Any,
    lap_of: Any,
    line: Any,
    head: Any,
    tail: Any,
    need: Any,
    over_min_left: Any,
    turn: Any,
    taker: Any,
) -> None:
    """
    Find a member for each partition, group after group.

    Members are those short of the minimum quota, then those with exactly that, each group after group in their turn. A
    place is a rack of a group.

    Args:
        exact_first: (G + 1) where the members with exactly the minimum begin.
        first: (G + 1) where the partitions of each group begin.
        near_start, near: Ragged, partition -> the places it is on.
        home: (members) the place of each.
        ring: (short members) by place, then turn.
        ring_first, ring_end: (places) where those of each begin and end; who comes first and has enough is cut off.
        passed, lap_of: (places) where to go on looking in the ring, in which lap of the group.
        line: (members) room for those that queue up, by place.
        head, tail: (places) where in the line the next one stands, and the next to come will.
        need: (short members) how many each lacks; changed.
        over_min_left: (G) how many may have one more than the minimum; changed.
        turn: (members) filled: the turn of those that queue up, else -1.
        taker: (partitions) filled: who gets each, -1 for nobody.
    """
    clock = 0
    for group in range(len(over_min_left)):
        for member in range(exact_first[group], exact_first[group + 1]):
            if over_min_left[group] > 0:
                clock = queue_up(member, home, line, tail, turn, clock)
        clock = take_turns(
            group,
            clock,
            first,
            near_start,
            near,
            home,
            ring,
            ring_first,
            ring_end,
            passed,
            lap_of,
            line,
            head,
            tail,
            need,
            over_min_left,
            turn,
            taker,
        )


def assign_round_robin(counts: Ints, unfilled: UnfilledMembers) -> Ints:
    """
    Give out partitions round those under the minimum, then one each to those with exactly that.

    Args:
        counts: (G) how many each group has, at least what members lack and at most what they have room for.
        unfilled: Who has room.

    Returns:
        (all of them) the member that gets each, group after group.

    >>> unfilled = UnfilledMembers(group_of=np.zeros(9, np.int64), under_min=np.array([4, 7]), need=np.array([1, 2]),
    ...                            exactly_min=np.array([5]), over_min_left=np.array([2]))
    >>> assign_round_robin(np.array([5]), unfilled).tolist()
    [4, 7, 7, 5, 4]
    """
    under_min, need, lacking = unfilled.under_min, unfilled.need, unfilled.lacking
    extras = counts - lacking
    dealt = _rounds(unfilled)
    if not extras.any():
        return dealt
    filled = under_min[np.argsort(need, kind="stable")]
    line = np.concatenate([unfilled.exactly_min, filled])
    line = line[stable_order(unfilled.group_of[line])]
    of_group = unfilled.group_of[line]
    turn = np.arange(len(line)) - np.searchsorted(of_group, np.arange(len(counts)))[of_group]
    chosen = line[turn < extras[of_group]]
    return np.insert(dealt, np.repeat(np.cumsum(lacking), extras), chosen)


def _rounds(unfilled: UnfilledMembers) -> Ints:
    """Members under the minimum in turn, round after round as long as they lack one, group after group."""
    group, need = unfilled.group_of[unfilled.under_min], unfilled.need
    width, groups = int(need.max(initial=0)) + 1, len(unfilled.over_min_left)
    # Rounds in which the same ones take part are a stage; with the last of them, some have enough.
    stages, last = numbered(group * width + need, groups * width)
    of_stage, level = np.divmod(stages, width)
    opens = np.diff(of_stage, prepend=NONE) > 0
    rounds = level - np.where(opens, 0, np.append(0, level[:-1]))
    first = np.searchsorted(of_stage, group)
    start = starts_of(last - first + 1)
    taking = np.repeat(np.arange(len(need)), np.diff(start))
    stage = np.arange(len(taking)) + (first - start[:-1])[taking]
    taking = taking[stable_order(stage)]
    begin = starts_of(np.bincount(stage, minlength=len(stages)))
    entries = ragged_entries(begin, np.repeat(np.arange(len(stages)), rounds))[1]
    return unfilled.under_min[taking][entries]
