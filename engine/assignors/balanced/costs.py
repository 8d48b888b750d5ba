"""What reading across racks and moving cost: of an assignment by arrivals, and at least of any."""

from __future__ import annotations

import itertools
from math import floor

import numpy as np

from evenkeel.engine.assignors.balanced.load import Rules
from evenkeel.engine.model import NONE, Flags, Ints

_MOST_SITES = 6
"""Racks up to which all sets of them are looked at."""

_ROUNDING = 1e-9
"""What sums of shares may be off by."""


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
    lost = (rules.holder != NONE) & _holder_crosses(rules) & ~_always_crosses(rules)
    least: Ints = least_tolls(rules) + (lost & (rules.toll > 0))
    return least


def _always_crosses(rules: Rules) -> Flags:
    """(n) whether a partition is read across racks whoever of its subscribers owns it."""
    classes = len(rules.may) // len(rules.capacity)
    may = rules.may.reshape(classes, -1)
    sites = np.zeros((classes, rules.sites), np.bool_)
    for site in range(rules.sites):
        sites[:, site] = may[:, rules.site == site].any(axis=1)
    crosses = rules.crosses.reshape(-1, rules.sites)[rules.pattern]
    always: Flags = np.all(crosses | ~sites[rules.topic_class], axis=1)
    return always


def _holder_crosses(rules: Rules) -> Flags:
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
