"""
Tasks and clients of a Kafka Streams application, as the integers its strategies work on.

A task is one partition number of one sub-topology; it reads source partitions and, when stateful,
keeps a store whose changelog partitions say how far a copy is behind. A client is one process: so
many threads, one rack, some tags. Tasks and clients are in Kafka's own order (tasks by
sub-topology and partition, clients by process id as a signed UUID), so no order of the input shows.

Source: KIP-441 (lags and warm-ups), KIP-708 (tags), KIP-925 (racks); `TaskId`, `ProcessId` and
`ClientState` of Kafka 4.3.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache

import numpy as np

from ..assignors.kit.java_order import uuid_halves
from ..model.arrays import NONE, Flags, Indices, Ints, ragged, ragged_entries, starts_of
from ..model.errors import InputError
from ..model.facts import Fact
from .settings import STATEFUL, STATELESS, Costs, RackStrategy, TaskConfig

__all__ = [
    "LAG_UNKNOWN",
    "RUNNING",
    "STATEFUL",
    "STATELESS",
    "Application",
    "ClientLine",
    "Costs",
    "Placement",
    "RackStrategy",
    "TaskConfig",
    "TaskLine",
    "application",
    "holding",
]


RUNNING = -2
"""The lag of a task that is active and running on a client (on the wire too)."""

LAG_UNKNOWN = -3
"""The lag of a task whose offsets the client could not tell (on the wire too)."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Application:
    """
    N tasks, C clients and R partitions; the frozen input of every task strategy.

    Attributes:
        tasks: Task ids `<sub-topology>_<partition>`, in Kafka's order.
        subtopology: (N) number of the sub-topology.
        stateful: (N).
        log_size: (N) end offset of the stores, in offsets: the lag of a client that has no copy.
        source_start, source: Ragged, task -> partitions it reads.
        changelog_start, changelog: Ragged, task -> partitions of its stores.
        partitions: (R) topic and partition number.
        racks: Rack names; *replica_rack* and *client_rack* point into it, or NONE.
        replica_start, replica_rack: Ragged, partition -> racks of its replicas; NONE is a broker
            without rack, no entry at all means that the replicas are not known.
        leader_rack: (R) rack of the leader, NONE unknown, where brokers serve reads from leaders only; None where any
            replica serves them. It says what crosses racks; what Kafka's strategies weigh are all replicas.
        clients: Process ids as UUID text, in Kafka's order (signed).
        names: (C) what people call them.
        threads: (C) number of stream threads, the client's capacity.
        client_rack: (C) the rack that Kafka sees, its `client.rack`; NONE without, or when its members disagree.
        known_rack: (C) where it is known to be, whoever said so: what crosses racks is measured by it.
        tags: (C) client tags.
        lag_start, lag_task, lag: Ragged, client -> what it said of tasks: offsets behind, `RUNNING`
            or `LAG_UNKNOWN`; a task that is not listed lags by its *log_size*.
        active_start, active_task: Ragged, client -> tasks that were active there.
        standby_start, standby_task: Ragged, client -> tasks of which it kept a copy.
    """

    tasks: tuple[str, ...]
    subtopology: Ints
    stateful: Flags
    log_size: Ints
    source_start: Ints
    source: Indices
    changelog_start: Ints
    changelog: Indices
    partitions: tuple[tuple[str, int], ...]
    racks: tuple[str, ...]
    replica_start: Ints
    replica_rack: Indices
    leader_rack: Indices | None
    clients: tuple[str, ...]
    names: tuple[str, ...]
    threads: Ints
    client_rack: Indices
    known_rack: Indices
    tags: tuple[Mapping[str, str], ...]
    lag_start: Ints
    lag_task: Indices
    lag: Ints
    active_start: Ints
    active_task: Indices
    standby_start: Ints
    standby_task: Indices

    @cached_property
    def told(self) -> Application:
        """The application with a `client.rack` on every client whose rack is known."""
        sends = self.client_rack != NONE
        return replace(self, client_rack=np.where(sends, self.client_rack, self.known_rack))

    @cached_property
    def previous_owner(self) -> Indices:
        """(N) the client a task was active on, NONE for none; of several the last in order."""
        owner = np.full(len(self.tasks), NONE, np.int32)
        clients = np.repeat(
            np.arange(len(self.clients), dtype=np.int32), np.diff(self.active_start)
        )
        owner[self.active_task] = clients
        return owner

    @cached_property
    def lags_by_task(self) -> tuple[Ints, Indices, Ints]:
        """What clients said of their lags, ragged the other way round: task -> clients and lags, by (lag, client)."""
        client = np.repeat(np.arange(len(self.clients), dtype=np.int32), np.diff(self.lag_start))
        order = np.lexsort((client, self.lag, self.lag_task))
        start = starts_of(np.bincount(self.lag_task, minlength=len(self.tasks)))
        return start, client[order], self.lag[order]

    def of_clients(self, clients: Ints) -> Application:
        """The application of some of its clients, in another order, each with what it said and had."""
        rows = clients.tolist()
        lag_start, lags = ragged_entries(self.lag_start, clients)
        active_start, active = ragged_entries(self.active_start, clients)
        standby_start, standby = ragged_entries(self.standby_start, clients)
        return replace(
            self,
            clients=tuple(self.clients[client] for client in rows),
            names=tuple(self.names[client] for client in rows),
            threads=self.threads[clients],
            client_rack=self.client_rack[clients],
            known_rack=self.known_rack[clients],
            tags=tuple(self.tags[client] for client in rows),
            lag_start=lag_start,
            lag_task=self.lag_task[lags],
            lag=self.lag[lags],
            active_start=active_start,
            active_task=self.active_task[active],
            standby_start=standby_start,
            standby_task=self.standby_task[standby],
        )

    def named(self, owner: Indices, tasks: Ints | None = None) -> dict[str, list[str]]:
        """Client -> ids of the tasks it has by *owner* (N, NONE for nobody), in task order; all clients present."""
        found: dict[str, list[str]] = {client: [] for client in self.clients}
        for task in range(len(self.tasks)) if tasks is None else tasks.tolist():
            if owner[task] != NONE:
                found[self.clients[owner[task]]].append(self.tasks[task])
        return found


