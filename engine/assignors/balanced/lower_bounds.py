"""
What no assignment has less than: floors of the peak, of what crosses racks, and of moves; each a proof.

Of the peak:

* The mean; where subscriptions differ, of any set of partitions over the members that may own them, found as the cut of
  a maximum flow.
* A partition alone, on the member that can do most of those that may own it.
* Of the first j M + 1 largest partitions some member owns j + 1, and none can do more than the best (pigeonholes).
"""

from __future__ import annotations

from math import floor
from typing import Any

import numpy as np

from ..flow.network import largest_flow
from ..kit.kernels import kernel
from .loads import Rules
from .places import totals

_MOST_SITES = 6
"""Racks up to which all sets of them are looked at."""

_ROUNDING = 1e-9
"""What sums of shares may be off by."""


@kernel
def largest_piece(rules: Any, order: Any) -> tuple[float, float]:
    """
    Of a partition alone, and of each j + 1 of the first j M + 1 largest, what the best member has with them.

    Beside it the peak now.
    """
    weight, capacity, may = rules.weight, rules.capacity, rules.may
    members = len(capacity)
    best, able, most, largest = [0.0] * (len(may) // members), 0, 0.0, 0.0
    for m in range(members):
        knows = False
        for k in range(len(best)):
            if may[k * members + m]:
                knows = True
                best[k] = max(best[k], capacity[m])
        if knows:
            able += 1
            most = max(most, capacity[m])
    before = [0] * (len(order) + 1)
    for place in range(len(order)):
        p = order[place]
        largest = max(largest, weight[p] / best[rules.topic_class[p]])
        before[place + 1] = before[place] + weight[p]
    j = 1
    while j * able < len(order):
        together = before[j * able + 1] - before[j * able - j]
        largest = max(largest, together / most)
        j += 1
    return largest, totals(rules, rules.holder)[0]


def fullest(rules: Rules) -> float:
    """
    The largest mean of any set of classes over the members that subscribe to one of them.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> from evenkeel.engine.assignors.balanced.loads import weighed
    >>> from evenkeel.engine.assignors.balanced.problem import problems_of
    >>> def floors(*rates, **known):
    ...     group = spec({"a": ["t"], "b": ["t"]}, {"t": len(rates)}, rates={"t": rates}, **known)
    ...     rules = weighed(group, problems_of(group))[0].rules
    ...     return fullest(rules), float(largest_piece(rules, np.argsort(-rules.weight))[0])
    >>> floors(5, 4, 3), floors(8, 1), floors(3, 3, 3), floors(8, 1, capacities={"a": 10, "b": 20})
    ((6.0, 7.0), (4.5, 8.0), (4.5, 6.0), (0.3, 0.4))
    """
    may = rules.may.reshape(-1, rules.members)
    if len(may) == 1:
        return float(rules.weight.sum() / rules.capacity[may[0]].sum())
    weight = np.zeros(len(may), np.int64)
    np.add.at(weight, rules.topic_class, rules.weight)
    fullest = float(weight.sum() / rules.capacity[may.any(axis=0)].sum())
    classes, members = may.shape
    of_pair, member = np.nonzero(may)
    source, everyone = classes + members, classes + np.arange(members)
    while True:
        caps = np.minimum(np.ceil(fullest * rules.capacity), weight.sum()).astype(np.int64)
        # which classes are on the surplus side of the smallest cut when members take no more than that
        tail = np.concatenate([np.full(classes, source), of_pair, everyone])
        head = np.concatenate([np.arange(classes), classes + member, np.full(members, source + 1)])
        most = np.concatenate([weight, weight[of_pair], caps])
        above = largest_flow(tail, head, most, source=source, sink=source + 1)[1][:classes]
        if not above.any():
            break
        mean = float(weight[above].sum() / rules.capacity[may[above].any(axis=0)].sum())
        if mean <= fullest:
            break
        fullest = mean
    return fullest


@kernel
def reached(rules: Any) -> Any:
    """(K x sites) whether a member of each rack subscribes to the class."""
    members, sites = len(rules.capacity), rules.sites
    sees = [False] * (len(rules.may) // members * sites)
    for place in range(len(rules.may)):
        if rules.may[place]:
            sees[place // members * sites + rules.site[place % members]] = True
    return sees


@kernel
def least_cost(rules: Any, sees: Any, p: int) -> int:
    """What a partition costs at least: its toll, or 1 where only another member than its holder reads it without."""
    toll, holder, at = rules.toll[p], rules.holder[p], rules.pattern[p] * rules.sites
    row = rules.topic_class[p] * rules.sites
    if toll == 0:
        return 0
    for s in range(rules.sites):
        if sees[row + s] and not rules.crosses[at + s]:
            return 1 if holder >= 0 and rules.crosses[at + rules.site[holder]] else 0
    return int(toll)


@kernel
def least_costs(rules: Any, least: Any) -> int:
    """Fill (n) with what each partition costs at least; what they cost together without moves."""
    sees, tolls = reached(rules), 0
    for p in range(len(least)):
        least[p] = least_cost(rules, sees, p)
        if least[p] > 1:
            tolls += least[p]
    return tolls


@kernel
def least_under(rules: Any, cap: float, order: Any) -> tuple[int, int]:
    """
    The least toll of all partitions, and how many change hands at least at that while nobody is above *cap*.

    Args:
        rules, cap: The group.
        order: (n) partitions, the heaviest first.
    """
    sees, load, stays = reached(rules), [0] * len(rules.capacity), [False] * len(order)
    toll, moves = 0, 0
    for p in order:
        least, holder = least_cost(rules, sees, p), rules.holder[p]
        if least > 1:
            toll += least
        if least == 1:
            moves += 1
        elif holder >= 0:
            stays[p] = True
            load[holder] += rules.weight[p]
    for p in order:  # who has too much gives up its heaviest
        holder = rules.holder[p]
        if stays[p] and load[holder] / rules.capacity[holder] > cap:
            moves += 1
            load[holder] -= rules.weight[p]
    return toll, moves


def least_toll_under(rules: Rules, crowded: int, cap: float, always: int) -> int:
    """
    What is read across racks at least, at what toll, while nobody is above *cap*.

    Of any set of racks: what is near to no others beyond what their members can take goes elsewhere, the cheapest for
    its weight first, as if partitions could be cut.

    Args:
        rules, cap: The group.
        crowded: The sets, as `overfull_sets` finds them.
        always: The least without a cap.
    """
    if not crowded:
        return always
    near = ~rules.crosses.reshape(-1, rules.sites)[rules.pattern]
    room = np.bincount(rules.site, weights=rules.capacity, minlength=rules.sites) * cap
    order = np.argsort(rules.toll / rules.weight, kind="stable")
    near, weight, toll = near[order], rules.weight[order], rules.toll[order]
    best = 0.0
    for chosen in (each for each in range(1, 1 << rules.sites) if crowded >> each - 1 & 1):
        racks = (chosen >> np.arange(rules.sites) & 1).astype(np.bool_)
        mine = near.any(axis=1) & ~near[:, ~racks].any(axis=1)
        before = np.cumsum(weight[mine]) - weight[mine]
        excess = float(weight[mine].sum() - room[racks].sum())
        share = np.clip((excess - before) / weight[mine], 0, 1)
        best = max(best, float((share * toll[mine]).sum()))
    return max(always, floor(best * (1 - _ROUNDING)))


@kernel
def overfull_sets(rules: Any, cap: float) -> int:  # noqa: C901  one pass
    """
    Sets of racks that are near to more than their members can take under *cap*; none where there are many racks.

    Each set is a number with a bit for each site, the first site's lowest; set n is bit n - 1 of what is returned.
    """
    sites, some = rules.sites, False
    for place in range(len(rules.crosses)):
        some = some or rules.crosses[place]
    if sites > _MOST_SITES or not some:
        return 0
    room, near, weight = [0.0] * sites, [0] * (len(rules.crosses) // sites), [0] * (1 << sites)
    for m in range(len(rules.capacity)):
        room[rules.site[m]] += rules.capacity[m]
    for place in range(len(rules.crosses)):
        if not rules.crosses[place]:
            near[place // sites] |= 1 << (place % sites)
    for p in range(len(rules.weight)):
        weight[near[rules.pattern[p]]] += rules.weight[p]
    found = 0
    for chosen in range(1, 1 << sites):
        mine, able = 0, 0.0
        for these in range(1, chosen + 1):
            if these & ~chosen == 0:
                mine += weight[these]
        for s in range(sites):
            if chosen >> s & 1:
                able += room[s] * cap
        if mine > able:
            found |= 1 << (chosen - 1)
    return found
