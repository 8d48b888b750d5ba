"""
What a live application has now, beside what each strategy would give it, by the same measures.

A placement is taken where it ends, with all copies caught up. Its cost is what Kafka's optimizer minimizes, with what
moves charged against what runs now: `traffic_cost` for each source partition a task reads across racks and
`non_overlap_cost` for each task that changes clients, tasks without state at 1 and 0; the racks of all replicas count
for it. What crosses racks is measured as everywhere: from the leader where brokers serve reads from leaders only.
Partitions of which the client's rack or a replica's is unknown are left out of the count, and the count of those is
told.

Kafka sees the `client.rack` that clients send, and without one of them no rack at all. What is known of racks besides
is for measuring; what a rack strategy would lead to is worked out with a `client.rack` on every client, and said to
need it (`PlacementOutcome.untold`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from ..assignors.kit.java_order import map_order
from ..metrics.racks import Crossing, leader_crossing, replica_crossing
from ..model.arrays import NONE, Flags, Indices, Ints, ragged_entries, starts_of
from ..model.errors import Infeasible
from ..model.facts import Fact, note, reason
from .live import Running
from .model import RUNNING, Application, Placement, placed_at_once
from .racks import EQUAL_COSTS, clients_off
from .settings import STATELESS, RackStrategy, StickyTasks, TaskStrategy
from .sticky_tasks import place_sticky, usual_arrivals
from .sticky_tasks_server import assign_sticky_server
from .store_copies import StoreCopies, store_copies
from .threads import thread_of


@dataclass(frozen=True, kw_only=True, eq=False)
class PlacementOutcome:
    """
    One placement of a live application, and its measures, worked out when they are asked for.

    Attributes:
        application: The application before it.
        strategy: What gave it; None for what the application has now.
        placement: The strategy's answer for the next rebalance; None for what it has now.
        owner: (N) the client of each task in the end, NONE for nobody.
        copies_start, copies: Ragged, task -> clients that keep a copy in the end.
        thread: (N) the member that runs each task then; None where the strategy gives tasks to clients and Kafka deals
            them over the threads.
        untold: Which clients have to send a `client.rack` before the strategy places tasks so; None when all do.
    """

    application: Running
    strategy: TaskStrategy | None
    placement: Placement | None
    owner: Indices
    copies_start: Ints
    copies: Indices
    thread: Indices | None = None
    untold: Fact | None = None

    @cached_property
    def threads(self) -> Indices:
        """(N) the member that runs each task then, NONE for nobody, however tasks come to threads."""
        if self.thread is not None:
            return self.thread
        return thread_of(self.owner, self.application.client_of, self.application.thread)

    @property
    def crossing(self) -> Ints:
        """(N) source partitions of each task that it reads across racks."""
        return self._read[0]

    @property
    def unknown(self) -> Ints:
        """(N) source partitions of each task of which that is not known."""
        return self._read[1]

    @property
    def far(self) -> Ints:
        """(N) source partitions of each task without a replica in its client's rack, which is what strategies weigh."""
        return self._weighed[0]

    @property
    def copies_crossing(self) -> int:
        """Changelog partitions that standbys restore across racks."""
        return int(self._restored[0].sum())

    @property
    def copies_unknown(self) -> int:
        """Those of which that is not known."""
        return int(self._restored[1].sum())

    @cached_property
    def stores(self) -> StoreCopies:
        """Where the copies of each store stand."""
        return store_copies(self.application, self.owner, self.copies_start, self.copies)

    @property
    def moves(self) -> int:
        """Tasks that change clients."""
        return int(self._moved.sum())

    @property
    def cost(self) -> int | None:
        """Total cost, in the units of the configured costs; None where a rack is not known."""
        far, unsure = self._weighed
        if unsure.any():
            return None
        stateful, costs = self.application.app.stateful, self.application.config.costs
        price = np.where(stateful, costs.traffic, STATELESS.traffic)
        fee = np.where(stateful, costs.non_overlap, STATELESS.non_overlap)
        return int((price * far).sum() + fee[self._moved].sum())

    @property
    def _moved(self) -> Flags:
        before, then = self.application.owner, self.owner
        moved: Flags = (then != before) & (before != NONE) & (then != NONE)
        return moved

    @cached_property
    def _read(self) -> tuple[Ints, Ints]:
        app = self.application.app
        return _by_row(app, app.source_start, app.source, self.owner)

    @cached_property
    def _weighed(self) -> tuple[Ints, Ints]:
        app = self.application.app
        return _by_row(app, app.source_start, app.source, self.owner, by_replica=True)

    @cached_property
    def _restored(self) -> tuple[Ints, Ints]:
        app = self.application.app
        task = np.repeat(np.arange(len(app.tasks)), np.diff(self.copies_start))
        start, entries = ragged_entries(app.changelog_start, task)
        return _by_row(app, start, app.changelog[entries], self.copies)

    @property
    def racks_off(self) -> Fact | None:
        """Why racks played no part in it."""
        return None if self.placement is None else self.placement.racks

    @property
    def without_racks(self) -> Fact | None:
        """Why the strategy places tasks as `none` does until something is mended; None when it does not."""
        off = self.untold or self.racks_off
        return None if off is not None and off.measure == EQUAL_COSTS else off

    @property
    def remarks(self) -> tuple[Fact, ...]:
        """What is remarkable of where racks played a part, or are no matter."""
        rack_strategy = not isinstance(self.strategy, StickyTasks)
        if self.placement is None or (rack_strategy and self.racks_off):
            return ()
        return self.placement.findings

    @property
    def probing(self) -> bool:
        """Whether more rebalances follow until the tasks are where they are to be."""
        return self.placement is not None and self.placement.probing

    @property
    def warming(self) -> int:
        """How many copies warm up at the next rebalance."""
        return 0 if self.placement is None else len(self.placement.warmup)