@dataclass(frozen=True, kw_only=True, eq=False)
class Placement:
    """
    Where tasks go: the answer of a task strategy.

    Attributes:
        active: (N) client each task runs on, NONE for nobody.
        standby_start, standby: Ragged, task -> clients that keep a copy, warm-ups included, ascending.
        warmup_start, warmup: Ragged, task -> those of them that only warm up.
        target: (N) where stateful tasks are to run once their copies have caught up, NONE for stateless ones;
            equals *active* there when nothing is on its way.
        planned_start, planned: Ragged, task -> clients that are to keep a copy then, ascending.
        initial: (N) the target before racks were looked at.
        probing: Whether to rebalance again soon because copies are being warmed up.
        racks: Why racks played no part; None when they did.
        findings: What is remarkable.
    """

    active: Indices
    standby_start: Ints
    standby: Indices
    warmup_start: Ints
    warmup: Indices
    target: Indices
    planned_start: Ints
    planned: Indices
    initial: Indices
    probing: bool
    racks: Fact | None = None
    findings: tuple[Fact, ...] = field(default=())


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskLine:
    """A task in names, for `application`; *topology* is the named topology, usually none."""

    id: str
    sources: Sequence[tuple[str, int]]
    changelogs: Sequence[tuple[str, int]] = ()
    stateful: bool = False
    log_size: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ClientLine:
    """
    A client in names, for `application`; *lags* per task id, *previous_* are task ids.

    *rack* is what it sends as `client.rack`, *known_rack* where it is known to be, the same unless given.
    """

    process_id: str
    name: str | None = None
    threads: int = 1
    rack: str | None = None
    known_rack: str | None = None
    tags: Mapping[str, str] = field(default_factory=dict)
    lags: Mapping[str, int] = field(default_factory=dict)
    previous_active: Sequence[str] = ()
    previous_standby: Sequence[str] = ()


