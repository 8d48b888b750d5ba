"""
A flow of least cost whose answer among equals is decided by the order of arcs: that of our assignor for brokers.

All paths of the same cost are filled at once, the cheapest first (primal-dual, with Dijkstra's distances as prices and
Dinic's blocking flow). Which of several flows of one cost comes out depends on the order in which a node's arcs are
looked at: here the last that was made comes first, as in the `Flow` of `followers/java/EvenkeelServerAssignor.java`,
so that both answer alike. Who does not need that takes `evenkeel.engine.assignors.flow.network`.

Arc 2i is the i-th that was given, arc 2i + 1 its way back.
Source: Ahuja, Magnanti and Orlin, Network Flows (1993), sections 7.4 (Dinic), 9.8 (primal-dual).
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import Any

import numpy as np

from ...model.arrays import Flags, Ints
from ..kit.kernels import Tally, kernel, work

FAR = (1 << 63) // 4
"""Farther than any way."""

STEPS = 30
"""About how many elementary steps are taken per arc, over all rounds."""

ASKED = Tally()
"""By all groups of this process."""


@kernel
def reprice(
    first: Any, arc: Any, to: Any, room: Any, cost: Any, price: Any, distance: Any, sink: int
) -> bool:
    """
    Change *price* so that what lies on a cheapest way costs nothing; whether there is a way to the sink.

    Args:
        first: (nodes + 1) where each node's arcs begin in *arc*.
        arc: (arcs) by node, in the order in which they are looked at.
        to: (arcs) where each leads.
        room: (arcs) how much more it takes.
        cost: (arcs) what each unit costs.
        price: (nodes) changed.
        distance: (nodes) overwritten.
        sink: The node that is to be reached, from node 0.
    """
    for node in range(len(price)):
        distance[node] = FAR
    distance[0] = 0
    waiting = [(0, 0)]
    while len(waiting) > 0:
        far, node = heappop(waiting)
        if far >= distance[sink]:
            break  # nobody's price rises by more
        if far > distance[node]:
            continue
        for place in range(first[node], first[node + 1]):
            this = arc[place]
            if room[this] > 0:
                other = to[this]
                reached = far + cost[this] + price[node] - price[other]
                if reached < distance[other]:
                    distance[other] = reached
                    heappush(waiting, (reached, other))
    if distance[sink] == FAR:
        return False
    for node in range(len(price)):
        price[node] += min(distance[node], distance[sink])
    return True


@kernel
def set_levels(
    first: Any,
    arc: Any,
    to: Any,
    room: Any,
    cost: Any,
    price: Any,
    level: Any,
    queue: Any,
    sink: int,
) -> bool:
    """Number nodes by how many free arcs they are away from node 0; whether the sink can be reached."""
    for node in range(len(level)):
        level[node] = -1
    level[0], queue[0] = 0, 0
    at, end = 0, 1
    while at < end and level[sink] < 0:
        node = queue[at]
        at += 1
        for place in range(first[node], first[node + 1]):
            this = arc[place]
            other = to[this]
            if level[other] < 0 and room[this] > 0 and cost[this] + price[node] == price[other]:
                level[other] = level[node] + 1
                queue[end] = other
                end += 1
    return bool(level[sink] >= 0)


@kernel
def fill_path(
    first: Any,
    arc: Any,
    to: Any,
    room: Any,
    cost: Any,
    price: Any,
    level: Any,
    at: Any,
    way: Any,
    sink: int,
) -> int:
    """Fill one path of free arcs from level to level, by how much; *at* has where each node goes on looking."""
    node, length = 0, 0
    while node != sink:
        if at[node] < first[node + 1]:
            this = arc[at[node]]
            other = to[this]
            if (
                level[other] == level[node] + 1
                and room[this] > 0
                and cost[this] + price[node] == price[other]
            ):
                way[length] = this
                length += 1
                node = other
            else:
                at[node] += 1
        elif length == 0:
            return 0
        else:  # a dead end: nobody goes there again
            level[node] = -1
            length -= 1
            node = to[way[length] ^ 1]
    most = room[way[0]]
    for place in range(1, length):
        most = min(most, room[way[place]])
    for place in range(length):
        room[way[place]] -= most
        room[way[place] ^ 1] += most
    return int(most)


@kernel
def send_free(
    sink: int,
    first: Any,
    arc: Any,
    to: Any,
    room: Any,
    cost: Any,
    price: Any,
    level: Any,
    at: Any,
    way: Any,
) -> int:
    """Send as much as there is room for over arcs that cost nothing at these prices; how much that was."""
    sent = 0
    while set_levels(first, arc, to, room, cost, price, level, way, sink):
        for node in range(len(at)):
            at[node] = first[node]
        more = fill_path(first, arc, to, room, cost, price, level, at, way, sink)
        while more > 0:
            sent += more
            more = fill_path(first, arc, to, room, cost, price, level, at, way, sink)
    return sent


@kernel
def send(
    sink: int,
    first: Any,
    arc: Any,
    to: Any,
    room: Any,
    cost: Any,
    price: Any,
    distance: Any,
    level: Any,
    at: Any,
    way: Any,
) -> int:
    """
    Send as much as there is room for from node 0 to the sink at the least cost; how much that was.

    Args as for the others; *room* is changed, what follows *cost* overwritten.
    """
    sent = 0
    while reprice(first, arc, to, room, cost, price, distance, sink):
        sent += send_free(sink, first, arc, to, room, cost, price, level, at, way)
    return sent


def least_cost_flow(nodes: int, tail: Ints, head: Ints, most: Ints, cost: Ints, sink: int) -> Ints:
    """
    (arcs) how much each arc carries, when as much as possible goes from node 0 to the sink at the least cost.

    Args:
        nodes: How many there are.
        tail, head: (arcs) where each begins and ends, in the order in which they were made.
        most: (arcs) what each can carry.
        cost: (arcs) of each unit, 0 or more.
        sink: Where everything goes.

    Two ways of one cost: the arc that was made last is taken.

    >>> tail, head, nothing = np.array([0, 1, 1]), np.array([1, 2, 2]), np.zeros(3, np.int64)
    >>> least_cost_flow(3, tail, head, np.ones(3, np.int64), nothing, 2).tolist()
    [1, 0, 1]
    """
    return _solved(nodes, np.array([tail, head, most, cost], np.int64), sink, True)[0]


def most_flow(nodes: int, tail: Ints, head: Ints, most: Ints, sink: int) -> tuple[Ints, Flags]:
    """
    (arcs) how much each carries when as much as possible goes from node 0 to the sink; (nodes) what is left in reach.

    Args as for `least_cost_flow`.
    """
    arcs = np.array([tail, head, most, np.zeros_like(most)], np.int64)
    flow, level = _solved(nodes, arcs, sink, False)
    return flow, level >= 0


def _solved(nodes: int, arcs: Ints, sink: int, dear: bool) -> tuple[Ints, Ints]:
    """(arcs) the flow, and (nodes) the levels of the last search."""
    count = arcs.shape[1]
    flow, level = np.zeros(count, np.int64), np.zeros(nodes, np.int64)
    of_nodes, of_arcs = np.zeros((5, nodes + 1), np.int64), np.zeros((5, 2 * count), np.int64)
    given = (nodes, arcs, sink, dear, of_nodes, of_arcs)
    work(solve, STEPS * 2 * count, ASKED, given, flow, level)
    return flow, level


@kernel
def solve(
    nodes: int,
    arcs: Any,
    sink: int,
    dear: bool,
    of_nodes: Any,
    of_arcs: Any,
    flow: Any,
    level: Any,
) -> None:
    """
    As much as possible from node 0 to the sink over a table of arcs (tail, head, capacity, cost).

    Args:
        nodes: How many there are.
        arcs: The table.
        sink: Where everything goes.
        dear: Whether costs count.
        of_nodes, of_arcs: Zeros, for its own use.
        flow: (arcs) overwritten with what each carries.
        level: (nodes) overwritten with the levels of the last search.
    """
    first, price, distance, at, way = (
        of_nodes[0],
        of_nodes[1],
        of_nodes[2],
        of_nodes[3],
        of_nodes[4],
    )
    begin, to, room, cost, arc = of_arcs[0], of_arcs[1], of_arcs[2], of_arcs[3], of_arcs[4]
    for this in range(len(flow)):
        begin[2 * this], begin[2 * this + 1] = arcs[0][this], arcs[1][this]
        room[2 * this] = arcs[2][this]
        cost[2 * this], cost[2 * this + 1] = arcs[3][this], -arcs[3][this]
    lay_out(nodes, len(flow), begin, to, first, arc)
    if dear:
        send(sink, first, arc, to, room, cost, price, distance, level, at, way)
    else:
        send_free(sink, first, arc, to, room, cost, price, level, at, way)
    for this in range(len(flow)):
        flow[this] = room[2 * this + 1]


@kernel
def lay_out(nodes: int, count: int, begin: Any, to: Any, first: Any, arc: Any) -> None:
    """
    Fill in *to*, *first* and *arc*, the arcs of each node, the last that was made first.

    Args:
        nodes: How many there are.
        count: How many arcs were given.
        begin: (arcs) where each one and its way back begin.
        to, first, arc: Overwritten; as for `reprice`.
    """
    for node in range(nodes + 1):
        first[node] = 0
    for this in range(count):
        to[2 * this], to[2 * this + 1] = begin[2 * this + 1], begin[2 * this]
        first[begin[2 * this]] += 1
        first[begin[2 * this + 1]] += 1
    for node in range(nodes):
        first[node + 1] += first[node]
    for this in range(2 * count):
        node = begin[this]
        first[node] -= 1
        arc[first[node]] = this
