"""
The criteria of `balanced` one after another, each under what the ones before it left open; then what is idle.

What is proven of an answer is one fact for each criterion, in their order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np

from ...model.arrays import NONE, Ints
from ...model.facts import Fact, FactKind
from ..kit.kernels import Tally, at_work
from .even import evened
from .lower_bounds import (
    cost_of_all,
    crossing_toll,
    fewest_moves,
    holder_crosses,
    least_costs,
    least_toll_under,
    least_tolls,
    moved,
    peak_floor,
)
from .places import Places, placed_by_load, placed_tightly, tried
from .problem import LoadProblem, Problem, Rules, loads_of, peak_of
from .relief import cheapened, relieved

NEAR_ENOUGH = 0.01
"""A peak above its floor by no more than this share of it counts as least, where not all assignments are tried."""

COMPLETE = 5_000
"""With no more assignments than this, all are tried."""

_FEW = 20
"""Partitions up to which some work goes into trying all assignments."""

_SLICE = 200_000
"""Steps of relief after which it is asked again whether compiled code would pay."""

_ASKED = Tally()
"""What this process has asked of the loops; only their form depends on it, never an answer."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """
    What came of what is weighed.

    Attributes:
        owner: (n) who owns it.
        peak, floor: The peak, and what no peak is below.
        least: What crosses and moves at least, where numbers of partitions come first; else None.
        proven: Whether nothing is better.
    """

    owner: Ints
    peak: float
    floor: float
    least: int | None = None
    proven: bool = False


def solve(problem: Problem, load: LoadProblem, steps: int) -> tuple[Ints, Solution, int]:
    """(N) who owns what, as places in the problem's order of members; the answer; and how many idle ones move."""
    answer = _evenly(problem, load, steps) if load.rules.even else _by_weight(load, steps)
    owner = np.full(problem.partitions, NONE, np.int64)
    owner[load.partition] = answer.owner
    idle_moves = 0
    if len(load.idle):
        beside = np.bincount(answer.owner, minlength=problem.members)
        owner[load.idle] = evened(problem, load.idle, beside, racks=False)
        held = problem.holder[load.idle]
        idle_moves = int(((held != NONE) & (held != owner[load.idle])).sum())
    return owner, answer, idle_moves


def _evenly(problem: Problem, load: LoadProblem, steps: int) -> Solution:
    """Numbers of partitions are as even as can be before anything else."""
    rules = load.rules
    owner = evened(problem, load.partition, np.zeros(problem.members, np.int64), racks=True)
    if (rules.weight == rules.weight[:1]).all():
        peak = peak_of(rules, owner)
        return Solution(owner=owner, peak=peak, floor=peak, proven=True)
    search = _Search(load, steps)
    answer = search.best([search.lowered(owner, search.target, near=True)])
    return replace(answer, least=cost_of_all(rules, owner))


def _by_weight(load: LoadProblem, steps: int) -> Solution:
    """
    The partitions with arrivals.

    From where they are, and from there without what crosses racks, until nobody is too busy; else from the heaviest on.
    Nobody gets busier than the busiest is now, or than is enough.
    """
    rules, search = load.rules, _Search(load, steps)
    held, target = rules.holder != NONE, search.target
    near = held & ~(holder_crosses(rules) & (rules.toll > 0))
    if held.all():
        target = search.target = min(target, max(search.least, peak_of(rules, rules.holder)))
    starts = [search.lowered(np.where(near, rules.holder, NONE), target, near=True)]
    if held.all() and not near.all() and not _clean(rules, starts[0].owner, target):
        starts.append(search.lowered(rules.holder, target, near=True))
    if load.enough and min(peak_of(rules, places.owner) for places in starts) > target:
        starts += search.packed(target)
    if min(peak_of(rules, places.owner) for places in starts) > target:
        starts.append(search.lowered(np.full(len(held), NONE), target, near=False))
    return search.best(starts)


