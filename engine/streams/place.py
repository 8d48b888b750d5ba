"""
The whole: where every task of a Streams application goes, as Kafka's high-availability assignor has it.

In order, each step on top of the one before:

1. Stateful tasks are dealt and levelled over the clients' threads (`assign_tasks`).
2. Racks: the same counts per client at the least cost (`actives`).
3. Standbys: least loaded clients, apart by tags (`standbys`); then swapped towards their data
   (`standby_racks`).
4. Lags: what is not caught up where it is to go runs elsewhere meanwhile, and warms up there
   (`task_movements`). If anything does, Kafka probes: it rebalances again after a while.
5. Tasks without state, by active tasks per thread; racks as in 2.

With strategy `none` steps 2 and the second half of 3 do not take place, and the answer is Kafka's to
the letter. With the others the cost of active tasks is Kafka's, which of several cheapest placements
it is need not be.

One store is on client 1; it is dealt to client 0, which warms a copy up first:

>>> from evenkeel.engine.streams.model import ClientLine, TaskLine, application
>>> clients = [f"00000000-0000-0000-0000-00000000000{n}" for n in range(2)]
>>> app = application(
...     [TaskLine(id="0_0", sources=[("t", 0)], stateful=True, log_size=50_000)],
...     [ClientLine(process_id=clients[0]),
...      ClientLine(process_id=clients[1], lags={"0_0": -2}, previous_active=["0_0"])],
... )
>>> placed = place(app, TaskConfig())
>>> placed.active.tolist(), placed.target.tolist(), placed.warmup.tolist(), placed.probing
([1], [0], [0], True)

Source: `HighAvailabilityTaskAssignor` of Kafka 4.3, KIP-441, KIP-708, KIP-925. What it does not do:
it does not spread a client's tasks over its threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from ..model.arrays import NONE, Indices, Ints
from ..model.errors import Infeasible
from ..model.facts import Fact, note, reason
from .actives import optimize
from .assign_tasks import assign_stateful, assign_stateless
from .model import LAG_UNKNOWN, Application, Placement
from .racks import EQUAL_COSTS, cross_rack, nothing_to_gain, racks_off
from .settings import STATELESS, Overlap, RackStrategy, TaskConfig
from .standby_racks import ROUNDS, swap_standbys
from .standbys import Apart, Copies, findings, kept_apart, place_standbys, ragged_rows
from .task_movements import MovedTasks, assign_task_movements


def place(app: Application, config: TaskConfig) -> Placement:
    """
    Where tasks go at the next rebalance.

    Raises:
        Infeasible: There are tasks and no clients.
    """
    return Placing(app, config).by(config.strategy)


class Placing:
    """Where tasks of one application go by each of its strategies; what these share is worked out once."""

    def __init__(self, app: Application, config: TaskConfig) -> None:
        """
        Args:
            app: The application.
            config: Its settings; their strategy does not count.
        """
        self.app, self.config = app, config
        self._moved: dict[tuple[bytes, str], MovedTasks] = {}

    def by(self, strategy: RackStrategy) -> Placement:
        """
        Where tasks go at the next rebalance.

        Raises:
            Infeasible: There are tasks and no clients, or the limits of the strategy do not hold all tasks.
        """
        app, config = self.app, self.config
        if config.strategy is not strategy:
            config = replace(config, strategy=strategy)
        if app.tasks and not app.clients:
            raise Infeasible(
                f"there are {len(app.tasks)} tasks and no client to run them.",
                fix="Start at least one instance of the application.",
            )
        off = racks_off(app, config) or self._gains_nothing(strategy)
        if off is not None:
            return replace(self._without_racks, racks=off)
        remarks = [note(EQUAL_COSTS)] if self._equal else []
        overlap = app.previous_owner if config.overlap is Overlap.PREVIOUS else None
        stateful = np.flatnonzero(app.stateful)
        target = optimize(
            app, self._dealt, stateful, config.costs, strategy, overlap, self._crossing
        )
        plan = place_standbys(app, config, target, self._apart)
        if config.num_standby_replicas and not swap_standbys(app, plan, config.costs, self._apart):
            remarks.append(note("standby_swaps_cut_off", after=ROUNDS))
        return self._placed(plan, strategy, remarks)

    @cached_property
    def _without_racks(self) -> Placement:
        plan = place_standbys(self.app, self.config, self._dealt, self._apart)
        return self._placed(plan, RackStrategy.NONE, [])

    @cached_property
    def _dealt(self) -> Indices:
        return assign_stateful(self.app)

    @cached_property
    def _apart(self) -> Apart:
        return kept_apart(self.app, self.config)

    @cached_property
    def _crossing(self) -> Ints:
        return cross_rack(self.app, self.app.source_start, self.app.source)

    @cached_property
    def _equal(self) -> bool:
        """Whether racks tell no clients apart by sources, and by changelogs where standbys restore these."""
        app = self.app
        if not nothing_to_gain(app, self._crossing):
            return False
        changelogs = cross_rack(app, app.changelog_start, app.changelog)
        return not self.config.num_standby_replicas or nothing_to_gain(app, changelogs)

    def _gains_nothing(self, strategy: RackStrategy) -> Fact | None:
        """That racks can move no task; sub-topology limits, or what ran where before, may still do so."""
        free = strategy is RackStrategy.MIN_TRAFFIC and self.config.overlap is Overlap.COMPUTED
        return reason(EQUAL_COSTS) if free and self._equal else None

    def _placed(self, plan: Copies, strategy: RackStrategy, remarks: Sequence[Fact]) -> Placement:
        """The plan as it can be run now, with the stateless tasks by a strategy."""
        app, config = self.app, self.config
        key = plan.owner.tobytes(), str(plan.holders)
        if key not in self._moved:
            self._moved[key] = assign_task_movements(app, config, plan)
        moved = self._moved[key]
        active = assign_stateless(app, moved.active)
        stateless = np.flatnonzero(~app.stateful)
        copies = plan.table()
        planned_start, planned = ragged_rows(copies, copies != NONE)
        return Placement(
            active=optimize(app, active, stateless, STATELESS, strategy, cross=self._crossing)
            if strategy is not RackStrategy.NONE
            else active,
            standby_start=moved.standby_start,
            standby=moved.standby,
            warmup_start=moved.warmup_start,
            warmup=moved.warmup,
            target=plan.owner,
            planned_start=planned_start,
            planned=planned,
            initial=self._dealt,
            probing=moved.movements > 0,
            racks=None,
            findings=(
                *remarks,
                *findings(app, config),
                *_remarks(app, config, plan, self._apart),
            ),
        )


def _remarks(app: Application, config: TaskConfig, plan: Copies, apart: Apart) -> list[Fact]:
    remarks, short = list[Fact](), list[int]()
    tasks = np.flatnonzero(app.stateful).tolist()
    wanted = config.num_standby_replicas
    if tasks and len(app.clients) - 1 < wanted:
        remarks.append(note("too_few_clients_for_standbys", after=len(app.clients), bound=wanted))
    if apart.keys and wanted:
        lacking = apart.short(np.column_stack([plan.owner, plan.table()]))
        short = np.flatnonzero(lacking).tolist()
    if short:
        tasks_short = [app.tasks[t] for t in short]
        remarks.append(note("copies_not_apart", tasks_short, unit=" and ".join(apart.keys)))
    unknown = app.lag_task[(app.lag == LAG_UNKNOWN) & app.stateful[app.lag_task]]
    if len(unknown):
        unsure = [app.tasks[t] for t in sorted(set(unknown.tolist()))]
        remarks.append(note("offsets_unknown", unsure))
    return remarks


__all__ = ["Placing", "place"]
