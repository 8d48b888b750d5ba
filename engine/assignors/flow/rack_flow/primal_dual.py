"""
The cheapest flow through a network, beginning with good prices instead of with nothing.

The time of the solver behind `evenkeel.engine.assignors.flow.network` grows fast with the nodes, and clients that have
to be told apart make many. Then the same problem with clients of a rack taken together is solved
first: its node prices (dual values) are all but right for the whole, and `from_prices` goes on from
there. It is the primal-dual method: push as much as possible over arcs that cost nothing at
these prices (one maximum flow), move the prices by the shortest ways to what is still short, repeat
until nothing is. Any prices give the exact optimum, good ones in a round or two.

Source: Ahuja, Magnanti and Orlin, Network Flows (1993), sections 9.8 (primal-dual), 9.3 (optimality).
"""

from __future__ import annotations

import numpy as np

from ....model.arrays import Flags, Ints
from ....model.errors import Infeasible
from ..network import largest_flow
from .network import RackNetwork

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
            raise _too_little_room(net, rest)
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


def _too_little_room(net: RackNetwork, rest: Ints) -> Infeasible:
    wanted = -int(net.supply[net.supply < 0].sum())
    placed = wanted - int(rest[rest > 0].sum())
    return Infeasible(
        f"the limits leave room for {placed} of {wanted} tasks, where each client has its number.",
        fix="Let clients take more of a layer, or more layers.",
    )
