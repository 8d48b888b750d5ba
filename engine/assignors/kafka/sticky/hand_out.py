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
from ...kit.kernels import Tally, kernel, work
from ...kit.orders import numbered, stable_order
from ..racks import RackInfo

STEPS = 2
"""About how many elementary steps it takes to find a member on a partition's racks."""

NEVER = 1 << 62
"""Farther than any lap."""

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
    rack = racks.member[able]
    # Who has none is at the last place of its group, where no partition is.
    home = unfilled.group_of[able] * width + np.where(rack == NONE, width - 1, rack)
    near_start, entries = ragged_entries(racks.replicas.start, unassigned)
    near = np.repeat(np.arange(groups).repeat(counts) * width, np.diff(near_start))
    near += racks.replicas.rack[entries]
    exact = short + np.searchsorted(unfilled.group_of[unfilled.exactly_min], np.arange(groups + 1))
    line_start = starts_of(np.bincount(home, minlength=groups * width))[:-1]
    need, over_min_left = unfilled.need.copy(), unfilled.over_min_left.copy()
    turn, taker = np.full(len(able), NONE, np.int64), np.full(len(unassigned), NONE, np.int64)
    given = [
        *(exact, starts_of(counts), near_start, near, home),
        *_rings(home[:short], groups * width),
        *(np.zeros(len(able), np.int64), line_start.copy(), line_start.copy()),
    ]
    changed = need, over_min_left, turn, taker
    work(assign_in_turns, STEPS * len(unassigned), ASKED, given, *changed)
    waiting = np.flatnonzero(turn != NONE)
    waiting = able[waiting[np.argsort(turn[waiting])]]
    return np.append(able, NONE)[taker], UnfilledMembers(
        group_of=unfilled.group_of,
        under_min=unfilled.under_min[need > 0],
        need=need[need > 0],
        exactly_min=waiting[over_min_left[unfilled.group_of[waiting]] > 0],
        over_min_left=over_min_left,
    )


def _rings(home: Ints, places: int) -> tuple[Ints, Ints, Ints]:
    """
    Members at each place in a ring: who comes after each one and who before it; (places) the first one there.

    >>> [array.tolist() for array in _rings(np.array([1, 0, 1, 1]), 3)]
    [[2, 1, 3, 0], [3, 1, 0, 2], [1, 0, 4611686018427387904]]
    """
    order = np.argsort(home, kind="stable")
    start = starts_of(np.bincount(home, minlength=places))
    taken = np.diff(start) > 0
    first, last = order[start[:-1][taken]], order[start[1:][taken] - 1]
    after, before = np.zeros((2, len(home)), np.int64)
    after[order[:-1]], before[order[1:]] = order[1:], order[:-1]
    after[last], before[first] = first, last
    upcoming = np.full(places, NEVER)
    upcoming[taken] = first
    return after, before, upcoming


@kernel
def catch_up(place: int, cursor: int, after: Any, upcoming: Any) -> None:
    """Go on in the ring of a place until it is behind the cursor no more."""
    short = len(after)
    at = upcoming[place]
    at += (cursor - at) // short * short
    while at < cursor:
        at += 1 + (after[at % short] - at - 1) % short
    upcoming[place] = at


@kernel
def leave_ring(member: int, place: int, after: Any, before: Any, upcoming: Any) -> None:
    """Take a member that has enough out of the ring of its place."""
    if after[member] == member:
        upcoming[place] = NEVER
    after[before[member]] = after[member]
    before[after[member]] = before[member]


@kernel
def queue_up(member: int, place: int, line: Any, tail: Any, turn: Any, clock: int) -> int:
    """Let a member queue up at its place; whose turn is next."""
    line[tail[place]] = member
    tail[place] += 1
    turn[member] = clock
    return clock + 1


@kernel
def leave_line(places: Any, line: Any, head: Any, tail: Any, turn: Any) -> int:
    """Take the first member that queues up at one of the places out of its line; -1 without one."""
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
def take_turns(
    group: int,
    clock: int,
    first: Any,
    near_start: Any,
    near: Any,
    home: Any,
    after: Any,
    before: Any,
    upcoming: Any,
    line: Any,
    head: Any,
    tail: Any,
    need: Any,
    over_min_left: Any,
    turn: Any,
    taker: Any,
) -> int:
    """Find a member for each partition of a group; whose turn is next. Arguments as of `assign_in_turns`."""
    short, cursor = len(need), 0
    for partition in range(first[group], first[group + 1]):
        best = NEVER
        places = near[near_start[partition] : near_start[partition + 1]]
        for place in places:
            if upcoming[place] < cursor:
                catch_up(place, cursor, after, upcoming)
            if upcoming[place] < best:
                best = upcoming[place]
        if best < NEVER:
            member = best % short
            place = home[member]
            cursor = best + 1
            upcoming[place] = cursor + (after[member] - cursor) % short
            need[member] -= 1
            if need[member] == 0:
                leave_ring(member, place, after, before, upcoming)
                if over_min_left[group] > 0:
                    clock = queue_up(member, place, line, tail, turn, clock)
            taker[partition] = member
        elif over_min_left[group] > 0:
            taker[partition] = leave_line(places, line, head, tail, turn)
            over_min_left[group] -= taker[partition] >= 0
    return clock


