"""
Bringing the largest member lag down: exchanges from whoever has most, until the target or until none helps.

One partition for one, or for none where counts allow it; where that no longer helps, any of ten small partitions for
any of another member's ten. Where nothing helps either, the surplus is passed on to a member that may have better
partners. Cheap exchanges come first: those that cost nothing at all, then those without toll, then, if at all, those
of least toll.
"""

from __future__ import annotations

import numpy as np

from evenkeel.engine.assignors.balanced.chains import relieved
from evenkeel.engine.assignors.balanced.holding import Holding, Price
from evenkeel.engine.assignors.balanced.swaps import Exchange, Swap, Swaps
from evenkeel.engine.assignors.balanced.work import Work
from evenkeel.engine.model import NONE, Ints

_PARTNERS = 6
"""Members tried for an exchange of subsets: so many of the lightest, and of the heaviest."""

_FAR = np.iinfo(np.int64).max


def swap_down(holding: Holding, target: int, price: Price, work: Work) -> bool:
    """As `level`, but with nothing but toll-free swaps and handovers: a quick look."""
    return Swaps(holding, price).down(target, work)


def level(holding: Holding, target: int, price: Price, work: Work, *, at_any_toll: bool) -> bool:
    """
    Lower the largest load towards *target*; whether it got there.

    Args:
        holding: Changed in place.
        target: Loads up to this are fine.
        price: What partitions cost where.
        work: What it may take.
        at_any_toll: Whether exchanges may add to the tolls.
    """
    return _Levelling(holding, target, price, work).run(at_any_toll)


class _Levelling:
    def __init__(self, holding: Holding, target: int, price: Price, work: Work) -> None:
        self.holding, self.target, self.price, self.work = holding, target, price, work
        self.tolls = Price(price.leeway, price.toll, moves=False)
        self.lag = holding.leeway.lag
        self.swaps = Swaps(holding, price)

    def run(self, at_any_toll: bool) -> bool:
        load = self.holding.load
        passed: set[int] = set()
        while len(load):
            most = int(np.argmax(load))
            before = int(load[most])
            if before <= self.target:
                break
            if self._improve(most, at_any_toll):
                if load.max() < before:
                    passed.clear()
            elif not self._pass_on(most, passed):
                return False
        return True

    def _improve(self, member: int, at_any_toll: bool) -> bool:
        """Relieve a member at the least price that works."""
        free, without_toll, least_toll = self.swaps.best(member, self.target, self.work)
        if self._swap(member, free):
            return True
        if self._recombine(member, 0, self.price):
            return True
        if self._swap(member, without_toll):
            return True
        if self._recombine(member, 0, self.tolls) or self._rotate(member, self.tolls):
            return True
        if not at_any_toll:
            return False
        if self._swap(member, least_toll):
            return True
        return self._recombine(member, _FAR, self.tolls) or self._rotate(member, None)

    def _rotate(self, member: int, tolls: Price | None) -> bool:
        """Rotate a chain that brings the member to the target, or at least down."""
        load = int(self.holding.load[member])
        return any(
            relieved(self.holding, member, limit, tolls, self.work)
            for limit in sorted({self.target, (self.target + load) // 2, load - 1})
        )

    def _partners(self, member: int) -> Ints:
        """Members that could relieve *member*, the least loaded first."""
        island, load = self.holding.leeway.island, self.holding.load
        others = np.flatnonzero((island == island[member]) & (load < load[member] - 1))
        return others[np.argsort(load[others], kind="stable")]

    def _swap(self, member: int, swap: Swap) -> bool:
        """Make a swap, unless there is none."""
        given, other, taken = swap
        if given == NONE:
            return False
        back = [] if taken == NONE else [taken]
        self.holding.exchange(member, np.array([given]), other, np.array(back, np.int64))
        return True

    def _recombine(self, member: int, limit: int, price: Price) -> bool:
        """Exchange subsets with one of the lightest members: the first where that is free, else the cheapest."""
        best: tuple[Exchange, int] | None = None
        load = self.holding.load
        others, few = self._partners(member), _PARTNERS if price is self.tolls else _PARTNERS // 3
        if len(others) > 2 * few:  # the lightest have room, the heaviest may hold what fits
            others = np.concatenate([others[:few], others[-few:]])
        for other in others.tolist():
            excess, room = int(load[member]) - self.target, self.target - int(load[other])
            least, most = (excess, room) if room >= excess else (1, room)
            if most < least:  # both above the target: meet halfway
                least, most = 1, int(load[member] - load[other]) - 1
            if best is not None:
                limit = best[0].cost - 1
            cheapest = self.swaps.between(
                member, other, (least, most), limit, moves=price.moves, work=self.work
            )
            if cheapest is not None:
                best = cheapest, other
                if cheapest.cost <= 0:
                    break
        if best is None:
            return False
        self.holding.exchange(member, best[0].given, best[1], best[0].taken)
        return True

    def _pass_on(self, member: int, passed: set[int]) -> bool:
        """Hand the surplus to a member that has not had it yet since the largest load last fell."""
        passed.add(member)
        load = self.holding.load
        for other in self._partners(member)[:_PARTNERS].tolist():
            if other in passed:
                continue
            excess = int(load[member]) - self.target
            bounds = excess, int(load[member] - load[other])
            found = self.swaps.between(member, other, bounds, 0, moves=False, work=self.work)
            if found is not None:
                self.holding.exchange(member, found.given, other, found.taken)
                return True
        return False