def present(running: Running) -> PlacementOutcome:
    """What the application has now."""
    return PlacementOutcome(
        application=running,
        strategy=None,
        placement=None,
        owner=running.owner,
        copies_start=running.copies_start,
        copies=running.copies,
    )


def outcome(running: Running, strategy: TaskStrategy) -> PlacementOutcome:
    """
    What a strategy would lead to, from what the application has now.

    Raises:
        Infeasible: Its limits do not hold all tasks, or it is one of another task assignor than the configured one.
    """
    thread, untold = None, None
    if strategy is StickyTasks.SERVER is running.own:
        app, members = running.app, running.members
        config = running.config
        given = assign_sticky_server(app, members, config.num_standby_replicas, config.release)
        copies = [members.client_of[list(each)].tolist() for each in given.standbys]
        off, thread = reason("broker_looks_at_no_rack"), given.active
        placement = placed_at_once(app, members.client_of[thread], copies, racks=off)
    elif strategy is StickyTasks.CLIENT is running.own:
        placement = _by_sticky_leader(running)
    elif isinstance(strategy, StickyTasks) or running.own is StickyTasks.CLIENT:
        raise Infeasible(
            f"the application runs the {running.assignor} task assignor, and this is a strategy of another one.",
            fix="Set task_assignor of [rules.streams] to the one that the application uses.",
        )
    else:
        untold = None if strategy is RackStrategy.NONE else clients_off(running.app)
        placement = (running.placing if untold is None else running.placing_told).by(strategy)
    owner = np.where(placement.target == NONE, placement.active, placement.target)
    return PlacementOutcome(
        application=running,
        strategy=strategy,
        placement=placement,
        owner=owner.astype(np.int32),
        copies_start=placement.planned_start,
        copies=placement.planned,
        thread=thread,
        untold=untold,
    )


def _by_sticky_leader(running: Running) -> Placement:
    """
    The next rebalance of a classic application with the sticky assignor.

    What a client kept before is what it keeps now, and what else lies on its disk. Its leader meets clients in the
    order in which its map walks their threads.
    """
    app, members = running.app, running.members
    kept = app.lag != RUNNING
    client = np.repeat(np.arange(len(app.clients)), np.diff(app.lag_start))[kept]
    start = starts_of(np.bincount(client, minlength=len(app.clients)))
    past = replace(app, standby_start=start, standby_task=app.lag_task[kept])
    walked = members.client_of[map_order(members.ids)].tolist()
    arrivals = replace(
        usual_arrivals(app),
        clients=list(dict.fromkeys(walked)),
        copied=np.flatnonzero(app.stateful).tolist(),
    )
    placement = place_sticky(past, running.config, arrivals)
    if running.config.num_standby_replicas and app.stateful.any():
        dealt = note("standbys_dealt_in_any_order")
        placement = replace(placement, findings=(*placement.findings, dealt))
    return placement


