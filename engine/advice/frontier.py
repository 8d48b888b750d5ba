"""
What less cross-rack traffic costs in moves: the frontier of KIP-925's two weights.

The weights are swept without steps. Of all assignments with the group's (evened out) counts, only
those on the lower left hull of (moves, crossing partitions) can be the cheapest for some weights.
Its corners are found one by one: between two known ones, the weights at which both cost the same
either find one that costs less, a new corner, or prove that there is none. So a handful of exact
solutions tells the whole sweep, and for each corner from which price on it is the cheapest.

Of a Kafka Streams application the weights are settings, `rack.aware.assignment.traffic_cost` and
`rack.aware.assignment.non_overlap_cost`, and tasks move. Every client keeps the number of tasks with and without state
that it has now; so this is what the optimiser could do with the present dealing, before the assignor deals anew.

Source: KIP-925, sections B.III and E, for the weights; the search is Eisner and Severance's (1976);
`evenkeel.engine.streams.actives` places tasks. Strategies of Streams weigh the racks of all replicas; where brokers
serve reads from leaders only, what the corners are said to read across racks is from these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
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
from ..model.facts import Fact, note, reason
from ..streams.actives import optimise
from ..streams.compare import across
from ..streams.live import Running
from ..streams.racks import racks_off
from ..streams.settings import Costs, RackStrategy
from .scoring import crossing_of

SWEPT = (RackStrategy.MIN_TRAFFIC, RackStrategy.BALANCE_SUBTOPOLOGY)

Rates = Mapping[tuple[str, int], float]
"""Offsets/s of partitions, by topic and number; nan where unknown."""


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


class Placed(Protocol):
    """What a strategy gives for some weights: what crosses racks, what moves, and the two as weighed."""

    @property
    def crossing(self) -> int: ...  # noqa: D102
    @property
    def moved(self) -> int: ...  # noqa: D102
    @property
    def cost(self) -> int: ...  # noqa: D102


P = TypeVar("P", bound=Placed)


@dataclass(frozen=True, kw_only=True, eq=False)
class _PlacedTasks:
    """A cheapest placement of tasks; *owner*: the client of each."""

    owner: Indices
    crossing: int
    moved: int
    cost: int


def present(group: GroupSpec) -> Point:
    """The group as it is."""
    return _point(crossing_of(group, group.owner), group.rate, group.owner, group.owner)


def frontiers(group: GroupSpec) -> list[Frontier]:
    """
    The frontier of each strategy; none for a group in which nobody subscribes to a partition.

    Raises:
        Infeasible: A rack is missing.
    """
    group = as_read(group)
    read, swept = plain_group(group), []
    for strategy in SWEPT if len(read.partition) else ():
        balance = strategy is RackStrategy.BALANCE_SUBTOPOLOGY
        cheapest = partial(min_cost, group, balance_topics=balance, read=read)
        found = hull(cheapest, len(read.partition))
        points = [
            _point(crossing_of(group, one.owner), group.rate, group.owner, one.owner)
            for one in found
        ]
        remarks = found[0].remarks() if found[0].partitions else ()
        swept.append(Frontier(strategy=strategy.value, corners=corners(points), remarks=remarks))
    return swept


def missing(application: Running) -> Fact | None:
    """Why an application has no frontier: a rack is missing, or a task runs nowhere; None when it has one."""
    app = application.app.told
    config = replace(application.config, strategy=RackStrategy.MIN_TRAFFIC, num_standby_replicas=0)
    homeless = [app.tasks[task] for task in np.flatnonzero(application.owner == NONE).tolist()]
    return racks_off(app, config) or (reason("tasks_run_nowhere", homeless) if homeless else None)


def task_frontiers(application: Running, rates: Rates) -> tuple[Point, list[Frontier]]:
    """
    An application as it is, and the frontier of each rack strategy.

    Args:
        application: The application, of which nothing is `missing`.
        rates: What is produced to its source partitions.
    """
    app, before, swept = application.app, application.owner, []
    bare = [app.names[c] for c in np.flatnonzero(app.client_rack == NONE).tolist()]
    lacking = (note("client_rack_first", bare),) if bare else ()
    unknown = float("nan")
    rate = np.array([rates.get(app.partitions[p], unknown) for p in app.source.tolist()])

    def point(owner: Indices, *, by_replica: bool = False) -> Point:
        crossing = across(app, app.source_start, app.source, owner, by_replica=by_replica)
        return _point(crossing, rate, before, owner)

    for strategy in SWEPT:
        found = hull(partial(_cheapest_tasks, application, strategy), len(app.source))
        # weighed by replicas, as strategies do, and told as reads go
        priced = corners([point(one.owner, by_replica=True) for one in found])
        told = tuple(
            replace(point(one.owner), lowest=by.lowest, highest=by.highest)
            for one, by in zip(found, priced, strict=True)
        )
        swept.append(Frontier(strategy=strategy.value, corners=told, remarks=lacking))
    return point(before), swept


def _cheapest_tasks(application: Running, strategy: RackStrategy, weights: Weights) -> _PlacedTasks:
    app, before = application.app.told, application.owner
    costs = Costs(traffic=weights.traffic, non_overlap=weights.move)
    owner = before
    for kind in (app.stateful, ~app.stateful):
        owner = optimise(app, owner, np.flatnonzero(kind), costs, strategy, before)
    far = across(app, app.source_start, app.source, owner, by_replica=True)
    crossing = int(far.crosses.sum())
    moved = int((owner != before).sum())
    cost = weights.traffic * crossing + weights.move * moved
    return _PlacedTasks(owner=owner, crossing=crossing, moved=moved, cost=cost)


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


def _point(crossing: Crossing, rate: Floats, before: Indices, owner: Indices) -> Point:
    """Of what is read, by entries: what of it crosses, and offsets/s; of owners before and then."""
    told = bool(len(rate)) and not bool(np.isnan(rate[crossing.known]).any())
    return Point(
        crossing=int(crossing.crosses.sum()),
        share=crossing.share(),
        rate=float(rate[crossing.crosses].sum()) if told else None,
        moves=int(((before != NONE) & (owner != before)).sum()),
        newly_owned=int(((before == NONE) & (owner != NONE)).sum()),
    )
