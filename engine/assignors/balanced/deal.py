"""From a plan (how many of which kind go where) to partitions: the largest lag first, to whoever has least."""

from __future__ import annotations

from heapq import heapify, heapreplace

import numpy as np

from evenkeel.engine.assignors.balanced.flow import FlowPlan
from evenkeel.engine.model import NONE, Ints


def deal_evenly(plan: FlowPlan) -> Ints:
    """
    (N) owners in the order of partitions, where lags do not matter.

    >>> one = np.zeros(1, np.int64)
    >>> plan = FlowPlan(cost=0, kind=np.zeros(3, np.int64), holder=one + NONE, batch=one, size=one + 3, kept=one,
    ...             way_batch=one, way_hub=one, way_amount=one + 3,
    ...             out_hub=np.array([0, 0]), out_member=np.array([0, 1]), out_amount=np.array([1, 2]))
    >>> deal_evenly(plan).tolist()
    [0, 1, 1]
    """
    owner = plan.holder[plan.kind]
    order = np.argsort(plan.kind, kind="stable")
    nth = np.arange(len(order)) - np.repeat(np.cumsum(plan.size) - plan.size, plan.size)
    leaving = order[nth >= plan.kept[plan.kind[order]]]
    leaving = leaving[np.argsort(plan.batch[plan.kind[leaving]], kind="stable")]
    hub = np.repeat(plan.way_hub, plan.way_amount)
    owner[leaving[np.argsort(hub, kind="stable")]] = np.repeat(plan.out_member, plan.out_amount)
    return owner


def deal_by_lag(plan: FlowPlan, lag: Ints, members: int) -> Ints:
    """
    (N) owners: in descending lag, each partition goes where the plan has room for its kind and least lag is owned.

    Graham's rule of the longest job first (1969), under the plan's counts.
    """
    kept, holder, batch = plan.kept.tolist(), plan.holder.tolist(), plan.batch.tolist()
    leaving = (plan.size - plan.kept).tolist()
    ways: dict[int, dict[int, int]] = {}
    for one, hub, amount in _rows(plan.way_batch, plan.way_hub, plan.way_amount):
        ways.setdefault(one, {})[hub] = amount
    rooms: dict[int, dict[int, int]] = {}
    for hub, member, amount in _rows(plan.out_hub, plan.out_member, plan.out_amount):
        rooms.setdefault(hub, {})[member] = amount
    queues = {hub: [(0, 0, member) for member in room] for hub, room in rooms.items()}
    for queue in queues.values():
        heapify(queue)
    load, count = [0] * members, [0] * members
    owner = [NONE] * len(lag)
    kind_of, lags = plan.kind.tolist(), lag.tolist()
    for partition in np.lexsort((np.arange(len(lag)), -lag)).tolist():
        kind = kind_of[partition]
        best, via = (1 << 63, 0, NONE), NONE
        if kept[kind]:
            best = load[holder[kind]], count[holder[kind]], holder[kind]
        if leaving[kind]:
            for hub in ways[batch[kind]]:
                found = _least(queues[hub], rooms[hub], load, count)
                if found < best:
                    best, via = found, hub
        member = best[2]
        if via == NONE:
            kept[kind] -= 1
        else:
            leaving[kind] -= 1
            rooms[via][member] -= 1
            _use(ways[batch[kind]], via)
        owner[partition] = member
        load[member] += lags[partition]
        count[member] += 1
    return np.array(owner, np.int64)


def _use(way: dict[int, int], hub: int) -> None:
    """One less goes over this hub; the last one closes the way."""
    way[hub] -= 1
    if not way[hub]:
        del way[hub]


def _rows(*columns: Ints) -> zip[tuple[int, ...]]:
    return zip(*(column.tolist() for column in columns), strict=True)


_Queue = list[tuple[int, int, int]]


def _least(
    queue: _Queue, room: dict[int, int], load: list[int], count: list[int]
) -> tuple[int, int, int]:
    """The least loaded member with room; entries are brought up to date, or dropped, when they come up."""
    while True:
        top = queue[0]
        member = top[2]
        if not room[member]:
            heapreplace(queue, (1 << 63, 0, member))
            continue
        now = load[member], count[member], member
        if now == top:
            return top
        heapreplace(queue, now)
