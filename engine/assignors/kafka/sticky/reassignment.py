"""
Moving partitions from members with more to members with less, as the general sticky plan does it.

Kafka goes through the partitions over and over, and looks before each one whether the group is balanced. Between two
moves nothing changes. So here runs of partitions that stay are passed over at once, in blocks of topics that grow while
nothing is found, and balance is looked at only where Kafka would move something or throw.

Source: `performReassignments`, `reassignPartition`, `isBalanced` and `PartitionMovements` of Kafka 4.3.
"""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from ....model.arrays import NONE, Flags, Indices, Ints
from ....model.errors import Infeasible
from ...interface import GroupSpec
from ...interface.group import once_of_topics
from ...kit.java_order import Hashes, JavaSet, string_hashes, topic_partition_hashes
from ..racks import RackInfo
from .current_assignment import CurrentAssignment, Participants
from .plan import OwnedPartitions

FAR = 1 << 40
"""More than any member can hold."""


class Balance:
    """Answers from the current assignment as it is at that moment."""

    def __init__(
        self,
        current: CurrentAssignment,
        participants: Participants,
        max_assignment_size: Ints,
        hash_place: Ints,
    ) -> None:
        """
        Args:
            current: The state, changed by others.
            participants: What takes part, of one group.
            max_assignment_size: (M) what Kafka takes for the most each member can have.
            hash_place: (M) the place of each in Kafka's order.
        """
        self._current, self._participants = current, participants
        self._max_assignment_size = max_assignment_size
        self._hash_place = hash_place
        self._witness: tuple[int, int] | None = None

    def is_balanced(self, member: int, partition: int) -> bool:
        """
        Whether the plan is balanced.

        Args:
            member, partition: A likely witness that it is not: a subscriber of the partition's topic.
        """
        if self._shows(member, partition):
            self._witness = member, partition
        elif self._witness is None or not self._shows(*self._witness):
            self._witness = self._search()
        return self._witness is None

    def _shows(self, member: int, partition: int) -> bool:
        """Whether the member could take the partition over from somebody with two more."""
        size = self._current.size
        least = size[member] + 1
        return bool(
            size[self._holder(partition)] > least
            and size[member] != self._max_assignment_size[member]
            and not self._participants.fixed[member]
            and not self._has(member, partition)
        )

    def _has(self, member: int, partition: int) -> bool:
        copied = self._current.copies.get(partition)
        return member in (copied, self._current.owner[partition])

    def _holder(self, partition: int) -> int:
        """Whom Kafka takes for the owner: of two with a copy, the later in its order."""
        owner = int(self._current.owner[partition])
        copied = self._current.copies.get(partition, owner)
        return max(owner, copied, key=self._hash_place.__getitem__)

    def _search(self) -> tuple[int, int] | None:
        """Any witness, None without one."""
        size, participants = self._current.size, self._participants
        taking_part = size[~participants.fixed]
        if int(taking_part.max()) - int(taking_part.min()) <= 1:
            return None
        full = participants.fixed | (size == self._max_assignment_size)
        room = np.where(full, FAR, size)
        least = np.minimum.reduceat(room[participants.subscriber], participants.start[:-1])
        owner = self._current.owner.copy()
        for partition in self._current.copies:
            owner[partition] = self._holder(partition)
        held = size[owner[participants.partitions]]
        largest = np.maximum.reduceat(held, participants.partition_start[:-1])
        for topic in np.flatnonzero(largest > least + 1).tolist():
            if witness := self._search_topic(topic, room):
                return witness
        return None

    def _search_topic(self, topic: int, room: Ints) -> tuple[int, int] | None:
        """A witness within one topic, None without one; *room* (M): each size, `FAR` of members that take no more."""
        subscribers = self._participants.among(topic)
        members = subscribers[np.argsort(room[subscribers], kind="stable")].tolist()
        start = self._participants.partition_start
        partitions = self._participants.partitions[start[topic] : start[topic + 1]]
        sizes = self._current.size[[self._holder(p) for p in partitions.tolist()]]
        for at in np.argsort(-sizes, kind="stable").tolist():
            partition = int(partitions[at])
            for member in members:
                if room[member] + 1 >= sizes[at]:
                    break
                if not self._has(member, partition):
                    return member, partition
        return None


