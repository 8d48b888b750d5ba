"""Trying all assignments of a few partitions, heaviest first, for the least peak and what costs least under it."""

from __future__ import annotations

from typing import Any

from ..kit.kernels import kernel
from .places import cost_of


@kernel
def tried(
    rules: Any, order: Any, rest: Any, squares: int, peak: float, cost: int, owner: Any, left: int
) -> tuple[float, int, int]:
    """
    The best assignment there is: of least peak utilisation, then of least cost.

    Args:
        rules: `Rules`.
        order: (n) partitions, the heaviest first.
        rest: (n + 1) what the partitions from each place of *order* on cost at least.
        squares: What the squares of everybody's number of partitions add up to at most.
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
    peaks, costs = [0.0] * (count + 1), [0] * (count + 1)
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