def application(
    tasks: Sequence[TaskLine],
    clients: Sequence[ClientLine],
    replicas: Mapping[tuple[str, int], Sequence[str | None]] | None = None,
    leaders: Mapping[tuple[str, int], str | None] | None = None,
) -> Application:
    """
    An application from names, in any order.

    Args:
        tasks: All tasks.
        clients: All clients.
        replicas: Partition -> racks of its replicas, None for a broker without rack; a partition
            left out has unknown replicas.
        leaders: Partition -> rack of its leader, where brokers serve reads from leaders only.

    Raises:
        InputError: A task id or process id is malformed or given twice, or a client names a task there is none of.

    >>> app = application(
    ...     [TaskLine(id="0_10", sources=[("t", 10)]), TaskLine(id="0_9", sources=[("t", 9)])],
    ...     [ClientLine(process_id="00000000-0000-0000-0000-000000000001", rack="a"),
    ...      ClientLine(process_id="ffffffff-ffff-ffff-0000-000000000000")],
    ... )
    >>> app.tasks, app.clients[0], app.client_rack.tolist()
    (('0_9', '0_10'), 'ffffffff-ffff-ffff-0000-000000000000', [-1, 0])
    """
    lines = sorted(tasks, key=lambda t: task_key(t.id))
    people = sorted(clients, key=lambda c: process_key(c.process_id))
    place = _places([t.id for t in lines], "task")
    _places([c.process_id for c in people], "process")
    known = replicas or {}
    used = [p for t in lines for p in (*t.sources, *t.changelogs)]
    partitions = tuple(dict.fromkeys(used))
    row = {pair: i for i, pair in enumerate(partitions)}
    of_clients = [c.rack or c.known_rack for c in people]
    of_brokers = [r for racks in (*known.values(), (leaders or {}).values()) for r in racks]
    racks = tuple(sorted({rack for rack in (*of_clients, *of_brokers) if rack}))
    rack_of: dict[str | None, int] = {name: i for i, name in enumerate(racks)}
    source_start, source = ragged([[row[p] for p in t.sources] for t in lines])
    changelog_start, changelog = ragged([[row[p] for p in t.changelogs] for t in lines])
    replica_start, replica_rack = ragged(
        [[rack_of.get(r or None, NONE) for r in known.get(p, ())] for p in partitions]
    )
    told = [[_task(place, c, t) for t in c.lags] for c in people]
    lag_start, lag_task = ragged(told)
    active_start, active_task = ragged(
        [[_task(place, c, t) for t in c.previous_active] for c in people]
    )
    standby_start, standby_task = ragged(
        [[_task(place, c, t) for t in c.previous_standby] for c in people]
    )
    return Application(
        tasks=tuple(t.id for t in lines),
        subtopology=np.array([task_key(t.id)[1] for t in lines], np.int64),
        stateful=np.array([t.stateful for t in lines], np.bool_),
        log_size=np.array([t.log_size for t in lines], np.int64),
        source_start=source_start,
        source=source,
        changelog_start=changelog_start,
        changelog=changelog,
        partitions=partitions,
        racks=racks,
        replica_start=replica_start,
        replica_rack=replica_rack,
        leader_rack=None
        if leaders is None
        else np.array([rack_of.get(leaders.get(p) or None, NONE) for p in partitions], np.int32),
        clients=tuple(c.process_id for c in people),
        names=tuple(c.name or c.process_id for c in people),
        threads=np.array([c.threads for c in people], np.int64),
        client_rack=np.array([rack_of.get(c.rack or None, NONE) for c in people], np.int32),
        known_rack=np.array([rack_of.get(rack or None, NONE) for rack in of_clients], np.int32),
        tags=tuple(dict(c.tags) for c in people),
        lag_start=lag_start,
        lag_task=lag_task,
        lag=np.array([lag for c in people for lag in c.lags.values()], np.int64),
        active_start=active_start,
        active_task=active_task,
        standby_start=standby_start,
        standby_task=standby_task,
    )


