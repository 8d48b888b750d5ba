"""
The sticky plan for a group whose members all subscribe to the same topics.

With N members and P partitions everybody is to have the minimum quota, floor(P / N), and P mod N of them one more.
Members keep what they own up to that, by partition number; unassigned partitions are handed out, first by rack where
racks matter, then round the members under the minimum, then one each to members with exactly the minimum. Everything
but the rack phase is whole arrays.

Where a kept partition has vanished, Kafka's class takes every partition that sorts behind it for unassigned and hands
it out though it is kept; so does this. Source: `ConstrainedAssignmentBuilder` of Kafka 4.3.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ....model.arrays import NONE, Indices, Ints
from ....model.errors import Infeasible
from ...interface import GroupSpec
from ...kit.members import members_by_id, partition_order, topics_by_name
from ...kit.orders import places, stable_order
from ..racks import RackInfo
from .plan import OwnedPartitions, StickyPlan, unassigned_partitions


def constrained_plan(
    group: GroupSpec, owned: OwnedPartitions, racks: RackInfo | None
) -> StickyPlan:
    """
    Raises:
        Infeasible: Kafka's class throws: there are no members, or more partitions to hand out than there is room for.
    """
    if not group.members:
        raise Infeasible(
            "a sticky strategy cannot assign to 0 members (Kafka: ArithmeticException).",
            fix="Start a member, or look at range, which then assigns nothing.",
        )
    topics = topics_by_name(group)
    wanted = partition_order(group, topics[owned.assignable[topics]])
    min_quota, over_min_left = divmod(len(wanted), len(group.members))
    member, partition, revoked = _owned_and_revoked(owned, racks, places(topics))
    keeps, unfilled = _quotas(
        group, owned, np.bincount(member, minlength=len(owned.hash_order)), min_quota, over_min_left
    )
    run = np.cumsum(np.bincount(member, minlength=len(owned.hash_order)))
    kept = np.arange(len(partition)) - np.append(0, run)[member] < keeps[member]
    revoked[partition[~kept]] = member[~kept]
    unassigned = unassigned_partitions(wanted, partition[kept], owned, places(topics))
    assigned, takers = _assign(unassigned, racks, unfilled)
    members = np.concatenate([member[kept], takers])
    partitions = np.concatenate([partition[kept], assigned])
    order = stable_order(members)
    transferring = np.full(group.partition_count, NONE, np.int32)
    given_up = (revoked[assigned] != NONE) & (revoked[assigned] != takers)
    given_up |= owned.multiple_owners[assigned]
    transferring[assigned[given_up]] = takers[given_up]
    return StickyPlan(member=members[order], partition=partitions[order], transferring=transferring)


def _owned_and_revoked(
    owned: OwnedPartitions, racks: RackInfo | None, topic_place: Ints
) -> tuple[Ints, Ints, Indices]:
    """
    What members validly own on their racks, and what they lose because it is elsewhere.

    Returns:
        Members, ascending, and their partitions by (number, topic); (P + V) who loses a partition to its rack.
    """
    member, partition = owned.member[owned.valid], owned.partition[owned.valid]
    revoked = np.full(len(owned.topic), NONE, np.int32)
    stays = ~owned.multiple_owners[partition]
    if racks is not None:
        elsewhere = racks.mismatch(member, partition)
        revoked[partition[elsewhere]] = member[elsewhere]
        stays &= ~elsewhere
    member, partition = member[stays], partition[stays]
    order = stable_order(member, owned.number[partition], topic_place[owned.topic[partition]])
    return member[order], partition[order], revoked


def _quotas(
    group: GroupSpec, owned: OwnedPartitions, held: Ints, min_quota: int, over_min_left: int
) -> tuple[Ints, UnfilledMembers]:
    """
    How much everybody keeps, and who has room then.

    The first members, in Kafka's order, that hold more than the minimum quota keep one more, as many as may.
    """
    max_quota = min_quota + (over_min_left > 0)
    full = owned.hash_order[held[owned.hash_order] >= max_quota][:over_min_left]
    keeps = np.minimum(held, min_quota)
    keeps[full] = max_quota
    by_id = members_by_id(group)
    under_min = by_id[held[by_id] < min_quota]
    exactly_min = np.zeros(0, np.int64)
    if len(full) < over_min_left:
        has_room = (held >= min_quota) & (keeps < max_quota)
        exactly_min = by_id[has_room[by_id]]
    return keeps, UnfilledMembers(
        under_min=under_min,
        need=min_quota - held[under_min],
        exactly_min=exactly_min,
        over_min_left=over_min_left - len(full),
    )


def _assign(
    unassigned: Ints, racks: RackInfo | None, unfilled: UnfilledMembers
) -> tuple[Ints, Ints]:
    """The unassigned partitions in the order in which they find a member, and these members."""
    if racks is None:
        return unassigned, assign_round_robin(len(unassigned), unfilled)
    unassigned = unassigned[np.argsort(racks.nearby_members[unassigned], kind="stable")]
    takers, left = assign_rack_aware_round_robin(unassigned, racks, unfilled)
    rest = takers == NONE
    others = assign_round_robin(int(rest.sum()), left)
    return np.concatenate([unassigned[~rest], unassigned[rest]]), np.concatenate(
        [takers[~rest], others]
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class UnfilledMembers:
    """
    Members with room for more partitions; the quotas are Kafka's minQuota and maxQuota = minQuota + 1.

    Attributes:
        under_min: Members below the minimum quota, in their turn.
        need: How many each of these lacks.
        exactly_min: Members with exactly the minimum quota that may have one more, in their turn.
        over_min_left: How many members may still come to have the maximum quota.
    """

    under_min: Ints
    need: Ints
    exactly_min: Ints
    over_min_left: int


def assign_rack_aware_round_robin(
    unassigned: Ints, racks: RackInfo, unfilled: UnfilledMembers
) -> tuple[Ints, UnfilledMembers]:
    """
    Give partitions to members on their racks: round those under the minimum, else to the first with exactly that.

    Args:
        unassigned: Partitions in the order in which they are assigned.
        racks: The group's racks.
        unfilled: Who has room.

    Returns:
        (unassigned) the member that gets each, NONE where nobody fits; and who has room then.
    """
    rack_of = racks.member.tolist()
    ring, queue = _Ring(unfilled, rack_of), _Queue(unfilled, rack_of)
    start, rack = racks.replicas.start.tolist(), racks.replicas.rack.tolist()
    takers = [NONE] * len(unassigned)
    for turn, partition in enumerate(unassigned.tolist()):
        fitting = rack[start[partition] : start[partition + 1]]
        place = ring.next(fitting)
        if place == NONE:
            takers[turn] = queue.take(fitting)
            continue
        takers[turn] = ring.under_min[place]
        if ring.give(place):
            queue.append(ring.under_min[place])
    left = [place for place, need in enumerate(ring.need) if need]
    return np.array(takers, np.int64), UnfilledMembers(
        under_min=np.array([ring.under_min[place] for place in left], np.int64),
        need=np.array([ring.need[place] for place in left], np.int64),
        exactly_min=np.array(queue.left(), np.int64),
        over_min_left=queue.over_min_left,
    )


def assign_round_robin(count: int, unfilled: UnfilledMembers) -> Ints:
    """
    Give out *count* partitions round those under the minimum, then one each to those with exactly that.

    Returns:
        (count) the member that gets each.

    Raises:
        Infeasible: There are too many partitions or too few, where Kafka's class throws; only a kept partition that
            has vanished brings that about.

    >>> unfilled = UnfilledMembers(
    ...     under_min=np.array([4, 7]), need=np.array([1, 2]), exactly_min=np.array([5]), over_min_left=2)
    >>> assign_round_robin(5, unfilled).tolist()
    [4, 7, 7, 5, 4]
    """
    turns, done = [np.zeros(0, np.int64)], 0
    for level in np.unique(unfilled.need).tolist():
        turns.append(np.tile(unfilled.under_min[unfilled.need >= level], level - done))
        done = level
    filled = unfilled.under_min[np.argsort(unfilled.need, kind="stable")]
    line = np.concatenate([*turns, unfilled.exactly_min, filled])
    if not unfilled.need.sum() <= count <= len(line):
        raise Infeasible(
            f"{count:,} partitions are to be dealt to members that lack {unfilled.need.sum():,} and can take"
            f" {len(line):,} (Kafka: IllegalStateException).",
            fix="Let members forget partitions that no longer exist: restart them.",
        )
    return line[:count]


class _Ring:
    """Members under the minimum: a turn goes to the next one, from a cursor on, whose rack fits."""

    def __init__(self, unfilled: UnfilledMembers, rack_of: Sequence[int]) -> None:
        self.under_min, self.need = unfilled.under_min.tolist(), unfilled.need.tolist()
        self._racks = [rack_of[member] for member in self.under_min]
        self._cursor = 0
        self._places: dict[int, list[int]] = {}
        for place, rack in enumerate(self._racks):
            self._places.setdefault(rack, []).append(place)

    def next(self, fitting: Sequence[int]) -> int:
        """The place of the next member on one of these racks, NONE without one."""
        size = len(self.under_min)
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
    """Members with exactly the minimum: the first whose rack fits may have one more, until no more extras are left."""

    def __init__(self, unfilled: UnfilledMembers, rack_of: Sequence[int]) -> None:
        self.over_min_left = unfilled.over_min_left
        self._rack_of = rack_of
        self._members: list[int] = []
        self._taken: list[bool] = []
        self._turns: dict[int, deque[int]] = {}
        for member in unfilled.exactly_min.tolist():
            self.append(member)

    def append(self, member: int) -> None:
        """Let a member queue up, if there are extras at all."""
        if self.over_min_left:
            self._turns.setdefault(self._rack_of[member], deque()).append(len(self._members))
            self._members.append(member)
            self._taken.append(False)

    def take(self, fitting: Sequence[int]) -> int:
        """The first member on one of these racks, which leaves the queue; NONE without one."""
        if not self.over_min_left:
            return NONE
        heads = [(turns[0], turns) for rack in fitting if (turns := self._turns.get(rack))]
        if not heads:
            return NONE
        turn, turns = min(heads, key=lambda head: head[0])
        turns.popleft()
        self._taken[turn] = True
        self.over_min_left -= 1
        return self._members[turn]

    def left(self) -> list[int]:
        """Who still queues, in turn; nobody when no extras are left."""
        waiting = zip(self._members, self._taken, strict=True)
        return [member for member, taken in waiting if not taken] if self.over_min_left else []
