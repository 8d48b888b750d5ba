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
from .even import evened
from .lower_bounds import (
    holder_crosses,
    least_costs,
    least_toll_under,
    least_under,
    peak_floor,
)
from .places import Places, placed_tightly, take_over, totals, tried
from .problem import ASKED, LoadProblem, Loops, Problem, loads_of
from .relief import cheapened, lowered, relieved

NEAR_ENOUGH = 0.01
"""A peak above its floor by no more than this share of it counts as least, where not all assignments are tried."""

COMPLETE = 5_000
"""With no more assignments than this, all are tried."""

_FEW = 20
"""Partitions up to which some work goes into trying all assignments."""

_SLICE = 200_000
"""Steps of relief after which it is asked again whether compiled code would pay."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Solution:
    """
    What came of what is weighed.

    Attributes:
        owner: (n) who owns it.
        peak, toll, moves: The peak, what is read across racks, and how many partitions change hands.
        floor: What no peak is below.
        least: Toll and moves that there are at least.
        proven: Whether nothing is better.
    """

    owner: Ints
    peak: float
    toll: int
    moves: int
    floor: float
    least: tuple[int, int]
    proven: bool = False


def solve(problem: Problem, load: LoadProblem, steps: int) -> tuple[Ints, Solution, int]:
    """(N) who owns what, as places in the problem's order of members; the answer; and how many idle ones move."""
    answer = _evenly(problem, load, steps) if load.rules.even else _by_weight(load, steps)
    if not len(load.idle):
        return answer.owner, answer, 0
    owner = np.full(problem.partitions, NONE, np.int64)
    owner[load.partition] = answer.owner
    beside = np.bincount(answer.owner, minlength=problem.members)
    owner[load.idle] = evened(problem, load.idle, beside, racks=False)
    held = problem.holder[load.idle]
    return owner, answer, int(((held != NONE) & (held != owner[load.idle])).sum())


def _evenly(problem: Problem, load: LoadProblem, steps: int) -> Solution:
    """Numbers of partitions are as even as can be before anything else."""
    rules = load.rules
    owner = evened(problem, load.partition, np.zeros(problem.members, np.int64), racks=True)
    if (rules.weight == rules.weight[:1]).all():
        loops = Loops.at_work(rules, totals, len(owner))
        peak, toll, moves = loops.run(totals, loops.given(owner))
        least, peak = (toll, moves), float(peak)
        return Solution(
            owner=owner, peak=peak, toll=toll, moves=moves, floor=peak, least=least, proven=True
        )
    search = _Search(load, steps)
    answer = search.best([search.lowered(owner, search.target, near=True)])
    return answer if answer.proven else replace(answer, least=search.totals(owner)[1:])


def _by_weight(load: LoadProblem, steps: int) -> Solution:
    """
    The partitions with arrivals.

    From where they are, and from there without what crosses racks, until nobody is too busy; else from the heaviest on.
    Nobody gets busier than the busiest is now, or than is enough.
    """
    rules, search = load.rules, _Search(load, steps)
    held, near, clean = bool((rules.holder != NONE).all()), rules.holder, True
    if rules.crosses.any():
        dear = (near != NONE) & holder_crosses(rules) & (rules.toll > 0)
        near, clean = np.where(dear, NONE, near), not dear.any()
    if held:
        search.target = min(search.target, float(max(search.least, search.now)))
    target = search.target
    starts = [search.lowered(near, target, near=True)]
    if held and not clean and not search.clean(starts[0]):
        starts.append(search.lowered(rules.holder, target, near=True))
    if load.enough and min(start.peak for start in starts) > target:
        starts += search.packed(target)
    if min(start.peak for start in starts) > target:
        starts.append(search.lowered(np.full(len(near), NONE), target, near=False))
    answer = search.best(starts)
    return answer if answer.proven else replace(answer, least=search.least_under(answer.peak))


@dataclass(slots=True, eq=False)
class _Start:
    """Where everything is, and what that comes to."""

    places: Places
    found: tuple[float, int, int]

    @property
    def peak(self) -> float:
        """The peak."""
        return self.found[0]

    @property
    def cost(self) -> int:
        """Tolls and moves together."""
        return self.found[1] + self.found[2]


