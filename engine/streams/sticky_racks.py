"""
How Kafka's public sticky assignor of tasks looks at racks, where it does.

It does only where a rack strategy and both its costs are configured: `TaskAssignmentUtils` asks for both, although the
assignor hands it costs of its own. And it differs from the high-availability assignor:

* A task costs what it reads and what it restores, changelogs included, while it is active as well.
* A partition counts as soon as one of its replicas has a rack; one broker without rack switches nothing off.
* Racks of changelogs and clients are enough for standbys, whatever is known of sources.
* Standbys are swapped with the configured strategy, limits included, and tags do not hold them back: the rule that
  should asks about the source of a swap twice.

Promises, the first before the second: everybody keeps the number of tasks it has of each kind; no such assignment of
active tasks costs less; which of several it is, is Kafka's (`evenkeel.engine.streams.cycle_cancelling`), up to `EXACT`
tasks x clients. Standbys change places pair by pair of clients, at most `ROUNDS` times around.

Source: `TaskAssignmentUtils` of Kafka 4.3, KIP-924. What it does not do: it places nothing that is not placed yet.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from ..assignors.flow.rack_flow import solve
from ..model.arrays import NONE, Indices, Ints, ragged
from ..model.facts import Fact, reason
from .actives import problem_of
from .cycle_cancelling import cancelled
from .model import Application
from .racks import clients_off, cross_rack, partitions_off, racked_replicas
from .settings import STATELESS, Costs, RackStrategy, TaskConfig
from .standby_racks import ROUNDS

EXACT = 10_000
"""Up to so many tasks x clients ties are Kafka's too; Kafka's own way takes seconds there, and ever longer beyond."""


def actives_off(app: Application, config: TaskConfig) -> Fact | None:
    """Why racks play no part for active tasks; None when they do."""
    off = _off(app, config, app.source, "source_racks_unknown")
    return off or standbys_off(app, config)


def standbys_off(app: Application, config: TaskConfig) -> Fact | None:
    """Why racks play no part for standbys; None when they do."""
    return _off(app, config, app.changelog, "changelog_racks_unknown")


def _off(app: Application, config: TaskConfig, used: Indices, measure: str) -> Fact | None:
    if config.strategy is RackStrategy.NONE:
        return reason("strategy_none")
    if not config.costs_told:
        return reason("sticky_costs_not_configured")
    return clients_off(app) or partitions_off(app, used, racked_replicas(app) == 0, measure)


def racked_actives(
    app: Application, owner: Indices, config: TaskConfig, order: Sequence[int]
) -> Indices:
    """
    (N) new owners of all tasks: those with stores first, then those without.

    Args:
        app: The application; racks play a part for its active tasks.
        owner: (N) the client each task was given to.
        config: Its settings.
        order: The clients in the order of the leader's map.

    Raises:
        Infeasible: The sub-topology limits do not hold all tasks.
    """
    source, changelog = app.source.tolist(), app.changelog.tolist()
    reads, restores = (
        itertools.pairwise(start.tolist()) for start in (app.source_start, app.changelog_start)
    )
    start, partition = ragged(
        [
            sorted({*source[a:b], *changelog[c:d]})
            for (a, b), (c, d) in zip(reads, restores, strict=True)
        ]
    )
    both = replace(app, source_start=start, source=partition)
    better = owner.astype(np.int32)
    for kind, costs in ((app.stateful, config.costs), (~app.stateful, STATELESS)):
        better = _placed(both, better, np.flatnonzero(kind), costs, config.strategy, order)
    return better


def _placed(
    app: Application,
    owner: Indices,
    tasks: Ints,
    costs: Costs,
    strategy: RackStrategy,
    order: Sequence[int],
    cross: Ints | None = None,
) -> Indices:
    """(N) owners with these tasks placed anew at the least cost among the clients of *order*."""
    if not len(tasks):
        return owner
    better = owner.copy()
    problem = problem_of(app, owner, tasks, costs, strategy, cross=cross)
    small = len(problem.cost) * len(order) <= EXACT
    better[tasks] = cancelled(problem, order) if small else solve(problem)
    return better


def racked_standbys(
    app: Application,
    owner: Indices,
    standbys: Sequence[Sequence[int]],
    config: TaskConfig,
    order: Sequence[int],
) -> list[list[int]]:
    """
    (N) the clients that keep a copy, swapped towards the changelogs.

    Args:
        app: The application; racks play a part for its standbys.
        owner: (N) the client each task is active on.
        standbys: (N) the clients that keep a copy.
        config: Its settings.
        order: The clients in the order of the leader's map.

    Raises:
        Infeasible: The sub-topology limits do not hold all tasks of a pair of clients.
    """
    logs = replace(app, source_start=app.changelog_start, source=app.changelog)
    swaps = _Swaps(logs, owner, standbys, config)
    for _ in range(ROUNDS):
        pairs = [(a, b) for place, a in enumerate(order) for b in order[place + 1 :]]
        if not sum([swaps.between(a, b) for a, b in pairs]):
            break
    return [sorted(clients) for clients in swaps.kept]


class _Swaps:
    """Standbys as they change places."""

    def __init__(
        self,
        app: Application,
        owner: Indices,
        standbys: Sequence[Sequence[int]],
        config: TaskConfig,
    ) -> None:
        self.app, self.config = app, config
        self._cross = cross_rack(app, app.source_start, app.source)
        self.owner: list[int] = owner.tolist()
        self.kept = [set(clients) for clients in standbys]
        self._of: list[set[int]] = [set() for _ in app.clients]
        for task, clients in enumerate(self.kept):
            for client in clients:
                self._of[client].add(task)

    def between(self, first: int, second: int) -> bool:
        """Let two clients of different racks swap what gains; whether anything moved."""
        if self.app.client_rack[first] == self.app.client_rack[second]:
            return False
        given, taken = self._movable(first, second), self._movable(second, first)
        if not given or not taken:
            return False
        tasks = np.array(sorted([*given, *taken]), np.int64)
        holder = np.full(len(self.app.tasks), NONE, np.int32)
        holder[given], holder[taken] = first, second
        pair = sorted((first, second))
        costs, strategy = self.config.costs, self.config.strategy
        after = _placed(self.app, holder, tasks, costs, strategy, pair, self._cross)
        moved = tasks[after[tasks] != holder[tasks]].tolist()
        for task in moved:
            source, destination = int(holder[task]), int(after[task])
            self._of[source].discard(task)
            self._of[destination].add(task)
            self.kept[task] ^= {source, destination}
        return bool(moved)

    def _movable(self, source: int, destination: int) -> list[int]:
        return [
            task
            for task in self._of[source]
            if destination not in self.kept[task] and self.owner[task] != destination
        ]


__all__ = ["EXACT", "actives_off", "racked_actives", "racked_standbys", "standbys_off"]
