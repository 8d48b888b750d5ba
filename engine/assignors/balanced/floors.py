"""
How low the largest member lag could be at best, under the fairest counts: floors, each a proof.

On every island (members and partitions that have nothing to do with the rest), with m members of at least k partitions:

* the mean, rounded up; where subscriptions differ, of any set of partitions over the members that may own them, found
  as the cut of a maximum flow;
* of the first j m + 1 largest partitions some member owns j + 1, and the smallest ones for company (pigeonholes);
* the i largest are all apart, each with company, or two of them are together, for every i.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from evenkeel.engine.assignors.balanced.leeway import Leeway
from evenkeel.engine.model import Ints


def lag_floors(leeway: Leeway) -> Ints:
    """
    (islands) offsets no assignment with the fairest counts can bring the island's largest member lag under.

    >>> from evenkeel.engine.assignor import spec
    >>> from evenkeel.engine.assignors.balanced.counts import fairest
    >>> from evenkeel.engine.assignors.balanced.leeway import leeway_of
    >>> from evenkeel.engine.assignors.balanced.problem import problem_of
    >>> lags = {"t": [7, 6, 5, 1]}
    >>> problem = problem_of(spec({"a": ["t"], "b": ["t"]}, {"t": 4}, lags=lags))
    >>> lag_floors(leeway_of(problem, fairest(problem))).tolist()  # the mean is 9.5
    [11]
    """
    islands, of_partition = leeway.islands, leeway.island_of
    order = np.lexsort((-leeway.lag, of_partition))
    bounds = np.searchsorted(of_partition[order], np.arange(islands + 1)).tolist()
    island_of_realm = leeway.island[leeway.member[leeway.start[:-1]]]
    per_realm = np.bincount(island_of_realm, minlength=islands)
    floors = np.zeros(islands, np.int64)
    for island, (first, last) in enumerate(pairwise(bounds)):
        who = np.flatnonzero(leeway.island == island)
        if not len(who):
            continue
        least, most = int(leeway.least[who].min()), int(leeway.most[who].max())
        lags = leeway.lag[order[first:last]]
        floors[island] = max(
            _pigeonholes(lags, len(who), least, most), _apart(lags, len(who), least)
        )
        if per_realm[island] > 1:
            realms = np.flatnonzero(island_of_realm == island)
            floors[island] = max(floors[island], _fullest(leeway, realms))
    return floors


def _smallest(lags: Ints) -> Ints:
    """Entry i is the sum of the i smallest; *lags* descend."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lags[::-1])])


def _pigeonholes(lags: Ints, members: int, least: int, most: int) -> int:
    """The mean, and for each j: the j + 1 smallest of the first j m + 1, with company; j = 0 is the largest alone."""
    company = _smallest(lags)
    best = -(-int(company[-1]) // members)
    tops = np.arange(min(most, -(-len(lags) // members)))
    last = tops * members
    tops, last = tops[last < len(lags)], last[last < len(lags)]
    before = np.concatenate([np.zeros(1, np.int64), np.cumsum(lags)])
    together = before[last + 1] - before[last - tops]
    found = together + company[np.maximum(least - tops - 1, 0)]
    return max(best, int(found.max(initial=0)))


def _apart(lags: Ints, members: int, least: int) -> int:
    """For each i of 2 to m: the i largest apart, the last of them with company; or two of them together."""
    i = np.arange(2, min(members, len(lags)) + 1)
    if not len(i):
        return 0
    company = _smallest(lags)
    others = i * max(least - 1, 0)
    top = np.cumsum(lags)[i - 1]
    mean = np.maximum(-(-company[others] // i), -(-(top + company[others]) // i) - lags[i - 1])
    some = np.where(others > 0, lags[len(lags) - np.maximum(others, 1)], 0)
    apart = lags[i - 1] + np.maximum(mean, some + company[max(least - 2, 0)] * (others > 0))
    together = lags[i - 1] + lags[i - 2] + company[max(least - 2, 0)]
    return int(np.minimum(apart, together).max())


def _fullest(leeway: Leeway, realms: Ints) -> int:
    """The largest mean of any set of partitions over the members that may own them, lags being divisible."""
    from evenkeel.engine.assignors.balanced.thresholds import surplus

    weight = np.zeros(len(leeway.start) - 1, np.int64)
    np.add.at(weight, leeway.realm, leeway.lag)
    of_pair = np.repeat(np.arange(len(weight)), np.diff(leeway.start))
    mine = np.isin(of_pair, realms)
    of_pair, member = of_pair[mine], leeway.member[mine]
    everyone = np.unique(member)
    cap = -(-int(weight[realms].sum()) // len(everyone))
    while True:
        above_realm, above = surplus(weight, of_pair, member, everyone, cap)
        if not above.any():
            return cap
        found = -(-int(weight[realms][above_realm[realms]].sum()) // int(above.sum()))
        if found <= cap:
            return cap
        cap = found
