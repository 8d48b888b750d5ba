"""
Assign tasks to clients, and balance them over threads.

A client's load is what it has, active tasks and standbys, per thread. Stateful tasks are assigned
round-robin and then moved from client to client while that brings two loads closer; tasks without
state go one by one to the client with the fewest active tasks per thread.

Source: `HighAvailabilityTaskAssignor` of Kafka 4.3, steps 1, 2 and 7 in KIP-925's count. What it
does not do: it looks at no lag, no rack and nobody's past; clients and tasks come in Kafka's order.
"""

from __future__ import annotations

import heapq
from bisect import insort
from collections.abc import Callable

import numpy as np

from ..model.arrays import NONE, Flags, Indices, Ints
from .model import Application

Tasks = list[list[int]]
"""The tasks of one kind that each client has, ascending."""


def assign_stateful(app: Application) -> Indices:
    """
    (N) the client of each stateful task, NONE for the others.

    Two clients of one and three threads share four tasks by thread:

    >>> from evenkeel.engine.streams.model import ClientLine, TaskLine, application
    >>> app = application(
    ...     [TaskLine(id=f"0_{p}", sources=[("t", p)], stateful=True) for p in range(4)],
    ...     [ClientLine(process_id=f"00000000-0000-0000-0000-00000000000{n}", threads=n) for n in (1, 3)],
    ... )
    >>> assign_stateful(app).tolist()
    [1, 1, 0, 1]
    """
    tasks = np.flatnonzero(app.stateful)
    owner = np.full(len(app.tasks), NONE, np.int32)
    if not len(tasks):
        return owner
    clients = len(app.clients)
    held: Tasks = [tasks[client::clients].tolist() for client in range(clients)]
    balance_tasks(held, TaskLoad(app.threads, np.array([len(has) for has in held])))
    for client, has in enumerate(held):
        owner[has] = client
    return owner


def assign_stateless(app: Application, owner: Indices) -> Indices:
    """
    (N) *owner* with the stateless tasks dealt as well.

    Args:
        app: The application.
        owner: (N) the client of each stateful task; what else it holds does not count.
    """
    result = np.where(app.stateful, owner, np.int32(NONE)).astype(np.int32)
    tasks = np.flatnonzero(~app.stateful).tolist()
    if not tasks:
        return result
    count = np.bincount(result[app.stateful], minlength=len(app.clients)).tolist()
    threads = app.threads.tolist()
    queue = [(count[client] / threads[client], client) for client in range(len(count))]
    heapq.heapify(queue)
    for task in tasks:
        client = queue[0][1]
        result[task] = client
        count[client] += 1
        heapq.heapreplace(queue, (count[client] / threads[client], client))
    return result


class TaskLoad:
    """
    How many tasks each client has, and what that is per thread.

    Attributes:
        count: Tasks of each client.
        threads: Its threads.
    """

    def __init__(self, threads: Ints, count: Ints) -> None:
        self.threads: list[int] = threads.tolist()
        self.count: list[int] = count.tolist()

    def of(self, client: int) -> float:
        """Tasks per thread."""
        return self.count[client] / self.threads[client]

    def gains(self, source: int, destination: int) -> bool:
        """
        Whether a task's move would bring the two clients closer to each other.

        Doubles in Kafka's order of operations, because a tie decides by its last bit.
        """
        skew = self.of(source) - self.of(destination)
        after = (self.count[source] - 1.0) / self.threads[source] - (
            self.count[destination] + 1.0
        ) / self.threads[destination]
        return skew > 0 and 0 <= after < skew


def balance_tasks(
    held: Tasks,
    load: TaskLoad,
    allowed: Callable[[int], Flags] | None = None,
    taken: Callable[[int, int], bool] | None = None,
) -> None:
    """
    Move tasks from the more to the less loaded client, pair by pair in client order, until nothing moves.

    Args:
        held: The tasks that may move; changed.
        load: Of all clients, with everything they have; changed.
        allowed: Client -> (C) the clients it may give tasks to; all of them if left out.
        taken: (client, task) -> whether the client has the task already; never if left out.
    """
    levelling = _TaskBalance(held, load, allowed, taken)
    while any([levelling.give(source) for source in range(len(held))]):
        pass


class _TaskBalance:
    """What `balance_tasks` works on."""

    def __init__(
        self,
        held: Tasks,
        load: TaskLoad,
        allowed: Callable[[int], Flags] | None,
        taken: Callable[[int, int], bool] | None,
    ) -> None:
        self.held, self.load, self.allowed, self.taken = held, load, allowed, taken
        # A task can only go where the load after it stays at or below what its source is left with.
        self.after = (np.array(load.count) + 1.0) / np.array(load.threads)

    def give(self, source: int) -> bool:
        """Give what *source* has too much to each other client in turn; whether anything moved."""
        moved = False
        destination = NONE
        may: Flags | None = None
        while self.held[source]:
            left = (self.load.count[source] - 1.0) / self.load.threads[source]
            open_to = self.after[destination + 1 :] <= left
            if self.allowed is not None and open_to.any():
                may = self.allowed(source) if may is None else may
                open_to &= may[destination + 1 :]
            ahead = int(open_to.argmax()) if len(open_to) else 0
            if not len(open_to) or not open_to[ahead]:
                break
            destination += 1 + ahead
            moved |= self._give_to(source, destination)
        return moved

    def _give_to(self, source: int, destination: int) -> bool:
        """Move tasks, first things first, while that gains; whether anything moved."""
        load, moved = self.load, False
        for task in list(self.held[source]):
            if not load.gains(source, destination):
                break
            if self.taken is not None and self.taken(destination, task):
                continue
            self.held[source].remove(task)
            insort(self.held[destination], task)
            load.count[source] -= 1
            load.count[destination] += 1
            for client in (source, destination):
                self.after[client] = (load.count[client] + 1.0) / load.threads[client]
            moved = True
        return moved


__all__ = ["TaskLoad", "Tasks", "assign_stateful", "assign_stateless", "balance_tasks"]
