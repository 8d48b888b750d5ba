"""
What less cross-rack traffic costs in moves: the frontier of KIP-925's two weights on a plain group.

The weights are swept without steps. Of all assignments with the group's (evened out) counts, only
those on the lower left hull of (moves, crossing partitions) can be the cheapest for some weights.
Its corners are found one by one: between two known ones, the weights at which both cost the same
either find one that costs less, a new corner, or prove that there is none. So a handful of exact
solutions tells the whole sweep, and for each corner from which price on it is the cheapest.

Source: KIP-925, section B.III, for the weights; the search is Eisner and Severance's (1976).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from typing import Protocol, TypeVar

import numpy as np

from ..assignors.flow.min_cost import MinCost, Weights, min_cost
from ..assignors.flow.network import outweighing
from ..assignors.flow.plain_group import PlainGroup, plain_group
from ..assignors.interface import GroupSpec
from ..model.arrays import NONE, Indices
from ..model.facts import Fact
from .scoring import replica_crossing_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """
    An assignment by what crosses racks and what moves.

    Attributes:
        crossing: Partitions without a replica in their owner's rack.
        share: The same over the partitions that have an owner; None when none has one.
        rate: Offsets/s that cross; None when a rate is unknown.
        moves: Partitions whose owner changes; *newly_owned*: those that had none.
        lowest, highest: It costs least where a crossing partition is worth at least and at most so
            many moves; None as *highest*: however much.
    """

    crossing: int
    share: float | None
    rate: float | None
    moves: int
    newly_owned: int
    lowest: Fraction | None = None
    highest: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frontier:
    """
    One strategy's corners, from fewest moves to least crossing.

    Attributes:
        strategy: `min_traffic` or `balance_subtopology`.
        corners: At least one.
        remarks: What else is to be said of its answers.
    """

    strategy: str
    corners: tuple[Point, ...]
    remarks: tuple[Fact, ...] = ()


def present(group: GroupSpec) -> Point:
    """The group as it is."""
    return _point(group, group.owner)


def frontiers(group: GroupSpec) -> list[Frontier]:
    """
    The frontier of each strategy; none for a group in which nobody subscribes to a partition.

    Raises:
        Infeasible: A rack is missing.
    """
    read = plain_group(group)
    if not len(read.partition):
        return []
    return [
        _frontier(group, read, strategy, balance)
        for strategy, balance in (("min_traffic", False), ("balance_subtopology", True))
    ]


def _frontier(group: GroupSpec, read: PlainGroup, strategy: str, balance: bool) -> Frontier:
    def cheapest(weights: Weights) -> MinCost:
        return min_cost(group, weights, balance_topics=balance, read=read)

    found = hull(cheapest, len(read.partition))
    points = [_point(group, one.owner) for one in found]
    remarks = found[0].remarks() if found[0].partitions else ()
    return Frontier(strategy=strategy, corners=corners(points), remarks=remarks)


def corners(points: Sequence[Point]) -> tuple[Point, ...]:
    """The points of a frontier, from fewest moves on, each with the prices between which it is the cheapest."""
    prices = [
        Fraction(after.moves - before.moves, before.crossing - after.crossing)
        for before, after in pairwise(points)
    ]
    bounds = zip([Fraction(0), *prices], [*prices, None], strict=True)
    return tuple(
        replace(point, lowest=lowest, highest=highest)
        for point, (lowest, highest) in zip(points, bounds, strict=True)
    )


class Placed(Protocol):
    """What a strategy gives for some weights: what crosses racks, what moves, and the two as weighed."""

    @property
    def crossing(self) -> int: ...  # noqa: D102
    @property
    def moved(self) -> int: ...  # noqa: D102
    @property
    def cost(self) -> int: ...  # noqa: D102


P = TypeVar("P", bound=Placed)


def hull(cheapest: Callable[[Weights], P], partitions: int) -> list[P]:
    """
    The corners between fewest moves and least crossing, both ends included.

    Args:
        cheapest: What costs least for some weights, exactly.
        partitions: As many can cross, or move, at most.
    """
    much = outweighing(partitions)
    ends = cheapest(Weights(traffic=1, move=much)), cheapest(Weights(traffic=much, move=1))
    by_moves, open_sides = {ends[0].moved: ends[0], ends[1].moved: ends[1]}, [ends]
    while open_sides:
        few, more = open_sides.pop()
        even = Weights(traffic=more.moved - few.moved, move=few.crossing - more.crossing)
        if even.move <= 0:
            continue
        between = cheapest(even)
        if between.cost < even.traffic * few.crossing + even.move * few.moved:
            by_moves[between.moved] = between
            open_sides += [(few, between), (between, more)]
    return [by_moves[moved] for moved in sorted(by_moves)]


def _point(group: GroupSpec, owner: Indices) -> Point:
    crossing = replica_crossing_of(group, owner)
    rate = float(group.rate[crossing.crosses].sum())
    return Point(
        crossing=int(crossing.crosses.sum()),
        share=crossing.share(),
        rate=None if np.isnan(group.rate[crossing.known]).any() else rate,
        moves=int(((group.owner != NONE) & (owner != group.owner)).sum()),
        newly_owned=int(((group.owner == NONE) & (owner != NONE)).sum()),
    )
