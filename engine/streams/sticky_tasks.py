"""
Kafka's sticky assignor of tasks for classic Streams applications, the public one (KIP-924).

An application that sets `task.assignor.class` to it runs it in the leader of its group. It gives tasks to clients, the
processes; a client's capacity is its threads.

Promises, the first before the second:

1. Every task is active on one client; no client has two copies of a task, the active one included; a task with
   changelogs has as many standbys as are configured, or as many as there are other clients.
2. A task stays active on its client, as long as the client has fewer active tasks than its quota: its threads, times
   all tasks over all threads, rounded down; from Kafka 4.4 on the product is rounded, and up.
3. Else it goes to a client that kept a copy of it, again below its quota.
4. What is left goes, in the order of tasks, to the best client. That is the one it was active on, else the one that
   kept a copy; but where it has a task per thread or more and somebody has less, it is the least loaded client. Of
   those it is the first without any task, else one on which the task meets another that it has met nowhere yet.
5. Standbys go to the best client of those without the task.
6. Racks count only where a rack strategy and both its costs are configured (`evenkeel.engine.streams.sticky_racks`):
   then active tasks are exchanged for the least cost before standbys are dealt, and standbys afterwards.

Keeping goes before evenness. Equals stand in the order of Java's hash maps.

Four tasks on the first of two clients with a thread each. The quota is two, the others follow their copies; which two
stay is a matter of Java's hashes:

>>> from evenkeel.engine.streams.model import ClientLine, TaskLine, application
>>> clients = [f"00000000-0000-0000-0000-00000000000{n}" for n in range(2)]
>>> tasks = [TaskLine(id=f"0_{p}", sources=[("t", p)], changelogs=[("log", p)], stateful=True) for p in range(4)]
>>> app = application(tasks, [
...     ClientLine(process_id=clients[0], previous_active=[task.id for task in tasks]),
...     ClientLine(process_id=clients[1], previous_standby=[task.id for task in tasks]),
... ])
>>> placed = place_sticky(app, TaskConfig(num_standby_replicas=1))
>>> placed.active.tolist(), placed.standby.tolist()
([1, 1, 0, 0], [0, 0, 1, 1])

Cost: O(tasks x clients) for what is left and for standbys; 10,000 tasks with a standby each on 1,000 clients take two
seconds of plain Python. Source: `TaskAssignmentUtils` and
`org.apache.kafka.streams.processor.assignment.assignors.StickyTaskAssignor` of Kafka 3.8 to 4.4
(quotas: KAFKA-20198).

What it does not do: it looks at no lag and no client tag, warms nothing up, and never probes.

What is not to the letter: Kafka deals standbys in the order of a set of objects without a hash of their own, another
in every run of the JVM; here they are dealt in the order of `Arrivals.copied`. Beyond `sticky_racks.EXACT` tasks x
clients the cost is Kafka's, which of several cheapest placements it is need not be.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from ..assignors.kit.java_order import bucket_order, capacity
from ..model.arrays import NONE, Indices
from ..model.errors import Infeasible
from ..model.releases import OFFSETS_COUNT, Release
from .java import process_hashes, subtopology_hashes, task_hashes
from .model import Application, Placement, placed_at_once, task_key
from .settings import TaskConfig
from .sticky_racks import actives_off, racked_actives, racked_standbys, standbys_off

_MOST_PAIRS = (1 << 31) - 1


@dataclass(frozen=True, kw_only=True)
class Arrivals:
    """
    The orders in which Java's maps take what they hold, which show among those that share a bucket.

    Attributes:
        clients: All clients as the leader meets them in its members.
        tasks: All tasks as they are grouped from topics.
        copied: The tasks with changelogs, in the order in which their standbys are dealt.
    """

    clients: Sequence[int]
    tasks: Sequence[int]
    copied: Sequence[int]


def usual_arrivals(app: Application) -> Arrivals:
    """
    Clients and tasks with changelogs in Kafka's order, tasks as a leader groups them.

    A leader walks a `HashMap` of sub-topologies, and the partitions of each.
    """
    keys = [task_key(task) for task in app.tasks]
    parts = sorted({(name, number) for name, number, _ in keys})
    order = bucket_order(subtopology_hashes(parts), capacity(len(parts))).tolist()
    place = {parts[i]: n for n, i in enumerate(order)}
    walked = sorted(range(len(keys)), key=lambda task: (place[keys[task][:2]], keys[task][2]))
    return Arrivals(
        clients=range(len(app.clients)),
        tasks=walked,
        copied=np.flatnonzero(np.diff(app.changelog_start)).tolist(),
    )


def place_sticky(
    app: Application, config: TaskConfig, arrivals: Arrivals | None = None
) -> Placement:
    """
    Where tasks go at the next rebalance.

    Args:
        app: The application; what clients had before is what counts of their past.
        config: Its settings.
        arrivals: Orders that would show in Kafka; `usual_arrivals` if left out.

    Raises:
        Infeasible: There are no clients, so many tasks that Kafka's class throws, or more than their limits hold.
    """
    tasks = len(app.tasks)
    if not app.clients:
        raise Infeasible(
            f"there are {tasks} tasks and no client to run them.",
            fix="Start at least one instance of the application.",
        )
    if tasks * (tasks - 1) > _MOST_PAIRS:
        raise Infeasible(
            f"the sticky task assignor of Kafka fails on {tasks:,} tasks: their pairs are beyond its counter.",
            fix="Use the high-availability task assignor.",
        )
    giving = _Giving(app, arrivals or usual_arrivals(app), config.release)
    giving.give_active()
    initial = np.array(giving.owner, np.int32)
    active, off = initial, actives_off(app, config)
    if off is None:
        active = racked_actives(app, initial, config, giving.clients)
        giving.take(active)
    giving.give_standbys(config.num_standby_replicas)
    copies = giving.standbys
    if any(copies) and standbys_off(app, config) is None:
        copies = racked_standbys(app, active, copies, config, giving.clients)
    return placed_at_once(app, active, copies, initial=initial, racks=off)


class _Giving:
    """Who has what, as it is being worked out."""

    def __init__(self, app: Application, arrivals: Arrivals, release: Release) -> None:
        clients, tasks = len(app.clients), len(app.tasks)
        self.arrivals = arrivals
        self.threads: list[int] = app.threads.tolist()
        every = sum(self.threads)
        rounded_up = release >= OFFSETS_COUNT
        self.quotas = [
            -(-tasks * own // every) if rounded_up else tasks // every * own for own in self.threads
        ]
        self.task_hashes = task_hashes(app.tasks)
        self._hashes = process_hashes(app.clients)
        self._orders: dict[int, list[int]] = {}
        self.clients = list(arrivals.clients)
        self.clients = self._ordered(capacity(clients))
        self._orders.clear()
        self.owner = [NONE] * tasks
        self.standbys: list[list[int]] = [[] for _ in range(tasks)]
        self.load = [0.0] * clients
        self._active = [0] * clients
        self._has = [0] * clients
        self._pairs = _Pairs(tasks)
        self._had, self._arrived = _had(app, self.clients)
        self._kept = _kept(app, self.clients)

    def give_active(self) -> None:
        """Each task to whom it was active on, who kept a copy, or the best client, in this order."""
        for task in self._in_map(self._arrived):
            self._given(task, [self._had[task]])
        tasks = self._in_map(self.arrivals.tasks)
        for task in self._in_map(tasks, _copied(len(tasks))):
            if self.owner[task] == NONE:
                kept = self._kept[task]
                self._given(task, self._among(kept, capacity(len(kept))))
        everyone = self._ordered(capacity(len(self.clients)))
        for task, owner in enumerate(self.owner):
            if owner == NONE:
                self._give(self._best(task, everyone), task, active=True)

    def take(self, owner: Indices) -> None:
        """Take what racks made of it: everybody has as many tasks as before, and who met whom is not forgotten."""
        self.owner = owner.tolist()
        self._has = [0] * len(self._has)
        for task, client in enumerate(self.owner):
            self._has[client] |= 1 << task

    def give_standbys(self, wanted: int) -> None:
        """Copies of each task with changelogs to the best clients without it."""
        for task in self.arrivals.copied if wanted else ():
            for _ in range(wanted):
                holders = {self.owner[task], *self.standbys[task]}
                left = [client for client in self.clients if client not in holders]
                if not left:
                    break
                self._give(self._best(task, self._among(left, capacity(len(left)))), task)

    def _given(self, task: int, clients: Iterable[int]) -> None:
        """Give a task to the first client that is below its quota, if there is one."""
        for client in clients:
            if self._active[client] < self.quotas[client]:
                self._give(client, task, active=True)
                return

    def _give(self, client: int, task: int, *, active: bool = False) -> None:
        self._pairs.meet(task, self._has[client])
        self._has[client] |= 1 << task
        self.load[client] = self._has[client].bit_count() / self.threads[client]
        if active:
            self.owner[task] = client
            self._active[client] += 1
        else:
            self.standbys[task].append(client)

    def _best(self, task: int, clients: Sequence[int]) -> int:
        """The client among *clients* for a task: who had it, unless that one has much and another less."""
        if len(clients) == 1:
            return clients[0]
        had = self._had[task]
        first = had if had in clients else self._keeper(task, clients)
        if first == NONE:
            return self._least_loaded(task, clients)
        if self._may_have_less(first):
            first = self._keeper(task, clients)
            if first == NONE or self._may_have_less(first):
                return self._least_loaded(task, clients)
        return first

    def _keeper(self, task: int, clients: Collection[int]) -> int:
        """The least loaded of *clients* that kept a copy; NONE for none."""
        kept = self._kept[task]
        if not kept:
            return NONE
        walked = self._among(kept, _copied(len(kept)))
        return self._least_loaded(task, [client for client in walked if client in clients])

    def _least_loaded(self, task: int, clients: Sequence[int]) -> int:
        """The first without a task, else of those where the task meets a new one, else of all; NONE of none."""
        best = NONE
        for client in clients:
            if not self._has[client]:
                return client
            if (best == NONE or self.load[client] < self.load[best]) and self._pairs.new(
                task, self._has[client]
            ):
                best = client
        if best == NONE and clients:
            best = min(clients, key=self.load.__getitem__)
        return best

    def _may_have_less(self, client: int) -> bool:
        """Whether a client has a task per thread or more, and another one less than it."""
        load = self.load[client]
        return load >= 1 and min(self.load) < load

    def _in_map(self, tasks: Sequence[int], buckets: int = 0) -> list[int]:
        """Tasks in the order of a hash map that took them in theirs."""
        order = bucket_order(self.task_hashes[list(tasks)], buckets or capacity(len(tasks)))
        return [tasks[i] for i in order.tolist()]

    def _ordered(self, buckets: int) -> list[int]:
        """All clients in the order of a hash set with so many buckets that took them in the order of `clients`."""
        if buckets not in self._orders:
            order = bucket_order(self._hashes[self.clients], buckets)
            self._orders[buckets] = [self.clients[i] for i in order.tolist()]
        return self._orders[buckets]

    def _among(self, clients: Collection[int], buckets: int) -> list[int]:
        wanted = set(clients)
        return [client for client in self._ordered(buckets) if client in wanted]


class _Pairs:
    """Which tasks have met on a client so far; sets of tasks are the bits of a number."""

    def __init__(self, tasks: int) -> None:
        self._met = [0] * tasks
        self._left = tasks * (tasks - 1) // 2

    def meet(self, task: int, others: int) -> None:
        """Note that a task has met others."""
        new = others & ~self._met[task]
        self._met[task] |= others
        self._left -= new.bit_count()
        while new:
            last = new & -new
            self._met[last.bit_length() - 1] |= 1 << task
            new ^= last

    def new(self, task: int, others: int) -> bool:
        """Whether it has not met all of them yet."""
        return bool(self._left and others & ~self._met[task])


def _copied(size: int) -> int:
    """Buckets of a `HashSet` that was made of a collection of *size*."""
    return capacity(size, initial=max(int(size / 0.75) + 1, 16))


def _had(app: Application, clients: Iterable[int]) -> tuple[list[int], list[int]]:
    """The client each task was active on, the last of several; and those tasks, as they are met."""
    had, arrived = [NONE] * len(app.tasks), dict[int, None]()
    start, held = app.active_start.tolist(), app.active_task.tolist()
    for client in clients:
        for task in sorted(held[start[client] : start[client + 1]]):
            had[task] = client
            arrived.setdefault(task)
    return had, list(arrived)


def _kept(app: Application, clients: Iterable[int]) -> list[list[int]]:
    """The clients that kept a copy of each task, as they are met."""
    kept: list[list[int]] = [[] for _ in app.tasks]
    start, held = app.standby_start.tolist(), app.standby_task.tolist()
    for client in clients:
        for task in dict.fromkeys(held[start[client] : start[client + 1]]):
            kept[task].append(client)
    return kept


__all__ = ["Arrivals", "place_sticky", "usual_arrivals"]