@once_of_topics
def partition_hashes(groups: GroupSpec) -> Hashes:
    """(P) Java's hash of each partition."""
    return topic_partition_hashes(string_hashes(groups.topics)[groups.topic_of], groups.number_of)


class PartitionMovements:
    """The movements of one plan."""

    def __init__(self, groups: GroupSpec) -> None:
        self._topic, self._hashes = groups.topic_of, partition_hashes(groups)
        self._moved: dict[int, tuple[int, int]] = {}
        self._routes: dict[tuple[int, int, int], JavaSet] = {}

    def actual_partition_to_move(self, partition: int, source: int, target: int) -> int:
        """The partition to move, when this one is to go from *source* to *target*."""
        first, _ = self._moved.get(partition, (source, target))
        back = self._routes.get((int(self._topic[partition]), target, first))
        return back.first() if back else partition

    def record(self, partition: int, source: int, target: int) -> None:
        """A partition moves: of several moves the first source and the last target are kept, of a return nothing."""
        topic = int(self._topic[partition])
        if partition in self._moved:
            source, before = self._moved.pop(partition)
            route = self._routes[topic, source, before]
            route.remove(partition)
            if not route:
                del self._routes[topic, source, before]
            if source == target:
                return
        self._moved[partition] = source, target
        route = self._routes.setdefault((topic, source, target), JavaSet())
        route.add(partition, int(self._hashes[partition]))

    def state(self) -> Hashable:
        """All there is to say of the movements so far."""
        routes = ((route, known.state()) for route, known in self._routes.items())
        return frozenset(self._moved.items()), frozenset(routes)


def may_move(
    current: CurrentAssignment,
    participants: Participants,
    previous: Indices | None,
    partitions: Ints,
    topic: Ints,
    topics: slice,
) -> Flags:
    """
    Which partitions may move, or make Kafka throw.

    Args:
        current, participants, previous: As of `Reassignment`.
        partitions: Of some *topics* that take part, at least one.
        topic: The place of each one's topic among these.
        topics: The places of these among all that take part.
    """
    size, first, last = current.size, topics.start, topics.stop
    starts = participants.start[first : last + 1]
    room = size[participants.subscriber[starts[0] : starts[-1]]]
    least = np.minimum.reduceat(room, starts[:-1] - starts[0])
    least[participants.has_fixed_subscriber[topics]] = -FAR
    held = size[current.owner[partitions]]
    movable: Flags = held > least[topic] + 1
    if previous is not None:
        before = previous[partitions]
        known = np.where(participants.fixed[before], -FAR, size[before])
        movable |= (before != NONE) & (held > known + 1)
    return movable


