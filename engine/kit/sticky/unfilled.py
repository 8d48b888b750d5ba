"""
Who can still take partitions while a constrained plan is made, and how partitions are dealt to them.

Source: `assignRackAwareRoundRobin` and `assignRoundRobin` of Kafka 4.3.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenkeel.engine.errors import Infeasible
from evenkeel.engine.kit.sticky.rack_info import StickyRacks
from evenkeel.engine.model import NONE, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Openings:
    """
    Members with room.

    Attributes:
        short: Members with less than the least everybody is to have, in their turn.
        need: How many each of these lacks.
        exact: Members with exactly the least that may have one more, in their turn.
        extras: How many members may still come to have one more.
    """

    short: Ints
    need: Ints
    exact: Ints
    extras: int


def deal_by_rack(free: Ints, racks: StickyRacks, openings: Openings) -> tuple[Ints, Openings]:
    """
    Give partitions to members on their racks: round those who are short, else to the first with just enough.

    Args:
        free: Partitions in the order in which they are dealt.
        racks: The group's racks.
        openings: Who has room.

    Returns:
        (free) the member that gets each, NONE where nobody fits; and who has room then.
    """
    rack_of = racks.member.tolist()
    ring, queue = _Ring(openings, rack_of), _Queue(openings, rack_of)
    start, rack = racks.replicas.start.tolist(), racks.replicas.rack.tolist()
    takers = [NONE] * len(free)
    for turn, partition in enumerate(free.tolist()):
        fitting = rack[start[partition] : start[partition + 1]]
        place = ring.next(fitting)
        if place == NONE:
            takers[turn] = queue.take(fitting)
            continue
        takers[turn] = ring.short[place]
        if ring.give(place):
            queue.append(ring.short[place])
    left = [place for place, need in enumerate(ring.need) if need]
    return np.array(takers, np.int64), Openings(
        short=np.array([ring.short[place] for place in left], np.int64),
        need=np.array([ring.need[place] for place in left], np.int64),
        exact=np.array(queue.left(), np.int64),
        extras=queue.extras,
    )


def deal_round(count: int, openings: Openings) -> Ints:
    """
    Give out *count* partitions round those who are short, then one each to those with just enough.

    Returns:
        (count) the member that gets each.

    Raises:
        Infeasible: There are too many partitions or too few, where Kafka's class throws; only a kept partition that
            has vanished brings that about.

    >>> openings = Openings(short=np.array([4, 7]), need=np.array([1, 2]), exact=np.array([5]), extras=2)
    >>> deal_round(5, openings).tolist()
    [4, 7, 7, 5, 4]
    """
    turns, done = [np.zeros(0, np.int64)], 0
    for level in np.unique(openings.need).tolist():
        turns.append(np.tile(openings.short[openings.need >= level], level - done))
        done = level
    filled = openings.short[np.argsort(openings.need, kind="stable")]
    line = np.concatenate([*turns, openings.exact, filled])
    if not openings.need.sum() <= count <= len(line):
        raise Infeasible(
            f"{count:,} partitions are to be dealt to members that lack {openings.need.sum():,} and can take"
            f" {len(line):,} (Kafka: IllegalStateException).",
            fix="Let members forget partitions that no longer exist: restart them.",
        )
    return line[:count]


class _Ring:
    """Members who are short: a turn goes to the next one, from a cursor on, whose rack fits."""

    def __init__(self, openings: Openings, rack_of: Sequence[int]) -> None:
        self.short, self.need = openings.short.tolist(), openings.need.tolist()
        self._racks = [rack_of[member] for member in self.short]
        self._cursor = 0
        self._places: dict[int, list[int]] = {}
        for place, rack in enumerate(self._racks):
            self._places.setdefault(rack, []).append(place)

    def next(self, fitting: Sequence[int]) -> int:
        """The place of the next member on one of these racks, NONE without one."""
        size = len(self.short)
        best = 2 * size
        for rack in fitting:
            if places := self._places.get(rack):
                at = bisect_left(places, self._cursor)
                found = places[at] if at < len(places) else places[0] + size
                best = min(best, found)
        return best % size if best < 2 * size else NONE

    def give(self, place: int) -> bool:
        """Give one to the member at this place; whether it now has enough, and has left the ring."""
        self._cursor = place + 1
        self.need[place] -= 1
        if self.need[place]:
            return False
        places = self._places[self._racks[place]]
        del places[bisect_left(places, place)]
        return True


class _Queue:
    """Members with just enough: the first whose rack fits may have one more, until no more extras are left."""

    def __init__(self, openings: Openings, rack_of: Sequence[int]) -> None:
        self.extras = openings.extras
        self._rack_of = rack_of
        self._members: list[int] = []
        self._taken: list[bool] = []
        self._turns: dict[int, deque[int]] = {}
        for member in openings.exact.tolist():
            self.append(member)

    def append(self, member: int) -> None:
        """Let a member queue up, if there are extras at all."""
        if self.extras:
            self._turns.setdefault(self._rack_of[member], deque()).append(len(self._members))
            self._members.append(member)
            self._taken.append(False)

    def take(self, fitting: Sequence[int]) -> int:
        """The first member on one of these racks, which leaves the queue; NONE without one."""
        if not self.extras:
            return NONE
        heads = [(turns[0], turns) for rack in fitting if (turns := self._turns.get(rack))]
        if not heads:
            return NONE
        turn, turns = min(heads, key=lambda head: head[0])
        turns.popleft()
        self._taken[turn] = True
        self.extras -= 1
        return self._members[turn]

    def left(self) -> list[int]:
        """Who still queues, in turn; nobody when no extras are left."""
        waiting = zip(self._members, self._taken, strict=True)
        return [member for member, taken in waiting if not taken] if self.extras else []
