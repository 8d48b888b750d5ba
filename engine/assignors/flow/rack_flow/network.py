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
from typing import Any

import numpy as np

from ....model.arrays import NONE, Indices, Ints
from ...kit.kernels import kernel, work
from ..least_cost import ASKED, STEPS
from .problem import Classes, RackProblem, Sites

LEAVE, GO, SPREAD, COME, TAKE = range(5)
"""The kinds of arcs, in the order of their nodes above."""

CLASSES, HUBS, RACKS, SITES, NODES = range(5)
"""Kinds of nodes, after the (layer, site) pairs, which come first; and the end."""

_SHORT = 1 << 16


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Held:
    """
    Which tasks are held, by the arc over which they would leave: of a class, from a pair of a layer and a site.

    Attributes:
        task: (tasks with a previous owner that may keep them) by arc, then in their order.
        table: (3, arcs) class, pair, number of tasks.
        end: (arcs) where those of each end in *task*.
    """

    task: Ints
    table: Ints
    end: Ints


def held_of(problem: RackProblem, classes: Classes, limits: Ints, sites: Sites) -> Held:
    """
    Args:
        problem: The tasks.
        classes: Theirs.
        limits: As `limits_of` has them.
        sites: The clients.
    """
    pairs = sites.pairs
    row = len(problem.rack) + 1  # the last of each is what NONE reads
    pair_of = np.full(len(classes.size) * row, NONE, np.int64)
    pair_of[limits[0] * row + limits[1]] = sites.of_limit
    if problem.limits is None:
        pair = pair_of[problem.previous_owner]
    else:
        pair = pair_of[problem.layers * row + problem.previous_owner]
    over = classes.of_task * pairs
    over += pair
    at_home = None
    if pair.min() < 0:
        at_home = np.flatnonzero(pair >= 0)
        over = over[at_home]
    cells = classes.table.shape[1] * pairs
    task = (over.astype(np.uint16) if cells <= _SHORT else over).argsort(kind="stable")
    over = over[task]
    last = np.ones(len(over), np.bool_)
    np.not_equal(over[1:], over[:-1], out=last[:-1])
    end = last.nonzero()[0]
    table = np.empty((3, len(end)), np.int64)
    np.divmod(over[end], pairs, out=(table[0], table[1]))
    end += 1
    table[2] = end
    table[2, 1:] -= end[:-1]
    return Held(task=task if at_home is None else at_home[task], table=table, end=end)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RackNetwork:
    """
    Nodes and arcs.

    Attributes:
        arcs: (4, arcs or more) as in `Arcs`; what flows over one is a number of tasks.
        supply: (nodes or more) tasks held there, or there for being nobody's; less what a site is to have.
        nodes: Where each kind of node begins, and the end: 5 numbers.
        kinds: Where the arcs of each kind begin, and the end: 6 numbers.
        largest: The largest cost of an arc.
    """

    arcs: Ints
    supply: Ints
    nodes: list[int]
    kinds: list[int]
    largest: int

    @property
    def count(self) -> int:
        """Of arcs."""
        return self.kinds[-1]

    def span(self, kind: int) -> slice:
        """Where the arcs of a kind stand."""
        return slice(self.kinds[kind], self.kinds[kind + 1])


