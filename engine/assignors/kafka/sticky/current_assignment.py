"""
Who holds what while a general plan is made, and in which order each list came about.

A kept partition is handed out a second time when it sorts behind one that has vanished
(`plan.unassigned_partitions`). Then the copy that was kept stays where it is, in the list and in its length, and only
the other one moves.
"""

from __future__ import annotations

import numpy as np

from ....model.arrays import NONE, Indices, Ints
from ...kit.orders import stable_order
from .owned_partitions import OwnedPartitions


class CurrentAssignment:
    """
    The state of a general plan, changed as it goes on.

    Attributes:
        owner: (P) who holds each partition, NONE for nobody.
        size: (M) the length of each member's list.
        copies: Partition handed out though it was kept -> who kept it.
    """

    def __init__(
        self, owned: OwnedPartitions, member: Ints, partition: Ints, unassigned: Ints
    ) -> None:
        """
        Args:
            owned: What members say they own.
            member, partition: (kept) the partitions members keep, each member's in the order of its list.
            unassigned: What will be handed out.
        """
        self.size: Ints = np.bincount(member, minlength=len(owned.hash_order))
        self.owner: Indices = np.full(owned.size, NONE, np.int32)
        self._since: Ints = np.zeros(owned.size, np.int64)
        self._clock = len(partition)
        arrived = np.arange(len(partition))
        gone = partition >= owned.size
        self._gone = member[gone], partition[gone], arrived[gone]
        self.owner[partition[~gone]] = member[~gone]
        self._since[partition[~gone]] = arrived[~gone]
        twice = unassigned[self.owner[unassigned] != NONE]
        self.copies: dict[int, int] = dict(
            zip(twice.tolist(), self.owner[twice].tolist(), strict=True)
        )
        self._copied_since = dict(zip(twice.tolist(), self._since[twice].tolist(), strict=True))

    def give(self, members: Ints, partitions: Ints) -> None:
        """Hand out partitions, in this order."""
        self.owner[partitions] = members
        self._since[partitions] = self._clock + np.arange(len(partitions))
        self._clock += len(partitions)
        self.size += np.bincount(members, minlength=len(self.size))

    def move(self, partition: int, target: int) -> None:
        """Move a partition from the list it is in to the end of another's."""
        source = int(self.owner[partition])
        if self.copies.get(partition) == source:  # of two in one list the first is taken out
            self._copied_since[partition] = int(self._since[partition])
        self.owner[partition] = target
        self._since[partition] = self._clock
        self._clock += 1
        self.size[source] -= 1
        self.size[target] += 1

    def lists(self) -> tuple[Ints, Ints]:
        """All lists as they are now: members, ascending, and their partitions in order."""
        held = np.flatnonzero(self.owner != NONE)
        gone_member, gone, gone_since = self._gone
        keepers, twice, twice_since = (
            np.array(list(values), np.int64)
            for values in (self.copies.values(), self.copies, self._copied_since.values())
        )
        member = np.concatenate([self.owner[held], gone_member, keepers])
        partition = np.concatenate([held, gone, twice])
        order = np.argsort(np.concatenate([self._since[held], gone_since, twice_since]))
        order = order[stable_order(member[order])]
        return member[order], partition[order]
