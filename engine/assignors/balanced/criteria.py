"""
The criteria of what is weighed one after another, each under what the ones before it left open, for many groups.

One call goes through all groups, so that a small one costs no calls of its own. The loops are kernels, over flat lists
or arrays (`evenkeel.engine.assignors.kit.kernels`).
"""

from __future__ import annotations

from math import ceil
from typing import Any, NamedTuple

from ...model.arrays import Ints
from ..kit.kernels import kernel
from .loads import Rules
from .lower_bounds import largest_piece, least_costs, least_under, overfull_sets
from .places import Places, placed_tightly, take_over, totals, tried
from .relief import cheapened, lowered

NEAR_ENOUGH = 0.01
"""A peak above its floor by no more than this share of it counts as least, where not all assignments are tried."""

_FEW = 20
"""Partitions up to which some work goes into trying all assignments."""

_TRY_ALL = 1 << 40
"""More steps than all assignments take where all can be tried."""

ROOMS = 5
"""Places that the search of a group needs room for: four starts, and one to spare."""


class Limits(NamedTuple):
    """
    What the search of a group goes by: numbers; of many groups an array (G) of each.

    Attributes:
        mean: What no peak is below on average.
        enough: A peak that counts as least.
        complete: Whether all assignments can be tried.
        counts_decide: Whether nothing is left to be weighed once numbers of partitions are even.
    """

    mean: Any
    enough: Any
    complete: Any
    counts_decide: Any


class Starts(NamedTuple):
    """(G + 1) where each group's partitions, members, and its cells of `Rules.may` and `Rules.crosses` begin."""

    partitions: Ints
    members: Ints
    may: Ints
    crosses: Ints


class Found(NamedTuple):
    """
    What comes of a group: numbers; of many groups an array (G) of each.

    Attributes:
        peak, floor: The peak, and what none is below.
        toll, moves, least_toll, least_moves: What crosses racks, what moves, and how much of both there is at least.
        proven: Whether nothing is better.
        crowded: Sets of racks that are near to more than their members can take (`overfull_sets`).
    """

    peak: Any
    floor: Any
    toll: Any
    moves: Any
    least_toll: Any
    least_moves: Any
    proven: Any
    crowded: Any


@kernel
def answered_all(
    groups: Any, rooms: Any, owner: Any, found: Any, begin: int, work: tuple[int, int]
) -> tuple[int, int]:
    """
    Answer group after group.

    Args:
        groups: `Rules` of all behind each other, *sites* and *even* as arrays too; `Limits`; `Starts`; (n) and (n) the
            partitions of each, the heaviest and the dearest first.
        rooms: `Places` with room for `ROOMS` times the largest group.
        owner: (n) where partitions start, changed to who gets them.
        found: `Found`, filled.
        begin: The first group.
        work: Elementary steps of search for each group, and how many may be taken altogether.

    Returns:
        The first group that is not answered, as there would have been more steps; and the steps taken.
    """
    steps, patience = work
    every, limits, bounds, heaviest, dearest = groups
    spent, end = 0, len(bounds.members) - 1
    for g in range(begin, end):
        a, b = bounds.partitions[g], bounds.partitions[g + 1]
        m, n = bounds.members[g], bounds.members[g + 1]
        rules = Rules(
            every.weight[a:b],
            every.capacity[m:n],
            every.topic_class[a:b],
            every.may[bounds.may[g] : bounds.may[g + 1]],
            every.toll[a:b],
            every.pattern[a:b],
            every.site[m:n],
            every.crosses[bounds.crosses[g] : bounds.crosses[g + 1]],
            every.sites[g],
            every.holder[a:b],
            every.even[g],
        )
        own = Limits(limits.mean[g], limits.enough[g], limits.complete[g], limits.counts_decide[g])
        order, mine = (heaviest[a:b], dearest[a:b]), owner[a:b]
        most = steps * (1_000 + 3 * (b - a)) // 3_000
        taken, answer = answered(rules, own, order, (steps, most, patience - spent), rooms, mine)
        spent += taken
        if spent > patience:
            return g, spent
        owner[a:b] = mine
        found.peak[g], found.floor[g] = answer.peak, answer.floor
        found.toll[g], found.moves[g] = answer.toll, answer.moves
        found.least_toll[g], found.least_moves[g] = answer.least_toll, answer.least_moves
        found.proven[g], found.crowded[g] = answer.proven, answer.crowded
    return end, spent