def holding(
    app: Application,
    owner: Indices,
    copies_start: Ints,
    copies: Indices,
    behind: Callable[[Indices, Ints], Ints] | None = None,
) -> Application:
    """
    The application once its clients run and keep something else, and have nothing besides.

    Args:
        app: The application as it was.
        owner: (N) the client of each task, NONE for nobody.
        copies_start, copies: Ragged, task -> clients that keep a copy.
        behind: (clients, tasks) -> offsets that each of them still has to restore; nothing if left out.
    """
    tasks = np.flatnonzero(owner != NONE)
    copied = np.repeat(np.arange(len(owner)), np.diff(copies_start))
    stores = tasks[app.stateful[tasks]]
    client, task = np.append(owner[stores], copies), np.append(stores, copied)
    lag = np.zeros(len(task), np.int64) if behind is None else behind(client, task)
    active = np.arange(len(task)) < len(stores)
    lag[active & (lag == 0)] = RUNNING
    lag_start, order = _per_client(app, client, task)
    active_start, running = _per_client(app, owner[tasks], tasks)
    standby_start, kept = _per_client(app, copies, copied)
    return replace(
        app,
        lag_start=lag_start,
        lag_task=task[order].astype(np.int32),
        lag=lag[order],
        active_start=active_start,
        active_task=tasks[running].astype(np.int32),
        standby_start=standby_start,
        standby_task=copied[kept].astype(np.int32),
    )


def _per_client(app: Application, client: Indices, task: Ints) -> tuple[Ints, Ints]:
    """Where what each client has begins, in the order of clients and tasks; and that order."""
    return starts_of(np.bincount(client, minlength=len(app.clients))), np.lexsort((task, client))


@lru_cache(1 << 14)
def task_key(task: str) -> tuple[str, int, int]:
    """
    Kafka's order of task ids: named topology, sub-topology, partition.

    Raises:
        InputError: It is no task id.

    >>> sorted(["1_0", "0_10", "0_9"], key=task_key)
    ['0_9', '0_10', '1_0']
    """
    topology, _, rest = task.rpartition("__")
    subtopology, _, partition = rest.partition("_")
    if not (subtopology.isdecimal() and partition.isdecimal()):
        raise InputError(
            f"{task!r} is no task id.", fix="Write <sub-topology>_<partition>, such as 0_3."
        )
    return topology, int(subtopology), int(partition)


@lru_cache(1 << 14)
def process_key(process_id: str) -> tuple[int, int]:
    """
    Java's order of UUIDs: both halves compared as signed 64-bit numbers.

    Raises:
        InputError: It is no UUID.
    """
    try:
        parsed = uuid.UUID(process_id)
    except ValueError as problem:
        raise InputError(
            f"process id {process_id!r} is no UUID.",
            fix="Write it as 8-4-4-4-12 hexadecimal digits.",
        ) from problem
    upper, lower = uuid_halves([parsed]).tolist()[0]
    return upper, lower


def _places(names: Sequence[str], what: str) -> dict[str, int]:
    place = {name: i for i, name in enumerate(names)}
    if len(place) < len(names):
        twice = next(n for i, n in enumerate(names) if place[n] != i)
        raise InputError(f"{what} {twice!r} is given twice.", fix="Name each once.")
    return place


def _task(place: Mapping[str, int], client: ClientLine, task: str) -> int:
    if task not in place:
        raise InputError(
            f"client {client.process_id} names task {task!r}, which is not among the {len(place)} tasks.",
            fix="List the task, or leave it out of the client.",
        )
    return place[task]


def placed_at_once(
    app: Application,
    active: Indices,
    copies: Sequence[Iterable[int]],
    *,
    initial: Indices | None = None,
    racks: Fact | None,
    findings: tuple[Fact, ...] = (),
) -> Placement:
    """
    The placement.

    Args:
        app: The application.
        active: (N) the client of each task.
        copies: (N) the clients that keep a copy.
        initial: (N) the client of each task before racks were looked at; *active* if left out.
        racks: Why racks played no part; None when they did.
        findings: What is remarkable.
    """
    start, standby = ragged([sorted(clients) for clients in copies])
    none_start, none = ragged([[] for _ in app.tasks])
    first = active if initial is None else initial
    return Placement(
        active=active,
        standby_start=start,
        standby=standby,
        warmup_start=none_start,
        warmup=none,
        target=np.where(app.stateful, active, NONE).astype(np.int32),
        planned_start=start,
        planned=standby,
        initial=np.where(app.stateful, first, NONE).astype(np.int32),
        probing=False,
        racks=racks,
        findings=findings,
    )
