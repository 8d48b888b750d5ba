"""
The criteria of `balanced` one after another, each under what the ones before it left open; then what is idle.

What is proven of an answer is one fact for each criterion, in their order.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ...model.arrays import NONE, Ints, starts_of
from ...model.facts import Fact, FactKind
from ..kit.kernels import ENDLESS, Tally, at_work, steps_until_compiled
from .criteria import ROOMS, Found, Limits, Starts, answered_all
from .even import evened
from .loads import LoadProblem, Rules
from .lower_bounds import fullest, least_toll_under
from .places import Places
from .problem import Problem

ASKED = Tally()
"""What this process has asked of the loops; only their form depends on it, never an answer."""

COMPLETE = 5_000
"""With no more assignments than this, all are tried."""


def solve(
    problems: Sequence[Problem], loads: Sequence[LoadProblem], steps: int
) -> list[tuple[Ints, Found, int]]:
    """
    Of each group (N) who owns what, as places in its order of members; what comes of it; and how many idle ones move.

    Args:
        problems, loads: The groups.
        steps: Elementary steps of search for each.
    """
    owner = np.concatenate(
        [
            # numbers of partitions are as even as can be before anything else
            evened(problem, load.partition, np.zeros(problem.members, np.int64), racks=True)
            if load.rules.even
            else load.rules.holder
            for problem, load in zip(problems, loads, strict=True)
        ]
    )
    found = _searched([load.rules for load in loads], _limits(loads), owner, steps)
    cuts = pairwise(starts_of([len(load.partition) for load in loads]).tolist())
    rows = zip(problems, loads, cuts, map(Found, *(each.tolist() for each in found)), strict=True)
    return [_whole(problem, load, owner[a:b], one) for problem, load, (a, b), one in rows]


def _whole(
    problem: Problem, load: LoadProblem, owner: Ints, found: Found
) -> tuple[Ints, Found, int]:
    """That of one group, with what is left to the end; *owner* (n) is that of what is weighed."""
    if found.crowded:
        cap = max(found.peak, load.enough)
        least = least_toll_under(load.rules, found.crowded, cap, found.least_toll)
        found = found._replace(least_toll=least)
    if not len(load.idle):
        return owner, found, 0
    places = np.full(problem.partitions, NONE, np.int64)
    places[load.partition] = owner
    beside = np.bincount(owner, minlength=problem.members)
    places[load.idle] = evened(problem, load.idle, beside, racks=False)
    held = problem.holder[load.idle]
    return places, found, int(((held != NONE) & (held != places[load.idle])).sum())


def _limits(loads: Sequence[LoadProblem]) -> Limits:
    """What the search of each group goes by."""
    limits = Limits(
        mean=np.zeros(len(loads)),
        enough=np.array([load.enough for load in loads], np.float64),
        complete=np.zeros(len(loads), np.bool_),
        counts_decide=np.ones(len(loads), np.bool_),
    )
    for number, load in enumerate(loads):
        rules = load.rules
        if not rules.even or (rules.weight != rules.weight[:1]).any():
            limits.mean[number], limits.complete[number] = fullest(rules), _complete(rules)
            limits.counts_decide[number] = False
    return limits


def _complete(rules: Rules) -> bool:
    """Whether all assignments can be tried."""
    choices = rules.may.reshape(-1, rules.members).sum(axis=1)
    if len(rules.weight) >= COMPLETE.bit_length() and choices.min() > 1:
        return False
    ways = float(np.log2(choices[rules.topic_class]).sum())
    return ways <= float(np.log2(COMPLETE))


def _searched(rules: Sequence[Rules], limits: Limits, owner: Ints, steps: int) -> Found:
    """
    Go through the criteria in each group, in the form that suits the work.

    Args:
        rules, limits: The groups.
        owner: (n) where the partitions of all groups start; changed to who gets them.
        steps: Elementary steps for each group.
    """
    columns: dict[str, Any] = dict(zip(Rules._fields, zip(*rules, strict=True), strict=True))
    joined: dict[str, Any] = {
        name: np.array(each) if name in ("sites", "even") else np.concatenate(each)
        for name, each in columns.items()
    }
    every = Rules(**joined)
    partitions, members, may, crosses = (
        starts_of(list(map(len, columns[name])))
        for name in ("weight", "capacity", "may", "crosses")
    )
    sizes = np.diff(partitions)
    of = np.arange(len(rules)).repeat(sizes)
    heaviest, dearest = (
        np.lexsort((-second, -first, of)) - partitions[of]
        for first, second in ((every.weight, every.toll), (every.toll, every.weight))
    )
    largest = max(int(sizes.max()), int(np.diff(members).max()))
    rooms = Places(*np.zeros((len(Places._fields), ROOMS * largest), np.int64))
    floats, ints = np.zeros((2, len(rules))), np.zeros((6, len(rules)), np.int64)
    bounds, found = Starts(partitions, members, may, crosses), Found(*floats, *ints)
    begin, ahead = 0, 12 * len(owner)
    while begin < len(rules):
        run = at_work(answered_all, ahead, ASKED)
        given = (every, limits, bounds, heaviest, dearest), rooms, owner, found
        patience = ENDLESS
        if run is answered_all:
            given, patience = _lists(given), steps_until_compiled(run, ASKED)
        begin, ahead = run(*given, begin, (steps, patience))
        if run is answered_all:
            for array, values in zip((owner, *found), (given[-2], *given[-1]), strict=True):
                array[:] = values
    ASKED.add(ahead)
    return found


def _lists(value: Any) -> Any:
    """The same for the interpreter, which walks lists faster than arrays."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    if not isinstance(value, tuple):
        return value
    values = map(_lists, value)
    return type(value)(*values) if hasattr(value, "_fields") else tuple(values)


def proof(
    problem: Problem, load: LoadProblem, places: Ints, answer: Found, idle_moves: int
) -> tuple[Fact, ...]:
    """
    Of each criterion that it is exact, or its floor, or that nothing is proven; then what was taken as the usual.

    A floor is what no assignment equal in all criteria before has less than. *places* and what follows are what `solve`
    gives.
    """
    rules, least_toll = load.rules, answer.least_toll
    by_counts = load.peak == "largest_member_lag"
    counts = Fact(kind=FactKind.EXACT, measure="partition_counts")
    proven = answer.proven and answer.peak >= load.enough
    floor = answer.peak if proven else min(answer.floor, answer.peak)
    peak = _claim(load.peak, answer.peak, floor)
    claims = [counts, load.lagless or peak] if by_counts else [peak]
    if rules.crosses.any():
        unit = 1
        if by_counts:
            unit = max(int(problem.known[rules.pattern, rules.site[places]].sum()), 1)
        toll, least = (
            float(part) / load.of_a_toll * load.toll_unit / unit
            for part in (answer.toll, least_toll)
        )
        claims.append(_claim(load.crossing, toll, least))
    others = problem.forced_moves + idle_moves
    fewest = answer.least_moves + others if answer.toll == least_toll else None
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
