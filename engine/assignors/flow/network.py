"""
Flows through networks: the cheapest, the largest, the smallest cut.

The cheapest is found by the primal-dual method: push as much as possible over arcs that cost nothing at the prices of
nodes (dual values; one maximum flow), move the prices by the shortest ways to what is still short, repeat until nothing
is. Any prices give the exact optimum, good ones in a round or two.

Whoever wants one of several equally cheap flows says which in the costs, never after the fact. A cost that has to
decide first is multiplied by `outweighing` what all that comes after it can add up to; then a unit of it is worth more
than everything else together.

>>> moves_decide_ties = outweighing(3)  # at most three units of flow, each at most one move
>>> network = FlowNetwork(3)
>>> network.supply[:] = [3, -1, -2]
>>> span = network.add(np.array([0, 0]), np.array([1, 2]), 3, np.array([5, 0]) * moves_decide_ties + 1)
>>> network.cheapest()[span].tolist()
[1, 2]

Source: Ahuja, Magnanti and Orlin, Network Flows (1993), sections 9.8 (primal-dual), 9.3 (optimality).
"""

from __future__ import annotations

import numpy as np

from ...model.arrays import Flags, Ints
from ...model.errors import InputError
from ..kit.kernels import work
from .least_cost import ASKED, STEPS, most_flow
from .primal_dual import ARC_ROWS, FAR, NODE_ROWS, place, shorten


def outweighing(total: int) -> int:
    """What a unit of cost must weigh so that no lesser cost makes up for it, if those add up to *total* at most."""
    return total + 1


def check_costs(largest: int, nodes: int) -> None:
    """
    Raises:
        InputError: The costs of a way through so many nodes may be beyond 64-bit arithmetic.
    """
    if largest * nodes >= FAR // 4:
        raise InputError(
            f"the cheapest flow through {nodes} nodes with costs up to {largest} is beyond 64-bit arithmetic.",
            fix="Give smaller costs; only their ratio counts.",
        )


class Arcs:
    """
    Arcs of a network, whole numbers all.

    Attributes:
        table: (4, arcs) the rows of the four below, one array.
        tail, head: (arcs) the nodes each one leads from and to.
        capacity: (arcs) how much can flow over it.
        cost: (arcs) what each unit costs on it.
    """

    def __init__(self, table: Ints) -> None:
        """
        Args:
            table: As above.
        """
        self.table = table
        self.tail, self.head, self.capacity, self.cost = table

    def __len__(self) -> int:
        return len(self.tail)


def cheapest_flow(supply: Ints, arcs: Arcs) -> Ints | None:
    """
    The cheapest way from supplies to demands.

    Args:
        supply: (nodes) what each node sends out; negative where it takes in. They add up to 0.
        arcs: The arcs.

    Returns:
        (arcs) how much flows over each; None when the supplies cannot all be placed.

    Raises:
        InputError: The costs are too large for 64-bit arithmetic.
    """
    check_costs(int(np.abs(arcs.cost).max(initial=0)), len(supply))
    flow, short = from_prices(supply, arcs, np.zeros(len(supply), np.int64))
    return None if short else flow


def largest_flow(
    tail: Ints, head: Ints, capacity: Ints, *, source: int, sink: int
) -> tuple[Ints, Flags]:
    """
    The largest flow from one node to another, and the smallest cut between them.

    Args:
        tail, head, capacity: As in `Arcs`.
        source: The node it leaves; *sink*: the node it goes to, one of these two being the last node.

    Returns:
        (arcs) how much flows over each, and (nodes) whether the node is on the source's side of the cut that is
        nearest to it.

    >>> flow, near_source = largest_flow(
    ...     np.array([0, 1]), np.array([1, 2]), np.array([5, 3]), source=0, sink=2)
    >>> flow.tolist(), near_source.tolist()
    ([3, 3], [True, True, False])
    """
    nodes = max(source, sink) + 1
    # what is to be node 0, and the others as they follow it
    begin, end = (tail - source) % nodes, (head - source) % nodes
    flow, reached = most_flow(nodes, begin, end, capacity, (sink - source) % nodes)
    return flow, np.roll(reached, source)


def prices(table: Ints, flow: Ints, nodes: int) -> Ints:
    """(nodes) the highest prices, of 0 at most, at which no arc with room left would pay, given a cheapest *flow*."""
    distance = np.zeros(nodes, np.int64)
    given = (table, np.zeros_like(distance), flow)
    work(shorten, STEPS * len(flow), ASKED, given, distance)
    return distance


def from_prices(supply: Ints, arcs: Arcs, price: Ints) -> tuple[Ints, int]:
    """(arcs) the flow of least cost, beginning with prices (nodes), and how much of the supplies it cannot place."""
    return placed(len(supply), arcs.table, len(arcs), supply.copy(), price.copy())


def placed(nodes: int, table: Ints, arcs: int, supply: Ints, price: Ints) -> tuple[Ints, int]:
    """As `from_prices`, of a table that may have more arcs; *supply* and *price* may be overwritten."""
    flow = np.zeros(arcs, np.int64)
    of_nodes = np.zeros((NODE_ROWS, nodes + 3), np.int64)
    of_arcs = np.zeros((ARC_ROWS, 4 * (arcs + nodes)), np.int64)
    given = (nodes, table, price, supply, of_nodes, of_arcs)
    return flow, work(place, STEPS * arcs, ASKED, given, flow)


class FlowNetwork:
    """
    A network in the making.

    >>> network = FlowNetwork(3)
    >>> network.supply[:] = [2, -1, -1]
    >>> span = network.add(np.array([0, 0]), np.array([1, 2]), 2, np.array([5, 7]))
    >>> network.cheapest()[span].tolist()
    [1, 1]
    """

    def __init__(self, nodes: int) -> None:
        """
        Args:
            nodes: Number of nodes; set *supply* (as in `cheapest_flow`) before solving.
        """
        self.supply = np.zeros(nodes, np.int64)
        self._parts: list[Ints] = []
        self._count = 0

    def add(self, tail: Ints, head: Ints, capacity: Ints | int, cost: Ints | int) -> slice:
        """Add arcs; returns where their flows will stand."""
        size = len(tail)
        part = np.empty((4, size), np.int64)
        part[0], part[1], part[2], part[3] = tail, head, capacity, cost
        self._parts.append(part)
        self._count += size
        return slice(self._count - size, self._count)

    def cheapest(self) -> Ints | None:
        """
        As `cheapest_flow`.

        Raises:
            InputError: As `cheapest_flow`.
        """
        return cheapest_flow(self.supply, Arcs(np.concatenate(self._parts, axis=1)))
