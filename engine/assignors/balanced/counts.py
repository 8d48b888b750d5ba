"""
The fairest numbers of partitions, exactly: what every assignment with the least sum of squares has in common.

Partitions flow from classes of topics to their subscribers, and a member with n of them costs n squared, so this is a
flow with convex costs; its optima are told apart from all other flows by prices (Frank and Murota, "Decreasing
minimization on M-convex sets", 2022; complementary slackness). Here a member's price is its *level*: the most
partitions anyone has from whom a chain of handovers leads to it. An assignment is optimal exactly when

* a member of level l owns l or l - 1 partitions,
* a class of topics gives its partitions only to its subscribers of least level.

Levels do not depend on which optimum they are read from, so these two rules *are* the set of all optima.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from evenkeel.engine.assignors.balanced.problem import Problem
from evenkeel.engine.assignors.balanced.thresholds import by_thresholds
from evenkeel.engine.model import NONE, Flags, Ints, ragged_entries

_SWEEPS = 3
"""Rounds of filling up before the exact method takes over; one is enough where all subscribe alike."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Counts:
    """
    All assignments with the least sum of squared member counts, as rules.

    Attributes:
        least: (M) partitions a member owns at least; at most one more.
        pool: (M) the members among which those with one more are chosen; NONE where nobody has one more.
        extra: (pools) how many members of each pool own one more.
        island: (M) members that share no class with those of another island; NONE for who owns nothing.
        start, member: Ragged, class -> members that may own its partitions, ascending.
        quota: (pairs) one of these assignments: partitions of the class for the member.
    """

    least: Ints
    pool: Ints
    extra: Ints
    island: Ints
    start: Ints
    member: Ints
    quota: Ints

    @property
    def most(self) -> Ints:
        """(M) partitions a member owns at most."""
        return self.least + (self.pool >= 0)


def fairest(problem: Problem) -> Counts:
    """
    >>> from evenkeel.engine.assignor import spec
    >>> from evenkeel.engine.assignors.balanced.problem import problem_of
    >>> group = spec({"a": ["t"], "b": ["t", "u"], "c": ["u"]}, {"t": 4, "u": 1})
    >>> counts = fairest(problem_of(group))
    >>> counts.least.tolist(), counts.most.tolist(), counts.extra.tolist(), counts.quota.tolist()
    ([2, 2, 1], [2, 2, 1], [], [2, 2, 1])
    """
    supply = np.bincount(problem.topic_class, minlength=problem.classes).astype(np.int64)
    if problem.classes <= 1:
        return _alike(problem)
    quota, counts = _filled(problem, supply)
    levels = _levels(problem, quota, counts)
    if (levels[0] > counts + 1).any():
        quota = by_thresholds(supply, problem.start, problem.subscriber, counts)
        counts = np.bincount(problem.subscriber, quota, problem.members).astype(np.int64)
        levels = _levels(problem, quota, counts)
    return _rules(problem, quota, counts, *levels)


def _alike(problem: Problem) -> Counts:
    """All members that count subscribe to the same."""
    who, members = problem.subscriber, problem.members
    least, extra = divmod(problem.partitions, max(len(who), 1))
    quota = np.full(len(who), least, np.int64)
    quota[:extra] += 1
    floor = np.zeros(members, np.int64)
    floor[who] = least
    island = np.full(members, NONE, np.int64)
    island[who] = 0
    return Counts(
        least=floor,
        pool=island if extra else np.full(members, NONE, np.int64),
        extra=np.array([extra] if extra else [], np.int64),
        island=island,
        start=problem.start,
        member=who,
        quota=quota,
    )


def _filled(problem: Problem, supply: Ints) -> tuple[Ints, Ints]:
    """Give each class to its least loaded subscribers, the pickiest class first, and again with what that led to."""
    quota = np.zeros(len(problem.subscriber), np.int64)
    counts = np.zeros(problem.members, np.int64)
    bounds = list(pairwise(problem.start.tolist()))
    order = np.argsort(np.diff(problem.start), kind="stable").tolist()
    for _ in range(_SWEEPS):
        before = quota.copy()
        for one in order:
            span = slice(*bounds[one])
            who = problem.subscriber[span]
            loads = counts[who] - quota[span]
            quota[span] = _fill(loads, int(supply[one]))
            counts[who] = loads + quota[span]
        if np.array_equal(before, quota):
            break
    return quota, counts


