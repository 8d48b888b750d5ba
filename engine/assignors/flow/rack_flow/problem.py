"""
Tasks, clients in racks, what each pairing costs; and what of it need not be told apart.

All tasks of one layer that cost the same in every rack are a *class*. A task that does not move costs nothing more, and
a client can always keep what it holds unless that is more than its number of tasks or more than it may take of a layer.
So where no limit on layers binds, all clients of a rack that may take the same are one *site*; one that holds too much
is a site of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import chain
from math import gcd
from typing import Any

import numpy as np

from ....model.arrays import Indices, Ints
from ...kit.kernels import kernel, work
from ...kit.orders import numbered, row_keys
from ..least_cost import ASKED, STEPS
from ..network import check_costs, outweighing


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class LayerLimits:
    """
    How many tasks of a layer (a sub-topology, a topic) a client may take, as parallel arrays.

    A pair that is not listed may take none. Each pair stands once, in the order of (layer, client).

    Attributes:
        layer, client: The pair.
        most: At least 1; a number beyond the client's count or the layer's size limits nothing.
    """

    layer: Ints
    client: Ints
    most: Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RackProblem:
    """
    N tasks for C clients in R racks, each client to get a given number of them.

    Ties follow the order of tasks, clients and racks, so bring them in one that does not depend on
    how the input was listed.

    Attributes:
        cost: (N, R) what each task costs in each rack, at least 0; or (kinds, R) where *kind* is given.
        move_cost: What a task costs besides on any client but its previous owner, at least 0.
        previous_owner: (N) the client that holds a task; NONE for nobody, then every client pays *move_cost*.
        rack: (C) the rack of each client; all are known.
        count: (C) how many tasks each client gets; N in total.
        kind: (N) row of each task in *cost*, each named at least once; None: each task has its own.
        layer: (N) layer of each task, from 0. Looked at only where there are *limits*.
        limits: Who may take how many of which layer; None: anybody takes anything.
    """

    cost: Ints
    move_cost: int
    previous_owner: Indices
    rack: Indices | Ints
    count: Ints
    kind: Ints | None = None
    layer: Ints | None = None
    limits: LayerLimits | None = None

    @property
    def layers(self) -> Ints:
        """(N) the layer of each task; all one where there are no limits."""
        if self.layer is None:
            return np.zeros(len(self.previous_owner), np.int64)
        return self.layer

    def total(self, owner: Indices) -> int:
        """What an assignment costs: (N) an owner for every task."""
        kind = np.arange(len(owner)) if self.kind is None else self.kind
        in_racks = self.cost[kind, self.rack[owner]].sum()
        return int(in_racks) + self.move_cost * int((owner != self.previous_owner).sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Classes:
    """
    N tasks in K classes.

    Attributes:
        of_task: (N) class of each task.
        table: (2, K) its layer, 0 for all where layers play no part; and how many tasks it has.
        size: (layers) tasks of each layer.
        cost: (K, R) what its tasks cost in each rack more than in their cheapest, in weights.
        move_cost: The same for moving, and 1 for the move itself: of equal costs the fewest moves win.
    """

    of_task: Ints
    table: Ints
    size: Ints
    cost: Ints
    move_cost: int


def classes_of(problem: RackProblem) -> Classes:
    """
    Args:
        problem: At least one task, one client and one rack.

    Raises:
        InputError: The costs are beyond 64-bit arithmetic.
    """
    if problem.kind is None:
        keys, kind = numbered(*row_keys(problem.cost))
        sample = np.zeros(len(keys), np.int64)
        sample[kind] = np.arange(len(kind))
        rows = problem.cost[sample].tolist()
    else:
        kind, rows = problem.kind, problem.cost.tolist()
    more = [tuple([cost - least for cost in row]) for row in rows for least in (min(row),)]
    kinds = sorted(set(more))
    unit = gcd(problem.move_cost, *chain(*kinds)) or 1
    weight = outweighing(len(kind))  # every task moves at most
    largest = max(map(max, kinds)) // unit * weight
    check_costs(largest, 1)
    number = {row: number for number, row in enumerate(kinds)}
    of_task = np.array([number[row] for row in more], np.int64)[kind]
    cost = np.array(kinds, np.int64) // unit * weight
    if problem.limits is None:
        table, layers = np.zeros((2, len(kinds)), np.int64), 1
    else:
        layers = 1 + max(int(problem.layers.max()), int(problem.limits.layer.max(initial=0)))
        names, of_task = numbered(problem.layers * len(kinds) + of_task, layers * len(kinds))
        table = np.empty((2, len(names)), np.int64)
        table[0], row = np.divmod(names, len(kinds))
        cost = cost[row]
    table[1] = np.bincount(of_task, minlength=len(cost))
    size = np.bincount(table[0], weights=table[1], minlength=layers).astype(np.int64)
    move_cost = problem.move_cost // unit * weight + 1
    return Classes(of_task=of_task, table=table, size=size, cost=cost, move_cost=move_cost)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sites:
    """
    C clients in S sites.

    Attributes:
        of_client: (C) site of each client.
        table: (2, S or more) rack of each site, and how many tasks its clients get.
        pair: (3, pairs or more) layer, site, and how many tasks of the layer it may take; each pair once, in the
            order of (layer, site).
        of_limit: (limits) the pair that each of the limits is part of.
        sites, pairs: How many there are.
    """

    of_client: Ints
    table: Ints
    pair: Ints
    of_limit: Ints
    sites: int
    pairs: int


def limits_of(problem: RackProblem) -> Ints:
    """(3, limits) layer, client, and how many tasks; without limits as many of the one layer as the client gets."""
    limits = problem.limits
    if limits is not None:
        return np.array([limits.layer, limits.client, limits.most], np.int64)
    table = np.zeros((3, len(problem.count)), np.int64)
    table[1], table[2] = np.arange(len(problem.count)), problem.count
    return table


def each_client(problem: RackProblem, limits: Ints) -> Sites:
    """Every client a site, so every limit a pair."""
    clients = np.arange(len(problem.rack))
    return Sites(
        of_client=clients,
        table=np.array([problem.rack, problem.count], np.int64),
        pair=limits,
        of_limit=np.arange(limits.shape[1]),
        sites=len(clients),
        pairs=limits.shape[1],
    )


def sites_of(problem: RackProblem, limits: Ints, size: Ints) -> tuple[Sites, bool]:
    """
    Clients of one rack that may take of the same layers as one site, and whether limits bind.

    They do where a client may take fewer tasks of a layer than there are, though its count has room. Where they do
    not, a client that holds more than its count is a site of its own.

    Args:
        problem: The clients.
        limits: As `limits_of` has them.
        size: (layers) tasks of each.
    """
    clients, count = len(problem.rack), limits.shape[1]
    held = np.bincount(problem.previous_owner + 1, minlength=clients + 1)
    rack = problem.rack.astype(np.int64)
    racks = problem.cost.shape[1]
    space = np.zeros((7, max(clients, count, len(size), racks) + 2), np.int64)
    of_client, of_limit = np.zeros(clients, np.int64), np.zeros(count, np.int64)
    table, pair = np.zeros((2, clients), np.int64), np.zeros((3, count), np.int64)
    numbers = np.zeros(3, np.int64)
    given = (rack, problem.count, held, racks, limits, size, space)
    changed = (of_client, table, of_limit, pair, numbers)
    work(gather, STEPS * (clients + count), ASKED, given, *changed)
    sites, pairs, bind = numbers.tolist()
    return Sites(
        of_client=of_client, table=table, pair=pair, of_limit=of_limit, sites=sites, pairs=pairs
    ), bool(bind)


@kernel
def gather(  # noqa: C901  one pass
    rack: Any,
    count: Any,
    held: Any,
    racks: int,
    limits: Any,
    size: Any,
    space: Any,
    of_client: Any,
    table: Any,
    of_limit: Any,
    pair: Any,
    numbers: Any,
) -> None:
    """
    Fill in `Sites`, and *numbers*: how many sites and pairs there are, and whether limits bind.

    Args:
        rack, count: (C) of each client.
        held: (C + 1) how many tasks nobody holds, then each client.
        racks: How many.
        limits, size: As for `sites_of`.
        space: 7 rows for its own use.
        of_client, table, of_limit, pair, numbers: What is filled in.
    """
    layer, client, most = limits[0], limits[1], limits[2]
    taking, order, other, key = space[0], space[1], space[2], space[3]
    bind = False
    for this in range(len(layer)):
        if most[this] < min(count[client[this]], size[layer[this]]):
            bind = True
    takings = split(layer, client, len(rack), taking, space[4], space[5])
    place = 0
    for this in range(len(rack)):
        if bind or held[this + 1] <= count[this]:
            order[place] = this
            place += 1
    for this in range(len(rack)):
        if not bind and held[this + 1] > count[this]:
            order[place] = this
            place += 1
    sort_by(rack, racks, order, other, len(rack), space[6])
    sort_by(taking, takings, other, order, len(rack), space[6])
    site = -1
    for place in range(len(rack)):
        this, before = order[place], order[place - 1]
        apart = place == 0 or taking[this] != taking[before] or rack[this] != rack[before]
        if apart or (not bind and held[this + 1] > count[this]):
            site += 1
            table[0][site], table[1][site] = rack[this], 0
        of_client[this] = site
        table[1][site] += count[this]
    for this in range(len(layer)):
        order[this], key[this] = this, of_client[client[this]]
    sort_by(key, site + 1, order, other, len(layer), space[6])
    sort_by(layer, len(size), other, order, len(layer), space[6])
    pairs = -1
    for place in range(len(layer)):
        this, before = order[place], order[place - 1]
        if place == 0 or layer[this] != layer[before] or key[this] != key[before]:
            pairs += 1
            pair[0][pairs], pair[1][pairs], pair[2][pairs] = layer[this], key[this], 0
        of_limit[this] = pairs
        pair[2][pairs] += most[this]
    numbers[0], numbers[1], numbers[2] = site + 1, pairs + 1, int(bind)


@kernel
def split(layer: Any, client: Any, clients: int, taking: Any, last: Any, onto: Any) -> int:
    """
    Number clients by the layers that they may take of, as they come first; how many numbers there are.

    Args:
        layer, client: (limits) by layer.
        clients: How many.
        taking: (C) overwritten with the numbers.
        last, onto: For its own use.
    """
    for this in range(clients):
        taking[this] = 0
    last[0] = -1
    numbers = 1
    for this in range(len(layer)):
        before = taking[client[this]]
        if last[before] != layer[this]:
            last[before], onto[before] = layer[this], numbers
            last[numbers] = -1
            numbers += 1
        taking[client[this]] = onto[before]
    for this in range(numbers):
        onto[this] = -1
    found = 0
    for this in range(clients):
        before = taking[this]
        if onto[before] < 0:
            onto[before] = found
            found += 1
        taking[this] = onto[before]
    return found


@kernel
def sort_by(key: Any, keys: int, order: Any, into: Any, count: int, start: Any) -> None:
    """Sort the first *count* of an order by a key below *keys*, stably; *start* is overwritten."""
    for one in range(keys + 1):
        start[one] = 0
    for place in range(count):
        start[key[order[place]] + 1] += 1
    for one in range(keys):
        start[one + 1] += start[one]
    for place in range(count):
        this = order[place]
        into[start[key[this]]] = this
        start[key[this]] += 1
