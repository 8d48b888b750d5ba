"""Exchanging any of a few things for any of a few others: meeting in the middle (Horowitz and Sahni, 1974)."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

from evenkeel.engine.model import Ints


class Exchange(NamedTuple):
    """What it costs, and the places of what is given and of what is taken."""

    cost: int
    given: Ints
    taken: Ints


class Side(NamedTuple):
    """What a side could part with: values, and what parting with each costs (may be negative)."""

    values: Ints
    costs: Ints


def exchange(mine: Side, theirs: Side, least: int, most: int, limit: int) -> Exchange | None:
    """
    The cheapest exchange of equally many after which *mine* is smaller by *least* to *most*.

    Of equally cheap ones of fewest things, then of the largest difference. None when all cost more than *limit*.

    Their subsets stand in the order of size and sum, so those that fit one of mine are a stretch of them, and the
    cheapest of a stretch is found among the cheapest of stretches of 1, 2, 4 ... (a sparse table).

    >>> mine, theirs = Side(np.array([5, 9]), np.array([0, 1])), Side(np.array([2, 3]), np.array([0, 0]))
    >>> cost, given, taken = exchange(mine, theirs, 3, 6, limit=1)
    >>> cost, given.tolist(), taken.tolist()
    (0, [0], [0])
    >>> exchange(mine, theirs, 4, 6, limit=0)
    """
    table, sizes = _table(len(mine.values))
    their_table, their_sizes = _table(len(theirs.values))
    # So far apart, sums of different sizes never meet.
    apart = int(mine.values.sum() + theirs.values.sum()) + max(abs(least), abs(most)) + 1
    keys = table @ mine.values + sizes * apart
    their_keys = their_table @ theirs.values + their_sizes * apart
    order = np.argsort(their_keys, kind="stable")
    ascending = their_keys[order]
    first = np.searchsorted(ascending, keys - most, "left")
    last = np.searchsorted(ascending, keys - least, "right")
    fits = np.flatnonzero((first < last) & (sizes > 0))
    if not len(fits):
        return None
    costs = (their_table @ theirs.costs)[order]
    at = _cheapest(costs, first[fits], last[fits])
    total = (table @ mine.costs)[fits] + costs[at]
    pick = int(np.lexsort((sizes[fits], total))[0])
    if total[pick] > limit:
        return None
    given, taken = table[fits[pick]], their_table[order[at[pick]]]
    return Exchange(int(total[pick]), np.flatnonzero(given), np.flatnonzero(taken))


def _cheapest(costs: Ints, first: Ints, last: Ints) -> Ints:
    """The place of the first least cost in each stretch from *first* to before *last*."""
    best = np.arange(len(costs))
    places = np.empty(len(first), np.int64)
    height = np.frexp(last - first)[1] - 1  # of the largest power of two within
    for level in range(int(height.max()) + 1):
        mine = height == level
        if mine.any():
            left, right = best[first[mine]], best[last[mine] - (1 << level)]
            places[mine] = np.where(costs[right] < costs[left], right, left)
        half = 1 << level
        left, right = best[: len(best) - half], best[half:]
        best = np.where(costs[right] < costs[left], right, left)
    return places


@cache
def _table(things: int) -> tuple[Ints, Ints]:
    """(2 ** n, n) whether subset i holds thing j, and the sizes."""
    table = (np.arange(1 << things)[:, None] >> np.arange(things)) & 1
    return table, table.sum(axis=1)
