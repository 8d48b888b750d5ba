"""From flow to owners: which task of a class moves, and which client of a site it goes to."""

from __future__ import annotations

import numpy as np

from ....model.arrays import NONE, Indices, Ints
from .classes import Classes
from .network import COME, GO, LEAVE, SPREAD, RackNetwork
from .problem import RackProblem
from .sites import Sites


def owners(
    problem: RackProblem, classes: Classes, sites: Sites, net: RackNetwork, flow: Ints
) -> Indices:
    """
    (N) the client of each task.

    Of what a site holds of a class the first tasks stay. What moves goes on in the order of tasks,
    to the cheapest racks first, there to the first sites, and in turn to the clients of a site that
    have room.
    """
    movers = _movers(problem, net, flow)
    node = net.nodes.classes + classes.of_task[movers]
    node = _forward(node, net, flow, GO)
    over = node < net.nodes.racks
    node[over] = _forward(node[over], net, flow, SPREAD)
    node = _forward(node, net, flow, COME)
    owner = problem.previous_owner.astype(np.int32)
    owner[movers] = NONE
    kept = np.bincount(owner[owner != NONE], minlength=len(problem.count))
    owner[movers] = _seats(sites.site[node], sites, problem.count - kept)
    return owner


def _movers(problem: RackProblem, net: RackNetwork, flow: Ints) -> Ints:
    """The tasks that leave their previous owner, or have none; ascending."""
    leave = flow[net.span(LEAVE)]
    sizes = np.diff(net.leaving_start, append=len(net.leaving))
    place = np.arange(len(net.leaving)) - np.repeat(net.leaving_start, sizes)
    staying = net.leaving[place < np.repeat(sizes - leave, sizes)]
    moves = np.ones(len(problem.previous_owner), np.bool_)
    moves[staying] = False
    return np.flatnonzero(moves)


def _forward(node: Ints, net: RackNetwork, flow: Ints, kind: int) -> Ints:
    """
    The next node of each task at *node*: the first tasks take a node's first arcs.

    As many tasks are at each node as flow leaves it over arcs of this *kind*.
    """
    span = net.span(kind)
    start, end, amount = net.arcs.tail[span], net.arcs.head[span], flow[span]
    by_start = np.argsort(start, kind="stable")
    reached = np.repeat(end[by_start], amount[by_start])
    ahead = np.empty(len(node), np.int64)
    ahead[np.argsort(node, kind="stable")] = reached
    return ahead


def _seats(site: Ints, sites: Sites, room: Ints) -> Indices:
    """
    A client for each task at *site*.

    Args:
        site: Of each task.
        sites: The clients.
        room: (C) how many more tasks each client gets.
    """
    client = np.repeat(np.arange(len(room), dtype=np.int32), room)
    turn = np.arange(len(client)) - np.repeat(np.cumsum(room) - room, room)
    order = np.lexsort((client, turn, sites.of_client[client]))
    seats = np.empty(len(site), np.int32)
    seats[np.argsort(site, kind="stable")] = client[order]
    return seats
