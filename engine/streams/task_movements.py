"""
Lags: run a task where its copy is furthest, and warm a copy up where the task is to go.

Promises, the first before the second:

1. A task stays on its target when it is caught up there, or when nobody is further; otherwise it
   runs on a caught-up client, or else on the one furthest along.
2. Standbys likewise, warm-ups left alone.
3. At most `max_warmup_replicas` copies warm up at a time; who gets none waits for a later rebalance.

A client is caught up on a task it runs, and on a copy within `acceptable_recovery_lag`.

Cost: finding what has to move is done in arrays; each movement searches a queue of all clients,
O(clients x log clients), compiled when there is much of it. Source: KIP-441; `TaskMovement` of
Kafka 4.3, heap order included. What it does not do: a client whose offsets are unknown counts as
further along than all and yet as not caught up; that is Kafka's quirk, kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..assignors.kit.kernels import Tally, at_work
from ..model.arrays import NONE, Flags, Indices, Ints
from .java import drain, offer, process_hashes
from .model import RUNNING, Application
from .settings import ANY_LAG, TaskConfig
from .standbys import Copies, ragged_rows
from .task_movement_kernels import assign_active_task_movements, assign_standby_task_movements

TALLY = Tally()


@dataclass(frozen=True, kw_only=True, eq=False)
class MovedTasks:
    """Where stateful tasks and their copies are for now; *movements* of them are not where they are to be."""

    active: Indices
    standby_start: Ints
    standby: Indices
    warmup_start: Ints
    warmup: Indices
    movements: int


def assign_task_movements(app: Application, config: TaskConfig, plan: Copies) -> MovedTasks:
    """
    The plan as it can be run now.

    Args:
        app: The application.
        config: Its settings.
        plan: Where stateful tasks and standbys are to be; not changed.
    """
    lags = _Lags(app, config.acceptable_recovery_lag)
    most = max(map(len, plan.holders), default=0)
    copies = plan.table(2 * most + 1)
    warming = np.zeros(copies.shape, np.bool_)
    owner, count = plan.owner.astype(np.int64), np.array(plan.load.count, np.int64)
    tasks = np.flatnonzero(app.stateful & lags.late(owner))
    left, movements = config.max_warmup_replicas, len(tasks)
    hashes = process_hashes(app.clients)
    spread = (hashes ^ (hashes >> np.uint32(16))).astype(np.int64)  # as a HashSet files them
    shared = (owner, copies, warming, count, app.threads, spread, *lags.arrays)
    steps = 40 * len(app.clients)
    if movements:
        tasks = tasks[np.lexsort((tasks, lags.ready_clients[tasks]))]
        move = at_work(assign_active_task_movements, steps * movements, TALLY)
        left = move(tasks, *shared, lags.limit, left)
    if most:
        kept = np.where(warming, NONE, copies)
        tasks, places = np.nonzero(np.column_stack([lags.late(holder) for holder in kept.T]))
        tasks, goals = _queued(tasks, kept[tasks, places], lags.ready_clients)
        if len(tasks):
            standbys = at_work(assign_standby_task_movements, steps * len(tasks), TALLY)
            movements += standbys(tasks, goals, *shared, lags.limit, left)
    standby_start, standby = ragged_rows(copies, copies != NONE)
    warmup_start, warmup = ragged_rows(copies, warming)
    return MovedTasks(
        active=owner.astype(np.int32),
        standby_start=standby_start,
        standby=standby,
        warmup_start=warmup_start,
        warmup=warmup,
        movements=movements,
    )


class _Lags:
    """How far each client is with each task."""

    def __init__(self, app: Application, limit: int) -> None:
        start, client, lag = app.lags_by_task
        self.limit = limit
        self.arrays = (start, client.astype(np.int64), lag, app.log_size)
        self._log_size, self._client, self._lag = app.log_size, client, lag
        listed = np.diff(start)
        self._task = np.repeat(np.arange(len(listed)), listed)
        unlisted, some = len(app.clients) - listed, listed > 0
        ready = np.bincount(self._task[self._is_ready(lag)], minlength=len(listed))
        self.ready_clients: Ints = ready + unlisted * self._is_ready(app.log_size)
        self._least = np.where(unlisted > 0, app.log_size, np.iinfo(np.int64).max)
        self._least[some] = np.minimum(self._least[some], lag[start[:-1][some]])

    def late(self, holder: Ints) -> Flags:
        """
        (N) whether who has each task is not caught up on it while another is further along.

        Args:
            holder: (N) a client that has the task, NONE for nobody.
        """
        lag, of_holder = self._log_size.copy(), self._client == holder[self._task]
        lag[self._task[of_holder]] = self._lag[of_holder]
        late: Flags = ~self._is_ready(lag) & (self._least < lag) & (holder != NONE)
        return late

    def _is_ready(self, lag: Ints) -> Flags:
        near = (lag >= 0) & (lag <= self.limit)
        ready: Flags = near | (lag == RUNNING) | (self.limit == ANY_LAG)
        return ready


def _queued(task: Ints, client: Ints, ready_clients: Ints) -> tuple[Ints, Ints]:
    """
    Movements in the order in which Kafka's queue gives them: by caught-up clients and task.

    Several copies of one task are equal there, so the heap decides.
    """
    put = np.lexsort((task, client))
    task, client = task[put], client[put]
    first, second = ready_clients[task].tolist(), task.tolist()
    queue, length = [0] * len(task), 0
    for movement in range(len(task)):
        length = offer(queue, length, movement, first, second)
    order = drain(queue, length, first, second)
    return task[order], client[order]
