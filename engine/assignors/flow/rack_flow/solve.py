"""
Solving a rack problem: the steps in their order, beginning with good prices instead of with nothing.

The time of the solver behind `evenkeel.engine.assignors.flow.network` grows fast with the nodes, and clients that have
to be told apart make many. Then the same problem with clients of a rack taken together is solved
first: its node prices (dual values) are all but right for the whole, and `from_prices` goes on from
there. It is the primal-dual method: push as much as possible over arcs that cost nothing at
these prices (one maximum flow), move the prices by the shortest ways to what is still short, repeat
until nothing is. Any prices give the exact optimum, good ones in a round or two.

Source: Ahuja, Magnanti and Orlin, Network Flows (1993), sections 9.8 (primal-dual), 9.3 (optimality).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ....model.arrays import Flags, Indices, Ints
from ....model.errors import Infeasible
from ...kit.orders import numbered
from ..network import cheapest_flow, largest_flow
from .network import RackNetwork, network, owners
from .problem import RackProblem, Sites, classes_of, each_client, limits_bind, sites_of


def solve(problem: RackProblem) -> Indices:
    """
    The assignment of least total cost, (N) an owner for each task.

    Promises, the first before the second:

    1. Every client gets its count, and of no layer more than it may take.
    2. No such assignment costs less.
    3. Among those of equal cost, as few tasks as possible move.
    4. What is left open follows from the order of tasks, clients and racks alone, as `network.owners` says and
       as the solvers walk the network: the same problem always has the same answer.

    Raises:
        Infeasible: The limits do not leave room for all tasks.
        InputError: The costs are too large for 64-bit arithmetic.

    Cost: an OR-Tools min-cost flow over at most |classes| x |racks| arcs, plus, where limits on
    layers bind, a few maximum flows over about 2 |layers| x |clients| + |held classes| arcs.

    Two clients, two tasks, each where the other should be:

    >>> crossed = RackProblem(
    ...     cost=np.array([[0, 10], [10, 0]]), move_cost=1, previous_owner=np.array([1, 0]),
    ...     rack=np.array([0, 1]), count=np.array([1, 1]))
    >>> crossed.total(crossed.previous_owner), solve(crossed).tolist(), crossed.total(solve(crossed))
    (20, [0, 1], 2)
    """
    if not len(problem.cost):
        return np.zeros(0, np.int32)
    # racks that no client is in would only tell tasks apart
    used, rack = numbered(problem.rack.astype(np.int64), problem.cost.shape[1])
    problem = replace(problem, cost=problem.cost[:, used], rack=rack.astype(np.int32))
    apart = limits_bind(problem)
    classes = classes_of(problem)
    sites = sites_of(problem, keep_full_apart=not apart)
    net = network(classes, sites, problem.previous_owner)
    solved = cheapest_flow(net.supply, net.arcs)
    flow = None if solved is None else solved[1]
    price = np.zeros(len(net.supply), np.int64) if flow is None else prices(net, flow)
    if apart:
        together, sites = sites, each_client(problem)
        whole = network(classes, sites, problem.previous_owner)
        price = _carried_over(price, net, whole, together, sites)
        net, flow = whole, None
    if flow is None:
        flow = from_prices(net, price)
    return owners(problem, classes, sites, net, flow)


def _carried_over(
    price: Ints, small: RackNetwork, whole: RackNetwork, together: Sites, apart: Sites
) -> Ints:
    """Prices for the network with every client from the one in which they are taken together."""
    of_site = together.of_client
    pair_of = np.zeros((int(apart.layer.max()) + 1) * len(together), np.int64)
    pair_of[together.layer * len(together) + together.site] = np.arange(len(together.layer))
    pairs = pair_of[apart.layer * len(together) + of_site[apart.site]]
    between = price[small.nodes.classes : small.nodes.sites]
    return np.concatenate([price[pairs], between, price[small.nodes.sites + of_site]])


_FAR = 1 << 60
"""Farther than any way."""


def prices(net: RackNetwork, flow: Ints) -> Ints:
    """(nodes) prices at which no arc with room left would pay, given the cheapest flow."""
    return _ways(net, flow, net.arcs.cost, np.zeros(len(net.supply), np.int64))


def from_prices(net: RackNetwork, price: Ints) -> Ints:
    """
    (arcs) the flow of least cost, beginning with prices.

    Raises:
        Infeasible: The supplies cannot all be placed.
    """
    at_price = net.arcs.cost + price[net.arcs.tail] - price[net.arcs.head]
    flow = np.where(at_price < 0, net.arcs.capacity, 0)
    rest = net.supply.copy()
    np.subtract.at(rest, net.arcs.tail, flow)
    np.add.at(rest, net.arcs.head, flow)
    while (rest > 0).any():
        _push(net, at_price == 0, flow, rest)
        if not (rest > 0).any():
            break
        begin = np.where(rest > 0, 0, _FAR)
        move_cost = _ways(net, flow, at_price, begin)
        short = move_cost[rest < 0]
        short = short[short < _FAR // 2]
        if not len(short):
            wanted = -int(net.supply[net.supply < 0].sum())
            placed = wanted - int(rest[rest > 0].sum())
            raise Infeasible(
                f"the limits leave room for {placed} of {wanted} tasks, where each client has its number.",
                fix="Let clients take more of a layer, or more layers.",
            )
        price = price + np.minimum(move_cost, int(short.max()))
        at_price = net.arcs.cost + price[net.arcs.tail] - price[net.arcs.head]
    return flow


def _push(net: RackNetwork, usable: Flags, flow: Ints, rest: Ints) -> None:
    """
    Move as much as can be from nodes with too much to nodes with too little over *usable* arcs.

    *flow* (arcs) and *rest* (nodes) are changed in place.
    """
    onward = np.flatnonzero(usable & (flow < net.arcs.capacity))
    back = np.flatnonzero(usable & (flow > 0))
    much, little = np.flatnonzero(rest > 0), np.flatnonzero(rest < 0)
    source, sink = len(rest), len(rest) + 1
    parts = (
        (net.arcs.tail[onward], net.arcs.head[onward], net.arcs.capacity[onward] - flow[onward]),
        (net.arcs.head[back], net.arcs.tail[back], flow[back]),
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


def _ways(net: RackNetwork, flow: Ints, cost: Ints, begin: Ints) -> Ints:
    """
    Shortest ways from where *begin* (nodes) is least, over arcs as far as they can be changed.

    Bellman and Ford's sweeps over all arcs at once, until one changes nothing.

    Returns:
        (nodes) their lengths, at most *begin*.
    """
    onward, back = flow < net.arcs.capacity, flow > 0
    start = np.concatenate([net.arcs.tail[onward], net.arcs.head[back]])
    end = np.concatenate([net.arcs.head[onward], net.arcs.tail[back]])
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
