"""
The heuristics of the paper: bin packing anew, and packing what each consumer has (its "modified any fit").

Packing anew gives one partition after another to a consumer it fits (the next, first, best or worst fit), else to a new
one: who has the partition now, if nobody has made him one yet, else the lowest free number. *Decreasing* goes from the
highest rate down, others in random order.

The modified ones take consumers from the busiest down (or, with P, from the one with the largest partition down). Of
each, the smallest partitions go to consumers already taken that they fit, until one fits none; then it keeps its
largest ones up to the first it cannot take. What is left over goes by best or worst fit, decreasing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from evenkeel.engine.assignors.kit.kernels import Tally, at_work, kernel
from evenkeel.engine.model.arrays import NONE, Ints
from tests.benchmarks.landau.sequences import CAPACITY

Heuristic = Callable[[Ints, Ints, np.random.Generator], Ints]
"""(P) rates, (P) present owners with NONE for nobody, what is random -> (P) owners."""


FITS = ("next", "first", "best", "worst")

_ASKED = Tally()


@kernel
def found(load: Any, rate: int, last: int, fit: int, room: int) -> int:
    """
    A consumer that a partition fits, -1 where there is none.

    Args:
        load: What each number of consumer has; inf where there is none.
        rate: Of the partition.
        last: Who got the partition before.
        fit: Place in `FITS`.
        room: What a consumer can take.
    """
    if fit == 0:
        return last if load[last] + rate <= room else -1
    best = -1
    for at in range(len(load)):
        if load[at] + rate > room:
            continue
        if fit == 1:
            return at
        if best < 0 or (load[at] > load[best] if fit == 2 else load[at] < load[best]):
            best = at
    return best


class _Bins:
    """Who owns what (P), and by number of consumer what he has; inf where there is none."""

    def __init__(self, rate: Ints, owner: Ints, fit: str) -> None:
        self.rate, self.before, self.fit = rate, owner, FITS.index(fit)
        self.load = np.full(len(rate) + 1, np.inf)
        self.owner = np.full(len(rate), NONE)
        self.last = 0
        self._found: Any = at_work(found, len(rate) ** 2, _ASKED)

    def found(self, p: int) -> int:
        """A consumer that the partition fits, NONE where there is none."""
        return int(self._found(self.load, self.rate[p], self.last, self.fit, CAPACITY))

    def give(self, p: int, consumer: int) -> None:
        """Give a partition to a consumer, new or not."""
        has = self.load[consumer]
        self.load[consumer] = self.rate[p] + (has if has < np.inf else 0)
        self.owner[p], self.last = consumer, consumer

    def place(self, p: int) -> None:
        """Give a partition to whom it fits, else to a new consumer."""
        consumer = self.found(p)
        if consumer == NONE:
            consumer = self.before[p]
            if consumer == NONE or self.load[consumer] < np.inf:
                consumer = int(np.isinf(self.load).argmax())
        self.give(p, consumer)


def any_fit(
    fit: str, decreasing: bool, rate: Ints, owner: Ints, random: np.random.Generator
) -> Ints:
    """Pack anew."""
    order = np.argsort(-rate, kind="stable") if decreasing else random.permutation(len(rate))
    bins = _Bins(rate, owner, fit)
    if fit == "next":
        bins.load[0] = 0  # as published: the first partition goes to consumer 0, whoever had it
    for p in order.tolist():
        bins.place(p)
    return bins.owner


def modified(
    fit: str, by_partition: bool, rate: Ints, owner: Ints, random: np.random.Generator
) -> Ints:
    """Pack what each consumer has; *random* is of no account."""
    del random
    bins, mine = _Bins(rate, owner, fit), dict[int, list[int]]()
    order = np.argsort(-rate, kind="stable").tolist()
    for p in order:
        mine.setdefault(int(owner[p]), []).append(p)
    left = set(mine.pop(NONE, ()))
    weigh = (lambda c: rate[mine[c][0]]) if by_partition else (lambda c: rate[mine[c]].sum())
    for consumer in sorted(sorted(mine), key=weigh, reverse=True):
        own = mine[consumer]
        while own and (taker := bins.found(own[-1])) != NONE:
            bins.give(own.pop(), taker)
        for at, p in enumerate(own):
            if at and bins.load[consumer] + rate[p] > CAPACITY:
                left.update(own[at:])
                break
            bins.give(p, consumer)
    for p in order:
        if p in left:
            bins.place(p)
    return bins.owner


HEURISTICS: Mapping[str, Heuristic] = {
    **{
        f"{fit[0].upper()}F{'D' if decreasing else ''}": partial(any_fit, fit, decreasing)
        for fit in FITS
        for decreasing in (False, True)
    },
    **{
        f"M{fit[0].upper()}F{'P' if by_partition else ''}": partial(modified, fit, by_partition)
        for fit in FITS[:1:-1]
        for by_partition in (False, True)
    },
}
"""By the paper's abbreviations."""