def outcomes(running: Running) -> list[PlacementOutcome]:
    """
    What each of its strategies would lead to; with the sticky assignor of Kafka Streams that one alone.

    Raises:
        Infeasible: The limits of a strategy do not hold all tasks.
    """
    if running.own is StickyTasks.CLIENT:
        return [outcome(running, running.own)]
    return [outcome(running, strategy) for strategy in running.strategies]


def presumed(running: Running, candidates: Iterable[PlacementOutcome]) -> Running:
    """
    The application with the strategy it runs: the configured one, else one that gives exactly what it has now, else
    Kafka's default, `none`. Any is `none` while racks are off. What was taken is said. Where the broker assigns
    (KIP-1071), and where the sticky assignor is configured, it runs that.

    Args:
        running: The application.
        candidates: What rack strategies would lead to, in their order.
    """
    if running.own is not None:
        return replace(running, runs=running.own)
    candidates = tuple(candidates)
    if running.configured is not None:
        return replace(running, runs=_in_effect(running.configured, candidates))
    same = next(reproducing(running, candidates), None)
    strategy = same or RackStrategy.NONE
    remark = note("strategy_taken_as_seen" if same else "strategy_taken_by_default", [strategy])
    config = replace(running.config, strategy=strategy)
    return replace(running, config=config, runs=strategy, remarks=(remark, *running.remarks))


def seen_to_run(
    running: Running, candidates: Iterable[PlacementOutcome]
) -> frozenset[TaskStrategy] | None:
    """
    The strategies that an application may be running: the configured one, else all that give exactly what it has now.

    None where nothing shows it; where the broker assigns (KIP-1071), its own.

    Args:
        running: The application.
        candidates: What rack strategies would lead to.
    """
    if running.own is not None:
        return frozenset({running.own})
    if running.configured is not None:
        return frozenset({_in_effect(running.configured, candidates)})
    return frozenset(reproducing(running, candidates)) or None


def _in_effect(configured: RackStrategy, candidates: Iterable[PlacementOutcome]) -> RackStrategy:
    """The configured strategy, or `none` where Kafka has switched racks off."""
    for one in candidates:
        if one.strategy is configured and one.without_racks is not None:
            return RackStrategy.NONE
    return configured


def reproducing(running: Running, candidates: Iterable[PlacementOutcome]) -> Iterator[RackStrategy]:
    """The strategies whose answer is exactly what the application has now, copies included."""
    for candidate in candidates:
        seen = candidate.untold is None or candidate.racks_off is not None
        if (
            seen
            and isinstance(candidate.strategy, RackStrategy)
            and np.array_equal(candidate.owner, running.owner)
            and np.array_equal(candidate.copies_start, running.copies_start)
            and np.array_equal(candidate.copies, running.copies)
        ):
            yield candidate.strategy


def across(
    app: Application, start: Ints, partition: Indices, client: Indices, *, by_replica: bool = False
) -> Crossing:
    """
    For each entry, whether its partition is read across racks by its row's client.

    Args:
        app: The application.
        start, partition: Ragged, row -> partitions.
        client: One per row, NONE for nobody.
        by_replica: Whether it has no replica in that client's rack, whoever serves reads: what strategies weigh.
    """
    rack = np.append(app.known_rack, np.int32(NONE))[client]
    of_row = np.repeat(rack, np.diff(start))
    if app.leader_rack is not None and not by_replica:
        return leader_crossing(of_row, app.leader_rack[partition])
    replica_start, entries = ragged_entries(app.replica_start, partition)
    return replica_crossing(of_row, replica_start, app.replica_rack[entries])


def _by_row(
    app: Application, start: Ints, partition: Indices, client: Indices, *, by_replica: bool = False
) -> tuple[Ints, Ints]:
    """For each row, how many of its partitions cross racks, and of how many that is unknown; none of nobody's."""
    crossing = across(app, start, partition, client, by_replica=by_replica)
    row = np.repeat(np.arange(len(start) - 1), np.diff(start))
    unknown = ~crossing.known & (client[row] != NONE)
    return (
        np.bincount(row[crossing.crosses], minlength=len(client)),
        np.bincount(row[unknown], minlength=len(client)),
    )