@kernel
def assign_in_turns(
    exact_first: Any,
    first: Any,
    near_start: Any,
    near: Any,
    home: Any,
    after: Any,
    before: Any,
    upcoming: Any,
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
    place is a rack of a group. A position in the ring is the member's number, and as much more as there are short
    members for each lap.

    Args:
        exact_first: (G + 1) where the members with exactly the minimum begin.
        first: (G + 1) where the partitions of each group begin.
        near_start, near: Ragged, partition -> the places it is on.
        home: (members) the place of each.
        after, before: (short members) who is next to each in the ring of those at its place; changed.
        upcoming: (places) the position from which to go on looking, `NEVER` where all have enough; changed.
        line: (members) room for those that queue up, by place.
        head, tail: (places) where in the line the next one stands, and the next to come will; changed.
        need: (short members) how many each lacks; changed.
        over_min_left: (G) how many may have one more than the minimum; changed.
        turn: (members) filled: the turn of those that queue up, else -1.
        taker: (partitions) filled: who gets each, -1 for nobody.
    """
    clock = 0
    for group in range(len(over_min_left)):
        for member in range(exact_first[group], exact_first[group + 1]):
            if over_min_left[group] > 0:
                clock = queue_up(member, home[member], line, tail, turn, clock)
        clock = take_turns(
            group,
            clock,
            first,
            near_start,
            near,
            home,
            after,
            before,
            upcoming,
            line,
            head,
            tail,
            need,
            over_min_left,
            turn,
            taker,
        )


def assign_round_robin(counts: Ints, unfilled: UnfilledMembers) -> tuple[Ints, Ints]:
    """
    Give out partitions round those under the minimum, then one each to those with exactly that.

    Args:
        counts: (G) how many each group has, at least what members lack and at most what they have room for.
        unfilled: Who has room.

    Returns:
        Members, ascending, and which partitions they get, by their turns, group after group.

    >>> unfilled = UnfilledMembers(group_of=np.zeros(9, np.int64), under_min=np.array([4, 7]), need=np.array([1, 2]),
    ...                            exactly_min=np.array([5]), over_min_left=np.array([2]))
    >>> [array.tolist() for array in assign_round_robin(np.array([5]), unfilled)]
    [[4, 4, 5, 7, 7], [0, 4, 3, 1, 2]]
    """
    under_min, need, lacking = unfilled.under_min, unfilled.need, unfilled.lacking
    begin, extras = starts_of(counts)[:-1], counts - lacking
    member, first, step, times = _rounds(unfilled, begin)
    if extras.any():
        filled = under_min[np.argsort(need, kind="stable")]
        line = np.concatenate([unfilled.exactly_min, filled])
        line = line[stable_order(unfilled.group_of[line])]
        group = unfilled.group_of[line]
        turn = np.arange(len(line)) - np.searchsorted(group, group)
        takes = turn < extras[group]
        member = np.concatenate([member, line[takes]])
        first = np.concatenate([first, ((begin + lacking)[group] + turn)[takes]])
        once = np.ones(len(member) - len(step), np.int64)
        step, times = np.concatenate([step, once]), np.concatenate([times, once])
    order = stable_order(member)
    member, first, step, times = member[order], first[order], step[order], times[order]
    turns = step.repeat(times)
    turns *= np.arange(len(turns))
    turns += (first - step * starts_of(times)[:-1]).repeat(times)
    return member.repeat(times), turns


def _rounds(unfilled: UnfilledMembers, begin: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """
    Members under the minimum take turns, round after round as long as they lack one.

    Returns:
        (several of each) the member, its first turn, after how many it has the next one, and how many it has so.
    """
    group, need = unfilled.group_of[unfilled.under_min], unfilled.need
    width, groups = int(need.max(initial=0)) + 1, len(begin)
    # Rounds in which the same ones take part are a stage; with the last of them, some have enough.
    stages, last = numbered(group * width + need, groups * width)
    of_stage, level = np.divmod(stages, width)
    opens = np.diff(of_stage, prepend=NONE) > 0
    rounds = level - np.where(opens, 0, np.append(0, level[:-1]))
    first = np.searchsorted(of_stage, group)
    start = starts_of(last - first + 1)
    taking = np.repeat(np.arange(len(need)), np.diff(start))
    stage = np.arange(len(taking)) + (first - start[:-1])[taking]
    order = stable_order(stage)
    taking, stage = taking[order], stage[order]
    members = np.bincount(stage, minlength=len(stages))
    place = np.arange(len(stage)) - starts_of(members)[stage]
    dealt = starts_of(members * rounds)
    opening = dealt[:-1] + (begin - dealt[np.searchsorted(of_stage, np.arange(groups))])[of_stage]
    return unfilled.under_min[taking], opening[stage] + place, members[stage], rounds[stage]