class _Search:
    """The loops over one group, in the form that suits the work."""

    def __init__(self, load: LoadProblem, steps: int) -> None:
        rules = self.rules = load.rules
        self.steps, self.enough = steps, load.enough
        self.order = np.lexsort((-rules.toll, -rules.weight))
        self.members, self.partitions = rules.members, len(rules.weight)
        self.work = steps * (1_000 + 3 * self.partitions) // 3_000
        choices = rules.may.reshape(-1, self.members).sum(axis=1)[rules.topic_class]
        self.complete = float(np.log2(choices).sum()) <= np.log2(COMPLETE)
        self.floor = ceil(peak_floor(rules)) if rules.even else peak_floor(rules)  # lags are whole
        self.least = max(self.floor, load.enough)
        exact = self.complete or rules.even or load.enough >= self.floor
        self.target = self.least if exact else self.least * (1 + NEAR_ENOUGH)

    @cached_property
    def lists(self) -> Rules:
        """The rules for the interpreter."""
        return self.rules.lists()

    def lowered(self, owner: Ints, target: float, *, near: bool) -> Places:
        """Deal out what nobody owns (n), then relieve the busiest down to *target*."""
        places = Places.of(self.rules, owner)
        steps = int((owner == NONE).sum()) * self.members
        self._run(placed_by_load, steps, places, self.order, near)
        left, steps = self.work, self.partitions * 12
        while left >= 0:
            share = min(left, _SLICE)
            unspent = self._run(relieved, steps, places, target, share)
            if unspent >= 0:
                break
            left, steps = left - share + unspent, _SLICE
        return places

    def packed(self, cap: float) -> list[Places]:
        """
        Everybody within *cap*, by dealing out anew what the busy own, and as few of the idlest as will do.

        Nothing where even all of it, the heaviest first, does not fit.
        """
        rules, count = self.rules, 0
        share = loads_of(rules, rules.holder) / rules.capacity
        busy, calm = share > cap, np.argsort(share, kind="stable")
        freed = busy.copy()
        while True:
            freed[calm[:count]] = True
            owner = np.where((rules.holder != NONE) & ~freed[rules.holder], rules.holder, NONE)
            places = Places.of(rules, owner)
            steps = int((owner == NONE).sum()) * self.members
            if self._run(placed_tightly, steps, places, self.order, cap):
                return [places]
            if freed.all():
                return []
            count = min(2 * count + 1, self.members)

    def best(self, starts: list[Places]) -> Solution:
        """The cheapest of least peak: what costs more than it must is taken back, and a few assignments all tried."""
        rules = self.rules
        cap = max(self.target, min(peak_of(rules, places.owner) for places in starts))
        low = [places for places in starts if peak_of(rules, places.owner) <= cap]
        owner = min((self._saved(each, cap) for each in low), key=lambda o: cost_of_all(rules, o))
        answer = Solution(owner=owner, peak=peak_of(rules, owner), floor=self.floor)
        if self.complete or (answer.peak > self.target and self.partitions <= _FEW):
            return self._try_all(answer)
        return answer

    def _saved(self, places: Places, cap: float) -> Ints:
        """The owners once what costs more than it must under *cap* is taken back."""
        order = np.lexsort((-self.rules.weight, -self.rules.toll))
        each = self.members + self.partitions // self.members
        steps = min(self.work, int((places.owner != self.rules.holder).sum()) * each)
        self._run(cheapened, steps, places, cap, order, self.work)
        return places.owner

    def _run(self, loop: Any, steps: int, places: Places, *others: object) -> Any:
        run: Any = at_work(loop, steps, _ASKED)
        if run is not loop:
            return run(self.rules, places, *others)
        lists = places.lists()
        plain = (o.tolist() if isinstance(o, np.ndarray) else o for o in others)
        result = run(self.lists, lists, *plain)
        places.refill(lists)
        return result

    def _try_all(self, answer: Solution) -> Solution:
        """A better one, if there is any: proven unless the work runs out."""
        rules, owner = self.rules, answer.owner.copy()
        cost = cost_of_all(rules, owner)
        rest = least_costs(rules)[self.order]
        rest = np.concatenate([np.cumsum(rest[::-1])[::-1], np.zeros(1, np.int64)])
        if answer.peak <= self.least and cost <= rest[0]:
            return replace(answer, proven=True)
        owns = np.bincount(owner, minlength=self.members)
        squares = int((owns * owns).sum()) if rules.even else self.partitions**2
        left = 1 << 40 if self.complete else self.steps // 25
        run: Any = at_work(tried, min(left, 4 * COMPLETE), _ASKED)
        arrays: list[Any] = [self.order, rest, owner]
        if run is tried:
            arrays = [array.tolist() for array in arrays]
            rules = self.lists
        start = self.enough, max(answer.peak, self.enough)
        _, _, left = run(rules, *arrays[:2], squares, *start, cost, arrays[2], left)
        owner = np.array(arrays[2], np.int64)
        peak = peak_of(self.rules, owner)
        return Solution(owner=owner, peak=peak, floor=answer.floor, proven=left >= 0)


