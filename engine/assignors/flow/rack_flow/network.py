"""
The flow network of a rack problem, with as few arcs as keep it exact; and from its flow back to owners.

Every task starts with its previous owner, so what flows is what moves:

    held (layer, site) -> class -> [anywhere in the layer ->] rack -> held (layer, site) -> site

An arc from what a site holds to a class carries as many tasks as the site has of it; its cost is
what leaving saves. A rack where a class costs less than in its dearest has an arc of its own, the
others are reached together. What ends at a site, having come or never left, is its count. So there
are |held classes| + |classes x cheaper racks| + 2 |layers x sites| arcs, not |tasks x clients|.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model.arrays import NONE, Indices, Ints
from ...kit.orders import numbered
from ..network import Arcs
from .problem import Classes, RackProblem, Sites

LEAVE, GO, SPREAD, COME, TAKE = range(5)
"""The kinds of arcs, in the order of their nodes above."""

Kind = tuple[Ints, Ints, Ints, Ints]
"""Arcs of one kind: from, to, at most, cost."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Nodes:
    """
    Where each kind of node begins; the (layer, site) pairs of `Sites` come first, at 0.

    Attributes:
        classes: In the order of `Classes`.
        hubs: One per layer.
        racks: (layer, rack) as in *reached*.
        sites: In the order of `Sites`.
        count: Of all nodes.
        reached: layer x R + rack of every rack with a site for that layer, ascending.
    """

    classes: int
    hubs: int
    racks: int
    sites: int
    count: int
    reached: Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RackNetwork:
    """
    Nodes and arcs.

    Attributes:
        nodes: How the nodes are numbered.
        supply: (nodes) tasks held there, or there for being nobody's; less what a site is to have.
        arcs: What flows over one is a number of tasks.
        kinds: Where the arcs of each kind begin, and the end: 6 numbers.
        leaving: (tasks with a previous owner) by the arc they would leave over, then in their order.
        leaving_start: (arcs of `LEAVE`) where the tasks of each begin in *leaving*.
    """

    nodes: Nodes
    supply: Ints
    arcs: Arcs
    kinds: Ints
    leaving: Ints
    leaving_start: Ints

    def span(self, kind: int) -> slice:
        """Where the arcs of a kind stand."""
        return slice(int(self.kinds[kind]), int(self.kinds[kind + 1]))


def network(classes: Classes, sites: Sites, previous_owner: Indices) -> RackNetwork:
    """
    Args:
        classes: The tasks.
        sites: The clients.
        previous_owner: (N) the client that holds each task, NONE for nobody.
    """
    pairs, racks = len(sites.layer), classes.cost.shape[1]
    reached, rack_of_pair = numbered(
        sites.layer * racks + sites.rack[sites.site], classes.layers * racks
    )
    nodes = _numbering(classes, sites, reached)
    held = _held(classes, sites, previous_owner)
    at_home = np.flatnonzero(held != NONE)
    over = classes.of_task[at_home] * pairs + held[at_home]
    order = np.argsort(over, kind="stable")
    leaving_start = np.flatnonzero(np.diff(over[order], prepend=-1))
    from_class, from_pair = np.divmod(over[order][leaving_start], pairs)
    saved = classes.cost[from_class, sites.rack[sites.site[from_pair]]]
    how_many = np.diff(leaving_start, append=len(order))
    leave = (from_pair, nodes.classes + from_class, how_many, classes.move_cost - saved)
    parts = [leave, *_ways(classes, nodes), *_into(classes, sites, nodes, rack_of_pair)]
    supply = np.zeros(nodes.count, np.int64)
    supply[:pairs] = np.bincount(held[at_home], minlength=pairs)
    supply[nodes.classes : nodes.hubs] = np.bincount(
        classes.of_task[held == NONE], minlength=len(classes.layer)
    )
    supply[nodes.sites :] = -sites.count
    return RackNetwork(
        nodes=nodes,
        supply=supply,
        arcs=Arcs(np.array([np.concatenate(c) for c in zip(*parts, strict=True)], np.int64)),
        kinds=np.cumsum([0, *(len(part[0]) for part in parts)]),
        leaving=at_home[order],
        leaving_start=leaving_start,
    )


def _numbering(classes: Classes, sites: Sites, reached: Ints) -> Nodes:
    first = np.cumsum([len(sites.layer), len(classes.layer), classes.layers, len(reached)]).tolist()
    return Nodes(
        classes=first[0],
        hubs=first[1],
        racks=first[2],
        sites=first[3],
        count=first[3] + len(sites),
        reached=reached,
    )


def _held(classes: Classes, sites: Sites, previous_owner: Indices) -> Ints:
    """(N) the (layer, site) pair that holds a task; NONE without previous owner, or where it may not be."""
    pair_of = np.full(classes.layers * len(sites), NONE, np.int64)
    pair_of[sites.layer * len(sites) + sites.site] = np.arange(len(sites.layer))
    site = np.append(sites.of_client, 0)[previous_owner]  # what NONE reads
    pair = pair_of[classes.layer[classes.of_task] * len(sites) + site]
    return np.where(previous_owner == NONE, NONE, pair)


def _ways(classes: Classes, nodes: Nodes) -> tuple[Kind, Kind]:
    """Arcs from classes to racks and hubs, by class and cheapest first, and from hubs to racks."""
    kinds, racks = classes.cost.shape
    size = np.bincount(classes.of_task, minlength=kinds)
    rack_node = np.full(classes.layers * racks, NONE, np.int64)
    rack_node[nodes.reached] = nodes.racks + np.arange(len(nodes.reached))
    dearest = classes.cost.max(axis=1)
    kind, rack = np.nonzero(classes.cost < dearest[:, None])
    node = rack_node[classes.layer[kind] * racks + rack]
    kind, rack, node = (array[node != NONE] for array in (kind, rack, node))
    start = np.concatenate([kind, np.arange(kinds)])
    end = np.concatenate([node, nodes.hubs + classes.layer])
    cost = np.concatenate([classes.cost[kind, rack], dearest])
    order = np.lexsort((end, cost, start))
    start, end, cost = start[order], end[order], cost[order]
    layer = nodes.reached // racks
    spread = (nodes.hubs + layer, rack_node[nodes.reached], _layer_sizes(classes)[layer], 0 * layer)
    return (nodes.classes + start, end, size[start], cost), spread


def _into(classes: Classes, sites: Sites, nodes: Nodes, rack_of_pair: Ints) -> tuple[Kind, Kind]:
    """Arcs from racks to what sites hold of a layer, and from there to the sites."""
    sizes = _layer_sizes(classes)[sites.layer]
    room = np.minimum(sites.most, np.minimum(sites.count[sites.site], sizes))
    pair = np.arange(len(room))
    come = (nodes.racks + rack_of_pair, pair, room, 0 * pair)
    return come, (pair, nodes.sites + sites.site, room, 0 * pair)


def _layer_sizes(classes: Classes) -> Ints:
    """(layers) the number of tasks of each."""
    return np.bincount(classes.layer[classes.of_task], minlength=classes.layers)


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