class _Search:
    """The loops over one group, in the form that suits the work."""

    def __init__(self, load: LoadProblem, steps: int) -> None:
        rules = self.rules = load.rules
        self.steps, self.enough = steps, float(load.enough)
        self.members, self.partitions = rules.members, len(rules.weight)
        self.loops = Loops.at_work(rules, lowered, self.partitions * 12)
        self.order = np.lexsort((-rules.toll, -rules.weight))
        self.work = steps * (1_000 + 3 * self.partitions) // 3_000
        self.complete = self._complete()
        least, self.now = peak_floor(rules, self.loops, self.loops.given(self.order))
        self.floor = ceil(least) if rules.even else least  # lags are whole
        self.least = max(self.floor, load.enough)
        exact = self.complete or rules.even or load.enough >= self.floor
        # a float in any case: loops are compiled for each type they get
        self.target = float(self.least if exact else self.least * (1 + NEAR_ENOUGH))

    def _complete(self) -> bool:
        """Whether all assignments can be tried."""
        choices = self.rules.may.reshape(-1, self.members).sum(axis=1)
        if self.partitions >= COMPLETE.bit_length() and choices.min() > 1:
            return False
        ways = float(np.log2(choices[self.rules.topic_class]).sum())
        return ways <= float(np.log2(COMPLETE))

    def totals(self, owner: Any) -> tuple[float, int, int]:
        """Peak, toll and moves of owners (n), given in any form."""
        peak, toll, moves = self.loops.run(totals, self.loops.given(owner))
        return float(peak), int(toll), int(moves)

    def clean(self, start: _Start) -> bool:
        """Whether nobody is above the target, and nothing crosses racks that need not."""
        return start.peak <= self.target and start.found[1] == self._least[0]

    @cached_property
    def _least(self) -> tuple[int, Ints]:
        """What all partitions cost at least without moves, and (n) each with them."""
        least = self.loops.blank(self.partitions)
        tolls = int(self.loops.run(least_costs, least))
        return tolls, np.array(least, np.int64)

    def least_under(self, peak: float) -> tuple[int, int]:
        """Toll and moves that there are at least while nobody is above a peak, or what is enough."""
        cap = max(peak, self.enough)
        toll, moves = self.loops.run(least_under, cap, self.loops.given(self.order))
        return least_toll_under(self.rules, self.loops, cap, int(toll)), int(moves)

    def lowered(self, owner: Ints, target: float, *, near: bool) -> _Start:
        """Deal out what nobody owns (n), then relieve the busiest down to *target*."""
        loops, left = self.loops, self.work
        places, owners, order = self._places(), loops.given(owner), loops.given(self.order)
        share = left if loops.fast else min(left, _SLICE)
        unspent, found = loops.run(lowered, places, owners, order, near, target, share)
        while True:
            ASKED.add(share - unspent)
            left += unspent - share
            if unspent >= 0 or left < 0:
                return _Start(places, found)
            self.loops = Loops.at_work(self.rules, lowered, 0, self.loops)
            places, share = self._places(places), left if self.loops.fast else min(left, _SLICE)
            unspent = self.loops.run(relieved, places, target, share)
            found = self.totals(places.owner)

    def _places(self, places: Places | None = None) -> Places:
        """Room for what comes of it; or what came of it, in the form that is used now."""
        members, partitions = self.members, self.partitions
        if places is not None and isinstance(places.owner, list) is not self.loops.fast:
            return places
        if places is not None:
            return Places(*(self.loops.given(each) for each in places))
        lengths = partitions, members, members, members, partitions, partitions
        return Places(*(self.loops.blank(length) for length in lengths))

    def packed(self, cap: float) -> list[_Start]:
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
            places = self._places()
            self.loops.run(take_over, places, self.loops.given(owner))
            ASKED.add(int((owner == NONE).sum()) * self.members)
            if self.loops.run(placed_tightly, places, self.loops.given(self.order), cap):
                return [_Start(places, self.totals(places.owner))]
            if freed.all():
                return []
            count = min(2 * count + 1, self.members)

    def best(self, starts: list[_Start]) -> Solution:
        """The cheapest of least peak: what costs more than it must is taken back, and a few assignments all tried."""
        cap = max(self.target, min(start.peak for start in starts))
        low = [self._saved(start, cap) for start in starts if start.peak <= cap]
        chosen = min(low, key=lambda start: start.cost)
        answer = self._solution(chosen.places.owner, chosen.found, proven=False)
        if self.complete or (answer.peak > self.target and self.partitions <= _FEW):
            return self._try_all(answer)
        return answer

    def _solution(self, owner: Any, found: tuple[float, int, int], *, proven: bool) -> Solution:
        """A solution with owners (n) in any form, and what they come to."""
        peak, toll, moves = found
        return Solution(
            owner=np.array(owner, np.int64),
            peak=float(peak),
            toll=int(toll),
            moves=int(moves),
            floor=self.floor,
            least=(int(toll), int(moves)),
            proven=proven,
        )

    def _saved(self, start: _Start, cap: float) -> _Start:
        """The same once what costs more than it must under *cap* is taken back."""
        if not start.cost:
            return start
        order = self.loops.given(np.lexsort((-self.rules.weight, -self.rules.toll)))
        places = self._places(start.places)
        left, found = self.loops.run(cheapened, places, cap, order, self.work)
        ASKED.add(self.work - left)
        return _Start(places, found)

    def _try_all(self, answer: Solution) -> Solution:
        """A better one, if there is any: proven unless the work runs out."""
        cost, rules = answer.toll + answer.moves, self.rules
        rest = np.cumsum(self._least[1][self.order][::-1])[::-1]
        if answer.peak <= self.least and cost <= rest[0]:
            return replace(answer, proven=True)
        owns = np.bincount(answer.owner, minlength=self.members)
        squares = int((owns * owns).sum()) if rules.even else self.partitions**2
        work = 1 << 40 if self.complete else self.steps // 25
        given, owner = self.loops.given, self.loops.given(answer.owner)
        orders = given(self.order), given(np.append(rest, 0))
        start = squares, self.enough, max(answer.peak, self.enough), cost
        _, _, left = self.loops.run(tried, *orders, *start, owner, work)
        ASKED.add(work - left)
        return self._solution(owner, self.totals(owner), proven=left >= 0)


