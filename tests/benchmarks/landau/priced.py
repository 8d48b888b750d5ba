"""
`balanced` with a priced number of members: as many as are worth what they cost, then the fewest moves.

Of the numbers of members that keep up, the one is taken at which *price* times members plus the R-score is least. So at
a price of 1 a member is worth having for one measurement where doing without moves more than it can process. From the
present number on, ever fewer members are tried, then ever more, for as long as the sum gets less. Those with least to
do leave.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenkeel.engine.assignors.balanced import Balanced
from evenkeel.engine.assignors.interface.build import build_spec
from evenkeel.engine.model.arrays import NONE, Column, Ints
from tests.benchmarks.landau.sequences import CAPACITY

PRICES = (0.5, 1.0, 3.0, 25.0)
"""From few moves to few members; at 25 a member leaves whenever the others can do without it."""

_STRATEGY = Balanced(enough=1.0)


@dataclass(frozen=True, kw_only=True, eq=False)
class Choice:
    """A number of members, (P) who of them owns what, what moves for it, and the cost; inf where one has too much."""

    members: int
    owner: Ints
    r_score: float
    cost: float


def priced(price: float, rate: Ints, owner: Ints) -> Choice:
    """
    The number of members to have, with their owners from 0 on.

    Args:
        price: What a member costs, see above.
        rate: (P) what arrives; no more than a member can take.
        owner: (P) present owners from 0 on, NONE for nobody.
    """
    present = int(owner.max(initial=NONE)) + 1
    best = _choice(price, rate, owner, max(present, -(-int(rate.sum()) // CAPACITY), 1))
    while best.cost == np.inf:
        best = _choice(price, rate, owner, best.members + 1)
    for step in (-1, 1):
        while best.members + step > 0:
            other = _choice(price, rate, owner, best.members + step)
            if other.cost >= best.cost:
                break
            best = other
    return best


def _choice(price: float, rate: Ints, owner: Ints, members: int) -> Choice:
    held = _without_idlest(rate, owner, members)
    group = build_spec(
        members=[f"member-{m:04}" for m in range(members)],
        instance_ids=[None] * members,
        member_racks=[None] * members,
        subscriptions=[["t"]] * members,
        topics=["t"],
        partition_counts=[len(rate)],
        replica_racks=[[]] * len(rate),
        owner=held.tolist(),
        lag=Column.of([0] * len(rate)),
        rate=rate.tolist(),
        capacity=[CAPACITY] * members,
    )
    then = _STRATEGY.assign(group).owner.astype(np.int64)
    moved = float(rate[(owner != NONE) & (then != held)].sum()) / CAPACITY
    fits = np.bincount(then, weights=rate).max() <= CAPACITY
    used, renumbered = np.unique(then, return_inverse=True)
    cost = price * len(used) + moved if fits else np.inf
    return Choice(members=members, owner=renumbered, r_score=moved, cost=cost)


def _without_idlest(rate: Ints, owner: Ints, members: int) -> Ints:
    """(P) owners, renumbered, once those with least to do have left."""
    load = np.bincount(owner[owner != NONE], weights=rate[owner != NONE])
    going = np.argsort(load, kind="stable")[: max(len(load) - members, 0)]
    number = np.full(len(load) + 1, NONE)
    number[np.setdiff1d(np.arange(len(load)), going)] = np.arange(len(load) - len(going))
    return number[owner]
