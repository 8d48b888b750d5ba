"""
Whether a general plan is balanced, as Kafka sees it.

It is when no two members that take part are more than one apart, or when nobody could take a partition over from
somebody with at least two more. Whoever holds as many as Kafka takes for the most it can have is left out. To show
that a plan is *not* balanced, one witness will do, a member and a partition; only when the last one no longer holds is
another searched for, in all topics at once. Source: `isBalanced` of Kafka 4.3, whose answer this always is.
"""

from __future__ import annotations

import numpy as np

from ....model.arrays import Ints
from ...kit.orders import places
from .current_assignment import CurrentAssignment
from .owned_partitions import OwnedPartitions
from .participants import Participants

FAR = 1 << 40
"""More than any member can hold."""


class Balance:
    """Answers from the current assignment as it is at that moment."""

    def __init__(
        self,
        current: CurrentAssignment,
        owned: OwnedPartitions,
        participants: Participants,
        max_assignment_size: Ints,
    ) -> None:
        """
        Args:
            current: The state, changed by others.
            owned: What members say they own.
            participants: What takes part.
            max_assignment_size: (M) what Kafka takes for the most each member can have.
        """
        self._current, self._owned, self._participants = current, owned, participants
        self._max_assignment_size = max_assignment_size
        self._hash_place = places(owned.hash_order)
        self._witness: tuple[int, int] | None = None
        self._starts = np.searchsorted(
            participants.place[owned.topic[participants.partitions]],
            np.arange(len(participants.has_fixed_subscriber)),
        )

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
        largest = np.maximum.reduceat(size[owner[participants.partitions]], self._starts)
        for topic in np.flatnonzero(largest > least + 1).tolist():
            if witness := self._search_topic(topic, room):
                return witness
        return None

    def _search_topic(self, topic: int, room: Ints) -> tuple[int, int] | None:
        """A witness within one topic, None without one; *room* (M): each size, `FAR` of members that take no more."""
        subscribers = self._participants.among(topic)
        members = subscribers[np.argsort(room[subscribers], kind="stable")].tolist()
        ends = np.append(self._starts, len(self._participants.partitions))
        partitions = self._participants.partitions[ends[topic] : ends[topic + 1]]
        sizes = self._current.size[[self._holder(p) for p in partitions.tolist()]]
        for at in np.argsort(-sizes, kind="stable").tolist():
            partition = int(partitions[at])
            for member in members:
                if room[member] + 1 >= sizes[at]:
                    break
                if not self._has(member, partition):
                    return member, partition
        return None
