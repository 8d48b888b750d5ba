"""
Partitions dealt out so that everybody has as even a number of them as can be, at the least cost: a min-cost flow.

The sum of the squared numbers is the least, so no member with two partitions fewer could take one over, not even along
a chain of others. What costs the same everywhere is a *kind*; kinds that differ in nothing but the holder are a
*batch*; members of one rack and one class are a *hub*. A kind stays with its holder or joins its batch, a batch goes to
hubs, a hub gives to its members, and each partition more costs a member more.
"""

from __future__ import annotations

import numpy as np

from ...model.arrays import NONE, Ints, ragged_entries
from ..flow.network import FlowNetwork, outweighing
from ..flow.plain_group import even_counts
from .problem import Problem

_WINDOW = 2
"""How far from a first guess a member's number is looked for at a time."""


def evened(problem: Problem, partition: Ints, beside: Ints, *, racks: bool) -> Ints:
    """
    (n) owners of some partitions that make numbers even, then cross the fewest racks, then move the fewest.

    Args:
        problem: The group.
        partition: (n) which partitions.
        beside: (M) how many others each member has already.
        racks: Whether to look at racks.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> from evenkeel.engine.assignors.balanced.problem import problems_of
    >>> members = {"a": ["t"], "b": ["t", "u"], "c": ["u"]}
    >>> owned = {"b": [("t", p) for p in range(4)]}
    >>> (problem,) = problems_of(spec(members, {"t": 4, "u": 1}, owned=owned))
    >>> evened(problem, np.arange(5), np.zeros(3, np.int64), racks=True).tolist()
    [1, 1, 0, 0, 2]
    """
    if _is_even(problem, partition, beside, racks=racks):
        return problem.holder[partition]
    of_pair, member = np.nonzero(problem.may)
    start = np.searchsorted(of_pair, np.arange(len(problem.may) + 1))
    size = np.bincount(problem.topic_class[partition], minlength=len(problem.may))
    counts = even_counts(start, member, member * 0, size, problem.members, beside=beside)
    network = _Network(problem, partition, beside, racks=racks)
    while True:
        owner, settled = network.solved(counts)
        if settled:
            return owner
        counts = beside + np.bincount(owner, minlength=problem.members)


def _is_even(problem: Problem, partition: Ints, beside: Ints, *, racks: bool) -> bool:
    """Whether it is seen at once that everything may stay: then nothing else is as good."""
    holder = problem.holder[partition]
    if holder.min(initial=0) == NONE:
        return False
    owns = np.bincount(holder, minlength=problem.members)
    counts = owns + beside
    fewest = counts[problem.may.any(axis=0)].min(initial=problem.partitions)
    if counts[owns > 0].max(initial=0) > fewest + 1:
        return False
    crosses = problem.crosses
    return not (
        racks and crosses.any() and crosses[problem.pattern[partition], problem.site[holder]].any()
    )


