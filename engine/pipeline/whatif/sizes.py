"""
How many members a group needs, and how many have something to do, under one strategy.

The strategy is asked about the group with ever more members, as it would rebalance from what it is after the changes:
to be fewer, those leave that are last by name; to be more, members join that are like the others. A number of members
keeps up when nobody gets more than he can do. What has something to do is seen where there are as many members as
partitions.

Cost: a run of the strategy for each number that is tried, on `BUDGET` partitions and members in all at most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...assignors.interface import Assignor
from ...assignors.promises.ask import NoAnswer
from ...config import Settings
from ...model.assignments import Assignment
from ...model.errors import Infeasible
from ...model.facts import Fact, reason
from ..replay import settled_of
from .changed_group import SeenGroup, Supposed, suppose
from .changes import Change, Joins, Leaves, last_by_name, new_names
from .outcome import busy

BUDGET = 200_000
"""Partitions and members that a strategy is asked about, over all numbers of members that are tried."""

BUDGET_OF_PLANS = BUDGET // 10
"""The same for a plan, whose rule goes by names."""


@dataclass(frozen=True, kw_only=True)
class Sizes:
    """
    Numbers of members under one strategy.

    Attributes:
        fewest: The smallest that keeps up; None where there is none, or it is not known.
        enough: The smallest that is known to keep up, though fewer may; None where there is none.
        keeps_up: Whether there is one; None where that is not known.
        why: Why no smaller one does, or why there is none, or why that is not known.
        most: The largest of which nobody is idle; None where it is not known.
    """

    fewest: int | None
    enough: int | None
    keeps_up: bool | None
    why: tuple[Fact, ...]
    most: int | None


def sizes_of(
    settings: Settings,
    seen: SeenGroup,
    changes: tuple[Change, ...],
    strategy: Assignor,
    budget: int = BUDGET,
) -> Sizes:
    """
    Args:
        settings: The configuration.
        seen: The group as it is.
        changes: What else is different.
        strategy: Who assigns.
        budget: How much may be looked at, see `BUDGET`.
    """
    search = _Search(settings, seen, changes, strategy, budget)
    try:
        return search.sizes()
    except (Infeasible, NoAnswer) as problem:
        why = reason("refused", quote=problem.message)
        return Sizes(fewest=None, enough=None, keeps_up=None, why=(why,), most=None)


@dataclass
class _Search:
    """One strategy, asked about a group of any number of members; *left* is what is left of the budget."""

    settings: Settings
    seen: SeenGroup
    changes: tuple[Change, ...]
    strategy: Assignor
    left: int

    def __post_init__(self) -> None:
        self.base = suppose(self.seen, self.changes)
        self.partitions = int(self.base.group.partitions.assignable.sum())

    def sizes(self) -> Sizes:
        """What there is to say; first how many have something to do, since more need not be tried."""
        members = len(self.base.group.members)
        largest = max(members, self.partitions)
        if not self._affords(largest):
            too_large = reason("too_large_to_try", after=largest, partitions=self.partitions)
            return Sizes(fewest=None, enough=None, keeps_up=None, why=(too_large,), most=None)
        most = busy(self._settled(self._with(largest)))
        count, why = self._least()
        unsure: tuple[Fact, ...] = ()
        while count <= max(most, 1):
            if not self._affords(count):
                unsure = unsure or (reason("tried_in_vain", after=count - 1),)
                break
            supposed = self._with(count)
            owner = supposed.owners(self._settled(supposed).owner)
            verdict = supposed.condition.keeps_up(owner)
            if verdict and unsure:
                return Sizes(fewest=None, enough=count, keeps_up=True, why=unsure, most=most)
            if verdict:
                return Sizes(fewest=count, enough=count, keeps_up=True, why=why, most=most)
            why = tuple(supposed.condition.why_not(owner))
            unsure = unsure or (why if verdict is None else ())
            count += 1
        keeps_up = None if unsure else False
        return Sizes(fewest=None, enough=None, keeps_up=keeps_up, why=unsure or why, most=most)

    def _affords(self, members: int) -> bool:
        """Whether so many members may be tried; from then on that is spent."""
        self.left -= self.partitions + members
        return self.left >= 0

    def _with(self, count: int) -> Supposed:
        """The group with so many members."""
        members, coming = self.base.group.members, self.base.layout.coming
        fewer = len(members) - count
        if fewer <= 0:
            joins = tuple(Joins(member=name) for name in new_names(members, -fewer))
            return suppose(self.seen, (*self.changes, *joins))
        new = [member for member in members if member.id in coming][::-1]
        old = [member for member in members if member.id not in coming]
        going = [*new, *last_by_name(old, len(old))][:fewer]
        leaves = tuple(Leaves(member=member.id, picked=True) for member in going)
        return suppose(self.seen, (*self.changes, *leaves))

    def _settled(self, supposed: Supposed) -> Assignment:
        coming = supposed.layout.coming
        group, measured = supposed.group, supposed.measured
        return settled_of(self.settings, group, measured, self.strategy, coming).assignment

    def _least(self) -> tuple[int, tuple[Fact, ...]]:
        """A number below which nobody needs to look, and why."""
        condition = self.base.condition
        total = float(condition.arrivals[condition.counted].sum())
        if np.isnan(total) or np.isnan(condition.firm).any():
            return 1, ()
        best = np.sort(condition.firm)[::-1]
        together = np.cumsum(np.append(best, np.full(self.partitions, condition.peers_firm)))
        least = int(np.searchsorted(together, total)) + 1
        if least == 1:
            return 1, ()
        least = min(least, len(together))
        sum_of_best = float(together[least - 2])
        return least, (
            reason("best_do_too_little", before=least - 1, after=total, bound=sum_of_best),
        )
