"""
What less cross-rack traffic costs a Kafka Streams application: traffic, moves and stores of each setting that pays.

Kafka deals tasks with state anew, whoever has them now, and weighs `rack.aware.assignment.traffic_cost` against
`non_overlap_cost` for what leaves that dealing; so that is swept (`frontier.hull`), from it and with its counts. Each
corner's settings, weights inside its range of prices, are then replayed (`streams.compare`): what a point says is the
placement it ends in, counted from what runs now, copies included. Where it leaves stores in one rack, client tags or
one copy more are replayed too, and the first that takes all apart is a point of its own. A point is left out where
another is as good in traffic, moves and stores and better in one of them.

What is proven: no weights give another corner (traffic and moves as Kafka weighs them, all replicas counting). What is
not: which of several placements of one cost Kafka takes, so moves from now and stores are those of the replay;
placements above the hull, which no weights reach. Tasks without state have fixed costs, and are in no corner.

Source: KIP-925, sections B.III, C and E. Cost: about two flows and one replay for each corner.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from itertools import count
from math import floor

import numpy as np

from ..assignors.flow.min_cost import Weights
from ..model.arrays import NONE, Flags, Indices, Ints
from ..model.facts import Fact, note, reason
from ..streams.actives import optimise, total_cost
from ..streams.assign_tasks import assign_stateful
from ..streams.bring_apart import are_apart, one_copy_more, tagged
from ..streams.compare import PlacementOutcome, across, outcome
from ..streams.compare import present as as_it_is
from ..streams.live import Running
from ..streams.model import LAG_UNKNOWN
from ..streams.racks import racks_off
from ..streams.settings import STATEFUL, Costs, Overlap, RackStrategy
from ..streams.standbys import RACK
from ..streams.store_copies import in_several_places
from .frontier import SWEPT, Frontier, MovedStores, Point, Settings, corners, hull, point_of

Rates = Mapping[tuple[str, int], float]
"""Offsets/s of partitions, by topic and number; nan where unknown."""

_UNSURE = {"changelog_ends_unknown", "changelogs_unknown", "changelog_undecided"}
"""Remarks of an application that leave open how much its stores hold."""


@dataclass(frozen=True, kw_only=True)
class _Weighed:
    """A cheapest placement of tasks with state: partitions without a replica near, tasks that left the dealing."""

    crossing: int
    moved: int
    cost: int


def missing(application: Running) -> Fact | None:
    """Why an application has no frontier: a rack is missing, or a task runs nowhere; None when it has one."""
    app = application.app.told
    config = replace(application.config, strategy=RackStrategy.MIN_TRAFFIC)
    homeless = [app.tasks[task] for task in np.flatnonzero(application.owner == NONE).tolist()]
    return racks_off(app, config) or (reason("tasks_run_nowhere", homeless) if homeless else None)


def task_frontiers(application: Running, rates: Rates) -> tuple[Point, list[Frontier]]:
    """
    An application as it is, and what each rack strategy can be set to reach.

    Args:
        application: The application, of which nothing is `missing`; it does not run the leader's sticky assignor.
        rates: What is produced to its source partitions.

    Raises:
        Infeasible: The limits of a strategy do not hold all tasks.
    """
    app, unknown = application.app, float("nan")
    rate = np.array([rates.get(app.partitions[p], unknown) for p in app.source.tolist()])

    def point(placed: PlacementOutcome) -> Point:
        crossing = across(app, app.source_start, app.source, placed.owner)
        told = point_of(crossing, rate, application.owner, placed.owner)
        return replace(told, stores=_stores(application, placed))

    bare = [app.names[c] for c in np.flatnonzero(app.client_rack == NONE).tolist()]
    lacking = [note("client_rack_first", bare)] if bare else []
    proven = [note("no_other_weights")]
    if application.kip_1071:
        proven.insert(0, note("broker_looks_at_no_rack"))
    swept = []
    for strategy in (RackStrategy.NONE, *SWEPT):
        found, remarks = list[Point](), [] if strategy is RackStrategy.NONE else [*lacking, *proven]
        for corner in weighed(application, strategy):
            costs = between(corner.lowest, corner.highest, application.config.costs)
            for asked, placed, how in _replayed(application, strategy, costs):
                settings = _settings(application, asked, strategy)
                low, high = corner.lowest, corner.highest
                found.append(replace(point(placed), lowest=low, highest=high, settings=settings))
                remarks += how
        one = Frontier(
            strategy=strategy.value, corners=tuple(found), remarks=tuple(dict.fromkeys(remarks))
        )
        swept.append(one)
    return point(as_it_is(application)), undominated(swept)


def weighed(application: Running, strategy: RackStrategy) -> Sequence[Point]:
    """
    The hull of tasks with state as Kafka weighs it; of `none`, which weighs nothing, one point without prices.

    *crossing*: partitions without a replica near; *moves*: from Kafka's dealing, or from now where that is configured.
    """
    app = application.app.told
    if strategy is RackStrategy.NONE:
        return [Point(crossing=0, share=None, rate=None, moves=0, newly_owned=0)]
    dealt = assign_stateful(app)
    kept = app.previous_owner if application.config.overlap is Overlap.PREVIOUS else dealt
    cheapest = partial(_cheapest, application, strategy, dealt, kept)
    return corners(
        [
            Point(crossing=one.crossing, share=None, rate=None, moves=one.moved, newly_owned=0)
            for one in hull(cheapest, max(len(app.source), len(app.tasks)))
        ]
    )


def _cheapest(
    application: Running, strategy: RackStrategy, dealt: Indices, kept: Indices, weights: Weights
) -> _Weighed:
    app, costs = application.app.told, Costs(traffic=weights.traffic, non_overlap=weights.move)
    tasks = np.flatnonzero(app.stateful)
    owner = optimise(app, dealt, tasks, costs, strategy, kept)
    crossing = total_cost(app, owner, tasks, Costs(traffic=1, non_overlap=0))
    moved = int((owner != kept)[tasks].sum())
    cost = weights.traffic * crossing + weights.move * moved
    return _Weighed(crossing=crossing, moved=moved, cost=cost)


def between(lowest: Fraction | None, highest: Fraction | None, configured: Costs) -> Costs:
    """
    Whole costs whose ratio lies inside a range: what is configured, else Kafka's default, else the smallest.

    >>> between(Fraction(1), Fraction(2), STATEFUL)
    Costs(traffic=3, non_overlap=2)
    >>> between(Fraction(1), None, STATEFUL)
    Costs(traffic=10, non_overlap=1)
    """
    least = lowest or Fraction(0)
    smallest = (Costs(traffic=floor(least * n) + 1, non_overlap=n) for n in count(1))
    return next(
        one
        for each in ((configured, STATEFUL), smallest)
        for one in each
        if one.non_overlap
        and least < (price := Fraction(one.traffic, one.non_overlap))
        and (highest is None or price < highest)
    )


def _replayed(
    application: Running, strategy: RackStrategy, costs: Costs
) -> Iterator[tuple[Running, PlacementOutcome, list[Fact]]]:
    """What settings lead to; then, where that leaves stores in one rack, what takes these apart, and how."""
    asked = replace(application, config=replace(application.config, costs=costs))
    placed = outcome(asked, strategy)
    yield asked, placed, []
    if application.kip_1071 or not placed.stores.together.any() or not in_several_places(asked):
        return
    for other in (*tagged(asked), one_copy_more(asked)):
        apart, more = outcome(other, strategy), other.config.num_standby_replicas
        if are_apart(apart):
            how = note("apart_by_tags", other.config.tags)
            if more != asked.config.num_standby_replicas:
                how = note("apart_by_copies", ["num.standby.replicas"], after=more)
            yield other, apart, [how]
            return


def _settings(application: Running, asked: Running, strategy: RackStrategy) -> Settings:
    """What to set; copies and tags where they differ from what the application has. Brokers have no such settings."""
    if application.kip_1071:
        return {}
    now, then, rack = application.config, asked.config, "rack.aware.assignment"
    told: dict[str, str | int | Mapping[str, str]] = {f"{rack}.strategy": strategy.value}
    if strategy is not RackStrategy.NONE:
        told[f"{rack}.traffic_cost"] = then.costs.traffic
        told[f"{rack}.non_overlap_cost"] = then.costs.non_overlap
    if then.tags != now.tags:
        told[f"{rack}.tags"] = ",".join(then.tags)
    both = zip(application.app.names, application.app.tags, asked.app.tags, strict=True)
    if own := {name: tags[RACK] for name, has, tags in both if has.get(RACK) != tags.get(RACK)}:
        told[f"client.tag.{RACK}"] = own
    if then.num_standby_replicas != now.num_standby_replicas:
        told["num.standby.replicas"] = then.num_standby_replicas
    return told


def _stores(application: Running, placed: PlacementOutcome) -> MovedStores:
    together, judged = placed.stores.counted
    moved = application.app.stateful & (placed.owner != application.owner)
    return MovedStores(
        moves=int(moved.sum()),
        restored=_restored(application, placed),
        together=together,
        judged=judged,
    )


def _restored(application: Running, placed: PlacementOutcome) -> int | None:
    app = application.app
    has = _holders(application, placed.owner, placed.copies_start, placed.copies)
    had = _holders(application, application.owner, application.copies_start, application.copies)
    behind = np.repeat(app.log_size[:, None], len(app.clients), axis=1)
    client = np.repeat(np.arange(len(app.clients)), np.diff(app.lag_start))
    behind[app.lag_task, client] = app.lag
    offsets = behind[has & ~had & app.stateful[:, None]]
    unsure = _UNSURE & {remark.measure for remark in application.remarks}
    if len(offsets) and (unsure or (offsets == LAG_UNKNOWN).any()):
        return None
    return int(np.maximum(offsets, 0).sum())


def _holders(application: Running, owner: Indices, start: Ints, copies: Indices) -> Flags:
    """(N, C) whether a client runs a task or keeps a copy of it."""
    holds = np.zeros((len(owner), len(application.app.clients) + 1), np.bool_)
    holds[np.arange(len(owner)), owner] = True
    holds[np.repeat(np.arange(len(owner)), np.diff(start)), copies] = True
    return holds[:, :-1]


def undominated(swept: Sequence[Frontier]) -> list[Frontier]:
    """Without points that another equals in traffic, moves and stores and beats in one of them; how many is said."""
    every, kept = [point for one in swept for point in one.corners], []
    for one in swept:
        best = tuple(p for p in one.corners if not any(_beats(other, p) for other in every))
        out = len(one.corners) - len(best)
        remarks = (*one.remarks, note("points_left_out", after=out)) if out else one.remarks
        kept.append(replace(one, corners=best, remarks=remarks))
    return kept


def _beats(one: Point, other: Point) -> bool:
    pairs = list(zip(_figures(one), _figures(other), strict=True))
    known = all((a is None) == (b is None) for a, b in pairs)
    told = [(a, b) for a, b in pairs if a is not None and b is not None]
    return known and all(a <= b for a, b in told) and any(a < b for a, b in told)


def _figures(point: Point) -> tuple[float | None, ...]:
    stores = point.stores
    about = (stores.moves, stores.restored, stores.together) if stores else ()
    return point.crossing, point.rate, point.moves, *about
