"""
The least largest member lag of an island, by depth-first search: the exact end of what `level` approaches.

Partitions with lag are placed in descending order, each with every member that may own it (of members alike in every
way only the first), while the loads stay under what is already known. A branch ends where the rest cannot be placed:
where its lag exceeds what the members can still take, given how many more each may own. Partitions without lag come
last and all at once, as a flow. Korf's complete search for number partitioning (1998), with counts.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenkeel.engine.assignors.balanced.deal import deal_by_lag
from evenkeel.engine.assignors.balanced.flow import cheapest
from evenkeel.engine.assignors.balanced.leeway import Leeway
from evenkeel.engine.assignors.balanced.restrict import Capped
from evenkeel.engine.assignors.balanced.work import Work
from evenkeel.engine.model import Ints

_UNCAPPED = 1 << 60
"""The other islands are not this search's business."""


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """
    The least largest load of the island that was found, owners of all partitions (None: nothing better than known), and
    whether nothing is better, or it is at the floor.
    """

    largest: int
    owner: Ints | None
    proven: bool


def pack(leeway: Leeway, island: int, known: int, floor: int, work: Work | None) -> Packed:
    """
    Args:
        leeway: The rules.
        island: Which island.
        known: The largest load of an assignment that is known already.
        floor: The largest load cannot be below this.
        work: What it may take; None for as much as it takes.
    """
    return _Packing(leeway, island, known, floor, work).run()


class _Spent(Exception):
    """The work is done before the search."""


class _Packing:
    def __init__(
        self, leeway: Leeway, island: int, known: int, floor: int, work: Work | None
    ) -> None:
        self.leeway, self.floor, self.work = leeway, floor, work
        self.known = known
        self.best: Ints | None = None
        who = np.flatnonzero(leeway.island == island)
        self.who = who.tolist()
        self.least, self.most = leeway.least[who].tolist(), leeway.most[who].tolist()
        mine = np.flatnonzero(leeway.island_of == island)
        mine = mine[np.lexsort((mine, -leeway.lag[mine]))]
        lags = leeway.lag[mine]
        self.spare = sum(self.most) - len(mine)  # members that stay at their least
        self.company = np.concatenate([[0], np.cumsum(lags[::-1])]).tolist()
        self.before = np.concatenate([[0], np.cumsum(lags)]).tolist()
        self.size = len(mine)
        self.mine = mine[lags > 0].tolist()
        self.lags = lags[lags > 0].tolist()
        may = leeway.may[:, who]
        alike: dict[tuple[bytes, int, int], int] = {}
        kinds = zip(
            (may[:, i].tobytes() for i in range(len(who))), self.least, self.most, strict=True
        )
        self.kind = [alike.setdefault(k, len(alike)) for k in kinds]
        self.may = [np.flatnonzero(may[r]).tolist() for r in leeway.realm[self.mine].tolist()]
        self.load, self.count = [0] * len(who), [0] * len(who)
        self.chosen = [0] * len(self.mine)
        self.stuck: set[tuple[int, ...]] = set()  # counts of lag that leave no way for the rest

    def run(self) -> Packed:
        """Search with falling limits until nothing smaller is there."""
        try:
            self._place(0)
        except _Spent:
            return Packed(self.known, self.best, proven=self.known <= self.floor)
        return Packed(self.known, self.best, proven=True)

    def _place(self, at: int) -> None:
        if self.known <= self.floor:
            return
        if at == len(self.mine):
            self._finish()
            return
        if self.work is not None and not self.work.spend(10 * len(self.load)):
            raise _Spent
        if not self._room_for_rest(at):
            return
        lag, load, count = self.lags[at], self.load, self.count
        tried = set()
        for member in sorted(self.may[at], key=load.__getitem__):
            signs = (load[member], count[member], self.kind[member])
            if count[member] == self.most[member] or signs in tried:
                continue
            tried.add(signs)
            lacking = max(self.least[member] - count[member] - 1, 0)
            if load[member] + lag + self.company[lacking] >= self.known:
                continue
            load[member] += lag
            count[member] += 1
            self.chosen[at] = member
            self._place(at + 1)
            load[member] -= lag
            count[member] -= 1

    def _room_for_rest(self, at: int) -> bool:
        """Whether members can still take the rest of the lag, and enough of them the rest of the partitions."""
        limit, before = self.known - 1, self.before
        left, full = before[-1] - before[at], 0
        for load, count, least, most in zip(
            self.load, self.count, self.least, self.most, strict=True
        ):
            most_left = before[min(at + most - count, self.size)] - before[at]
            left -= min(limit - load, most_left)
            full += count > least
        return bool(left <= 0 and full <= sum(self.most) - sum(self.least) - self.spare)

    def _finish(self) -> None:
        """All lag is placed: give out the rest, if counts and subscriptions let it be."""
        largest, counts = max(self.load), tuple(self.count)
        if counts in self.stuck:
            return
        fixed = {p: self.who[one] for p, one in zip(self.mine, self.chosen, strict=True)}
        narrowed = Capped(self.leeway, _UNCAPPED).narrowed(fixed, {})
        plan = None
        if narrowed is not None:
            plan = cheapest(narrowed, np.zeros(self.leeway.crosses.shape, np.int64))
        if narrowed is None or plan is None:
            self.stuck.add(counts)
            return
        self.best, self.known = deal_by_lag(plan, narrowed.lag, narrowed.members), largest
