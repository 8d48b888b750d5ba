"""
Flows through networks: the cheapest, the largest, the smallest cut. The only module that calls OR-Tools.

Whoever wants one of several equally cheap flows says which in the costs, never after the fact: a solver's own choice
is an accident of its version. A cost that has to decide first is multiplied by `outweighing` what all that comes after
it can add up to; then a unit of it is worth more than everything else together.

>>> moves_decide_ties = outweighing(3)  # at most three units of flow, each at most one move
>>> network = FlowNetwork(3)
>>> network.supply[:] = [3, -1, -2]
>>> span = network.add(np.array([0, 0]), np.array([1, 2]), 3, np.array([5, 0]) * moves_decide_ties + 1)
>>> network.cheapest()[1][span].tolist()
[1, 2]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...model.arrays import Flags, Ints
from ...model.errors import InputError


def outweighing(total: int) -> int:
    """What a unit of cost must weigh so that no lesser cost makes up for it, if those add up to *total* at most."""
    return total + 1


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Arcs:
    """
    Arcs of a network, whole numbers all.

    Attributes:
        tail, head: (arcs) the nodes each one leads from and to.
        capacity: (arcs) how much can flow over it.
        cost: (arcs) what each unit costs on it.
    """

    tail: Ints
    head: Ints
    capacity: Ints
    cost: Ints

    @classmethod
    def joined(cls, parts: Sequence[tuple[Ints, Ints, Ints, Ints]]) -> Arcs:
        """One after the other, each part given as (tail, head, capacity, cost)."""
        tail, head, capacity, cost = (np.concatenate(column) for column in zip(*parts, strict=True))
        return cls(tail=tail, head=head, capacity=capacity, cost=cost)

    def __len__(self) -> int:
        return len(self.tail)


def cheapest_flow(supply: Ints, arcs: Arcs) -> tuple[int, Ints] | None:
    """
    The cheapest way from supplies to demands.

    Args:
        supply: (nodes) what each node sends out; negative where it takes in. They add up to 0.
        arcs: The arcs.

    Returns:
        Its cost, and (arcs) how much flows over each; None when the supplies cannot all be placed.

    Raises:
        InputError: The costs are too large for 64-bit arithmetic.
    """
    from ortools.graph.python import min_cost_flow  # a tenth of a second that parsing need not pay

    solver = min_cost_flow.SimpleMinCostFlow()
    numbers = solver.add_arcs_with_capacity_and_unit_cost(
        arcs.tail.astype(np.int32), arcs.head.astype(np.int32), arcs.capacity, arcs.cost
    )
    solver.set_nodes_supplies(np.arange(len(supply), dtype=np.int32), supply)
    status = solver.solve()
    if status == solver.INFEASIBLE:
        return None
    if status != solver.OPTIMAL:
        raise InputError(
            f"the cheapest flow over {len(arcs)} arcs with costs up to {int(arcs.cost.max())} is beyond "
            f"64-bit arithmetic ({status.name}).",
            fix="Give smaller costs; only their ratio counts.",
        )
    return int(solver.optimal_cost()), np.asarray(solver.flows(numbers), np.int64)


def largest_flow(
    tail: Ints, head: Ints, capacity: Ints, *, source: int, sink: int
) -> tuple[Ints, Flags]:
    """
    The largest flow from one node to another, and the smallest cut between them.

    Args:
        tail, head, capacity: As in `Arcs`.
        source: The node it leaves; *sink*: the node it goes to, one of these two being the last node.

    Returns:
        (arcs) how much flows over each, and (nodes) whether the node is on the source's side of the cut.

    Raises:
        RuntimeError: The solver gave up, which capacities within 62 bits rule out.

    >>> flow, near_source = largest_flow(
    ...     np.array([0, 1]), np.array([1, 2]), np.array([5, 3]), source=0, sink=2)
    >>> flow.tolist(), near_source.tolist()
    ([3, 3], [True, True, False])
    """
    from ortools.graph.python import max_flow

    solver: Any = max_flow.SimpleMaxFlow()
    numbers = solver.add_arcs_with_capacity(tail.astype(np.int32), head.astype(np.int32), capacity)
    status = solver.solve(source, sink)
    if status != solver.OPTIMAL:
        raise RuntimeError(f"maximum flow failed with status {status}")
    near_source = np.zeros(max(source, sink) + 1, np.bool_)
    near_source[np.array(solver.get_source_side_min_cut(), np.int64)] = True
    return np.asarray(solver.flows(numbers), np.int64), near_source


class FlowNetwork:
    """
    A network in the making.

    >>> network = FlowNetwork(3)
    >>> network.supply[:] = [2, -1, -1]
    >>> span = network.add(np.array([0, 0]), np.array([1, 2]), 2, np.array([5, 7]))
    >>> cost, flow = network.cheapest()
    >>> cost, flow[span].tolist()
    (12, [1, 1])
    """

    def __init__(self, nodes: int) -> None:
        """
        Args:
            nodes: Number of nodes; set *supply* (as in `cheapest_flow`) before solving.
        """
        self.supply = np.zeros(nodes, np.int64)
        self._parts: list[tuple[Ints, Ints, Ints, Ints]] = []
        self._count = 0

    def add(self, tail: Ints, head: Ints, capacity: Ints | int, cost: Ints | int) -> slice:
        """Add arcs; returns where their flows will stand."""
        size = len(tail)
        whole = [np.broadcast_to(np.asarray(v, np.int64), size) for v in (capacity, cost)]
        self._parts.append((tail, head, whole[0], whole[1]))
        self._count += size
        return slice(self._count - size, self._count)

    def cheapest(self) -> tuple[int, Ints] | None:
        """
        As `cheapest_flow`.

        Raises:
            InputError: As `cheapest_flow`.
        """
        return cheapest_flow(self.supply, Arcs.joined(self._parts))
