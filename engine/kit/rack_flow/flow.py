"""
The cheapest flow through a network: OR-Tools from nothing, or our own way from good prices.

`cheapest` asks OR-Tools' cost-scaling solver. Its time grows fast with the nodes, and clients that
have to be told apart make many. Then the same problem with clients of a rack taken together is
solved first: its node prices (dual values) are all but right for the whole, and `from_prices` goes
on from there. It is the primal-dual method: push as much as possible over arcs that cost nothing at
these prices (one maximum flow), move the prices by the shortest ways to what is still short, repeat
until nothing is. Any prices give the exact optimum, good ones in a round or two.

Source: Ahuja, Magnanti and Orlin, Network Flows (1993), sections 9.8 (primal-dual), 9.3 (optimality).
"""

from __future__ import annotations

import numpy as np

from evenkeel.engine.errors import Infeasible, InputError
from evenkeel.engine.kit.rack_flow.network import Network
from evenkeel.engine.model import Flags, Ints

_FAR = 1 << 60
"""Farther than any way."""


def cheapest(net: Network) -> Ints | None:
    """
    (arcs) the flow of least cost; None when the supplies cannot all be placed.

    Raises:
        InputError: The costs are too large for 64-bit arithmetic.
    """
    from ortools.graph.python import min_cost_flow  # a tenth of a second that parsing need not pay

    solver = min_cost_flow.SimpleMinCostFlow()
    arcs = solver.add_arcs_with_capacity_and_unit_cost(net.start, net.end, net.most, net.cost)
    solver.set_nodes_supplies(np.arange(len(net.supply)), net.supply)
    status = solver.solve()
    if status == solver.INFEASIBLE:
        return None
    if status == solver.OPTIMAL:
        return np.asarray(solver.flows(arcs), np.int64)
    raise InputError(
        f"the cheapest flow over {len(arcs)} arcs with costs up to {int(net.cost.max())} is beyond "
        f"64-bit arithmetic ({status.name}).",
        fix="Give smaller costs; only their ratio counts.",
    )


def prices(net: Network, flow: Ints) -> Ints:
    """(nodes) prices at which no arc with room left would pay, given the cheapest flow."""
    price = _ways(net, flow, net.cost, np.zeros(len(net.supply), np.int64))
    return price


def from_prices(net: Network, price: Ints) -> Ints:
    """
    (arcs) the flow of least cost, beginning with prices.

    Raises:
        Infeasible: The supplies cannot all be placed.
    """
    at_price = net.cost + price[net.start] - price[net.end]
    flow = np.where(at_price < 0, net.most, 0)
    rest = net.supply.copy()
    np.subtract.at(rest, net.start, flow)
    np.add.at(rest, net.end, flow)
    while (rest > 0).any():
        _push(net, at_price == 0, flow, rest)
        if not (rest > 0).any():
            break
        begin = np.where(rest > 0, 0, _FAR)
        away = _ways(net, flow, at_price, begin)
        short = away[rest < 0]
        short = short[short < _FAR // 2]
        if not len(short):
            raise _too_little_room(net, rest)
        price = price + np.minimum(away, int(short.max()))
        at_price = net.cost + price[net.start] - price[net.end]
    return flow


def _push(net: Network, usable: Flags, flow: Ints, rest: Ints) -> None:
    """
    Move as much as can be from nodes with too much to nodes with too little over *usable* arcs.

    *flow* (arcs) and *rest* (nodes) are changed in place.
    """
    from ortools.graph.python import max_flow

    onward = np.flatnonzero(usable & (flow < net.most))
    back = np.flatnonzero(usable & (flow > 0))
    much, little = np.flatnonzero(rest > 0), np.flatnonzero(rest < 0)
    source, sink = len(rest), len(rest) + 1
    parts = (
        (net.start[onward], net.end[onward], net.most[onward] - flow[onward]),
        (net.end[back], net.start[back], flow[back]),
        (np.full(len(much), source), much, rest[much]),
        (little, np.full(len(little), sink), -rest[little]),
    )
    start, end, most = (np.concatenate(column) for column in zip(*parts, strict=True))
    solver = max_flow.SimpleMaxFlow()
    arcs = solver.add_arcs_with_capacity(start, end, most)
    solver.solve(source, sink)
    pushed = np.asarray(solver.flows(arcs), np.int64)
    ends = np.cumsum([len(part[0]) for part in parts])[:-1]
    on, off, out, into = np.split(pushed, ends)
    flow[onward] += on
    flow[back] -= off
    rest[much] -= out
    rest[little] += into


def _ways(net: Network, flow: Ints, cost: Ints, begin: Ints) -> Ints:
    """
    Shortest ways from where *begin* (nodes) is least, over arcs as far as they can be changed.

    Bellman and Ford's sweeps over all arcs at once, until one changes nothing.

    Returns:
        (nodes) their lengths, at most *begin*.
    """
    onward, back = flow < net.most, flow > 0
    start = np.concatenate([net.start[onward], net.end[back]])
    end = np.concatenate([net.end[onward], net.start[back]])
    length = np.concatenate([cost[onward], -cost[back]])
    order = np.argsort(end, kind="stable")
    start, end, length = start[order], end[order], length[order]
    first = np.flatnonzero(np.diff(end, prepend=-1))
    target = end[first]
    found = begin.copy()
    while len(first):
        best = np.minimum.reduceat(found[start] + length, first)
        better = best < found[target]
        if not better.any():
            break
        found[target[better]] = best[better]
    return found


def _too_little_room(net: Network, rest: Ints) -> Infeasible:
    wanted = -int(net.supply[net.supply < 0].sum())
    placed = wanted - int(rest[rest > 0].sum())
    return Infeasible(
        f"the limits leave room for {placed} of {wanted} tasks, where each client has its number.",
        fix="Let clients take more of a layer, or more layers.",
    )