def proof(
    problem: Problem, load: LoadProblem, answer: Solution, idle_moves: int
) -> tuple[Fact, ...]:
    """
    Of each criterion that it is exact, or its floor, or that nothing is proven; then what was taken as the usual.

    A floor is what no assignment equal in all criteria before has less than.
    """
    rules, (least_toll, least_moves) = load.rules, answer.least
    by_counts = load.peak == "largest_member_lag"
    counts = Fact(kind=FactKind.EXACT, measure="partition_counts")
    proven = answer.proven and answer.peak >= load.enough
    floor = answer.peak if proven else min(answer.floor, answer.peak)
    peak = _claim(load.peak, answer.peak, floor)
    claims = [counts, load.lagless or peak] if by_counts else [peak]
    if rules.crosses.any():
        unit = 1
        if by_counts:
            unit = max(int(problem.known[rules.pattern, rules.site[answer.owner]].sum()), 1)
        toll, least = (
            float(part) / load.of_a_toll * load.toll_unit / unit
            for part in (answer.toll, least_toll)
        )
        claims.append(_claim(load.crossing, toll, least))
    others = problem.forced_moves + idle_moves
    fewest = least_moves + others if answer.toll == least_toll else None
    claims.append(_claim("moves", answer.moves + others, fewest))
    if load.guessed:
        claims.append(Fact(kind=FactKind.REMARK, measure="unknown_rates", partitions=load.guessed))
    if load.behind:
        claims.append(Fact(kind=FactKind.REMARK, measure="backlog_counted", partitions=load.behind))
    return tuple(claims)


def _claim(measure: str, after: float, floor: float | None) -> Fact:
    """
    >>> _claim("moves", 14, 12).kind.value, _claim("moves", 12, 12).kind.value, _claim("moves", 12, None).kind.value
    ('within', 'exact', 'not proven')
    """
    kind = FactKind.EXACT if after == floor else FactKind.WITHIN
    if floor is None:
        kind = FactKind.NOT_PROVEN
    return Fact(kind=kind, measure=measure, after=after, bound=floor)