class _Network:
    """Kinds, batches and hubs, by number, and which partitions are of which."""

    def __init__(self, problem: Problem, partition: Ints, beside: Ints, *, racks: bool) -> None:
        nowhere = np.zeros((1, 1), np.bool_), problem.site * 0, problem.pattern * 0
        crosses, self.site, pattern = (
            (problem.crosses, problem.site, problem.pattern) if racks else nowhere
        )
        patterns, sites = crosses.shape
        self.members, self.beside, self.partitions = problem.members, beside, len(partition)
        self.toll = crosses * outweighing(len(partition))
        key = problem.topic_class[partition] * patterns + pattern[partition]
        key = key * (self.members + 1) + problem.holder[partition] + 1
        names, self.kind, self.size = np.unique(key, return_inverse=True, return_counts=True)
        of_kind, self.holder = np.divmod(names, self.members + 1)
        self.holder = self.holder - 1
        batches, self.batch = np.unique(of_kind, return_inverse=True)
        batch_class, self.pattern = np.divmod(batches, patterns)
        of_pair, member = np.nonzero(problem.may)
        hubs, hub = np.unique(of_pair * sites + self.site[member], return_inverse=True)
        by_hub = np.argsort(hub, kind="stable")
        self.hub, self.member = hub[by_hub], member[by_hub]
        hub_class, self.hub_site = np.divmod(hubs, sites)
        begin = np.searchsorted(hub_class, np.arange(len(problem.may) + 1))
        begin, self.way_hub = ragged_entries(begin, batch_class)
        self.way_batch = np.repeat(np.arange(len(batches)), np.diff(begin))

    def solved(self, counts: Ints) -> tuple[Ints, bool]:
        """(n) owners with numbers near *counts*, and whether numbers further away could be no better."""
        kinds, everyone = np.arange(len(self.size)), np.arange(self.members)
        batch_at = len(kinds)
        hub_at = batch_at + len(self.pattern)
        member_at = hub_at + len(self.hub_site)
        all_of_them = member_at + self.members
        network = FlowNetwork(all_of_them + 1)
        network.supply[kinds], network.supply[-1] = self.size, -self.partitions
        held = np.flatnonzero(self.holder != NONE)
        home = self.toll[self.pattern[self.batch[held]], self.site[self.holder[held]]]
        there = self.toll[self.pattern[self.way_batch], self.hub_site[self.way_hub]]
        most = self.partitions
        stay = network.add(held, member_at + self.holder[held], self.size[held], home)
        network.add(kinds, batch_at + self.batch, self.size, self.holder != NONE)
        way = network.add(batch_at + self.way_batch, hub_at + self.way_hub, most, there)
        out = network.add(hub_at + self.hub, member_at + self.member, most, 0)
        low, high = self._bounds(counts, _WINDOW)
        first = low - self.beside
        network.add(member_at + everyone, np.full(self.members, all_of_them), first, 0)
        who = np.repeat(everyone, high - low)
        number = high[who] - np.repeat(np.cumsum(high - low), high - low) + np.arange(len(who))
        _, rank = np.unique(
            number, return_inverse=True
        )  # any costs that rise alike for all will do
        dear = outweighing((int(self.toll.max(initial=0)) + 1) * self.partitions)
        network.add(member_at + who, np.full(len(who), all_of_them), 1, dear * (rank + 1))
        solved = network.cheapest()
        assert solved is not None, "these counts can be reached"
        owner = self._owners(held, *(solved[span] for span in (stay, way, out)))
        found = self.beside + np.bincount(owner, minlength=self.members)
        least, most_of_all = self._bounds(counts, self.partitions)
        inside = ((low == least) | (found > low)) & ((high == most_of_all) | (found < high))
        return owner, bool(inside[self.member].all())

    def _bounds(self, counts: Ints, window: int) -> tuple[Ints, Ints]:
        """
        (M) between which numbers each member's is looked for, at most so far from *counts*.

        What is fairest has no smaller and, of who gets anything, no larger number than another assignment.
        """
        fewest = int(counts[self.member].min(initial=self.partitions))
        most = int(counts[counts > self.beside].max(initial=0))
        low = np.maximum(self.beside, np.maximum(fewest, counts - window))
        return low, np.maximum(low, np.minimum(most, counts + window))

    def _owners(self, held: Ints, stay: Ints, way: Ints, out: Ints) -> Ints:
        """(n) who gets what, the first of a kind staying, the others in the order of hubs and members."""
        kept = np.zeros(len(self.size), np.int64)
        kept[held] = stay
        order = np.argsort(self.kind, kind="stable")
        nth = np.arange(len(order)) - np.repeat(np.cumsum(self.size) - self.size, self.size)
        leaving = order[nth >= kept[self.kind[order]]]
        leaving = leaving[np.argsort(self.batch[self.kind[leaving]], kind="stable")]
        hub = np.repeat(self.way_hub, way)
        owner = self.holder[self.kind]
        owner[leaving[np.argsort(hub, kind="stable")]] = np.repeat(self.member, out)
        return owner