@kernel
def answered(
    rules: Any, limits: Any, orders: Any, work: tuple[int, int, int], rooms: Any, owner: Any
) -> tuple[int, Found]:
    """
    The steps taken, more than there is patience for where that ends early, and what comes of one group.

    Args as of `answered_all`, *work* being its steps, those of a search in it, and how many may be taken altogether.
    """
    toll, moves = 0, 0
    if rules.even:
        peak, toll, moves = totals(rules, owner)
        if limits.counts_decide:
            return 0, Found(peak, peak, toll, moves, toll, moves, True, 0)
    floor, least, target = aims(rules, limits, orders[0])
    spent, starts, ends = started(rules, limits.enough, target, orders[0], work, rooms, owner)
    if spent > work[2]:
        return spent, Found(floor, floor, toll, moves, toll, moves, False, 0)
    taken, end = take_cheapest(rules, target, orders[1], work[1], starts, ends, owner)
    spent, proven, crowded = spent + taken, False, 0
    if limits.complete or (end[0] > target and len(owner) <= _FEW):
        taken, proven = all_tried(rules, limits, least, orders[0], work[0], end, rooms, owner)
        spent, end = spent + taken, totals(rules, owner)
    if proven:
        toll, moves = end[1], end[2]
    elif not rules.even:
        cap = max(end[0], limits.enough)
        toll, moves = least_under(rules, cap, orders[0])
        crowded = overfull_sets(rules, cap)
    return spent, Found(end[0], floor, end[1], end[2], toll, moves, proven, crowded)


@kernel
def aims(rules: Any, limits: Any, order: Any) -> tuple[float, float, float]:
    """What no peak is below, the same unless more is enough, and down to which the busiest are relieved."""
    piece, now = largest_piece(rules, order)
    floor = max(piece, limits.mean)
    if rules.even:
        floor = float(ceil(floor))  # lags are whole
    least = max(floor, limits.enough)
    if limits.complete or rules.even or limits.enough >= floor:
        target = least
    else:
        target = least * (1 + NEAR_ENOUGH)
    if all_held(rules) and not rules.even:
        target = min(target, max(least, now))  # nobody gets busier than the busiest is
    return floor, least, target


@kernel
def room(rooms: Any, number: int, rules: Any) -> Any:
    """One of several `Places`, for one group."""
    n, members = len(rules.weight), len(rules.capacity)
    a, b, m, e = number * n, number * n + n, number * members, number * members + members
    owner, load, owns, first, after, before = rooms
    return Places(owner[a:b], load[m:e], owns[m:e], first[m:e], after[a:b], before[a:b])


@kernel
def started(
    rules: Any, enough: float, target: float, order: Any, work: Any, rooms: Any, owner: Any
) -> tuple[int, Any, Any]:
    """
    Where the search stands from each start: steps taken, `Places`, and `totals` of each.

    From where partitions are, and from there without what crosses racks, until nobody is too busy; else from the
    heaviest on.
    """
    _, most, patience = work
    spare = room(rooms, ROOMS - 1, rules)
    owners, places, share = spare.owner, room(rooms, 0, rules), min(most, patience)
    clean = without_crossing(rules, owner, owners)
    left, end = lowered(rules, places, owners, order, True, target, share)
    spent, starts, ends, low = share - left, [places], [end], end[0]
    best = clean or (end[0] <= target and end[1] == least_costs(rules, spare.after))
    if not best and all_held(rules):
        places, share = room(rooms, 1, rules), min(most, patience - spent)
        left, end = lowered(rules, places, rules.holder, order, True, target, share)
        spent += share - left
        starts.append(places)
        ends.append(end)
        low = min(low, end[0])
    if enough > 0 and low > target:
        places = room(rooms, 2, rules)
        fits, taken = packed(rules, places, owners, order, target)
        spent += taken
        if fits:
            end = totals(rules, places.owner)
            starts.append(places)
            ends.append(end)
            low = min(low, end[0])
    if low > target and not rules.even:
        for p in range(len(owners)):
            owners[p] = -1
        places, share = room(rooms, 3, rules), min(most, patience - spent)
        left, end = lowered(rules, places, owners, order, False, target, share)
        spent += share - left
        starts.append(places)
        ends.append(end)
    return spent, starts, ends


