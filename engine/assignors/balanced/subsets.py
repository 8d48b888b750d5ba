"""Exchanging any of a few things for any of a few others: meeting in the middle (Horowitz and Sahni, 1974)."""

from __future__ import annotations

from typing import Any

from evenkeel.engine.kit.compiled import kernel

SUBSET = 8
"""Partitions of each side whose subsets are looked at."""


@kernel
def exchange(
    values: Any, costs: Any, others: Any, their_costs: Any, least: int, most: int, limit: int
) -> tuple[int, int, int]:
    """
    The cheapest exchange of equally many after which one side is smaller by *least* to *most*.

    Of equally cheap ones of fewest things, then of the largest difference. Their subsets stand in the order of size
    and sum, so those that fit one of ours are a stretch of them; going through ours in that order, too, the stretch
    only moves on, and a queue of what may yet be its cheapest is at hand.

    Args:
        values, costs: What one side could part with, and what parting with each costs (may be negative).
        others, their_costs: The same of the other side.
        least, most: By how much the sum of *values* is to fall.
        limit: What it may cost.

    Returns:
        What it costs, and as bits what is given and what is taken; nothing is given where all cost more.

    >>> exchange([5, 9], [0, 1], [2, 3], [0, 0], 3, 6, 1)
    (0, 1, 1)
    >>> exchange([5, 9], [0, 1], [2, 3], [0, 0], 4, 6, 0)
    (0, 0, 0)
    """
    # So far apart, sums of different sizes never meet.
    apart = sum_of(values) + sum_of(others) + max(abs(least), abs(most)) + 1
    ours, price = subset_sums(values, costs, apart)
    theirs, their_price = subset_sums(others, their_costs, apart)
    sizes = [0] * len(ours)
    for subset in range(1, len(ours)):
        sizes[subset] = sizes[subset >> 1] + (subset & 1)
    mine = [(ours[subset], subset) for subset in range(1, len(ours))]
    mine.sort()
    ascending = [(theirs[subset], subset) for subset in range(len(theirs))]
    ascending.sort()
    queue, front, back, last = [0] * len(ascending), 0, 0, 0
    cost, given, taken = limit, 0, 0
    for key, subset in mine:
        while last < len(ascending) and ascending[last][0] <= key - least:
            added = their_price[ascending[last][1]]
            while back > front and their_price[ascending[queue[back - 1]][1]] > added:
                back -= 1
            queue[back] = last
            back += 1
            last += 1
        while front < back and ascending[queue[front]][0] < key - most:
            front += 1
        if front == back:
            continue
        other = ascending[queue[front]][1]
        total = price[subset] + their_price[other]
        better = total < cost or (given == 0 and total == cost)
        if not better and total == cost:
            fewer = sizes[subset] - sizes[given]
            better = fewer < 0 or (fewer == 0 and subset < given)
        if better:
            cost, given, taken = total, subset, other
    if given == 0:
        return 0, 0, 0
    return cost, given, taken


@kernel
def sum_of(values: Any) -> int:
    """Their sum."""
    total = 0
    for value in values:
        total += value
    return total


@kernel
def subset_sums(values: Any, costs: Any, apart: int) -> Any:
    """(2 ** n) sum of each subset, with *apart* for each thing in it, and what parting with it costs."""
    sums, price = [0] * (1 << len(values)), [0] * (1 << len(values))
    for thing in range(len(values)):
        for subset in range(1 << thing):
            sums[subset + (1 << thing)] = sums[subset] + values[thing] + apart
            price[subset + (1 << thing)] = price[subset] + costs[thing]
    return sums, price


@kernel
def few_of(
    rules: Any, moves: bool, held: Any, giver: int, other: int, limit: int, dearest: bool
) -> Any:
    """
    Up to `SUBSET` of the partitions *held* by *giver* that *other* may own; last stand partition and added price.

    Those of least lag, first those that add nothing to the price; with *dearest* those that would save most come first.
    With a limit of nothing only those that add nothing.
    """
    members, sites = rules.members, rules.sites
    here, there = rules.site[giver], rules.site[other]
    few = [(0, 0, 0, 0) for _ in range(0)]
    for p in held:
        if not rules.may[rules.realm[p] * members + other]:
            continue
        rack = rules.pattern[p] * sites
        added = rules.toll[rack + there] - rules.toll[rack + here]
        holder = rules.holder[p]
        if moves and holder != -1:
            added += (holder != other) - (holder != giver)
        if dearest:
            few.append((added, rules.lag[p], p, added))
        elif added <= 0:
            few.append((0, rules.lag[p], p, added))
        elif limit > 0:
            few.append((1, rules.lag[p], p, added))
    few.sort()
    return few[:SUBSET]


@kernel
def exchange_between(
    rules: Any,
    moves: bool,
    held: Any,
    held_by_other: Any,
    giver: int,
    other: int,
    least: int,
    most: int,
    limit: int,
    dearest: bool,
    left: int,
    call: int,
    partitions: Any,
) -> tuple[int, int, int, int]:
    """
    The cheapest exchange of some of the few partitions (`few_of`) of two members, as `exchange` has it.

    Args:
        rules: `swaps.Rules`; *moves*: whether moves count in the price.
        held, held_by_other: What the two members own, ascending.
        giver, other: The member whose load is to fall by *least* to *most*, and its partner.
        limit: What it may cost.
        dearest: As for `few_of`.
        left: Work left; *call*: what a look takes at least, 0 where it is already paid.
        partitions: (2 SUBSET) filled with the partitions given, then with those taken.

    Returns:
        The cost, how many are given and taken (0: there is no such exchange), and the work left.
    """
    mine = few_of(rules, moves, held, giver, other, limit, dearest)
    if len(mine) == 0:
        return 0, 0, 0, left
    theirs = few_of(rules, moves, held_by_other, other, giver, limit, dearest)
    if call > 0:
        if len(theirs) == 0:
            return 0, 0, 0, left
        steps = call + (len(mine) << len(theirs))
        left -= steps if left >= steps else left + 1
        if left < 0:
            return 0, 0, 0, left
    cost, given, taken = exchange(
        [each[1] for each in mine],
        [each[3] for each in mine],
        [each[1] for each in theirs],
        [each[3] for each in theirs],
        least,
        most,
        limit,
    )
    gives = takes = 0
    for thing in range(len(mine)):
        if given >> thing & 1:
            partitions[gives] = mine[thing][2]
            gives += 1
    for thing in range(len(theirs)):
        if taken >> thing & 1:
            partitions[gives + takes] = theirs[thing][2]
            takes += 1
    return cost, gives, takes, left
