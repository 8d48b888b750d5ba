"""
The cheapest assignment under a cap on member lag: branch and bound over minimum-cost flows.

Without the cap the cheapest assignment is a flow (`cheapest`), so its cost is a floor. Where the flow gives a member
too much, its largest partition is tried both ways: with that owner, and without. Each decision rules out owners
(`Capped`), so the floors rise. The node of least floor comes first; the search is over when that floor is the
cost of the best assignment found, or when the work is spent: then the floor is what is proven.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from heapq import heapify, heappop, heappush

import numpy as np

from evenkeel.engine.assignors.balanced.deal import deal_by_lag
from evenkeel.engine.assignors.balanced.flow import cheapest
from evenkeel.engine.assignors.balanced.holding import Holding, Price
from evenkeel.engine.assignors.balanced.leeway import Leeway
from evenkeel.engine.assignors.balanced.level import swap_down
from evenkeel.engine.assignors.balanced.restrict import Capped
from evenkeel.engine.assignors.balanced.work import Work
from evenkeel.engine.model import NONE, Ints

_NODE = 10_000, 120
"""Elementary steps of a node, and for each partition."""

_LEVEL = 10_000, 100
"""Elementary steps for making a node's flow obey the cap, and for each partition."""

_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True, eq=False)
class Cheapest:
    """The best owners under the cap (None: none found), what they cost, and the least that any could cost."""

    owner: Ints | None
    cost: int
    floor: int


@dataclass(frozen=True, slots=True)
class _Node:
    """
    What is decided (owner of a partition, or members that are not), and what to decide next.

    Of a partition that weighs half the cap each owner in *left* is tried, one at a time; of any other one owner or not.
    """

    fixed: dict[int, int]
    banned: dict[int, frozenset[int]]
    partition: int = NONE
    left: tuple[int, ...] = ()
    heavy: bool = False


_Entry = tuple[int, int, int, int, _Node]
"""A node after its floor, minus its depth, how far its flow is above the cap, and its number."""


def cheapest_under(
    capped: Capped, price: Price, best: Ints | None, work: Work, *, complete: bool
) -> Cheapest:
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
        self.queue: list[_Entry] = []
        self.count = 0

    def run(self) -> Cheapest:
        """Decide one partition after another to get a first assignment; then branch where the floor is least."""
        opened = self._open(_Node({}, {}))
        while self.queue and self.queue[0][0] < self.cost:
            if self.work.left < 0 and not self.complete:
                break
            if opened is None:
                self._branch(heappop(self.queue))
            else:
                self.queue.remove(opened)
                heapify(self.queue)
                opened = self._branch(opened)
        floor = min(self.cost, self.queue[0][0]) if self.queue else self.cost
        return Cheapest(self.best, self.cost, floor)

    def _branch(self, entry: _Entry) -> _Entry | None:
        """Open the node's next branch, and return it if it is worth keeping; the others wait."""
        floor, deep, lag, turn, node = entry
        partition, (member, *others) = node.partition, node.left
        if node.heavy:
            if others:
                rest = replace(node, left=tuple(others))
                heappush(self.queue, (floor, deep, lag, turn, rest))
        else:
            without = node.banned.get(partition, frozenset()) | {member}
            self._open(_Node(node.fixed, {**node.banned, partition: without}))
        return self._open(_Node({**node.fixed, partition: member}, node.banned))

    def _open(self, node: _Node) -> _Entry | None:
        """Bound a node; keep it where it could hold something better that its flow does not show."""
        leeway = self.capped.narrowed(node.fixed, node.banned)
        if leeway is None:
            return None
        self.work.spend(_NODE[0] + _NODE[1] * leeway.partitions)
        plan = cheapest(leeway, self.price.toll, self.capped.keep)
        if plan is None:
            return None
        floor = plan.cost + leeway.forced_moves - self.capped.leeway.forced_moves
        if floor >= self.cost:
            return None
        holding = Holding(leeway, deal_by_lag(plan, leeway.lag, leeway.members))
        over = np.maximum(holding.load - self.capped.cap, 0)
        member = int(np.argmax(over))
        mine = [p for p in holding.held(member).tolist() if p not in node.fixed]
        partition = max(mine, key=lambda p: (int(leeway.lag[p]), -p), default=NONE)
        self._try(holding)
        if floor >= self.cost or not over[member]:
            return None
        self.count += 1
        kept = self._deciding(node, leeway, partition, member)
        entry = floor, -len(node.fixed), int(over.sum()), self.count, kept
        heappush(self.queue, entry)
        return entry

    def _deciding(self, node: _Node, leeway: Leeway, partition: int, member: int) -> _Node:
        heavy = bool(2 * leeway.lag[partition] > self.capped.cap)
        left = [member]
        if heavy:
            others = np.flatnonzero(leeway.may[leeway.realm[partition]])
            costs = self.price.of(np.array(partition), others)
            left += [m for m in others[np.argsort(costs, kind="stable")].tolist() if m != member]
        return replace(node, partition=partition, left=tuple(left), heavy=heavy)

    def _try(self, holding: Holding) -> None:
        """Bring the flow's assignment under the cap without toll; keep it if it is the best so far."""
        price, steps = (
            Price(holding.leeway, self.price.toll),
            _LEVEL[0] + _LEVEL[1] * len(holding.owner),
        )
        work = Work(steps)
        there = swap_down(holding, self.capped.cap, price, work)
        self.work.spend(steps - max(work.left, 0))
        if there:
            cost = self.price.total(holding.owner)
            if cost < self.cost:
                self.best, self.cost = holding.owner, cost
