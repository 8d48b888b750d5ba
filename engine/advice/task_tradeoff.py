"""
What less cross-rack traffic costs a Kafka Streams application: traffic, moves and stores of the settings that pay.

Kafka deals tasks with state anew and weighs `rack.aware.assignment.traffic_cost` against `non_overlap_cost` of what
leaves that dealing, so that is swept (`tradeoff.hull`). Weights inside each corner's prices are replayed
(`streams.compare`): a point is the placement that they end in, counted from what runs now, copies included. Where it
leaves stores in one rack, client tags and one copy more are replayed, and the first that takes all apart is a point.

Proven is that no weights give another corner. Not: which of several placements of one cost Kafka takes, so moves from
now and stores are those of the replay; placements above the hull, which no weights reach. Tasks without state have
fixed costs, and are in no corner.

Source: KIP-925, sections B.III, C and E. Cost: about two flows and one replay for each corner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, count
from math import floor

import numpy as np

from ..assignors.flow.min_cost import Weights
from ..model.arrays import NONE, Flags
from ..model.facts import Fact, note, reason
from ..streams.actives import optimize, total_cost
from ..streams.assign_tasks import assign_stateful
from ..streams.compare import PlacementOutcome, across, outcome
from ..streams.compare import present as as_it_is
from ..streams.live import Running
from ..streams.model import LAG_UNKNOWN, Application
from ..streams.racks import racks_off
from ..streams.separate_copies import are_apart, one_copy_more, tagged
from ..streams.settings import Costs, Overlap, RackStrategy
from ..streams.store_copies import in_several_places
from .tradeoff import SWEPT, Point, Tradeoff, hull, point_of, priced

Rates = Mapping[tuple[str, int], float]
"""Offsets/s of partitions, by topic and number; nan where unknown."""

_UNSURE = {"changelog_ends_unknown", "changelogs_unknown", "changelog_undecided"}
"""Remarks of an application that leave open how much its stores hold."""

_NO_PRICES: list[tuple[Fraction | None, Fraction | None]] = [(None, None)]


@dataclass(frozen=True, kw_only=True)
class Weighed:
    """A cheapest placement of tasks with state: partitions without a replica near, tasks that left the dealing."""

    crossing: int
    moved: int
    cost: int


def missing(application: Running) -> Fact | None:
    """Why an application has no tradeoff: a rack is missing, or a task runs nowhere; None when it has one."""
    app = application.app.told
    config = replace(application.config, strategy=RackStrategy.MIN_TRAFFIC)
    homeless = [app.tasks[task] for task in np.flatnonzero(application.owner == NONE).tolist()]
    return racks_off(app, config) or (reason("tasks_run_nowhere", homeless) if homeless else None)


def task_tradeoffs(application: Running, rates: Rates) -> tuple[Point, list[Tradeoff]]:
    """
    An application as it is, and what each rack strategy can be set to reach.

    Args:
        application: The application, of which nothing is `missing`; it does not run the leader's sticky assignor.
        rates: What is produced to its source partitions.

    Raises:
        Infeasible: The limits of a strategy do not hold all tasks.
    """
    app = application.app
    bare = [app.names[c] for c in np.flatnonzero(app.client_rack == NONE).tolist()]
    lacking = [note("client_rack_first", bare)] if bare else []
    undeployable = [note("broker_looks_at_no_rack")] if application.kip_1071 else []
    swept = []
    for strategy in (RackStrategy.NONE, *SWEPT):
        points, remarks, prices = list[Point](), undeployable, _NO_PRICES
        if strategy is not RackStrategy.NONE:
            remarks = [*undeployable, *lacking, note("no_other_weights")]
            prices = [(low, high) for _, low, high in priced(weighed(application, strategy))]
        for lowest, highest in prices:
            costs = between(lowest, highest, application.config.costs)
            for asked, placed in _replayed(application, strategy, costs):
                point = _point(application, placed, rates)
                settings = _settings(application, asked, strategy)
                points.append(replace(point, lowest=lowest, highest=highest, settings=settings))
        swept.append(
            Tradeoff(strategy=strategy.value, corners=tuple(points), remarks=tuple(remarks))
        )
    return _point(application, as_it_is(application), rates), undominated(swept)


def weighed(application: Running, strategy: RackStrategy) -> Sequence[Weighed]:
    """The corners as Kafka weighs them; what moves does so from its dealing, or from now where that is configured."""
    app = application.app.told
    dealt, tasks = assign_stateful(app), np.flatnonzero(app.stateful)
    kept = app.previous_owner if application.config.overlap is Overlap.PREVIOUS else dealt

    def cheapest(weights: Weights) -> Weighed:
        costs = Costs(traffic=weights.traffic, non_overlap=weights.move)
        owner = optimize(app, dealt, tasks, costs, strategy, kept)
        return Weighed(
            crossing=total_cost(app, owner, tasks, Costs(traffic=1, non_overlap=0)),
            moved=int((owner != kept)[tasks].sum()),
            cost=total_cost(app, owner, tasks, costs, kept),
        )

    return hull(cheapest, max(len(app.source), len(app.tasks)))


def between(lowest: Fraction | None, highest: Fraction | None, configured: Costs) -> Costs:
    """
    Whole costs whose ratio lies inside a range: those configured, else the smallest.

    >>> usual = Costs(traffic=10, non_overlap=1)
    >>> between(Fraction(1), Fraction(2), usual), between(Fraction(1), None, usual) == usual
    (Costs(traffic=3, non_overlap=2), True)
    """
    least = lowest or Fraction(0)
    smallest = (Costs(traffic=floor(least * n) + 1, non_overlap=n) for n in count(1))
    return next(
        one
        for one in chain([configured], smallest)
        if one.traffic > least * one.non_overlap
        and (highest is None or one.traffic < highest * one.non_overlap)
    )


def _replayed(
    application: Running, strategy: RackStrategy, costs: Costs
) -> Iterator[tuple[Running, PlacementOutcome]]:
    """What settings lead to; then, where that leaves stores in one rack, what takes these apart."""
    asked = replace(application, config=replace(application.config, costs=costs))
    placed = outcome(asked, strategy)
    yield asked, placed
    if application.kip_1071 or not placed.stores.together.any() or not in_several_places(asked):
        return
    others = ((one, outcome(one, strategy)) for one in (*tagged(asked), one_copy_more(asked)))
    yield from [one for one in others if are_apart(one[1])][:1]


def _settings(
    application: Running, asked: Running, strategy: RackStrategy
) -> Mapping[str, str | int]:
    """What to set; copies and tags where they differ from what the application has. Brokers have no such settings."""
    now, then, rack = application.config, asked.config, "rack.aware.assignment"
    told: dict[str, str | int] = {f"{rack}.strategy": strategy.value}
    if strategy is not RackStrategy.NONE:
        told[f"{rack}.traffic_cost"] = then.costs.traffic
        told[f"{rack}.non_overlap_cost"] = then.costs.non_overlap
    if then.tags != now.tags:
        told[f"{rack}.tags"] = ",".join(then.tags)
    if asked.app.tags != application.app.tags:
        told["client.tag.rack"] = "<rack of the instance>"
    if then.num_standby_replicas != now.num_standby_replicas:
        told["num.standby.replicas"] = then.num_standby_replicas
    return {} if application.kip_1071 else told


def _point(application: Running, placed: PlacementOutcome, rates: Rates) -> Point:
    app, owner = application.app, placed.owner
    rate = [rates.get(app.partitions[p], float("nan")) for p in app.source.tolist()]
    crossing = across(app, app.source_start, app.source, owner)
    together, judged = placed.stores.counted
    return replace(
        point_of(crossing, np.array(rate), application.owner, owner),
        stateful=int((app.stateful & (owner != application.owner)).sum()),
        restored=_restored(application, placed),
        together=together,
        judged=judged,
    )


def _restored(application: Running, placed: PlacementOutcome) -> int | None:
    app = application.app
    behind = np.repeat(app.log_size[:, None], len(app.clients), axis=1)
    behind[app.lag_task, np.repeat(np.arange(len(app.clients)), np.diff(app.lag_start))] = app.lag
    offsets = behind[_held(app, placed) & ~_held(app, application) & app.stateful[:, None]]
    unsure = _UNSURE & {remark.measure for remark in application.remarks}
    if len(offsets) and (unsure or (offsets == LAG_UNKNOWN).any()):
        return None
    return int(offsets.sum())


def _held(app: Application, by: Running | PlacementOutcome) -> Flags:
    """(N, C) whether a client runs a task or keeps a copy of it."""
    task = np.arange(len(app.tasks))
    holds = np.zeros((len(task), len(app.clients) + 1), np.bool_)
    holds[task, by.owner] = True
    holds[np.repeat(task, np.diff(by.copies_start)), by.copies] = True
    return holds[:, :-1]


def undominated(swept: Sequence[Tradeoff]) -> list[Tradeoff]:
    """Without points that another equals in traffic, moves and stores and beats in one of them; how many is said."""
    every, kept = [point for one in swept for point in one.corners], []
    for one in swept:
        best = tuple(p for p in one.corners if not any(_beats(other, p) for other in every))
        out = len(one.corners) - len(best)
        remarks = (*one.remarks, note("points_left_out", after=out)) if out else one.remarks
        kept.append(replace(one, corners=best, remarks=remarks))
    return kept


def _beats(one: Point, other: Point) -> bool:
    """Whether it is as good in all and better in one; what is unknown of one of them compares with nothing."""
    names = ("crossing", "rate", "moves", "stateful", "restored", "together")
    pairs = [(getattr(one, name), getattr(other, name)) for name in names]
    unlike = [(a, b) for a, b in pairs if a != b]
    return bool(unlike) and all(None not in (a, b) and a < b for a, b in unlike)
