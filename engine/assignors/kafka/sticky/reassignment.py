"""
Moving partitions from members with more to members with less, as the general sticky plan does it.

Kafka goes through the partitions over and over, and looks before each one whether the group is balanced. Between two
moves nothing changes. So here runs of partitions that stay are passed over at once, in blocks of topics that grow while
nothing is found, and balance is looked at only where Kafka would move something or throw.

Source: `performReassignments` and `reassignPartition` of Kafka 4.3.
"""

from __future__ import annotations

import numpy as np

from ....model.arrays import NONE, Flags, Ints
from ....model.errors import Infeasible
from ...interface import GroupSpec
from ...kit.orders import places
from .balance import FAR, Balance
from .current_assignment import CurrentAssignment
from .owned_partitions import OwnedPartitions, previous_owners
from .participants import Participants
from .partition_movements import PartitionMovements
from .rack_info import RackInfo


class Reassignment:
    """The moves of one plan."""

    def __init__(
        self,
        group: GroupSpec,
        owned: OwnedPartitions,
        current: CurrentAssignment,
        participants: Participants,
        balance: Balance,
        racks: RackInfo | None,
    ) -> None:
        """
        Args:
            group: The group.
            owned: What members say they own.
            current: Who holds what; changed.
            participants: What takes part.
            balance: Whether it is balanced.
            racks: The group's racks where they matter.
        """
        self._group, self._owned, self._current = group, owned, current
        self._participants, self._balance, self._racks = participants, balance, racks
        self._movements = PartitionMovements(group)
        previous = previous_owners(owned)
        self._previous = previous if (previous != NONE).any() else None

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
            state = self._current.owner.tobytes(), self._movements.state()
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
        topics, width = len(self._participants.has_fixed_subscriber), 1
        while at < len(partitions):
            first = int(topic[at])
            last = min(first + width, topics)
            end = int(np.searchsorted(topic, last))
            movable = self._movable(partitions[at:end], topic[at:end] - first, first, last)
            where = int(movable.argmax())
            if movable[where]:
                return at + where
            at, width = end, 2 * width
        return at

    def _movable(self, partitions: Ints, topic: Ints, first: int, last: int) -> Flags:
        """Which of the partitions of the topics from *first* to before *last* may move."""
        size, participants = self._current.size, self._participants
        span = slice(participants.start[first], participants.start[last])
        starts = participants.start[first:last] - participants.start[first]
        least = np.minimum.reduceat(size[participants.subscriber[span]], starts)
        least[participants.has_fixed_subscriber[first:last]] = -FAR
        held = size[self._current.owner[partitions]]
        movable: Flags = held > least[topic] + 1
        if self._previous is not None:
            before = self._previous[partitions]
            known = np.where(participants.fixed[before], -FAR, size[before])
            movable |= (before != NONE) & (held > known + 1)
        return movable

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
        hash_place = places(self._owned.hash_order)
        others = np.array(sorted(self._participants.among(place), key=hash_place.__getitem__))
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
        group, owned = self._group, self._owned
        name = f"{group.topics[owned.topic[partition]]}-{owned.number[partition]}"
        return Infeasible(
            f"{name} could go to member {group.members[member]}, which takes no part in balancing with its"
            f" {self._current.size[member]:,} partitions (Kafka: NullPointerException).",
            fix="Let it forget what it owned: restart it.",
        )