def _fill(loads: Ints, amount: int) -> Ints:
    """Pour *amount* units over *loads* so that the fullest stays as low as can be."""
    order = np.argsort(loads, kind="stable")
    ascending = loads[order]
    places = np.arange(1, len(loads) + 1)
    room = ascending * places - np.cumsum(ascending)  # what raises the first places to this load
    reached = int(np.searchsorted(room, amount, side="right"))
    level, rest = divmod(amount - int(room[reached - 1]), reached)
    poured = np.zeros(len(loads), np.int64)
    poured[:reached] = int(ascending[reached - 1]) + level - ascending[:reached]
    poured[:rest] += 1
    result = np.empty_like(poured)
    result[order] = poured
    return result


def _levels(problem: Problem, quota: Ints, counts: Ints) -> tuple[Ints, Ints]:
    """(M) and (K) the most partitions of anyone from whom a chain of handovers leads to the member, or class."""
    of_pair = np.repeat(np.arange(problem.classes), np.diff(problem.start))
    given = np.flatnonzero(quota)
    given = given[np.argsort(problem.subscriber[given], kind="stable")]
    held_class = of_pair[given]
    held = np.searchsorted(problem.subscriber[given], np.arange(problem.members + 1))
    level = np.full(problem.members, -1, np.int64)
    class_level = np.full(problem.classes, -1, np.int64)
    for top in sorted(set(counts.tolist()), reverse=True):
        front = np.flatnonzero((counts == top) & (level < 0))
        while len(front):
            level[front] = top
            classes = _entries(held, held_class, front)
            classes = np.unique(classes[class_level[classes] < 0])
            class_level[classes] = top
            found = _entries(problem.start, problem.subscriber, classes)
            front = np.unique(found[level[found] < 0])
    return level, class_level


def _entries(start: Ints, values: Ints, rows: Ints) -> Ints:
    """The values of some rows of a ragged array, one after another."""
    found: Ints = values[ragged_entries(start, rows)[1]]
    return found


def _rules(problem: Problem, quota: Ints, counts: Ints, level: Ints, class_level: Ints) -> Counts:
    of_pair = np.repeat(np.arange(problem.classes), np.diff(problem.start))
    open_pair: Flags = level[problem.subscriber] == class_level[of_pair]
    member, of_pair = problem.subscriber[open_pair], of_pair[open_pair]
    start = np.searchsorted(of_pair, np.arange(problem.classes + 1)).astype(np.int64)
    island = _islands(problem.members, of_pair, member, problem.classes)
    extra = np.bincount(island, counts - level + 1, problem.members).astype(np.int64)
    size = np.bincount(island, minlength=problem.members)
    served = np.bincount(member, minlength=problem.members) > 0
    mixed = served & (extra > 0)[island] & (extra < size)[island]
    full = served & (extra == size)[island]
    least = np.where(served, level - 1 + full, 0)
    names = np.unique(island[mixed])
    return Counts(
        least=least,
        pool=np.where(mixed, np.searchsorted(names, island), NONE),
        extra=extra[names],
        island=np.where(served, island, NONE),
        start=start,
        member=member,
        quota=quota[open_pair],
    )


def _islands(members: int, of_pair: Ints, member: Ints, classes: int) -> Ints:
    """(M) the least member of each connected part of the graph of classes and the members they may give to."""
    island = np.arange(members)
    while True:
        of_class = np.full(classes, members, np.int64)
        np.minimum.at(of_class, of_pair, island[member])
        least = island.copy()
        np.minimum.at(least, member, of_class[of_pair])
        least = least[least]
        if np.array_equal(least, island):
            return island
        island = least
