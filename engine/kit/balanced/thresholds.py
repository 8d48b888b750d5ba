"""
The least sum of squares by halving: a maximum flow at the middle count parts members into those above and below.

Where no member may own more than k partitions, a maximum flow leaves over what must make some own more; the side of the
minimum cut towards the surplus holds members that own at least k in every optimum, the other side those that own at
most k. No partition crosses between the sides, so each is settled alone, down to ranges of one count and the next.
Each halving is one round of maximum flows over the whole graph; Fujishige's decomposition (1980) in whole numbers.
"""

from __future__ import annotations

import numpy as np

from evenkeel.engine.model import Flags, Ints

_Part = tuple[Ints, Ints, int, int]
"""Pairs and members of one side, and between which counts its members end up."""


def by_thresholds(supply: Ints, start: Ints, subscriber: Ints, counts: Ints) -> Ints:
    """
    The partitions each (class, subscriber) pair gets in an assignment with the least sum of squared counts.

    Args:
        supply: (K) partitions of each class.
        start, subscriber: Ragged, class -> subscribers.
        counts: (M) what members own in any assignment: the fairest has no larger and no smaller count.
    """
    of_pair = np.repeat(np.arange(len(supply)), np.diff(start))
    known = np.unique(subscriber)
    whole = np.arange(len(subscriber)), known
    open_parts: list[_Part] = [(*whole, int(counts[known].min()), int(counts[known].max()))]
    leaves: list[_Part] = []
    while open_parts:
        pairs, members, low, high = open_parts.pop()
        if high - low <= 1:
            leaves.append((pairs, members, low, high))
            continue
        middle = (low + high) // 2
        above_class, above = surplus(supply, of_pair[pairs], subscriber[pairs], members, middle)
        rich = above_class[of_pair[pairs]]
        poor = ~rich & ~np.isin(subscriber[pairs], members[above])
        sides = (
            (pairs[poor], members[~above], low, middle),
            (pairs[rich], members[above], middle, high),
        )
        open_parts += [side for side in sides if len(side[1])]
    return _settled(supply, of_pair, subscriber, leaves)


def surplus(
    supply: Ints, of_pair: Ints, subscriber: Ints, members: Ints, cap: int
) -> tuple[Flags, Flags]:
    """Which classes (K) and members (of *members*) are on the surplus side when all are capped."""
    from ortools.graph.python import max_flow

    classes = np.unique(of_pair)
    tail = np.searchsorted(classes, of_pair)
    head = len(classes) + np.searchsorted(members, subscriber)
    source = len(classes) + len(members)
    solver = max_flow.SimpleMaxFlow()
    for tails, heads, capacity in (
        (np.full(len(classes), source), np.arange(len(classes)), supply[classes]),
        (tail, head, supply[of_pair]),
        (
            len(classes) + np.arange(len(members)),
            np.full(len(members), source + 1),
            np.full(len(members), cap),
        ),
    ):
        solver.add_arcs_with_capacity(tails.astype(np.int32), heads.astype(np.int32), capacity)
    status = solver.solve(source, source + 1)
    if status != solver.OPTIMAL:
        raise RuntimeError(f"maximum flow failed with status {status}")
    side = np.zeros(source + 2, np.bool_)
    side[np.array(solver.get_source_side_min_cut(), np.int64)] = True
    above_class = np.zeros(len(supply), np.bool_)
    above_class[classes[side[: len(classes)]]] = True
    return above_class, side[len(classes) : source]


def _settled(supply: Ints, of_pair: Ints, subscriber: Ints, leaves: list[_Part]) -> Ints:
    """A flow in which each leaf's members own its lower count or one more."""
    from ortools.graph.python import min_cost_flow

    classes, members = len(supply), int(subscriber.max()) + 1
    pairs = np.concatenate([leaf[0] for leaf in leaves])
    demand = np.zeros(classes + members + len(leaves), np.int64)
    demand[:classes] = supply
    tails, heads = [of_pair[pairs]], [classes + subscriber[pairs]]
    capacity = [supply[of_pair[pairs]]]
    for number, (mine, who, low, high) in enumerate(leaves):
        demand[classes + who] = -low
        surplus = int(supply[np.unique(of_pair[mine])].sum()) - low * len(who)
        demand[classes + members + number] = -surplus
        tails.append(classes + who)
        heads.append(np.full(len(who), classes + members + number))
        capacity.append(np.full(len(who), high - low))
    solver = min_cost_flow.SimpleMinCostFlow()
    arcs = solver.add_arcs_with_capacity_and_unit_cost(
        np.concatenate(tails).astype(np.int32),
        np.concatenate(heads).astype(np.int32),
        np.concatenate(capacity).astype(np.int64),
        np.zeros(sum(map(len, tails)), np.int64),
    )
    solver.set_nodes_supplies(np.arange(len(demand), dtype=np.int32), demand)
    status = solver.solve()
    if status != solver.OPTIMAL:
        raise RuntimeError(f"minimum-cost flow failed with status {status}")
    quota = np.zeros(len(subscriber), np.int64)
    quota[pairs] = solver.flows(arcs[: len(pairs)])
    return quota
