"""A flow network in the making, for OR-Tools."""

from __future__ import annotations

import numpy as np

from evenkeel.engine.model import Ints


class Network:
    """
    Nodes with supplies, arcs with capacities and costs; whole numbers all.

    >>> network = Network(3)
    >>> network.supply[:] = [2, -1, -1]
    >>> arcs = network.arcs(np.array([0, 0]), np.array([1, 2]), 2, np.array([5, 7]))
    >>> cost, flows = network.solve()
    >>> cost, flows[arcs].tolist()
    (12, [1, 1])
    """

    def __init__(self, nodes: int) -> None:
        """
        Args:
            nodes: Number of nodes; set *supply* (negative: demand) before solving.
        """
        self.supply = np.zeros(nodes, np.int64)
        self._parts: list[tuple[Ints, Ints, Ints, Ints]] = []
        self._count = 0

    def arcs(self, tail: Ints, head: Ints, capacity: Ints | int, cost: Ints | int) -> slice:
        """Add arcs; where their flows will stand."""
        size = len(tail)
        whole = [np.broadcast_to(np.asarray(v, np.int64), size) for v in (capacity, cost)]
        self._parts.append((tail, head, whole[0], whole[1]))
        self._count += size
        return slice(self._count - size, self._count)

    def solve(self) -> tuple[int, Ints] | None:
        """
        Least cost and the flows; None when demand cannot be met.

        Raises:
            RuntimeError: The solver gave up, which costs within 62 bits rule out.
        """
        from ortools.graph.python import min_cost_flow

        tail, head, capacity, cost = (
            np.concatenate([part[i] for part in self._parts]) for i in range(4)
        )
        solver = min_cost_flow.SimpleMinCostFlow()
        arcs = solver.add_arcs_with_capacity_and_unit_cost(
            tail.astype(np.int32), head.astype(np.int32), capacity, cost
        )
        solver.set_nodes_supplies(np.arange(len(self.supply), dtype=np.int32), self.supply)
        status = solver.solve()
        if status == solver.INFEASIBLE:
            return None
        if status != solver.OPTIMAL:
            raise RuntimeError(f"minimum-cost flow failed with status {status}")
        return int(solver.optimal_cost()), solver.flows(arcs)
