"""
The least sum of squares by halving: a maximum flow at the middle count parts members into those above and below.

Where no member may own more than k partitions, a maximum flow leaves over what must make some own more; the side of the
minimum cut towards the surplus holds members that own at least k in every optimum, the other side those that own at
most k. No partition crosses between the sides, so each is settled alone, down to ranges of one count and the next.
Each halving is one round of maximum flows over the whole graph; Fujishige's decomposition (1980) in whole numbers.
"""

from __future__ import annotations

import numpy as np

from evenkeel.engine.kit.flow import FlowNetwork, largest_flow
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
    supply: Ints, of_pair: Ints, subscriber: Ints, members: Ints, cap: int | Ints
) -> tuple[Flags, Flags]:
    """Which classes (K) and members (of *members*) are on the surplus side when all are capped, alike or each."""
    classes = np.unique(of_pair)
    last = len(classes) + len(members)
    source, sink = last, last + 1
    member = np.arange(len(classes), last)
    tail = (np.full(len(classes), source), np.searchsorted(classes, of_pair), member)
    head = (
        np.arange(len(classes)),
        len(classes) + np.searchsorted(members, subscriber),
        np.full(len(members), sink),
    )
    capacity = (supply[classes], supply[of_pair], np.broadcast_to(cap, len(members)))
    _, side = largest_flow(
        *(np.concatenate(parts) for parts in (tail, head, capacity)), source=source, sink=sink
    )
    above_class = np.zeros(len(supply), np.bool_)
    above_class[classes[side[: len(classes)]]] = True
    return above_class, side[len(classes) : source]


def _settled(supply: Ints, of_pair: Ints, subscriber: Ints, leaves: list[_Part]) -> Ints:
    """A flow in which each leaf's members own its lower count or one more."""
    classes, members = len(supply), int(subscriber.max()) + 1
    pairs = np.concatenate([leaf[0] for leaf in leaves])
    network = FlowNetwork(classes + members + len(leaves))
    network.supply[:classes] = supply
    span = network.add(of_pair[pairs], classes + subscriber[pairs], supply[of_pair[pairs]], 0)
    for number, (mine, who, low, high) in enumerate(leaves):
        pool = classes + members + number
        network.supply[classes + who] = -low
        network.supply[pool] = low * len(who) - int(supply[np.unique(of_pair[mine])].sum())
        network.add(classes + who, np.full(len(who), pool), high - low, 0)
    solved = network.cheapest()
    if solved is None:
        raise RuntimeError("no flow reaches the counts that the cuts allow")
    quota = np.zeros(len(subscriber), np.int64)
    quota[pairs] = solved[1][span]
    return quota