class Reassignment:
    """The moves of one plan."""

    def __init__(
        self,
        groups: GroupSpec,
        owned: OwnedPartitions,
        current: CurrentAssignment,
        participants: Participants,
        balance: Balance,
        previous: Indices | None,
        hash_place: Ints,
        racks: RackInfo | None,
    ) -> None:
        """
        Args:
            groups: All groups.
            owned: What members say they own.
            current: Who holds what; changed.
            participants: What takes part, of one group.
            balance: Whether it is balanced.
            previous: As `previous_owners`; None where nobody is one.
            hash_place: (M) the place of each member in Kafka's order.
            racks: The racks where they matter.
        """
        self._groups, self._owned, self._current = groups, owned, current
        self._participants, self._balance, self._racks = participants, balance, racks
        self._movements = PartitionMovements(groups)
        self._previous, self._hash_place = previous, hash_place

    def run(self, partitions: Ints) -> bool:
        """
        Go through the partitions, in the order they are assigned, until no move is left.

        Returns:
            Whether anything was moved.

        Raises:
            Infeasible: Kafka's class throws, or never comes to an end.
        """
        topic = self._participants.place[self._owned.topic[partitions]]
        passes, mark = 0, None
        while self._pass(partitions, topic):
            passes += 1
            owner = self._current.owner[self._participants.partitions]
            state = owner.tobytes(), self._movements.state()
            if state == mark:
                raise Infeasible(
                    f"after pass {passes:,} over {len(partitions):,} partitions all is as it was before, so Kafka's"
                    " class would go on for ever (Kafka: no answer).",
                    fix="Let the members forget what they own: restart them.",
                )
            if passes & (passes - 1) == 0:  # what comes back is met within twice as many passes
                mark = state
        return passes > 0

    def _pass(self, partitions: Ints, topic: Ints) -> bool:
        """Once through the partitions, or until the group is balanced; whether anything was moved."""
        moved, at = False, 0
        while (at := self._next(partitions, topic, at)) < len(partitions):
            place, partition = int(topic[at]), int(partitions[at])
            subscribers = self._participants.among(place)
            sizes = self._current.size[subscribers]
            if self._participants.has_fixed_subscriber[place]:
                sizes = np.where(self._participants.fixed[subscribers], FAR, sizes)
            first = int(sizes.argmin())  # of equal ones the first by id
            target = int(subscribers[first])
            if self._balance.is_balanced(target, partition):
                break
            moved |= self._visit(partition, place, target)
            at += 1
        return moved

    def _next(self, partitions: Ints, topic: Ints, at: int) -> int:
        """The first partition from *at* on that may move or make Kafka throw; their number when there is none."""
        topics, width = len(self._participants.topics), 1
        while at < len(partitions):
            first = int(topic[at])
            last = min(first + width, topics)
            end = int(np.searchsorted(topic, last))
            movable = may_move(
                self._current,
                self._participants,
                self._previous,
                partitions[at:end],
                topic[at:end] - first,
                slice(first, last),
            )
            where = int(movable.argmax())
            if movable[where]:
                return at + where
            at, width = end, 2 * width
        return at

    def _visit(self, partition: int, place: int, target: int) -> bool:
        """
        What Kafka does with one partition of a group that is not balanced; whether it was moved.

        Args:
            partition: The partition.
            place: Of its topic.
            target: The subscriber with least.
        """
        size = self._current.size
        held = size[self._current.owner[partition]]
        before = NONE if self._previous is None else int(self._previous[partition])
        if before != NONE:
            if self._participants.fixed[before]:
                raise self._no_list(before, partition)
            if held > size[before] + 1:
                self._move(partition, before)
                return True
        if self._participants.has_fixed_subscriber[place] and not self._somebody_has_less(
            partition, place
        ):
            return False
        if held <= size[target] + 1:
            return False
        self._move(partition, target)
        return True

    def _somebody_has_less(self, partition: int, place: int) -> bool:
        """Whether Kafka, looking one by one, finds somebody with less before it comes upon a fixed member."""
        size, racks = self._current.size, self._racks
        owner = int(self._current.owner[partition])
        others = self._participants.among(place)
        others = others[np.argsort(self._hash_place[others])]
        if racks is not None and racks.shared(np.array([owner]), np.array([partition]))[0]:
            near = racks.shared(others, np.full(len(others), partition))
            others = np.concatenate([others[near], others])
        for other in others.tolist():
            if self._participants.fixed[other]:
                raise self._no_list(other, partition)
            if size[owner] > size[other] + 1:
                return True
        return False

    def _move(self, partition: int, target: int) -> None:
        owner = int(self._current.owner[partition])
        partition = self._movements.actual_partition_to_move(partition, owner, target)
        self._movements.record(partition, int(self._current.owner[partition]), target)
        self._current.move(partition, target)

    def _no_list(self, member: int, partition: int) -> Infeasible:
        """Kafka's class asks for the list of a member that it has set aside, and has none."""
        group, owned = self._groups, self._owned
        name = f"{group.topics[owned.topic[partition]]}-{owned.number[partition]}"
        return Infeasible(
            f"{name} could go to member {group.members[member]}, which takes no part in balancing with its"
            f" {self._current.size[member]:,} partitions (Kafka: NullPointerException).",
            fix="Let it forget what it owned: restart it.",
        )