def _clean(rules: Rules, owner: Ints, target: float) -> bool:
    """Whether nobody is above *target*, and nothing crosses racks that need not."""
    least = int(least_tolls(rules).sum())
    return peak_of(rules, owner) <= target and crossing_toll(rules, owner) == least


def proof(
    problem: Problem, load: LoadProblem, answer: Solution, idle_moves: int
) -> tuple[Fact, ...]:
    """
    Of each criterion that it is exact, or its floor, or that nothing is proven; then what was taken as the usual.

    A floor is what no assignment equal in all criteria before has less than.
    """
    rules, owner = load.rules, answer.owner
    toll, moves = crossing_toll(rules, owner), moved(rules, owner)
    cap = max(answer.peak, load.enough)
    if answer.proven:
        least_toll, least_moves = toll, moves
    elif answer.least is not None:
        least_toll, least_moves = divmod(answer.least, load.of_a_toll)
        least_toll *= load.of_a_toll
    else:
        least_toll = least_toll_under(rules, cap)
        least_moves = fewest_moves(rules, cap)
    by_counts = load.peak == "largest_member_lag"
    counts = Fact(kind=FactKind.EXACT, measure="partition_counts")
    proven = answer.proven and answer.peak >= load.enough
    floor = answer.peak if proven else min(answer.floor, answer.peak)
    peak = _claim(load.peak, answer.peak, floor)
    parts = np.array([toll, least_toll]) / load.of_a_toll * load.toll_unit
    if by_counts:
        parts /= max(int(problem.known[rules.pattern, rules.site[owner]].sum()), 1)
    crossing = _claim(load.crossing, float(parts[0]), float(parts[1]))
    others = problem.forced_moves + idle_moves
    fewest = least_moves + others if toll == least_toll else None
    guessed = Fact(kind=FactKind.REMARK, measure="unknown_rates", partitions=load.guessed)
    behind = Fact(kind=FactKind.REMARK, measure="backlog_counted", partitions=load.behind)
    return (
        *([counts, problem.lagless or peak] if by_counts else [peak]),
        *([crossing] if rules.crosses.any() else []),
        _claim("moves", moves + others, fewest),
        *([guessed] if load.guessed else []),
        *([behind] if load.behind else []),
    )


def _claim(measure: str, after: float, floor: float | None) -> Fact:
    """
    >>> _claim("moves", 14, 12).kind.value, _claim("moves", 12, 12).kind.value, _claim("moves", 12, None).kind.value
    ('within', 'exact', 'not proven')
    """
    kind = FactKind.EXACT if after == floor else FactKind.WITHIN
    if floor is None:
        kind = FactKind.NOT_PROVEN
    return Fact(kind=kind, measure=measure, after=after, bound=floor)
