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

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...model.arrays import Flags, Ints
from ...model.errors import InputError
from .least_cost import most_flow

_FAR = 1 << 62
"""Farther than any way."""


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
    largest = int(np.abs(arcs.cost).max(initial=0))
    if largest * len(supply) >= _FAR // 4:
        raise InputError(
            f"the cheapest flow over {len(arcs)} arcs with costs up to {largest} is beyond 64-bit arithmetic.",
            fix="Give smaller costs; only their ratio counts.",
        )
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


def prices(arcs: Arcs, flow: Ints, nodes: int) -> Ints:
    """(nodes) the highest prices, of 0 at most, at which no arc with room left would pay, given a cheapest *flow*."""
    return _ways(arcs, flow, arcs.cost, np.zeros(nodes, np.int64))


def from_prices(supply: Ints, arcs: Arcs, price: Ints) -> tuple[Ints, int]:
    """(arcs) the flow of least cost, beginning with prices (nodes), and how much of the supplies it cannot place."""
    at_price = arcs.cost + price[arcs.tail] - price[arcs.head]
    flow = np.where(at_price < 0, arcs.capacity, 0)
    rest = supply.copy()
    np.subtract.at(rest, arcs.tail, flow)
    np.add.at(rest, arcs.head, flow)
    while (rest > 0).any():
        _push(arcs, at_price == 0, flow, rest)
        if not (rest > 0).any():
            break
        begin = np.where(rest > 0, 0, _FAR)
        move_cost = _ways(arcs, flow, at_price, begin)
        short = move_cost[rest < 0]
        short = short[short < _FAR // 2]
        if not len(short):
            break
        price = price + np.minimum(move_cost, int(short.max()))
        at_price = arcs.cost + price[arcs.tail] - price[arcs.head]
    return flow, int(rest[rest > 0].sum())


def _push(arcs: Arcs, usable: Flags, flow: Ints, rest: Ints) -> None:
    """
    Move as much as can be from nodes with too much to nodes with too little over *usable* arcs.

    *flow* (arcs) and *rest* (nodes) are changed in place.
    """
    onward = np.flatnonzero(usable & (flow < arcs.capacity))
    back = np.flatnonzero(usable & (flow > 0))
    much, little = np.flatnonzero(rest > 0), np.flatnonzero(rest < 0)
    source, sink = len(rest), len(rest) + 1
    parts = (
        (arcs.tail[onward], arcs.head[onward], arcs.capacity[onward] - flow[onward]),
        (arcs.head[back], arcs.tail[back], flow[back]),
        (np.full(len(much), source), much, rest[much]),
        (little, np.full(len(little), sink), -rest[little]),
    )
    start, end, most = (np.concatenate(column) for column in zip(*parts, strict=True))
    pushed, _ = largest_flow(start, end, most, source=source, sink=sink)
    ends = np.cumsum([len(part[0]) for part in parts])[:-1]
    on, off, out, into = np.split(pushed, ends)
    flow[onward] += on
    flow[back] -= off
    rest[much] -= out
    rest[little] += into


def _ways(arcs: Arcs, flow: Ints, cost: Ints, begin: Ints) -> Ints:
    """
    Shortest ways from where *begin* (nodes) is least, over arcs as far as they can be changed.

    Bellman and Ford's sweeps over all arcs at once, until one changes nothing.

    Returns:
        (nodes) their lengths, at most *begin*.
    """
    onward, back = flow < arcs.capacity, flow > 0
    start = np.concatenate([arcs.tail[onward], arcs.head[back]])
    end = np.concatenate([arcs.head[onward], arcs.tail[back]])
    length = np.concatenate([cost[onward], -cost[back]])
    order = np.argsort(end, kind="stable")
    start, end, length = start[order], end[order], length[order]
    first = np.flatnonzero(np.diff(end, prepend=-1))
    target = end[first]
    distance = begin.copy()
    while len(first):
        best = np.minimum.reduceat(distance[start] + length, first)
        better = best < distance[target]
        if not better.any():
            break
        distance[target[better]] = best[better]
    return distance


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
        self._parts: list[tuple[Ints, Ints, Ints, Ints]] = []
        self._count = 0

    def add(self, tail: Ints, head: Ints, capacity: Ints | int, cost: Ints | int) -> slice:
        """Add arcs; returns where their flows will stand."""
        size = len(tail)
        whole = [np.broadcast_to(np.asarray(v, np.int64), size) for v in (capacity, cost)]
        self._parts.append((tail, head, whole[0], whole[1]))
        self._count += size
        return slice(self._count - size, self._count)

    def cheapest(self) -> Ints | None:
        """
        As `cheapest_flow`.

        Raises:
            InputError: As `cheapest_flow`.
        """
        return cheapest_flow(self.supply, Arcs.joined(self._parts))
