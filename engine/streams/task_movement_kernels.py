"""
Kafka's task movements: tasks run on clients that are further along, one movement after the other.

The clients wait in a queue by load (`evenkeel.engine.streams.java`). A search takes them out one by one
until one will do, and puts the others back in the order of a Java HashSet; a client's load may
change while it waits. Which of two equally good clients is found then depends on the exact layout
of the heap, so all of it happens here as in Java. Kernels over arrays of numbers.

Source: `TaskMovement` and `ConstrainedPrioritySet` of Kafka 4.3.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..assignors.kit.kernels import kernel
from ..model.arrays import NONE
from .java import offer, poll, remove
from .model import RUNNING


@kernel
def assign_active_task_movements(
    tasks: Any,
    owner: Any,
    copies: Any,
    warming: Any,
    count: Any,
    threads: Any,
    spread: Any,
    lag_start: Any,
    lag_client: Any,
    lag: Any,
    log_size: Any,
    limit: int,
    warmups: int,
) -> int:
    """
    Let tasks run where they are further along; where they were to run, a copy warms up.

    Args:
        tasks: The tasks to move, in Kafka's order.
        owner: (N) client each task is active on; changed.
        copies: (N, most copies) standbys, NONE in free places; changed.
        warming: (N, most copies) whether a copy only warms up; changed.
        count: (C) tasks each client has; changed.
        threads: (C) their threads.
        spread: (C) hashes of the clients as a HashMap spreads them.
        lag_start, lag_client, lag: Ragged, task -> clients and their lags, by (lag, client).
        log_size: (N) the lag of a client that is not listed.
        limit: Lag up to which a copy is caught up.
        warmups: How many copies may warm up.

    Returns:
        How many warm-ups are left, below zero when more were wanted.
    """
    clients = len(count)
    load, rank = count / threads, np.arange(clients)
    queue, length = _line_up(load, rank)
    queued, aside = np.ones(clients, np.bool_), np.empty(clients, np.int64)
    ready, wanted = np.empty(clients, np.bool_), np.empty(clients, np.bool_)
    for task in tasks:
        goal = owner[task]
        _find_ready(ready, task, lag_start, lag_client, lag, log_size, limit)
        wanted[:] = False
        _mark(wanted, copies[task], True)
        client, length = search(queue, length, load, rank, ready & wanted, aside, spread)
        if client == NONE:
            client, length = search(queue, length, load, rank, ready, aside, spread)
        if client == NONE:
            wanted[:] = True
            client = _furthest(task, goal, wanted, lag_start, lag_client, lag, log_size)
        else:
            queued[client] = False
        owner[task] = client
        place = _position(copies[task], client)
        if place != NONE:
            copies[task][place] = goal
        else:
            count[client] += 1
            if warmups > 0:
                free = _position(copies[task], NONE)
                copies[task][free] = goal
                warming[task][free] = True
            else:
                count[goal] -= 1
            warmups -= 1
        load[client], load[goal] = count[client] / threads[client], count[goal] / threads[goal]
        length = _put_back(queue, length, client, load, rank, queued)
        length = _put_back(queue, length, goal, load, rank, queued)
    return warmups


@kernel
def assign_standby_task_movements(
    tasks: Any,
    goals: Any,
    owner: Any,
    copies: Any,
    warming: Any,
    count: Any,
    threads: Any,
    spread: Any,
    lag_start: Any,
    lag_client: Any,
    lag: Any,
    log_size: Any,
    limit: int,
    warmups: int,
) -> int:
    """
    Keep copies where they are further along; where they were to be, another warms up.

    Args:
        tasks: The tasks to move a copy of, in Kafka's order.
        goals: The client each copy was to be on.
        owner, copies, warming, count, threads, spread, lag_start, lag_client, lag, log_size, limit, warmups: As for
            `assign_active_task_movements`.

    Returns:
        How many copies moved; one that nobody else can hold stays and does not count.
    """
    clients = len(count)
    load, rank = count / threads, np.arange(clients)
    queue, length = _line_up(load, rank)
    queued, aside = np.ones(clients, np.bool_), np.empty(clients, np.int64)
    ready, wanted = np.empty(clients, np.bool_), np.empty(clients, np.bool_)
    moved = 0
    for m in range(len(tasks)):
        task, goal = tasks[m], goals[m]
        _find_ready(ready, task, lag_start, lag_client, lag, log_size, limit)
        wanted[:] = True
        wanted[owner[task]] = False
        _mark(wanted, copies[task], False)
        client, length = search(queue, length, load, rank, ready & wanted, aside, spread)
        if client == NONE:
            client = _furthest(task, goal, wanted, lag_start, lag_client, lag, log_size)
        else:
            queued[client] = False
        if client == NONE:
            continue
        moved += 1
        count[client] += 1
        place = _position(copies[task], goal)
        if warmups > 0:
            copies[task][_position(copies[task], NONE)] = client
            warming[task][place] = True
        else:
            copies[task][place] = client
            count[goal] -= 1
        warmups -= 1
        load[client], load[goal] = count[client] / threads[client], count[goal] / threads[goal]
        length = _put_back(queue, length, client, load, rank, queued)
        length = _put_back(queue, length, goal, load, rank, queued)
    return moved


@kernel
def _line_up(load: Any, rank: Any) -> tuple[Any, int]:
    """All clients in a queue, put in one by one; and its length."""
    queue, length = np.empty(len(load), np.int64), 0
    for client in range(len(load)):
        length = offer(queue, length, client, load, rank)
    return queue, length


@kernel
def _put_back(queue: Any, length: int, client: int, load: Any, rank: Any, queued: Any) -> int:
    """Put a client in under its load of now, out of its old place first if it has one; the queue's length."""
    if queued[client]:
        length = remove(queue, length, client, load, rank)
    queued[client] = True
    return offer(queue, length, client, load, rank)