def network(classes: Classes, sites: Sites, held: Held, onto: Ints | None = None) -> RackNetwork:
    """
    Args:
        classes: The tasks.
        sites: The clients.
        held: What clients hold.
        onto: The pair of *sites* that each pair of *held* is part of; None where they are the same.
    """
    kinds, racks = classes.cost.shape
    layers, leaving, pairs = len(classes.size), held.table.shape[1], sites.pairs
    reached = min(pairs, layers * racks)
    arcs = np.zeros((4, leaving + kinds * (racks + 1) + reached + 2 * pairs), np.int64)
    supply = np.zeros(pairs + kinds + layers + reached + sites.sites, np.int64)
    numbers = np.zeros(NODES + TAKE + 4, np.int64)
    space = np.zeros(layers * racks + layers + pairs + 2, np.int64)
    given = (
        classes.table,
        classes.size,
        classes.cost,
        classes.move_cost,
        sites.table,
        sites.sites,
        sites.pair,
        pairs,
        held.table,
        np.zeros(0, np.int64) if onto is None else onto,
        space,
    )
    work(draw, STEPS * arcs.shape[1], ASKED, given, arcs, supply, numbers)
    found = numbers.tolist()
    return RackNetwork(
        arcs=arcs,
        supply=supply,
        nodes=found[: NODES + 1],
        kinds=found[NODES + 1 : -1],
        largest=found[-1],
    )


@kernel
def draw(  # noqa: C901  one pass
    of_class: Any,
    size: Any,
    cost: Any,
    move_cost: int,
    of_site: Any,
    sites: int,
    of_pair: Any,
    pairs: int,
    held: Any,
    onto: Any,
    space: Any,
    arcs: Any,
    supply: Any,
    numbers: Any,
) -> None:
    """
    Fill in a `RackNetwork`: *arcs*, *supply* and *numbers*, which are its other numbers in their order.

    Args:
        of_class, size, cost, move_cost: As in `Classes`.
        of_site, sites, of_pair, pairs: As in `Sites`.
        held: The table of `Held`; *onto*: the pair that each of its pairs is part of, nothing where they are the same.
        space: Zeros, for its own use.
        arcs, supply, numbers: What is filled in.
    """
    layers, racks, classes = len(size), len(cost[0]), len(cost)
    tail, head, capacity, price = arcs[0], arcs[1], arcs[2], arcs[3]
    # racks that each layer reaches, as nodes; where its pairs begin; how much of a class a pair holds
    start, has = layers * racks, layers * racks + layers + 1
    for this in range(pairs):
        space[of_pair[0][this] * racks + of_site[0][of_pair[1][this]]] = 1
        space[start + of_pair[0][this] + 1] = this + 1
    for layer in range(layers):
        space[start + layer + 1] = max(space[start + layer], space[start + layer + 1])
    class_at, hub_at, rack_at = pairs, pairs + classes, pairs + classes + layers
    site_at = rack_at
    for cell in range(layers * racks):
        if space[cell] > 0:
            space[cell] = site_at
            site_at += 1
    count, at, largest = 0, 0, 0
    for one in range(classes):
        layer, free, begin = of_class[0][one], of_class[1][one], at
        while at < len(held[0]) and held[0][at] == one:
            if len(onto) > 0:
                space[has + onto[held[1][at]]] += held[2][at]
            at += 1
        place, end = begin, at
        if len(onto) > 0:
            place, end = space[start + layer], space[start + layer + 1]
        while place < end:
            if len(onto) > 0:
                pair, amount = place, space[has + place]
                space[has + place] = 0
            else:
                pair, amount = held[1][place], held[2][place]
            place += 1
            if amount > 0:
                saved = cost[one][of_site[0][of_pair[1][pair]]]
                tail[count], head[count] = pair, class_at + one
                capacity[count], price[count] = amount, move_cost - saved
                supply[pair] += amount
                free -= amount
                largest = max(largest, abs(move_cost - saved))
                count += 1
        supply[class_at + one] = free
    numbers[6] = count
    for one in range(classes):
        layer, dearest, begin = of_class[0][one], cost[one][0], count
        for rack in range(racks):
            dearest = max(dearest, cost[one][rack])
        for rack in range(racks):
            node = space[layer * racks + rack]
            if node > 0 and cost[one][rack] < dearest:
                place = count
                while place > begin and price[place - 1] > cost[one][rack]:
                    head[place], price[place] = head[place - 1], price[place - 1]
                    place -= 1
                tail[count], capacity[count] = class_at + one, of_class[1][one]
                head[place], price[place] = node, cost[one][rack]
                count += 1
        tail[count], capacity[count] = class_at + one, of_class[1][one]
        head[count], price[count] = hub_at + layer, dearest
        largest = max(largest, dearest)
        count += 1
    numbers[7] = count
    for layer in range(layers):
        for rack in range(racks):
            if space[layer * racks + rack] > 0:
                tail[count], head[count] = hub_at + layer, space[layer * racks + rack]
                capacity[count], price[count] = size[layer], 0
                count += 1
    numbers[8], numbers[9] = count, count + pairs
    for pair in range(pairs):
        layer, site = of_pair[0][pair], of_pair[1][pair]
        room = min(of_pair[2][pair], min(of_site[1][site], size[layer]))
        tail[count], head[count] = space[layer * racks + of_site[0][site]], pair
        tail[count + pairs], head[count + pairs] = pair, site_at + site
        capacity[count], capacity[count + pairs] = room, room
        price[count], price[count + pairs] = 0, 0
        count += 1
    for site in range(sites):
        supply[site_at + site] = -of_site[1][site]
    numbers[0], numbers[1], numbers[2], numbers[3] = class_at, hub_at, rack_at, site_at
    numbers[4], numbers[5], numbers[10] = site_at + sites, 0, count + pairs
    numbers[11] = largest


