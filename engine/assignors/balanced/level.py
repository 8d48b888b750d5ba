"""
Bringing the largest member lag down: exchanges from whoever has most, until the target or until none helps.

One partition for one, or for none where counts allow it; where that no longer helps, any of ten small partitions for
any of another member's ten. Where nothing helps either, the surplus is passed on to a member that may have better
partners. Cheap exchanges come first: those that cost nothing at all, then those without toll, then, if at all, those
of least toll.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from evenkeel.engine.assignors.balanced.chains import relieved
from evenkeel.engine.assignors.balanced.holding import Holding, Price
from evenkeel.engine.assignors.balanced.subsets import Exchange, Side, exchange
from evenkeel.engine.assignors.balanced.work import Work
from evenkeel.engine.model import Flags, Ints

_COLUMNS = 160
"""Partitions of the least loaded members that are looked at for a swap, at least."""

_SUBSET = 8
"""Partitions of each side whose subsets are looked at."""

_PARTNERS = 6
"""Members tried for an exchange of subsets: so many of the lightest, and of the heaviest."""

_CALL = 2_500
"""Elementary steps that any look at some pairs takes."""

_FAR = np.iinfo(np.int64).max


def swap_down(holding: Holding, target: int, price: Price, work: Work) -> bool:
    """As `level`, but with nothing but toll-free swaps and handovers: a quick look."""
    return _Levelling(holding, target, price, work).swap()


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


class _Swaps(NamedTuple):
    """
    Of each of *mine* for each of *theirs*, then for nothing from the rest of *owners*.

    Whether it helps, the larger load after it (the target at least), what it adds to the price, whole tolls of that.
    """

    mine: Ints
    theirs: Ints
    owners: Ints
    helps: Flags
    worst: Ints
    added: Ints
    toll: Ints
    least_toll: int


class _Levelling:
    def __init__(self, holding: Holding, target: int, price: Price, work: Work) -> None:
        self.holding, self.target, self.price, self.work = holding, target, price, work
        self.tolls = Price(price.leeway, price.toll, moves=False)
        self.lag = holding.leeway.lag

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

    def swap(self) -> bool:
        load = self.holding.load
        while len(load) and load.max() > self.target:
            most = int(np.argmax(load))
            swaps = self._swaps(most)
            if swaps is None:
                return False
            if not self._swap(most, swaps, swaps.added <= 0) and not self._swap(
                most, swaps, swaps.toll <= 0
            ):
                return False
        return True

    def _improve(self, member: int, at_any_toll: bool) -> bool:
        """Relieve a member at the least price that works."""
        swaps = self._swaps(member)
        if swaps is not None and self._swap(member, swaps, swaps.added <= 0):
            return True
        if self._recombine(member, 0, self.price):
            return True
        if swaps is not None and self._swap(member, swaps, swaps.toll <= 0):
            return True
        if self._recombine(member, 0, self.tolls) or self._rotate(member, self.tolls):
            return True
        if not at_any_toll:
            return False
        if swaps is not None and self._swap(member, swaps, swaps.toll <= swaps.least_toll):
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

    def _swaps(self, member: int) -> _Swaps | None:
        """What swapping any of a member's partitions with the least loaded members' would bring; None for nothing."""
        holding, lag, price = self.holding, self.lag, self.price
        others = self._partners(member)
        others = others[: int(np.searchsorted(np.cumsum(holding.count[others]), _COLUMNS)) + 1]
        mine = holding.held[member]
        theirs = np.concatenate([mine[:0], *(holding.held[m] for m in others.tolist())])
        owners = np.concatenate([holding.owner[theirs], others[holding.open_to(member)[others]]])
        if not len(owners) or not self.work.spend(_CALL + len(mine) * len(owners)):
            return None
        back = np.zeros(len(owners), np.int64)
        back[: len(theirs)] = lag[theirs]
        shift = lag[mine][:, None] - back[None, :]
        worst = np.maximum(holding.load[member] - shift, holding.load[owners][None, :] + shift)
        worst[~self._fits(member, mine, theirs, owners)] = _FAR
        added = price.of(mine[:, None], owners[None, :]) - price.of(mine, np.array(member))[:, None]
        returned = price.of(theirs, np.array(member)) - price.of(theirs, owners[: len(theirs)])
        added[:, : len(theirs)] += returned[None, :]
        helps = worst < holding.load[member]
        if not helps.any():
            return None
        toll = (added + 2) // price.of_a_toll  # a swap adds at most two moves, or takes two away
        least_toll = int(np.min(toll, where=helps, initial=_FAR))
        worst = np.maximum(worst, self.target)
        return _Swaps(mine, theirs, owners, helps, worst, added, toll, least_toll)

    def _fits(self, member: int, mine: Ints, theirs: Ints, owners: Ints) -> Flags:
        """(mine, owners) whether both sides may own what they get."""
        leeway = self.holding.leeway
        fits: Flags = leeway.may[leeway.realm[mine][:, None], owners[None, :]]
        fits[:, : len(theirs)] &= leeway.may[leeway.realm[theirs], member][None, :]
        return fits

    def _swap(self, member: int, swaps: _Swaps, among: Flags) -> bool:
        """Make the swap that leaves the two least loaded, of equal ones the cheapest; whether there is any."""
        among = among & swaps.helps
        if not among.any():
            return False
        worst = np.where(among, swaps.worst, _FAR)
        best = worst == worst.min()
        pick = int(np.argmin(np.where(best, swaps.added, _FAR)))
        row, column = divmod(pick, len(swaps.owners))
        taken = swaps.theirs[column : column + 1]  # nothing in return beyond the end
        self.holding.exchange(member, swaps.mine[row : row + 1], int(swaps.owners[column]), taken)
        return True

    def _recombine(self, member: int, limit: int, price: Price) -> bool:
        """Exchange subsets with one of the lightest members: the first where that is free, else the cheapest."""
        best: tuple[Exchange, int, Ints, Ints] | None = None
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
            found = self._exchange(member, other, (least, most), limit, price)
            if found is not None:
                best = found[0], other, *found[1:]
                if best[0].cost <= 0:
                    break
        if best is None:
            return False
        swap, other, mine, theirs = best
        self.holding.exchange(member, mine[swap.given], other, theirs[swap.taken])
        return True

    def _exchange(
        self, member: int, other: int, bounds: tuple[int, int], limit: int, price: Price
    ) -> tuple[Exchange, Ints, Ints] | None:
        mine = self._small(member, other, limit, price)
        if not len(mine[0]):
            return None
        theirs = self._small(other, member, limit, price)
        if not len(theirs[0]) or not self.work.spend(_CALL + (len(mine[0]) << len(theirs[0]))):
            return None
        gives, takes = Side(self.lag[mine[0]], mine[1]), Side(self.lag[theirs[0]], theirs[1])
        found = exchange(gives, takes, *bounds, limit)
        return None if found is None else (found, mine[0], theirs[0])

    def _small(self, member: int, other: int, limit: int, price: Price) -> tuple[Ints, Ints]:
        """Partitions of least lag that could go over, first those that add nothing to the price; what they add."""
        leeway, mine = self.holding.leeway, self.holding.held[member]
        mine = mine[leeway.may[leeway.realm[mine], other]]
        added = price.added(mine, member, other)
        if limit <= 0:
            mine, added = mine[added <= 0], added[added <= 0]
        order = np.lexsort((self.lag[mine], added > 0))[:_SUBSET]
        return mine[order], added[order]

    def _pass_on(self, member: int, passed: set[int]) -> bool:
        """Hand the surplus to a member that has not had it yet since the largest load last fell."""
        passed.add(member)
        load = self.holding.load
        for other in self._partners(member)[:_PARTNERS].tolist():
            if other in passed:
                continue
            excess = int(load[member]) - self.target
            found = self._exchange(
                member, other, (excess, int(load[member] - load[other])), 0, self.tolls
            )
            if found is not None:
                swap, mine, theirs = found
                self.holding.exchange(member, mine[swap.given], other, theirs[swap.taken])
                return True
        return False
