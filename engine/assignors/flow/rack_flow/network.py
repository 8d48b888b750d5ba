"""
The flow network of a rack problem, with as few arcs as keep it exact.

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
from ...kit.distinct import numbered
from ..network import Arcs
from .classes import Classes
from .sites import Sites

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
        arcs=Arcs.joined(parts),
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
