"""
Relieving the busiest member until nobody is busier than a target, and taking back what costs more than it must.

Both go on one partition after another: to another member, alone or in exchange.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..kit.kernels import kernel
from .places import cost_of, placed_by_load, put, take_over, totals

_LOOK = 8
"""The least utilized members of each rack, so many of them, are who may relieve the busiest."""

_COLUMNS = 160
"""Partitions of those members that are looked at for a swap, about."""

_CALL = 200
"""Elementary steps that any look takes."""


@kernel
def partners_of(rules: Any, places: Any, giver: int) -> Any:  # noqa: C901  one pass
    """Members that subscribe to something that *giver* owns, the least utilized few of each rack first."""
    capacity, may, topic_class, site = rules.capacity, rules.may, rules.topic_class, rules.site
    load, members = places.load, len(rules.capacity)
    share = load[giver] / capacity[giver]
    known, reached = [False] * (len(may) // members), [0] * 0
    p = places.first[giver]
    while p >= 0:
        if not known[topic_class[p]]:
            known[topic_class[p]] = True
            reached.append(topic_class[p])
        p = places.after[p]
    best, found = [(0.0, 0)] * (rules.sites * _LOOK), [0] * rules.sites
    for m in range(members):
        mine, first, count = load[m] / capacity[m], site[m] * _LOOK, found[site[m]]
        if m == giver or mine >= share or (count == _LOOK and mine >= best[first + count - 1][0]):
            continue
        for k in reached:
            if may[k * members + m]:
                at = first + min(count, _LOOK - 1)
                while at > first and best[at - 1][0] > mine:
                    best[at] = best[at - 1]
                    at -= 1
                best[at] = (mine, m)
                found[site[m]] = min(count + 1, _LOOK)
                break
    near = [(0.0, 0)] * 0
    for s in range(rules.sites):
        for at in range(found[s]):
            near.append(best[s * _LOOK + at])
    near.sort()
    partners = [0] * 0
    for _, m in near:
        partners.append(m)
    return partners


@kernel
def lowered(
    rules: Any, places: Any, owners: Any, order: Any, near: bool, target: float, left: int
) -> tuple[int, tuple[float, int, int]]:
    """
    Fill *places* with (n) owners, deal out what nobody owns, then relieve the busiest down to *target*.

    Args as of `take_over`, `placed_by_load` and `relieved`; returns what the last one does, and `totals`.
    """
    take_over(rules, places, owners)
    placed_by_load(rules, places, order, near)
    left = relieved(rules, places, target, left)
    return left, totals(rules, places.owner)


@kernel
def relieved(rules: Any, places: Any, target: float, left: int) -> int:
    """
    Take partitions from the busiest member, one after another, until nobody is above *target* or none can be taken.

    One goes to another member, else one is swapped for a smaller one. First comes what adds least toll, then what
    leaves the busier of the two least utilized (the target is as good as less), then what moves least.

    Args:
        rules, places: `Rules`, `Places`.
        target: Utilization up to which all is well.
        left: Work left.

    Returns:
        The work left then, below 0 when there was too little.
    """
    load, capacity, members = places.load, rules.capacity, len(rules.capacity)
    swap = [-1, -1, -1]
    while left >= 0:
        giver = 0
        for m in range(1, members):
            if load[m] / capacity[m] > load[giver] / capacity[giver]:
                giver = m
        if load[giver] / capacity[giver] <= target:
            break
        partners = partners_of(rules, places, giver)
        left -= _CALL + members + places.owns[giver] * len(partners)
        best_gift(rules, places, giver, partners, target, swap)
        if swap[0] < 0:
            columns = 0
            for at in range(len(partners)):
                if columns > _COLUMNS:
                    partners = partners[:at]
                    break
                columns += places.owns[partners[at]]
            left -= columns * places.owns[giver]
            best_swap(rules, places, giver, partners, target, swap)
        if swap[0] < 0:
            break
        put(rules, places, swap[0], swap[1])
        if swap[2] >= 0:
            put(rules, places, swap[2], giver)
    return left


@kernel
def best_gift(rules: Any, places: Any, giver: int, partners: Any, target: float, swap: Any) -> None:
    """
    The best partition to take from a member, as `relieved` ranks them.

    Args:
        rules, places, target: As there.
        giver, partners: From whom, and to whom.
        swap: (3) filled with the partition, its taker, and -1; the first is -1 where there is none.
    """
    weight, capacity, may, load = rules.weight, rules.capacity, rules.may, places.load
    crosses, site, members = rules.crosses, rules.site, len(rules.capacity)
    share = load[giver] / capacity[giver]
    swap[0], swap[1], swap[2] = -1, -1, -1
    best = (np.inf, 0.0, 0)
    p = places.first[giver]
    while p >= 0:
        row, at, toll, holder = (
            rules.topic_class[p] * members,
            rules.pattern[p] * rules.sites,
            rules.toll[p],
            rules.holder[p],
        )
        rest = max((load[giver] - weight[p]) / capacity[giver], target)
        here = toll if crosses[at + site[giver]] else 0
        if holder >= 0 and holder != giver:
            here += 1
        for m in partners:
            then = max((load[m] + weight[p]) / capacity[m], rest)
            if then >= share or not may[row + m]:
                continue
            if rules.even and places.owns[m] >= places.owns[giver]:
                continue
            added = (toll if crosses[at + site[m]] else 0) - here
            if holder >= 0 and holder != m:
                added += 1
            tolled = float(added) / weight[p] if added > 1 else 0.0  # more than a move
            if (tolled, then, added) < best:
                swap[0], swap[1], best = p, m, (tolled, then, added)
        p = places.after[p]


@kernel
def best_swap(rules: Any, places: Any, giver: int, partners: Any, target: float, swap: Any) -> None:
    """The best partition to take from a member for a lighter one, as `best_gift`; that comes third in *swap*."""
    weight, capacity, may, load = rules.weight, rules.capacity, rules.may, places.load
    crosses, site, members = rules.crosses, rules.site, len(rules.capacity)
    share, own = load[giver] / capacity[giver], site[giver]
    swap[0], swap[1], swap[2] = -1, -1, -1
    best = (np.inf, 0.0, 0)
    for m in partners:
        q, there = places.first[m], site[m]
        while q >= 0:
            at = rules.pattern[q] * rules.sites
            holder, back = rules.holder[q], 0
            if crosses[at + own] != crosses[at + there]:
                back = rules.toll[q] if crosses[at + own] else -rules.toll[q]
            if holder >= 0:
                back += (1 if holder != giver else 0) - (1 if holder != m else 0)
            p = places.first[giver] if may[rules.topic_class[q] * members + giver] else -1
            while p >= 0:
                shift = weight[p] - weight[q]
                then = max(
                    (load[m] + shift) / capacity[m], (load[giver] - shift) / capacity[giver], target
                )
                if shift > 0 and then < share and may[rules.topic_class[p] * members + m]:
                    at = rules.pattern[p] * rules.sites
                    holder, added = rules.holder[p], back
                    if crosses[at + own] != crosses[at + there]:
                        added += rules.toll[p] if crosses[at + there] else -rules.toll[p]
                    if holder >= 0:
                        added += (1 if holder != m else 0) - (1 if holder != giver else 0)
                    tolled = float(added) / shift if added > 2 else 0.0  # more than two moves
                    if (tolled, then, added) < best:
                        swap[0], swap[1], swap[2], best = p, m, q, (tolled, then, added)
                p = places.after[p]
            q = places.after[q]


@kernel
def cheapened(  # noqa: C901  one pass
    rules: Any, places: Any, cap: float, order: Any, left: int
) -> tuple[int, tuple[float, int, int]]:
    """
    Give partitions to members whom they cost less, alone or in exchange, until none can be had under *cap*.

    Args:
        rules, places: `Rules`, `Places`.
        cap: Utilization that nobody may come above.
        order: (n) partitions, the dearest first.
        left: Work left.

    Returns:
        The work left then, below 0 when there was too little; and `totals`.
    """
    weight, capacity, may, topic_class = (
        rules.weight,
        rules.capacity,
        rules.may,
        rules.topic_class,
    )
    load, members, sites = places.load, len(rules.capacity), rules.sites
    better = True
    while better and left >= 0:
        better = False
        for p in order:
            giver = places.owner[p]
            here = cost_of(rules, p, giver)
            if here == 0 or left < 0:
                continue
            row, at, holder = topic_class[p] * members, rules.pattern[p] * sites, rules.holder[p]
            cheaper, only_moved = [(0, 0.0, 0)] * 0, here == 1
            for m in range(holder if only_moved else 0, holder + 1 if only_moved else members):
                cost = rules.toll[p] if rules.crosses[at + rules.site[m]] else 0
                if holder >= 0 and holder != m:
                    cost += 1
                if may[row + m] and cost < here:
                    cheaper.append((cost, (load[m] + weight[p]) / capacity[m], m))
            left -= 1 if only_moved else members
            cheaper.sort()
            taker, taken, least = -1, -1, 0
            for _, share, m in cheaper:
                if share <= cap and (not rules.even or places.owns[m] < places.owns[giver]):
                    taker = m
                    break
            if taker < 0:
                for cost, _, m in cheaper:
                    left -= places.owns[m]
                    if left < 0 or taker >= 0:
                        break
                    q = places.first[m]
                    while q >= 0:
                        shift = weight[p] - weight[q]
                        if (
                            (load[m] + shift) / capacity[m] <= cap
                            and (load[giver] - shift) / capacity[giver] <= cap
                            and may[topic_class[q] * members + giver]
                        ):
                            added = cost - here + cost_of(rules, q, giver) - cost_of(rules, q, m)
                            if added < least:
                                taker, taken, least = m, q, added
                        q = places.after[q]
            if taker >= 0:
                put(rules, places, p, taker)
                better = True
            if taken >= 0:
                put(rules, places, taken, giver)
    return left, totals(rules, places.owner)
