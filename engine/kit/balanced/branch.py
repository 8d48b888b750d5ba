"""
The cheapest assignment under a cap on member lag: branch and bound over minimum-cost flows.

Without the cap the cheapest assignment is a flow (`cheapest`), so its cost is a floor. Where the flow gives a member too
much, its largest partition is tried both ways: with that owner, and without. Each decision rules out owners (`Capped`),
so the floors rise. The node of least floor comes first; the search is over when that floor is the cost of the best
assignment found, or when the work is spent: then the floor is what is proven.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import heappop, heappush

import numpy as np

from engine.kit.balanced.deal import deal_by_lag
from engine.kit.balanced.flow import cheapest
from engine.kit.balanced.holding import Holding, Price
from engine.kit.balanced.leeway import Leeway
from engine.kit.balanced.level import swap_down
from engine.kit.balanced.restrict import Capped
from engine.kit.balanced.work import Work
from engine.model import Ints

_NODE = 20_000, 150
"""Elementary steps of a node, and for each partition."""

_LEVEL = 30_000
"""Elementary steps for making a node's flow obey the cap."""

_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """The best owners under the cap (None: none found), what they cost, and the least that any could cost."""

    owner: Ints | None
    cost: int
    floor: int


@dataclass(frozen=True, slots=True)
class _Node:
    """What is decided (owner of a partition, or members that are not), and what to decide next."""

    fixed: dict[int, int]
    banned: dict[int, frozenset[int]]
    partition: int
    member: int


def cheapest_under(
    capped: Capped, price: Price, best: Ints | None, work: Work, *, complete: bool
) -> Found:
    """
    Args:
        capped: Leeway and cap.
        price: What partitions cost where.
        best: Owners under the cap that are already known.
        work: What it may take.
        complete: Go on to the end whatever it takes.
    """
    return _Search(capped, price, best, work, complete).run()


class _Search:
    def __init__(
        self, capped: Capped, price: Price, best: Ints | None, work: Work, complete: bool
    ) -> None:
        self.capped, self.price, self.work, self.complete = capped, price, work, complete
        self.best = best
        self.cost = _FAR if best is None else price.total(best)
        self.queue: list[tuple[int, int, int, _Node]] = []
        self.count = 0

    def run(self) -> Found:
        """Branch until the least floor is the least cost."""
        self._open(_Node({}, {}, -1, -1))
        while self.queue and self.queue[0][0] < self.cost and not self._spent():
            entry = heappop(self.queue)
            if not self._branch(entry[-1]):
                heappush(self.queue, entry)  # not all of its branches are known
        floor = min(self.cost, self.queue[0][0]) if self.queue else self.cost
        return Found(self.best, self.cost, floor)

    def _spent(self) -> bool:
        return self.work.left < 0 and not self.complete

    def _branch(self, node: _Node) -> bool:
        """
        Try each owner of a partition that weighs half the cap, of any other this owner or not this one.

        Returns:
            Whether it came to the end before the work was spent.
        """
        partition, member = node.partition, node.member
        without = node.banned.get(partition, frozenset())
        leeway = self.capped.leeway
        if 2 * leeway.lag[partition] > self.capped.cap:
            for one in np.flatnonzero(leeway.may[leeway.realm[partition]]).tolist():
                if one not in without:
                    self._open(replace(node, fixed={**node.fixed, partition: one}))
                if self._spent():
                    return False
            return True
        self._open(replace(node, fixed={**node.fixed, partition: member}))
        self._open(replace(node, banned={**node.banned, partition: without | {member}}))
        return True

    def _open(self, node: _Node) -> None:
        """Bound a node; keep it where it could hold something better that its flow does not show."""
        leeway = self.capped.narrowed(node.fixed, node.banned)
        if leeway is None:
            return
        self.work.spend(_NODE[0] + _NODE[1] * leeway.partitions)
        plan = cheapest(leeway, self.price.toll, self.capped.keep)
        if plan is None:
            return
        floor = plan.cost + leeway.forced_moves - self.capped.leeway.forced_moves
        if floor >= self.cost:
            return
        holding = Holding(leeway, deal_by_lag(plan, leeway.lag, leeway.members))
        over = np.maximum(holding.load - self.capped.cap, 0)
        member = int(np.argmax(over))
        mine = [p for p in holding.held[member].tolist() if p not in node.fixed]
        partition = max(mine, key=lambda p: (int(leeway.lag[p]), -p), default=-1)
        self._try(holding)
        if floor < self.cost and over[member] > 0:
            self.count += 1
            kept = replace(node, partition=partition, member=member)
            heappush(self.queue, (floor, int(over.sum()), self.count, kept))

    def _try(self, holding: Holding) -> None:
        """Bring the flow's assignment under the cap without toll; keep it if it is the best so far."""
        price, work = Price(holding.leeway, self.price.toll), Work(_LEVEL)
        there = swap_down(holding, self.capped.cap, price, work)
        self.work.spend(_LEVEL - max(work.left, 0))
        if there:
            cost = self.price.total(holding.owner)
            if cost < self.cost:
                self.best, self.cost = holding.owner, cost
