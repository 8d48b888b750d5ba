"""What is proven of an answer: one fact for each criterion, in their order."""

from __future__ import annotations

import numpy as np

from ...model.facts import Fact, FactKind
from .floors import crossing_toll, fewest_moves, least_toll_under, moved
from .load import LoadProblem
from .problem import Problem
from .search import Solution


def proof(
    problem: Problem, load: LoadProblem, answer: Solution, idle_moves: int
) -> tuple[Fact, ...]:
    """
    Of each criterion that it is exact, or its floor, or that nothing is proven; then what was taken as the usual.

    A floor is what no assignment equal in all criteria before has less than.
    """
    rules, owner = load.rules, answer.owner
    toll, moves = crossing_toll(rules, owner), moved(rules, owner)
    if answer.proven:
        least_toll, least_moves = toll, moves
    elif answer.least is not None:
        least_toll, least_moves = divmod(answer.least, load.of_a_toll)
        least_toll *= load.of_a_toll
    else:
        least_toll = least_toll_under(rules, answer.peak)
        least_moves = fewest_moves(rules, answer.peak)
    by_counts = load.peak == "largest_member_lag"
    counts = Fact(kind=FactKind.EXACT, measure="partition_counts")
    floor = answer.peak if answer.proven else min(answer.floor, answer.peak)
    peak = _claim(load.peak, answer.peak, floor)
    parts = np.array([toll, least_toll]) / load.of_a_toll * load.toll_unit
    if by_counts:
        parts /= max(int(problem.known[rules.pattern, rules.site[owner]].sum()), 1)
    crossing = _claim(load.crossing, float(parts[0]), float(parts[1]))
    others = problem.forced_moves + idle_moves
    fewest = least_moves + others if toll == least_toll else None
    guessed = Fact(kind=FactKind.REMARK, measure="unknown_rates", partitions=load.guessed)
    return (
        *([counts, problem.lagless or peak] if by_counts else [peak]),
        *([crossing] if rules.crosses.any() else []),
        _claim("moves", moves + others, fewest),
        *([guessed] if load.guessed else []),
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
