"""
How low the utilisation of the busiest member could be at best: floors, each a proof.

* The mean; where subscriptions differ, of any set of partitions over the members that may own them, found as the cut of
  a maximum flow.
* A partition alone, on the member that can do most of those that may own it.
* Of the first j M + 1 largest partitions some member owns j + 1, and none can do more than the best (pigeonholes).
"""

from __future__ import annotations

import numpy as np

from evenkeel.engine.assignors.balanced.load import Load, Rules
from evenkeel.engine.assignors.balanced.problem import Problem
from evenkeel.engine.kit.flow import largest_flow
from evenkeel.engine.model import Flags, Floats, Ints


def peak_floor(problem: Problem, load: Load) -> float:
    """
    What no assignment brings the utilisation of the busiest member under.

    >>> from evenkeel.engine.assignor import spec
    >>> from evenkeel.engine.assignors.balanced.load import load_of
    >>> from evenkeel.engine.assignors.balanced.problem import problem_of
    >>> def floor(*rates, **known):
    ...     group = spec({"a": ["t"], "b": ["t"]}, {"t": len(rates)}, rates={"t": rates}, **known)
    ...     return peak_floor(problem_of(group), load_of(group, problem_of(group)))
    >>> floor(5, 4, 3), floor(8, 1), floor(3, 3, 3), floor(8, 1, capacities={"a": 10, "b": 20})
    (7.0, 8.0, 6.0, 0.4)
    """
    rules = load.rules
    best = np.zeros(problem.classes)
    of_pair = np.repeat(np.arange(problem.classes), np.diff(problem.start))
    np.maximum.at(best, of_pair, rules.capacity[problem.subscriber])
    alone = float((rules.weight / best[rules.topic_class]).max())
    everyone = np.unique(problem.subscriber)
    together = _together(rules.weight, len(everyone)) / rules.capacity[everyone].max()
    return max(alone, float(together), _fullest(problem, rules, of_pair, everyone))


def _together(weight: Ints, members: int) -> int:
    """For each j from 1 on the smallest j + 1 of the first j M + 1."""
    descending = np.sort(weight)[::-1]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(descending)])
    j = np.arange(1, -(-len(weight) // members))
    last = j * members
    found = before[last + 1] - before[last - j]
    return int(found.max(initial=0))


def _fullest(problem: Problem, rules: Rules, of_pair: Ints, everyone: Ints) -> float:
    """The largest mean of any set of classes over the members that subscribe to one of them."""
    weight = np.zeros(problem.classes, np.int64)
    np.add.at(weight, rules.topic_class, rules.weight)
    capacity: Floats = rules.capacity
    fullest = float(weight.sum() / capacity[everyone].sum())
    may = rules.may.reshape(problem.classes, problem.members)
    while problem.classes > 1:
        caps = np.minimum(np.ceil(fullest * capacity[everyone]), weight.sum()).astype(np.int64)
        above = _surplus(problem, weight, of_pair, everyone, caps)
        if not above.any():
            break
        mean = float(weight[above].sum() / capacity[may[above].any(axis=0)].sum())
        if mean <= fullest:
            break
        fullest = mean
    return fullest


def _surplus(problem: Problem, weight: Ints, of_pair: Ints, everyone: Ints, caps: Ints) -> Flags:
    """(K) which classes are on the surplus side of the smallest cut when members take no more than *caps*."""
    classes = np.arange(problem.classes)
    member = problem.classes + np.searchsorted(everyone, problem.subscriber)
    takers = problem.classes + np.arange(len(everyone))
    source = problem.classes + len(everyone)
    parts = (
        (np.full(len(classes), source), classes, weight),
        (of_pair, member, weight[of_pair]),
        (takers, np.full(len(takers), source + 1), caps),
    )
    tail, head, most = (np.concatenate(column) for column in zip(*parts, strict=True))
    _, near_source = largest_flow(tail, head, most, source=source, sink=source + 1)
    return near_source[: problem.classes]
