"""
Who owns what by arrivals; dealing out what nobody owns, and trying all assignments of a few partitions.

What places partitions (here and in `relief`) changes a `Places` in place. Its loops are kernels over flat
lists or arrays (`evenkeel.engine.assignors.kit.kernels`); of equally good ways the first is taken, in either form.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from ...model.arrays import Ints
from ..kit.kernels import kernel


class Places(NamedTuple):
    """
    Who owns what, and what follows from it.

    Attributes:
        owner: (n) NONE while nobody does.
        load, owns: (M) units and partitions owned.
        first: (M) one of a member's partitions; *after*, *before* (n): its others, one from the other; -1 ends.
    """

    owner: Ints
    load: Ints
    owns: Ints
    first: Ints
    after: Ints
    before: Ints


@kernel
def take_over(rules: Any, places: Any, owners: Any) -> None:
    """Fill *places*, whatever was in it: every partition with its (n) owner, NONE being nobody."""
    owner, load, owns, first, after, before = places
    for m in range(len(load)):
        load[m], owns[m], first[m] = 0, 0, -1
    for p in range(len(owner) - 1, -1, -1):
        m = owners[p]
        owner[p], after[p], before[p] = m, -1, -1
        if m < 0:
            continue
        load[m] += rules.weight[p]
        owns[m] += 1
        after[p] = first[m]
        if first[m] >= 0:
            before[first[m]] = p
        first[m] = p


@kernel
def put(rules: Any, places: Any, p: int, member: int) -> None:
    """Give a partition to a member, whoever had it."""
    owner, load, owns, first, after, before = places
    old, weight = owner[p], rules.weight[p]
    if old >= 0:
        load[old] -= weight
        owns[old] -= 1
        if before[p] >= 0:
            after[before[p]] = after[p]
        else:
            first[old] = after[p]
        if after[p] >= 0:
            before[after[p]] = before[p]
    owner[p] = member
    load[member] += weight
    owns[member] += 1
    before[p] = -1
    after[p] = first[member]
    if first[member] >= 0:
        before[first[member]] = p
    first[member] = p


@kernel
def cost_of(rules: Any, p: int, member: int) -> int:
    """What it costs that a member owns a partition: its toll across racks, and 1 where its holder loses it."""
    crosses = rules.crosses[rules.pattern[p] * rules.sites + rules.site[member]]
    holder = rules.holder[p]
    return (rules.toll[p] if crosses else 0) + (1 if holder >= 0 and holder != member else 0)


@kernel
def totals(rules: Any, owner: Any) -> tuple[float, int, int]:
    """The peak, the toll of what is read across racks, and how many partitions their holders lose."""
    load, peak, toll, moves = [0] * len(rules.capacity), 0.0, 0, 0
    for p in range(len(owner)):
        m = owner[p]
        if m >= 0:
            load[m] += rules.weight[p]
            if rules.crosses[rules.pattern[p] * rules.sites + rules.site[m]]:
                toll += rules.toll[p]
        if rules.holder[p] >= 0 and rules.holder[p] != m:
            moves += 1
    for m in range(len(load)):
        peak = max(peak, load[m] / rules.capacity[m])
    return peak, toll, moves


@kernel
def placed_by_load(rules: Any, places: Any, order: Any, near: bool) -> None:
    """
    Give each partition that nobody owns to the member that is least utilized with it.

    Args:
        rules, places: `Rules`, `Places`.
        order: (n) partitions, the heaviest first.
        near: First to those of them that read it at the least toll; else that only breaks ties.
    """
    weight, capacity, may, site = rules.weight, rules.capacity, rules.may, rules.site
    load, owns, sites, members = places.load, places.owns, rules.sites, len(rules.capacity)
    tolls = [0] * sites
    for p in order:
        if places.owner[p] >= 0:
            continue
        for s in range(sites):
            tolls[s] = rules.toll[p] if rules.crosses[rules.pattern[p] * sites + s] else 0
        row, mine, holder = rules.topic_class[p] * members, weight[p], rules.holder[p]
        taker, toll, least, dear = -1, 0, 0.0, 0
        for m in range(members):
            if not may[row + m]:
                continue
            there = tolls[site[m]]
            if near and taker >= 0 and there > toll:
                continue
            share = (load[m] + mine) / capacity[m]
            if taker >= 0 and share > least and (not near or there == toll):
                continue
            cost = there + (1 if holder >= 0 and holder != m else 0)
            if (
                taker < 0
                or (near and there < toll)
                or share < least
                or cost < dear
                or (cost == dear and owns[m] < owns[taker])
            ):
                taker, toll, least, dear = m, there, share, cost
        put(rules, places, p, taker)


@kernel
def placed_tightly(rules: Any, places: Any, order: Any, cap: float) -> bool:
    """
    Give each partition that nobody owns to the busiest member that stays within *cap* with it.

    Args:
        rules, places: `Rules`, `Places`.
        order: (n) partitions, the heaviest first.
        cap: Utilization that nobody may come above.

    Returns:
        Whether every partition found a member.
    """
    weight, capacity, may = rules.weight, rules.capacity, rules.may
    load, members = places.load, len(rules.capacity)
    for p in order:
        if places.owner[p] >= 0:
            continue
        row, mine = rules.topic_class[p] * members, weight[p]
        taker, most, dear = -1, 0.0, 0
        for m in range(members):
            share = (load[m] + mine) / capacity[m]
            if share > cap or share < most or not may[row + m]:
                continue
            cost = cost_of(rules, p, m)
            if taker < 0 or share > most or cost < dear:
                taker, most, dear = m, share, cost
        if taker < 0:
            return False
        put(rules, places, p, taker)
    return True


@kernel
def tried(
    rules: Any,
    order: Any,
    rest: Any,
    squares: int,
    enough: float,
    peak: float,
    cost: int,
    owner: Any,
    left: int,
) -> tuple[float, int, int]:
    """
    The best assignment there is: of least peak utilization, then of least cost.

    Args:
        rules: `Rules`.
        order: (n) partitions, the heaviest first.
        rest: (n + 1) what the partitions from each place of *order* on cost at least.
        squares: What the squares of everybody's number of partitions add up to at most.
        enough: A peak that counts as least.
        peak, cost: Of the best known assignment.
        owner: (n) that assignment; changed to a better one.
        left: Work left.

    Returns:
        Peak and cost of the best, and the work left: below 0 where not all were tried.
    """
    weight, capacity, may, topic_class = (
        rules.weight,
        rules.capacity,
        rules.may,
        rules.topic_class,
    )
    count, members = len(order), len(capacity)
    load, owns, member = [0] * members, [0] * members, [-1] * count
    peaks, costs = [enough] * (count + 1), [0] * (count + 1)
    depth = 0
    while depth >= 0 and left >= 0:
        p = order[depth]
        if member[depth] >= 0:
            load[member[depth]] -= weight[p]
            owns[member[depth]] -= 1
            squares += 2 * owns[member[depth]] + 1
        member[depth] += 1
        if member[depth] == members:
            member[depth] = -1
            depth -= 1
            continue
        m = member[depth]
        left -= 1
        load[m] += weight[p]
        squares -= 2 * owns[m] + 1
        owns[m] += 1
        if squares < 0 or not may[topic_class[p] * members + m]:
            continue
        peaks[depth + 1] = max(peaks[depth], load[m] / capacity[m])
        costs[depth + 1] = costs[depth] + cost_of(rules, p, m)
        if peaks[depth + 1] > peak or (
            peaks[depth + 1] == peak and costs[depth + 1] + rest[depth + 1] >= cost
        ):
            continue
        if depth + 1 < count:
            depth += 1
            continue
        peak, cost = peaks[count], costs[count]
        for place in range(count):
            owner[order[place]] = member[place]
    return peak, cost, left
