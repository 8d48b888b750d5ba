"""
Kafka's own way to a least-cost assignment of tasks: cycle by cycle, so that of several cheapest it is Kafka's.

`evenkeel.engine.assignors.flow.rack_flow` finds the least cost in milliseconds, and settles ties by rules of its own.
Where an answer has to be Kafka's to the letter, the same problem goes through this: the network that Kafka draws, a
first flow, and negative cycles cancelled in the order in which Kafka's search comes upon them.

Two tasks with their data in each other's rack change places:

>>> from evenkeel.engine.assignors.flow.rack_flow import RackProblem
>>> problem = RackProblem(
...     cost=np.array([[10, 0], [0, 10]]), move_cost=1, previous_owner=np.array([0, 1], np.int32),
...     rack=np.array([0, 1]), count=np.array([1, 1]),
... )
>>> cancelled(problem, [0, 1]).tolist()
[1, 0]

Cost: every cycle takes up to |nodes| sweeps over all edges, tasks x clients of them; 500 tasks on 20 clients take four
seconds, and Kafka a minute. Source: `Graph`, `MinTrafficGraphConstructor` and `BalanceSubtopologyGraphConstructor` of
Kafka 4.3 (in 3.6 cycles were looked for in another order).

What it does not do: costs do not overflow 32 bits, as Kafka's do.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..assignors.flow.rack_flow import RackProblem
from ..assignors.kit.kernels import Tally, at_work, kernel
from ..model.arrays import Indices, Ints, starts_of
from ..model.errors import Infeasible

ASKED = Tally()
"""Steps of all problems so far."""

_SOURCE = 0

Edge = tuple[int, int, int, int, int]
"""From, to, capacity, cost, flow."""


def cancelled(problem: RackProblem, order: Sequence[int]) -> Indices:
    """
    (N) the client of each task at the least cost, as Kafka settles it.

    Args:
        problem: What is asked; every task has a previous owner among *order*. With limits it is Kafka's
            `balance_subtopology`, else `min_traffic`.
        order: The clients that take part, in the order in which Kafka has them.

    Raises:
        Infeasible: The limits do not hold all tasks (Kafka: IllegalStateException).
    """
    tasks = len(problem.cost)
    layered = problem.limits is not None
    edges = list(_layered(problem, order) if layered else _direct(problem, order))
    net = _Residual.of(edges)
    nodes = len(net.start) - 1
    steps = max(tasks, 1) * len(edges) * nodes
    if layered:
        run: Any = at_work(fill, steps, ASKED)
        if run(net.start, net.to, net.residual, net.twin, nodes - 1) < tasks:
            raise Infeasible(
                "the sub-topology limits do not hold all tasks.",
                fix="Use min_traffic, or start more instances.",
            )
    run = at_work(cancel, steps, ASKED)
    run(net.start, net.to, net.cost, net.residual, net.twin)
    owner = np.zeros(tasks, np.int32)
    for task in range(tasks):
        for edge in range(net.start[task + 1], net.start[task + 2]):
            if net.to[edge] != _SOURCE and net.residual[net.twin[edge]] > 0:
                owner[task] = order[(net.to[edge] - tasks - 1) % len(order)]
                break
    return owner


def _cost(problem: RackProblem, task: int, client: int) -> int:
    moves = problem.previous_owner[task] != client
    return int(problem.cost[task, problem.rack[client]]) + problem.move_cost * bool(moves)


def _direct(problem: RackProblem, order: Sequence[int]) -> Iterator[Edge]:
    """`min_traffic`: source, tasks, clients, sink, with what clients hold for a first flow."""
    tasks, clients = len(problem.cost), len(order)
    sink = tasks + clients + 1
    for task in range(tasks):
        yield _SOURCE, task + 1, 1, 0, 1
        for place, client in enumerate(order):
            held = int(problem.previous_owner[task] == client)
            yield task + 1, tasks + 1 + place, 1, _cost(problem, task, client), held
    for place, client in enumerate(order):
        count = int(problem.count[client])
        yield tasks + 1 + place, sink, count, 0, count


def _layered(problem: RackProblem, order: Sequence[int]) -> Iterator[Edge]:
    """`balance_subtopology`: clients once for each sub-topology, and once more behind them."""
    assert problem.limits is not None
    tasks, clients = len(problem.cost), len(order)
    layers = problem.layers
    every = int(layers.max(initial=-1)) + 1
    behind = tasks + 1 + every * clients
    limits = problem.limits
    most = {
        (layer, client): most
        for layer, client, most in zip(
            limits.layer.tolist(), limits.client.tolist(), limits.most.tolist(), strict=True
        )
    }
    for task in range(tasks):
        yield _SOURCE, task + 1, 1, 0, 0
        first = tasks + 1 + int(layers[task]) * clients
        for place, client in enumerate(order):
            yield task + 1, first + place, 1, _cost(problem, task, client), 0
    for place, client in enumerate(order):
        for layer in range(every):
            at = tasks + 1 + layer * clients + place
            yield at, behind + place, most.get((layer, client), 0), 0, 0
        yield behind + place, behind + clients, int(problem.count[client]), 0, 0


@dataclass(frozen=True, eq=False)
class _Residual:
    """
    What may still flow, and back: each edge in both directions, by node and then by the node it leads to.

    Attributes:
        start: (V + 1) where each node's edges begin.
        to, cost, residual: (E) where each leads, what a unit costs, and how many may flow.
        twin: (E) the edge in the other direction.
    """

    start: Ints
    to: Ints
    cost: Ints
    residual: Ints
    twin: Ints

    @classmethod
    def of(cls, edges: Sequence[Edge]) -> _Residual:
        table = np.array(edges, np.int64).reshape(-1, 5)
        ahead, to, most, cost, flow = table.T
        count = len(table)
        origin, target = np.concatenate([ahead, to]), np.concatenate([to, ahead])
        order = np.lexsort((target, origin))
        place = np.empty(2 * count, np.int64)
        place[order] = np.arange(2 * count)
        twin = place[np.concatenate([np.arange(count, 2 * count), np.arange(count)])][order]
        nodes = int(target.max(initial=-1)) + 1
        return cls(
            start=starts_of(np.bincount(origin, minlength=nodes)),
            to=target[order],
            cost=np.concatenate([cost, -cost])[order],
            residual=np.concatenate([most - flow, flow])[order],
            twin=twin,
        )


@kernel
def fill(start: Any, to: Any, residual: Any, twin: Any, sink: int) -> int:
    """A greatest flow from node 0 to *sink*, along a path of fewest edges each time; how much."""
    nodes, total = len(start) - 1, 0
    via, queue = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    while True:
        via[:] = -2
        via[0] = -1
        queue[0] = 0
        first, last = 0, 1
        while first < last and via[sink] == -2:
            node = queue[first]
            first += 1
            for edge in range(start[node], start[node + 1]):
                other = to[edge]
                if via[other] != -2 or residual[edge] <= 0:
                    continue
                via[other] = edge
                if other == sink:
                    break
                queue[last] = other
                last += 1
        if via[sink] == -2:
            return total
        flow, node = residual[via[sink]], sink
        while node != 0:
            flow = min(flow, residual[via[node]])
            node = to[twin[via[node]]]
        node = sink
        while node != 0:
            edge = via[node]
            residual[edge] -= flow
            residual[twin[edge]] += flow
            node = to[twin[edge]]
        total += flow


@kernel
def cancel(start: Any, to: Any, cost: Any, residual: Any, twin: Any) -> int:
    """Cancel negative cycles until there is none; how many there were."""
    nodes, cycles = len(start) - 1, 0
    distance, via = np.empty(nodes, np.int64), np.empty(nodes, np.int64)
    while True:
        node = behind_cycle(start, to, cost, residual, distance, via)
        if node < 0:
            return cycles
        # back to the first node that is met twice, which is on the cycle
        seen = np.zeros(nodes, np.bool_)
        while not seen[node]:
            seen[node] = True
            node = to[twin[via[node]]]
        flow, at = residual[via[node]], to[twin[via[node]]]
        while at != node:
            flow = min(flow, residual[via[at]])
            at = to[twin[via[at]]]
        push(to, residual, twin, via, node, flow)
        cycles += 1


@kernel
def behind_cycle(start: Any, to: Any, cost: Any, residual: Any, distance: Any, via: Any) -> Any:
    """The node that the last sweep still finds a shorter way to, -1 for none; *via* leads back into a cycle."""
    nodes = len(start) - 1
    distance[:] = 0
    via[:] = -1
    # a node before all others counts as one: as many sweeps as there are nodes with it
    for sweep in range(nodes + 1):
        relaxed = False
        for node in range(nodes):
            base = distance[node]
            for edge in range(start[node], start[node + 1]):
                other = to[edge]
                if residual[edge] == 0 or distance[other] <= base + cost[edge]:
                    continue
                distance[other], via[other] = base + cost[edge], edge
                relaxed = True
                if sweep == nodes:
                    return other
        if not relaxed:
            break
    return -1


@kernel
def push(to: Any, residual: Any, twin: Any, via: Any, node: int, flow: int) -> int:
    """Send *flow* once around the cycle that *node* is on; where it ends, which is where it began."""
    at = node
    while True:
        edge = via[at]
        residual[edge] -= flow
        residual[twin[edge]] += flow
        at = to[twin[edge]]
        if at == node:
            return node


__all__ = ["cancelled"]
