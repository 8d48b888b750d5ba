"""The criteria of `balanced` where arrivals are known: peak utilisation, bytes across racks, moves; then idle ones."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from evenkeel.engine.assignors.balanced.costs import (
    cost_of_all,
    crossing_toll,
    fewest_moves,
    least_costs,
    least_toll_under,
    least_tolls,
    moved,
)
from evenkeel.engine.assignors.balanced.load import Load, Rules, loads_of, peak_of
from evenkeel.engine.assignors.balanced.peaks import peak_floor
from evenkeel.engine.assignors.balanced.placing import Places, placed_by_load
from evenkeel.engine.assignors.balanced.problem import Problem
from evenkeel.engine.assignors.balanced.proof import LoadProof
from evenkeel.engine.assignors.balanced.relief import relieved
from evenkeel.engine.assignors.balanced.saving import cheapened
from evenkeel.engine.assignors.balanced.solve import COMPLETE, solve
from evenkeel.engine.assignors.balanced.trying import tried
from evenkeel.engine.assignors.balanced.work import ASKED
from evenkeel.engine.kit.compiled import at_work
from evenkeel.engine.model import NONE, Flags, Floats, Ints, ragged_entries

NEAR_ENOUGH = 0.01
"""A peak above its floor by no more than this share of it counts as least, where not all assignments are tried."""

_FEW = 20
"""Partitions up to which some work goes into trying all assignments."""


_SLICE = 200_000
"""Steps of relief after which it is asked again whether compiled code would pay."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Answer:
    """An assignment (n), its peak, what no peak is below, and whether nothing is better."""

    owner: Ints
    peak: float
    floor: float
    proven: bool = False


def solve_by_load(problem: Problem, load: Load, steps: int) -> tuple[Ints, LoadProof]:
    """(N) who owns what, as places in the problem's order of members, and what is proven of it."""
    if load.alike:
        return _by_counts(problem, load, steps)
    answer = _busy(problem, load, steps)
    owner = np.full(problem.partitions, NONE, np.int64)
    owner[load.partition] = answer.owner
    idle_moves = 0
    if len(load.idle):
        owner, idle_moves = _with_idle(problem, load, owner, steps)
    return owner, _proof(problem, load, answer, idle_moves)


def _by_counts(problem: Problem, load: Load, steps: int) -> tuple[Ints, LoadProof]:
    """Where all loads and capacities are equal, the fairest counts are a way to the least peak, and nobody is idle."""
    owner, proof = solve(replace(problem, lag=None), steps)
    answer = _Answer(owner=owner, peak=peak_of(load.rules, owner), floor=0.0, proven=True)
    return owner, replace(
        _proof(problem, load, answer, 0), moves=proof.moves, moves_floor=proof.moves
    )


def _busy(problem: Problem, load: Load, steps: int) -> _Answer:
    """
    The partitions with arrivals.

    From where they are, and from there without what crosses racks, until nobody is too busy; else from the heaviest on.
    Nobody gets busier than the busiest is now.
    """
    rules, floor = load.rules, peak_floor(problem, load)
    choices = rules.may.reshape(problem.classes, -1).sum(axis=1)[rules.topic_class]
    complete = float(np.log2(choices).sum()) <= np.log2(COMPLETE)
    target = floor if complete else floor * (1 + NEAR_ENOUGH)
    search = _Search(rules, steps, np.lexsort((-rules.toll, -rules.weight)))
    held, near = rules.holder != NONE, _near(rules)
    if held.all():
        target = min(target, max(floor, peak_of(rules, rules.holder)))
    starts = [search.lowered(search.kept(near), target, near=True)]
    if held.all() and not near.all() and not _clean(rules, starts[0].owner, target):
        starts.append(search.lowered(search.kept(held), target, near=True))
    if min(peak_of(rules, places.owner) for places in starts) > target:
        starts.append(search.lowered(Places.empty(rules), target, near=False))
    cap = max(target, min(peak_of(rules, places.owner) for places in starts))
    owners = [search.saved(places, cap) for places in starts if peak_of(rules, places.owner) <= cap]
    owner = min(owners, key=lambda each: cost_of_all(rules, each))
    answer = _Answer(owner=owner, peak=peak_of(rules, owner), floor=floor)
    if complete or (answer.peak > target and len(rules.weight) <= _FEW):
        answer = search.try_all(answer, complete=complete)
    return answer


