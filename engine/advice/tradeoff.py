"""
What less cross-rack traffic costs in moves: the tradeoff of KIP-925's two weights.

The weights are swept without steps. Of all assignments with the group's (evened out) counts, only
those on the lower left hull of (moves, crossing partitions) can be the cheapest for some weights.
Its corners are found one by one: between two known ones, the weights at which both cost the same
either find one that costs less, a new corner, or prove that there is none. So a handful of exact
solutions tells the whole sweep, and for each corner from which price on it is the cheapest.

Of a Kafka Streams application tasks move, and the weights are settings: `task_tradeoff` sweeps these.

Source: KIP-925, sections B.III and E, for the weights; the search is Eisner and Severance's (1976).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from itertools import pairwise
from typing import Protocol, TypeVar

import numpy as np

from ..assignors.flow.min_cost import Weights, min_cost
from ..assignors.flow.network import outweighing
from ..assignors.flow.plain_group import plain_group
from ..assignors.interface import GroupSpec, as_read
from ..metrics.racks import Crossing
from ..model.arrays import NONE, Floats, Indices
from ..model.facts import Fact
from ..streams.settings import RackStrategy
from .scoring import crossing_of

SWEPT = (RackStrategy.MIN_TRAFFIC, RackStrategy.BALANCE_SUBTOPOLOGY)


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """
    An assignment by what crosses racks and what moves.

    Attributes:
        crossing: Partitions without a replica in their owner's rack.
        share: The same over the partitions that have an owner; None when none has one.
        rate: Offsets/s that cross; None when a rate is unknown.
        moves: Partitions, or tasks, whose owner changes; *newly_owned*: those that had none.
        lowest, highest: It costs least where a crossing partition is worth at least and at most so
            many moves; None as *highest*: however much. Both None where nothing is weighed.
        stateful: Tasks with state among the moves; None, as all that follows, where partitions move.
        restored: Offsets that clients read at most for stores and copies they do not keep now; None unknown.
        together, judged: Stores all copies of which one rack has, of those of which that is known; None where none is.
        settings: What reaches it, by name; empty for what is, and where no setting does.
    """

    crossing: int
    share: float | None
    rate: float | None
    moves: int
    newly_owned: int
    lowest: Fraction | None = None
    highest: Fraction | None = None
    stateful: int | None = None
    restored: int | None = None
    together: int | None = None
    judged: int | None = None
    settings: Mapping[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tradeoff:
    """
    One strategy's corners, from fewest moves to least crossing.

    Attributes:
        strategy: `min_traffic` or `balance_subtopology`; of tasks `none`, too.
        corners: At least one; of tasks none where others are better in all.
        remarks: What else is to be said of its answers.
    """

    strategy: str
    corners: tuple[Point, ...]
    remarks: tuple[Fact, ...] = ()


class Placed(Protocol):
    """What a strategy gives for some weights: what crosses racks, what moves, and the two as weighed."""

    @property
    def crossing(self) -> int: ...  # noqa: D102
    @property
    def moved(self) -> int: ...  # noqa: D102
    @property
    def cost(self) -> int: ...  # noqa: D102


P = TypeVar("P", bound=Placed)


def present(group: GroupSpec) -> Point:
    """The group as it is."""
    return point_of(crossing_of(group, group.owner), group.rate, group.owner, group.owner)


def tradeoffs(group: GroupSpec) -> list[Tradeoff]:
    """
    The tradeoff of each strategy; none for a group in which nobody subscribes to a partition.

    Raises:
        Infeasible: A rack is missing.
    """
    group = as_read(group)
    read, swept = plain_group(group), []
    for strategy in SWEPT if len(read.partition) else ():
        balance = strategy is RackStrategy.BALANCE_SUBTOPOLOGY
        cheapest = partial(min_cost, group, balance_topics=balance, read=read)
        found = hull(cheapest, len(read.partition))
        points = (
            replace(
                point_of(crossing_of(group, one.owner), group.rate, group.owner, one.owner),
                lowest=lowest,
                highest=highest,
            )
            for one, lowest, highest in priced(found)
        )
        remarks = found[0].remarks() if found[0].partitions else ()
        swept.append(Tradeoff(strategy=strategy.value, corners=tuple(points), remarks=remarks))
    return swept


def priced(found: Sequence[P]) -> Iterator[tuple[P, Fraction, Fraction | None]]:
    """The corners of a hull, each with the prices between which it is the cheapest."""
    prices = [
        Fraction(after.moved - before.moved, before.crossing - after.crossing)
        for before, after in pairwise(found)
    ]
    return zip(found, [Fraction(0), *prices], [*prices, None], strict=True)


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


def point_of(crossing: Crossing, rate: Floats, before: Indices, owner: Indices) -> Point:
    """Of what is read, by entries: what of it crosses, and offsets/s; of owners before and then."""
    told = bool(len(rate)) and not bool(np.isnan(rate[crossing.known]).any())
    return Point(
        crossing=int(crossing.crosses.sum()),
        share=crossing.share(),
        rate=float(rate[crossing.crosses].sum()) if told else None,
        moves=int(((before != NONE) & (owner != before)).sum()),
        newly_owned=int(((before == NONE) & (owner != NONE)).sum()),
    )
