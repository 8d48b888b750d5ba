"""The least largest member lag: from floors below and from assignments above, until they meet or the work is spent."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenkeel.engine.assignors.balanced.branch import cheapest_under
from evenkeel.engine.assignors.balanced.deal import deal_by_lag
from evenkeel.engine.assignors.balanced.floors import lag_floors
from evenkeel.engine.assignors.balanced.flow import FlowPlan, cheapest
from evenkeel.engine.assignors.balanced.holding import Holding, Price, loads
from evenkeel.engine.assignors.balanced.leeway import Leeway
from evenkeel.engine.assignors.balanced.level import level
from evenkeel.engine.assignors.balanced.pack import pack
from evenkeel.engine.assignors.balanced.restrict import Capped
from evenkeel.engine.assignors.balanced.work import Effort, Work
from evenkeel.engine.model import NONE, Ints

_FEW = 64
"""Up to so many partitions with lag on an island, the depth-first search may prove something."""


@dataclass(slots=True)
class Lowest:
    """Owners, their largest member lag, and what no assignment with the fairest counts is below (offsets)."""

    owner: Ints
    largest: int
    floor: int


def lowest(leeway: Leeway, price: Price, owner: Ints, effort: Effort) -> Lowest:
    """
    Args:
        leeway: What the fairest counts leave open.
        price: What partitions cost where; of equally good ways the cheap ones are taken.
        owner: An assignment; returned itself, not a copy, when it is as low as can be.
        effort: What it may take.
    """
    search = _Descent(leeway, price, owner, effort)
    for step in (
        search.from_cheapest,
        search.by_branching,
        search.from_tolls,
        search.at_any_toll,
        search.from_lag,
        search.by_search,
    ):
        if search.best.largest <= search.best.floor:
            break
        step()
    return search.best


class _Descent:
    def __init__(self, leeway: Leeway, price: Price, owner: Ints, effort: Effort) -> None:
        self.leeway, self.price, self.effort = leeway, price, effort
        self.best = Lowest(owner, int(loads(leeway, owner).max()), int(lag_floors(leeway).max()))

    def from_cheapest(self) -> None:
        """From the cheapest assignment whose every single owner could do, by exchanges without toll."""
        leeway = self.leeway
        plan = self._raise_floor()
        owner = self.best.owner if plan is None else deal_by_lag(plan, leeway.lag, leeway.members)
        self._level(owner, self.effort.level(leeway, 2), at_any_toll=False)

    def at_any_toll(self) -> None:
        """From the best so far, by any exchanges."""
        self._level(self.best.owner, self.effort.level(self.leeway), at_any_toll=True)

    def _level(self, owner: Ints, work: Work, *, at_any_toll: bool) -> None:
        holding = Holding(self.leeway, owner)
        level(holding, self.best.floor, self.price, work, at_any_toll=at_any_toll)
        self._keep(holding.owner)

    def _raise_floor(self) -> FlowPlan | None:
        """Raise the floor to the least cap under which all counts can be reached; the cheapest plan there."""
        plan = self._planned(self.best.floor)
        if plan is not None:
            return plan
        low, high = self.best.floor + 1, self.best.largest
        while low < high:
            middle = (low + high) // 2
            found = self._planned(middle)
            if found is None:
                low = middle + 1
            else:
                high, plan = middle, found
        self.best.floor = low
        return plan

    def _planned(self, cap: int) -> FlowPlan | None:
        capped = Capped(self.leeway, cap)
        narrowed = capped.narrowed({}, {})
        return None if narrowed is None else cheapest(narrowed, self.price.toll, capped.keep)

    def by_branching(self) -> None:
        """Decide the large partitions one by one until cheap exchanges do the rest."""
        if 2 * int(self.leeway.lag.max()) <= self.best.floor:
            return
        capped = Capped(self.leeway, self.best.floor)
        found = cheapest_under(
            capped, self.price, None, self.effort.dive(self.leeway), complete=False
        )
        if found.owner is not None:
            self._keep(found.owner)

    def from_tolls(self) -> None:
        """From the least cross-rack share, whatever moves."""
        self._forgetting(self.price.toll, at_any_toll=False)

    def from_lag(self) -> None:
        """From nothing but counts and lags."""
        self._forgetting(np.zeros_like(self.price.toll), at_any_toll=True)

    def _forgetting(self, toll: Ints, *, at_any_toll: bool) -> None:
        """Start as if nobody owned anything, which leaves the most choice."""
        nobody = replace(self.leeway, holder=np.full(self.leeway.partitions, NONE))
        plan = cheapest(nobody, toll)
        assert plan is not None, "the fairest counts can always be reached"
        holding = Holding(nobody, deal_by_lag(plan, nobody.lag, nobody.members))
        price, work = Price(nobody, toll), self.effort.level(nobody)
        level(holding, self.best.floor, price, work, at_any_toll=at_any_toll)
        self._keep(holding.owner)

    def by_search(self) -> None:
        """Search the islands that stand above the floor to the end, where they are small."""
        leeway = self.leeway
        while self.best.largest > self.best.floor:
            member = int(np.argmax(loads(leeway, self.best.owner)))
            island = int(leeway.island[member])
            mine = leeway.island_of == island
            few = np.count_nonzero(leeway.lag[mine]) <= _FEW
            if not few and not self.effort.complete:
                return
            work = None if self.effort.complete else self.effort.search()
            packed = pack(leeway, island, self.best.largest, self.best.floor, work)
            if packed.owner is not None:
                self._keep(np.where(mine, packed.owner, self.best.owner))
            if not packed.proven:
                return
            self.best.floor = max(self.best.floor, packed.largest)

    def _keep(self, owner: Ints) -> None:
        largest = int(loads(self.leeway, owner).max())
        if largest < self.best.largest:
            self.best.owner, self.best.largest = owner, largest
