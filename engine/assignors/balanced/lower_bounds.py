"""
What no assignment has less than: floors of the peak, of what crosses racks, and of moves; each a proof.

Of the peak:

* The mean; where subscriptions differ, of any set of partitions over the members that may own them, found as the cut of
  a maximum flow.
* A partition alone, on the member that can do most of those that may own it.
* Of the first j M + 1 largest partitions some member owns j + 1, and none can do more than the best (pigeonholes).
"""

from __future__ import annotations

import itertools
from math import floor

import numpy as np

from ...model.arrays import NONE, Flags, Ints
from ..flow.network import largest_flow
from .problem import Rules

_MOST_SITES = 6
"""Racks up to which all sets of them are looked at."""

_ROUNDING = 1e-9
"""What sums of shares may be off by."""


def peak_floor(rules: Rules) -> float:
    """
    What no assignment brings the utilization of the busiest member under.

    >>> from evenkeel.engine.assignors.interface import spec
    >>> from evenkeel.engine.assignors.balanced.problem import load_of
    >>> from evenkeel.engine.assignors.balanced.problem import problem_of
    >>> def floor(*rates, **known):
    ...     group = spec({"a": ["t"], "b": ["t"]}, {"t": len(rates)}, rates={"t": rates}, **known)
    ...     return peak_floor(load_of(group, problem_of(group)).rules)
    >>> floor(5, 4, 3), floor(8, 1), floor(3, 3, 3), floor(8, 1, capacities={"a": 10, "b": 20})
    (7.0, 8.0, 6.0, 0.4)
    """
    members = rules.members
    may = rules.may.reshape(-1, members)
    everyone = may.any(axis=0)
    best = np.where(may, rules.capacity, 0).max(axis=1)
    alone = float((rules.weight / best[rules.topic_class]).max())
    together = _together(rules.weight, int(everyone.sum())) / rules.capacity[everyone].max()
    return max(alone, float(together), _fullest(rules, may))


def _together(weight: Ints, members: int) -> int:
    """For each j from 1 on the smallest j + 1 of the first j M + 1."""
    descending = np.sort(weight)[::-1]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(descending)])
    j = np.arange(1, -(-len(weight) // members))
    last = j * members
    found = before[last + 1] - before[last - j]
    return int(found.max(initial=0))


def _fullest(rules: Rules, may: Flags) -> float:
    """The largest mean of any set of classes over the members that subscribe to one of them."""
    weight = np.zeros(len(may), np.int64)
    np.add.at(weight, rules.topic_class, rules.weight)
    fullest = float(weight.sum() / rules.capacity[may.any(axis=0)].sum())
    classes, members = may.shape
    of_pair, member = np.nonzero(may)
    source, everyone = classes + members, classes + np.arange(members)
    while len(may) > 1:
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


def crossing_toll(rules: Rules, owner: Ints) -> int:
    """What is read across racks."""
    crossing = rules.crosses[rules.pattern * rules.sites + rules.site[owner]]
    return int(rules.toll[crossing].sum())


def moved(rules: Rules, owner: Ints) -> int:
    """How many partitions their holders lose."""
    return int(((rules.holder != NONE) & (rules.holder != owner)).sum())


def cost_of_all(rules: Rules, owner: Ints) -> int:
    """Tolls and moves together."""
    return crossing_toll(rules, owner) + moved(rules, owner)


def least_tolls(rules: Rules) -> Ints:
    """(n) what reading each partition costs at least."""
    least: Ints = np.where(_always_crosses(rules), rules.toll, 0)
    return least


def least_toll_under(rules: Rules, cap: float) -> int:
    """
    What is read across racks at least, at what toll, while nobody is above *cap*.

    Of any set of racks: what is near to no others beyond what their members can take goes elsewhere, the cheapest for
    its weight first, as if partitions could be cut.
    """
    always = int(least_tolls(rules).sum())
    if rules.sites > _MOST_SITES or not rules.crosses.any():
        return always
    near = ~rules.crosses.reshape(-1, rules.sites)[rules.pattern]
    room = np.bincount(rules.site, weights=rules.capacity, minlength=rules.sites) * cap
    order = np.argsort(rules.toll / rules.weight, kind="stable")
    near, weight, toll = near[order], rules.weight[order], rules.toll[order]
    best = 0.0
    for chosen in itertools.product((False, True), repeat=rules.sites):
        racks = np.array(chosen)
        mine = near.any(axis=1) & ~near[:, ~racks].any(axis=1)
        before = np.cumsum(weight[mine]) - weight[mine]
        excess = float(weight[mine].sum() - room[racks].sum())
        share = np.clip((excess - before) / weight[mine], 0, 1)
        best = max(best, float((share * toll[mine]).sum()))
    return max(always, floor(best * (1 - _ROUNDING)))


def least_costs(rules: Rules) -> Ints:
    """(n) the same, and 1 where only another member than its holder reads it at that."""
    lost = (rules.holder != NONE) & holder_crosses(rules) & ~_always_crosses(rules)
    least: Ints = least_tolls(rules) + (lost & (rules.toll > 0))
    return least


def _always_crosses(rules: Rules) -> Flags:
    """(n) whether a partition is read across racks whoever of its subscribers owns it."""
    may = rules.may.reshape(-1, rules.members)
    sites = np.stack([may[:, rules.site == s].any(axis=1) for s in range(rules.sites)], axis=1)
    crosses = rules.crosses.reshape(-1, rules.sites)[rules.pattern]
    always: Flags = np.all(crosses | ~sites[rules.topic_class], axis=1)
    return always


def holder_crosses(rules: Rules) -> Flags:
    """(n) whether who has it now reads it across racks; of no account where nobody has."""
    holder = np.maximum(rules.holder, 0)
    crosses: Flags = rules.crosses[rules.pattern * rules.sites + rules.site[holder]]
    return crosses


def fewest_moves(rules: Rules, cap: float) -> int:
    """How many partitions change hands at least when nothing crosses racks that need not, and nobody is above *cap*."""
    lost = least_costs(rules) > least_tolls(rules)
    stays = np.flatnonzero((rules.holder != NONE) & ~lost)
    holder, weight = rules.holder[stays], rules.weight[stays]
    load = np.bincount(holder, weights=weight, minlength=len(rules.capacity))
    order = np.lexsort((-weight, holder))
    holder, weight = holder[order], weight[order]
    before = np.cumsum(weight) - weight
    first = np.concatenate([np.zeros(1, np.int64), np.cumsum(np.bincount(holder, minlength=1))])
    given = before - before[np.minimum(first[holder], max(len(before) - 1, 0))]
    return int(lost.sum()) + int(((load[holder] - given) / rules.capacity[holder] > cap).sum())