@kernel
def _position(row: Any, value: int) -> int:
    """Where *value* stands first in *row*; NONE if it does not."""
    for i in range(len(row)):
        if row[i] == value:
            return i
    return NONE


@kernel
def _mark(marks: Any, clients: Any, value: bool) -> None:
    """Set the marks of these clients; NONE among them is nobody."""
    for client in clients:
        if client != NONE:
            marks[client] = value


@kernel
def _find_ready(
    ready: Any, task: int, lag_start: Any, lag_client: Any, lag: Any, log_size: Any, limit: int
) -> None:
    """Fill *ready*: (C) whether a client is caught up on the task."""
    ready[:] = log_size[task] <= limit
    for i in range(lag_start[task], lag_start[task + 1]):
        ready[lag_client[i]] = lag[i] == RUNNING or 0 <= lag[i] <= limit


@kernel
def search(
    queue: Any, length: int, load: Any, rank: Any, wanted: Any, aside: Any, spread: Any
) -> tuple[int, int]:
    """The first *wanted* client in the queue, taken out of it, or NONE; and the queue's length."""
    taken, passed = NONE, 0
    shortcut = not wanted.any() and _in_order(queue, length, load)
    if shortcut:
        # All would come out, ascending, and go back in: no need to take them one by one.
        aside[:length] = queue[:length]
        passed, length = length, 0
    while length > 0:
        client = queue[0]
        length = poll(queue, length, load, rank)
        if wanted[client]:
            taken = client
            break
        aside[passed] = client
        passed += 1
    for client in _hash_set_order(aside[:passed], spread, load, shortcut):
        length = offer(queue, length, client, load, rank)
    return taken, length


@kernel
def _in_order(queue: Any, length: int, load: Any) -> bool:
    """Whether no element of the queue stands above one that should come out before it."""
    for place in range(1, length):
        above, below = queue[(place - 1) >> 1], queue[place]
        if load[below] < load[above] or (load[below] == load[above] and below < above):
            return False
    return True


@kernel
def _hash_set_order(clients: Any, spread: Any, load: Any, ascending: bool) -> Any:
    """
    The order of a HashSet into which the clients were put one by one, or *ascending* by (load, client).
    """
    buckets = 16
    while len(clients) > 0.75 * buckets:
        buckets *= 2
    slot = spread[clients] & (buckets - 1)
    first = np.zeros(buckets + 1, np.int64)
    first[1:] = np.cumsum(np.bincount(slot, minlength=buckets))
    end = first.copy()
    order = np.empty(len(clients), np.int64)
    for i in range(len(clients)):
        client, place = clients[i], end[slot[i]]
        end[slot[i]] += 1
        while ascending and place > first[slot[i]]:
            before = order[place - 1]
            if load[before] < load[client] or (load[before] == load[client] and before < client):
                break
            order[place] = before
            place -= 1
        order[place] = client
    return order


@kernel
def _furthest(
    task: int, goal: int, wanted: Any, lag_start: Any, lag_client: Any, lag: Any, log_size: Any
) -> int:
    """The *wanted* client with the smallest (lag, number) below the goal's own; NONE if there is none."""
    listed = np.zeros(len(wanted), np.bool_)
    goal_lag = log_size[task]
    for i in range(lag_start[task], lag_start[task + 1]):
        listed[lag_client[i]] = True
        if lag_client[i] == goal:
            goal_lag = lag[i]
    best, best_lag = goal, goal_lag
    for client in range(len(wanted)):
        if wanted[client] and not listed[client]:
            if (log_size[task], client) < (best_lag, best):
                best, best_lag = client, log_size[task]
            break
    for i in range(lag_start[task], lag_start[task + 1]):
        if wanted[lag_client[i]]:
            if (lag[i], lag_client[i]) < (best_lag, best):
                best, best_lag = lag_client[i], lag[i]
            break
    return NONE if best == goal else best
