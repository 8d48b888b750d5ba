"""
The primal-dual method as kernels: push what can flow at the prices of nodes, move the prices, repeat.

Arcs are a table of four rows: tail, head, capacity, cost. Source: Ahuja, Magnanti and Orlin, Network Flows (1993),
section 9.8. Which of several flows of one cost comes out depends on the order of arcs: the last is filled first.
"""

from __future__ import annotations

from typing import Any

from ..kit.kernels import kernel
from .least_cost import lay_out, send_free

FAR = 1 << 62
"""Farther than any way."""

NODE_ROWS, ARC_ROWS = 6, 6
"""Rows that `place` needs for its own use: of (nodes + 3) numbers, and of 4 x (arcs + nodes)."""


@kernel
def place(  # noqa: C901  one pass
    nodes: int,
    arcs: Any,
    price: Any,
    rest: Any,
    at_nodes: Any,
    at_arcs: Any,
    flow: Any,
) -> int:
    """
    Send what nodes have too much of to those that have too little, at the least cost; how much finds no way.

    Args:
        nodes: How many there are.
        arcs: Their table.
        price: (nodes) to begin with; changed.
        rest: (nodes) too much, or below 0 too little; changed.
        at_nodes, at_arcs: Of zeros, for its own use.
        flow: (arcs) overwritten; as many arcs of the table count.
    """
    distance = at_nodes[5]
    tail, head, capacity, cost = arcs[0], arcs[1], arcs[2], arcs[3]
    for this in range(len(flow)):
        flow[this] = 0
        if cost[this] + price[tail[this]] < price[head[this]]:
            flow[this] = capacity[this]
            rest[tail[this]] -= capacity[this]
            rest[head[this]] += capacity[this]
    while True:
        if much(nodes, rest) > 0:
            push(nodes, arcs, price, rest, at_nodes, at_arcs, flow)
        short = much(nodes, rest)
        if short == 0:
            return 0
        for node in range(nodes):
            distance[node] = 0 if rest[node] > 0 else FAR
        shorten(arcs, price, flow, distance)
        farthest = -1
        for node in range(nodes):
            if rest[node] < 0 and distance[node] < FAR // 2:
                farthest = max(farthest, distance[node])
        if farthest < 0:
            return short
        for node in range(nodes):
            price[node] += min(distance[node], farthest)


@kernel
def much(nodes: int, rest: Any) -> int:
    """How much is too much, over all nodes."""
    total = 0
    for node in range(nodes):
        if rest[node] > 0:
            total += rest[node]
    return total


@kernel
def shorten(arcs: Any, price: Any, flow: Any, distance: Any) -> None:
    """Make *distance* (nodes) that of the shortest ways from where it is least, over arcs as far as flow can change."""
    tail, head, capacity, cost = arcs[0], arcs[1], arcs[2], arcs[3]
    shorter = True
    while shorter:
        shorter = False
        for this in range(len(flow)):
            if flow[this] < capacity[this]:
                node, other = tail[this], head[this]
                reached = distance[node] + cost[this] + price[node] - price[other]
                if reached < distance[other]:
                    distance[other] = reached
                    shorter = True
        for this in range(len(flow) - 1, -1, -1):
            if flow[this] > 0:
                node, other = tail[this], head[this]
                reached = distance[other] - cost[this] - price[node] + price[other]
                if reached < distance[node]:
                    distance[node] = reached
                    shorter = True


@kernel
def push(  # noqa: C901  one pass
    nodes: int,
    arcs: Any,
    price: Any,
    rest: Any,
    at_nodes: Any,
    at_arcs: Any,
    flow: Any,
) -> None:
    """
    Send as much as can be over arcs that cost nothing at these prices; arguments as for `place`.

    Those with room left come first, then those that can give back, then what nodes have, then what they lack.
    """
    tail, head, capacity, cost = arcs[0], arcs[1], arcs[2], arcs[3]
    begin, to, room = at_arcs[0], at_arcs[1], at_arcs[2]
    by_node, nothing, of = at_arcs[3], at_arcs[4], at_arcs[5]
    first, free = at_nodes[0], at_nodes[4]
    count = 0 * nodes  # a variable to Numba, not a constant that functions are compiled for
    for this in range(len(flow)):
        node, other = tail[this], head[this]
        if flow[this] < capacity[this] and cost[this] + price[node] == price[other]:
            begin[2 * count], begin[2 * count + 1] = node + 1, other + 1
            room[2 * count], of[count] = capacity[this] - flow[this], this
            count += 1
    onward = count
    for this in range(len(flow)):
        node, other = tail[this], head[this]
        if flow[this] > 0 and cost[this] + price[node] == price[other]:
            begin[2 * count], begin[2 * count + 1] = other + 1, node + 1
            room[2 * count], of[count] = flow[this], this
            count += 1
    back = count
    for node in range(nodes):
        if rest[node] > 0:
            begin[2 * count], begin[2 * count + 1] = 0, node + 1
            room[2 * count], of[count] = rest[node], node
            count += 1
    out = count
    for node in range(nodes):
        if rest[node] < 0:
            begin[2 * count], begin[2 * count + 1] = node + 1, nodes + 1
            room[2 * count], of[count] = -rest[node], node
            count += 1
    for this in range(count):
        room[2 * this + 1] = 0
    lay_out(nodes + 2, count, begin, to, first, by_node)
    send_free(
        nodes + 1, first, by_node, to, room, nothing, free, at_nodes[1], at_nodes[2], at_nodes[3]
    )
    for this in range(onward):
        flow[of[this]] += room[2 * this + 1]
    for this in range(onward, back):
        flow[of[this]] -= room[2 * this + 1]
    for this in range(back, out):
        rest[of[this]] -= room[2 * this + 1]
    for this in range(out, count):
        rest[of[this]] += room[2 * this + 1]
