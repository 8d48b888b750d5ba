"""Making an assignment cheaper under a cap on member lag: exchanges of subsets between two members that cost less."""

from __future__ import annotations

import numpy as np

from evenkeel.engine.assignors.balanced.holding import Holding, Price
from evenkeel.engine.assignors.balanced.swaps import Swaps
from evenkeel.engine.assignors.balanced.work import Work
from evenkeel.engine.model import Ints

_CALL = 2_000
"""Elementary steps an exchange takes at least."""


def refunded(owner: Ints, cap: int, price: Price, work: Work) -> Ints:
    """
    The owners after exchanges that lower the price while no load exceeds *cap* and there is work left.

    Args:
        owner: (N) owners to start from.
        cap: Offsets.
        price: What partitions cost where.
        work: What it may take.
    """
    holding = Holding(price.leeway, owner)
    if not work.spend(price.leeway.members * len(owner)):
        return owner
    swaps = Swaps(holding, price)
    better = True
    while better:
        better = False
        for member, other in _promising(holding, price):
            if not work.spend(_CALL):
                return holding.owner
            better |= _exchanged(swaps, cap, price.moves, member, other)
    return holding.owner


def _promising(holding: Holding, price: Price) -> list[tuple[int, int]]:
    """Pairs of members by what their partitions would save with the other, most first."""
    everyone, partitions = np.arange(holding.leeway.members), np.arange(len(holding.owner))
    now = price.of(partitions, holding.owner)
    saved = np.maximum(now[:, None] - price.of(partitions[:, None], everyone[None, :]), 0)
    saved[~holding.leeway.may[holding.leeway.realm]] = 0
    total = np.zeros((len(everyone), len(everyone)), np.int64)
    np.add.at(total, holding.owner, saved)
    both = np.triu(total + total.T, 1)
    found = np.argwhere(both)
    order = np.argsort(-both[found[:, 0], found[:, 1]], kind="stable")
    return [(int(a), int(b)) for a, b in found[order].tolist()]


def _exchanged(swaps: Swaps, cap: int, moves: bool, member: int, other: int) -> bool:
    load = swaps.holding.load
    bounds = int(load[member]) - cap, cap - int(load[other])
    found = swaps.between(member, other, bounds, -1, moves=moves)
    if found is None:
        return False
    swaps.holding.exchange(member, found.given, other, found.taken)
    return True