class _Search:
    """The loops over one group, in the form that suits the work."""

    def __init__(self, rules: Rules, steps: int, order: Ints) -> None:
        self.rules, self.steps, self.order = rules, steps, order
        self.members, self.partitions = len(rules.capacity), len(rules.weight)
        self.work = steps * (1_000 + 3 * self.partitions) // 3_000

    @cached_property
    def lists(self) -> Rules:
        """The rules for the interpreter."""
        return self.rules.lists()

    def kept(self, mine: Flags) -> Places:
        """Holders have some of what they hold (n); the rest is nobody's."""
        places = Places.empty(self.rules)
        keep(places, self.rules, np.flatnonzero(mine))
        return places

    def lowered(self, places: Places, target: float, *, near: bool) -> Places:
        """Deal out what nobody owns, then relieve the busiest down to *target*."""
        steps = int((places.owner == NONE).sum()) * self.members
        self._run(placed_by_load, steps, places, self.order, near)
        left, steps = self.work, self.partitions * 12
        while left >= 0:
            share = min(left, _SLICE)
            unspent = self._run(relieved, steps, places, target, share)
            if unspent >= 0:
                break
            left, steps = left - share + unspent, _SLICE
        return places

    def saved(self, places: Places, cap: float) -> Ints:
        """The owners once what costs more than it must under *cap* is taken back."""
        order = np.lexsort((-self.rules.weight, -self.rules.toll))
        each = self.members + self.partitions // self.members
        steps = min(self.work, int((places.owner != self.rules.holder).sum()) * each)
        self._run(cheapened, steps, places, cap, order, self.work)
        return places.owner

    def _run(self, loop: Any, steps: int, places: Places, *others: object) -> Any:
        run: Any = at_work(loop, steps, ASKED)
        if run is not loop:
            return run(self.rules, places, *others)
        lists = places.lists()
        plain = (o.tolist() if isinstance(o, np.ndarray) else o for o in others)
        result = run(self.lists, lists, *plain)
        places.refill(lists)
        return result

    def try_all(self, answer: _Answer, *, complete: bool) -> _Answer:
        """A better one, if there is any: proven unless the work runs out."""
        rules, owner = self.rules, answer.owner.copy()
        cost = cost_of_all(rules, owner)
        rest = least_costs(rules)[self.order]
        rest = np.concatenate([np.cumsum(rest[::-1])[::-1], np.zeros(1, np.int64)])
        if answer.peak <= answer.floor and cost <= rest[0]:
            return replace(answer, proven=True)
        left = 1 << 40 if complete else self.steps // 25
        run = at_work(tried, min(left, 4 * COMPLETE), ASKED)
        if run is not tried:
            peak, _, left = run(rules, self.order, rest, answer.peak, cost, owner, left)
        else:
            lists = [self.order.tolist(), rest.tolist(), owner.tolist()]
            order, rest_list, owners = lists
            peak, _, left = run(self.lists, order, rest_list, answer.peak, cost, owners, left)
            owner = np.array(owners, np.int64)
        return _Answer(owner=owner, peak=peak, floor=answer.floor, proven=left >= 0)


def _near(rules: Rules) -> Flags:
    """(n) what has a holder that does not read it across racks."""
    crosses = rules.crosses[rules.pattern * rules.sites + rules.site[np.maximum(rules.holder, 0)]]
    near: Flags = (rules.holder != NONE) & ~(crosses & (rules.toll > 0))
    return near


def _clean(rules: Rules, owner: Ints, target: float) -> bool:
    """Whether nobody is above *target*, and nothing crosses racks that need not."""
    least = int(least_tolls(rules).sum())
    return peak_of(rules, owner) <= target and crossing_toll(rules, owner) == least


def keep(places: Places, rules: Rules, kept: Ints) -> None:
    """Let holders have the partitions *kept*, of places that are empty."""
    owner = rules.holder[kept]
    kept, owner = (values[np.argsort(owner, kind="stable")] for values in (kept, owner))
    places.owner[kept] = owner
    places.load[:] = loads_of(rules, places.owner)
    places.owns[:] = np.bincount(owner, minlength=len(places.owns))
    same = owner[1:] == owner[:-1]
    places.after[kept[:-1][same]] = kept[1:][same]
    places.before[kept[1:][same]] = kept[:-1][same]
    begins = np.ones(len(kept), np.bool_)
    begins[1:] = ~same
    places.first[owner[begins]] = kept[begins]


def _with_idle(problem: Problem, load: Load, owner: Ints, steps: int) -> tuple[Ints, int]:
    """Deal the idle partitions out so that counts are fairest, with the fewest moves; and how many of them move."""
    taken, alone = np.unique(owner[load.partition], return_inverse=True)
    open_classes, of_idle = np.unique(problem.topic_class[load.idle], return_inverse=True)
    topic_class = np.empty(problem.partitions, np.int64)
    topic_class[load.idle], topic_class[load.partition] = of_idle, len(open_classes) + alone
    start, at = ragged_entries(problem.start, open_classes)
    holder = np.full(problem.partitions, NONE, np.int64)
    holder[load.idle] = problem.holder[load.idle]
    nothing = np.zeros((1, 1), np.bool_)
    fixed = replace(
        problem,
        topic_class=topic_class,
        start=np.concatenate([start, start[-1] + 1 + np.arange(len(taken))]),
        subscriber=np.concatenate([problem.subscriber[at], taken]),
        lag=None,
        holder=holder,
        forced_moves=0,
        site=np.zeros(problem.members, np.int64),
        pattern=np.zeros(problem.partitions, np.int64),
        crosses=nothing,
        known=nothing,
    )
    places, proof = solve(fixed, steps)
    return places, proof.moves


def _proof(problem: Problem, load: Load, answer: _Answer, idle_moves: int) -> LoadProof:
    rules, owner = load.rules, answer.owner
    toll, moves = crossing_toll(rules, owner), moved(rules, owner)
    least_toll, least_moves = least_toll_under(rules, answer.peak), fewest_moves(rules, answer.peak)
    if answer.proven:
        least_toll, least_moves = toll, moves
    volume: Floats = np.array([toll, least_toll]) / load.of_a_toll * load.toll_unit
    others = problem.forced_moves + idle_moves
    return LoadProof(
        peak=answer.peak,
        peak_floor=answer.peak if answer.proven else min(answer.floor, answer.peak),
        capacities_known=load.capacities_known,
        crossing=float(volume[0]),
        crossing_floor=float(volume[1]),
        sizes_known=load.sizes_known,
        racked=bool(rules.crosses.any()),
        moves=moves + others,
        moves_floor=least_moves + others if toll == least_toll else None,
        guessed=load.guessed,
    )