@kernel
def without_crossing(rules: Any, owner: Any, owners: Any) -> bool:
    """Fill *owners* with (n) *owner*, but nobody for what is read across racks at a toll; whether there is no such."""
    clean = True
    for p in range(len(owner)):
        owners[p], at = owner[p], rules.pattern[p] * rules.sites
        dear = owner[p] >= 0 and rules.toll[p] > 0 and not rules.even
        if dear and rules.crosses[at + rules.site[owner[p]]]:
            owners[p], clean = -1, False
    return clean


@kernel
def all_held(rules: Any) -> bool:
    """Whether everything has a holder."""
    held = True
    for p in range(len(rules.holder)):
        held = held and rules.holder[p] >= 0
    return held


@kernel
def packed(rules: Any, places: Any, owners: Any, order: Any, cap: float) -> tuple[bool, int]:
    """
    Everybody within *cap*, by dealing out anew what the busy own, and as few of the idlest as will do.

    Args:
        rules, places, order, cap: As of `placed_tightly`.
        owners: (n) room for owners.

    Returns:
        Whether all of it, the heaviest first, fits; and the steps taken.
    """
    members, idlest = len(rules.capacity), idlest_first(rules)
    freed, count, taken = [False] * members, 0, 0
    for share, m in idlest:
        freed[m] = share > cap
    while True:
        for at in range(count):
            freed[idlest[at][1]] = True
        for p in range(len(owners)):
            holder = rules.holder[p]
            owners[p] = holder
            if holder < 0 or freed[holder]:
                owners[p] = -1
                taken += members
        take_over(rules, places, owners)
        if placed_tightly(rules, places, order, cap):
            return True, taken
        whole = True
        for m in range(members):
            whole = whole and freed[m]
        if whole:
            return False, taken
        count = min(2 * count + 1, members)


@kernel
def idlest_first(rules: Any) -> Any:
    """What everybody is utilized now, and who it is, in this order."""
    load, idlest = [0] * len(rules.capacity), [(0.0, 0)] * 0
    for p in range(len(rules.holder)):
        if rules.holder[p] >= 0:
            load[rules.holder[p]] += rules.weight[p]
    for m in range(len(load)):
        idlest.append((load[m] / rules.capacity[m], m))
    idlest.sort()
    return idlest


@kernel
def take_cheapest(
    rules: Any, target: float, order: Any, most: int, starts: Any, ends: Any, owner: Any
) -> tuple[int, tuple[float, int, int]]:
    """
    Fill *owner* with the cheapest of least peak, once what costs more than it must is taken back: steps, and `totals`.

    Args:
        rules, target: The group.
        order: (n) partitions, the dearest first.
        most: Elementary steps of a search.
        starts, ends: `Places`, and `totals` of each.
        owner: (n) filled.
    """
    cap, spent = ends[0][0], 0
    for at in range(1, len(ends)):
        cap = min(cap, ends[at][0])
    cap, chosen, best = max(cap, target), -1, ends[0]
    for at in range(len(ends)):
        end = ends[at]
        if end[0] > cap:
            continue
        if end[1] + end[2] > 0:
            left, end = cheapened(rules, starts[at], cap, order, most)
            spent += most - left
        if chosen < 0 or end[1] + end[2] < best[1] + best[2]:
            chosen, best = at, end
    for p in range(len(owner)):
        owner[p] = starts[chosen].owner[p]
    return spent, best


@kernel
def all_tried(
    rules: Any, limits: Any, least: float, order: Any, steps: int, end: Any, rooms: Any, owner: Any
) -> tuple[int, bool]:
    """
    Change *owner* to better ones, if there are any: the steps taken, and whether all were tried.

    Args:
        rules, limits, order, steps: The group.
        least: What no peak is below, or is enough.
        end: `totals` of *owner*.
        rooms: Places.
        owner: (n) the answer.
    """
    count, cost, costs = len(owner), end[1] + end[2], room(rooms, ROOMS - 1, rules).after
    least_costs(rules, costs)
    rest, owns = [0] * (count + 1), [0] * len(rules.capacity)
    for at in range(count - 1, -1, -1):
        rest[at] = rest[at + 1] + costs[order[at]]
        owns[owner[at]] += 1
    if end[0] <= least and cost <= rest[0]:
        return 0, True
    squares = count * count
    if rules.even:
        squares = 0
        for m in range(len(owns)):
            squares += owns[m] * owns[m]
    work = _TRY_ALL if limits.complete else steps // 25
    peak = max(end[0], limits.enough)
    _, _, left = tried(rules, order, rest, squares, limits.enough, peak, cost, owner, work)
    return work - left, left >= 0