def owners(
    problem: RackProblem,
    classes: Classes,
    sites: Sites,
    held: Held,
    net: RackNetwork,
    flow: Ints,
) -> Indices:
    """
    (N) the client of each task.

    Of what a site holds of a class the first tasks stay. What moves goes on in the order of tasks,
    to the cheapest racks first, there to the first sites, and in turn to the clients of a site that
    have room.
    """
    owner = problem.previous_owner.astype(np.int32)
    leave = flow[: held.table.shape[1]]
    if len(held.task) == len(owner) and not leave.any():
        return owner
    leaving = held.task[_ends(held.end, leave)]
    if len(held.task) < len(owner):
        moves = np.ones(len(owner), np.bool_)
        moves[held.task] = False
        moves[leaving] = True
        movers = moves.nonzero()[0]
    else:
        movers = np.sort(leaving)
    node = _forward(classes.of_task[movers], net, flow, GO)
    over = (node < net.nodes[RACKS]).nonzero()[0]
    if len(over):
        node[over] = _forward(node[over], net, flow, SPREAD)
    site = sites.pair[1][_forward(node, net, flow, COME)]
    if sites.sites == len(problem.rack):  # each client is a site
        client = np.empty(sites.sites, np.int32)
        client[sites.of_client] = np.arange(sites.sites)
        owner[movers] = client[site]
        return owner
    owner[movers] = NONE
    room = problem.count - np.bincount(owner + 1, minlength=len(problem.count) + 1)[1:]
    owner[movers] = _seats(site, sites, room)
    return owner


def _ends(end: Ints, amount: Ints) -> Ints:
    """So many places before each end."""
    upto = np.cumsum(amount)
    return np.repeat(end - upto, amount) + np.arange(upto[-1] if len(upto) else 0)


def _forward(node: Ints, net: RackNetwork, flow: Ints, kind: int) -> Ints:
    """
    The next node of each task at *node*: the first tasks take a node's first arcs.

    As many tasks are at each node as flow leaves it over arcs of this *kind*.
    """
    span = net.span(kind)
    reached, amount = net.arcs[1, span], flow[span]
    if kind == COME:  # the only ones that do not stand by where they begin
        by_start = net.arcs[0, span].argsort(kind="stable")
        reached, amount = reached[by_start], amount[by_start]
    ahead = np.empty(len(node), np.int64)
    ahead[node.argsort(kind="stable")] = np.repeat(reached, amount)
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
    order = np.lexsort((turn, sites.of_client[client]))  # of equals the first client
    seats = np.empty(len(site), np.int32)
    seats[site.argsort(kind="stable")] = client[order]
    return seats
