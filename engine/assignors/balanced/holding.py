"""An assignment in the making: who owns what, with each member's load and partitions at hand."""

from __future__ import annotations

import numpy as np

from evenkeel.engine.assignors.balanced.leeway import Leeway
from evenkeel.engine.assignors.balanced.share import of_a_toll
from evenkeel.engine.model import NONE, Ints


class Holding:
    """
    Owners that obey the fairest counts, and what follows from them.

    Attributes:
        leeway: The rules.
        owner: (N) owner of each partition.
        load: (M) lag owned.
        count: (M) partitions owned.
    """

    def __init__(self, leeway: Leeway, owner: Ints) -> None:
        self.leeway, self.owner = leeway, owner.copy()
        self.load = loads(leeway, owner)
        self.count = np.bincount(owner, minlength=leeway.members)
        self._held: dict[int, Ints] = {}

    def held(self, member: int) -> Ints:
        """A member's partitions, ascending."""
        found = self._held.get(member)
        if found is None:
            found = self._held[member] = np.flatnonzero(self.owner == member)
        return found

    def forget(self) -> None:
        """Owners have been changed from outside."""
        self._held.clear()

    def exchange(self, member: int, given: Ints, other: int, taken: Ints) -> None:
        """A member gives and takes partitions; *other* the reverse."""
        self.owner[given], self.owner[taken] = other, member
        shift = int(self.leeway.lag[given].sum() - self.leeway.lag[taken].sum())
        self.load[member] -= shift
        self.load[other] += shift
        self.count[member] += len(taken) - len(given)
        self.count[other] += len(given) - len(taken)
        self._held.pop(member, None)
        self._held.pop(other, None)

    def rotate(self, chain: Ints) -> None:
        """Each partition takes the place of the next one at its owner, the last that of the first."""
        getters = np.roll(self.owner[chain], -1)
        lag = self.leeway.lag[chain]
        np.add.at(self.load, self.owner[chain], -lag)
        np.add.at(self.load, getters, lag)
        self.owner[chain] = getters
        for member in getters.tolist():
            self._held.pop(member, None)


class Price:
    """What it costs that a member owns a partition: tolls, and 1 where its holder loses it."""

    def __init__(self, leeway: Leeway, toll: Ints, *, moves: bool = True) -> None:
        """
        Args:
            leeway: Patterns, sites and holders.
            toll: (patterns, sites) by where a partition is owned.
            moves: Whether moves count.
        """
        self.leeway, self.toll, self.moves = leeway, toll, moves
        self.of_a_toll = of_a_toll(leeway)

    def of(self, partitions: Ints, members: Ints) -> Ints:
        """The costs of partitions owned by members, elementwise (broadcast)."""
        leeway = self.leeway
        found: Ints = self.toll[leeway.pattern[partitions], leeway.site[members]]
        if self.moves:
            holder = leeway.holder[partitions]
            found = found + ((holder != NONE) & (holder != members))
        return found

    def total(self, owner: Ints) -> int:
        """What all partitions cost."""
        return int(self.of(np.arange(len(owner)), owner).sum())

    def added(self, partitions: Ints, owner: int, other: int) -> Ints:
        """What each of *owner*'s partitions costs more with *other*."""
        return self.of(partitions, np.array(other)) - self.of(partitions, np.array(owner))


def loads(leeway: Leeway, owner: Ints) -> Ints:
    """(M) the lag each member owns."""
    load = np.zeros(leeway.members, np.int64)
    np.add.at(load, owner, leeway.lag)
    return load
