"""
The frontier of a Kafka Streams application: what each choice of KIP-925's two weights would make of its tasks.

As for plain groups (`evenkeel.engine.advice.frontier`): all corners between fewest moves and least crossing, each
exactly, with the prices between which it is the cheapest. Here the weights are settings,
`rack.aware.assignment.traffic_cost` and `rack.aware.assignment.non_overlap_cost`, and tasks move. Every client keeps
the number of tasks with and without state that it has now; so this is what the optimiser could do with the present
dealing, before the assignor deals anew.

Source: KIP-925, sections B.III and E; `evenkeel.engine.streams.actives` places the tasks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..assignors.flow.min_cost import Weights
from ..model.arrays import NONE, Indices
from ..model.facts import Fact, reason
from ..streams.actives import optimise
from ..streams.compare import across
from ..streams.live import Running
from ..streams.racks import racks_off
from ..streams.settings import Costs, RackStrategy
from .frontier import Frontier, Point, corners, hull

SWEPT = (RackStrategy.MIN_TRAFFIC, RackStrategy.BALANCE_SUBTOPOLOGY)

Rates = Mapping[tuple[str, int], float]
"""Offsets/s of partitions, by topic and number; nan where unknown."""


@dataclass(frozen=True, kw_only=True, eq=False)
class _Placed:
    """One cheapest placement, by what counts on a frontier."""

    owner: Indices
    crossing: int
    moved: int
    cost: int


def missing(application: Running) -> Fact | None:
    """Why an application has no frontier: a rack is missing, or a task runs nowhere; None when it has one."""
    app = application.app
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
    app, owner = application.app, application.owner
    swept = []
    for strategy in SWEPT:
        found = hull(partial(_cheapest, application, strategy), len(app.source))
        points = [_point(application, one.owner, rates) for one in found]
        swept.append(Frontier(strategy=strategy.value, corners=corners(points)))
    return _point(application, owner, rates), swept


def _cheapest(application: Running, strategy: RackStrategy, weights: Weights) -> _Placed:
    app, before = application.app, application.owner
    costs = Costs(traffic=weights.traffic, non_overlap=weights.move)
    owner = before
    for kind in (app.stateful, ~app.stateful):
        owner = optimise(app, owner, np.flatnonzero(kind), costs, strategy, before)
    crossing = int(across(app, app.source_start, app.source, owner).crosses.sum())
    moved = int((owner != before).sum())
    cost = weights.traffic * crossing + weights.move * moved
    return _Placed(owner=owner, crossing=crossing, moved=moved, cost=cost)


def _point(application: Running, owner: Indices, rates: Rates) -> Point:
    app = application.app
    crossing = across(app, app.source_start, app.source, owner)
    unknown = float("nan")
    rate = np.array([rates.get(app.partitions[p], unknown) for p in app.source.tolist()])
    told = bool(len(rate)) and not bool(np.isnan(rate[crossing.known]).any())
    return Point(
        crossing=int(crossing.crosses.sum()),
        share=crossing.share(),
        rate=float(rate[crossing.crosses].sum()) if told else None,
        moves=int((owner != application.owner).sum()),
        newly_owned=0,
    )
