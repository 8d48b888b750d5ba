"""
Tasks, clients in racks, what each pairing costs; and what of it need not be told apart.

All tasks of one layer that cost the same in every rack are a *class*. A task that does not move costs nothing more, and
a client can always keep what it holds unless that is more than its number of tasks or more than it may take of a layer.
So where no limit on layers binds, all clients of a rack that may take the same are one *site*; one that holds too much
is a site of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model.arrays import NONE, Indices, Ints
from ...kit.orders import by_appearance, numbered, row_keys
from ..network import outweighing


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
        cost: (N, R) what each task costs in each rack, at least 0.
        move_cost: What a task costs besides on any client but its previous owner, at least 0.
        previous_owner: (N) the client that holds a task; NONE for nobody, then every client pays *move_cost*.
        rack: (C) the rack of each client; all are known.
        count: (C) how many tasks each client gets; N in total.
        layer: (N) layer of each task, from 0. Looked at only where there are *limits*.
        limits: Who may take how many of which layer; None: anybody takes anything.
    """

    cost: Ints
    move_cost: int
    previous_owner: Indices
    rack: Indices
    count: Ints
    layer: Ints | None = None
    limits: LayerLimits | None = None

    @property
    def layers(self) -> Ints:
        """(N) the layer of each task; all one where there are no limits."""
        return np.zeros(len(self.cost), np.int64) if self.layer is None else self.layer

    def total(self, owner: Indices) -> int:
        """What an assignment costs: (N) an owner for every task."""
        in_racks = self.cost[np.arange(len(owner)), self.rack[owner]].sum()
        return int(in_racks) + self.move_cost * int((owner != self.previous_owner).sum())


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Classes:
    """
    N tasks in K classes.

    Attributes:
        of_task: (N) class of each task.
        layer: (K) its layer; 0 for all where layers play no part.
        layers: Number of layers.
        cost: (K, R) what its tasks cost in each rack more than in their cheapest, in weights.
        move_cost: The same for moving, and 1 for the move itself: of equal costs the fewest moves win.
    """

    of_task: Ints
    layer: Ints
    layers: int
    cost: Ints
    move_cost: int


def classes_of(problem: RackProblem) -> Classes:
    """
    Args:
        problem: At least one task, one client and one rack.
    """
    tasks = len(problem.cost)
    more = problem.cost - problem.cost.min(axis=1, keepdims=True)
    key, cells = row_keys(more)
    layers = 1
    if problem.limits is not None:
        layer = problem.layers
        layers = 1 + max(int(layer.max()), int(problem.limits.layer.max(initial=0)))
        key = layer * cells + key
    keys, of_task = numbered(key, layers * cells)
    sample = np.zeros(len(keys), np.int64)
    sample[of_task] = np.arange(tasks)
    cost = more[sample]
    unit = int(np.gcd.reduce(cost, axis=None, initial=problem.move_cost)) or 1
    weight = outweighing(tasks)  # every task moves at most
    return Classes(
        of_task=of_task,
        layer=keys // cells,
        layers=layers,
        cost=cost // unit * weight,
        move_cost=problem.move_cost // unit * weight + 1,
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Sites:
    """
    C clients in S sites.

    Attributes:
        of_client: (C) site of each client.
        rack, count: (S) its rack, and how many tasks its clients get.
        layer, site, most: (pairs) how many tasks of which layer it may take, each pair once, in the
            order of (layer, site).
    """

    of_client: Ints
    rack: Ints
    count: Ints
    layer: Ints
    site: Ints
    most: Ints

    def __len__(self) -> int:
        return len(self.rack)


def limits_bind(problem: RackProblem) -> bool:
    """Whether anybody may take fewer tasks of a layer than there are, though its count has room."""
    if problem.limits is None:
        return False
    limits = problem.limits
    size = np.bincount(problem.layers, minlength=int(limits.layer.max(initial=0)) + 1)
    room = np.minimum(problem.count[limits.client], size[limits.layer])
    return bool((limits.most < room).any())


def each_client(problem: RackProblem) -> Sites:
    """Every client a site."""
    clients = len(problem.rack)
    limits = problem.limits or LayerLimits(  # as much as its count of the one layer there is
        layer=np.zeros(clients, np.int64), client=np.arange(clients), most=problem.count
    )
    return Sites(
        of_client=np.arange(clients),
        rack=problem.rack.astype(np.int64),
        count=problem.count,
        layer=limits.layer,
        site=limits.client,
        most=limits.most,
    )


def sites_of(problem: RackProblem, *, keep_full_apart: bool) -> Sites:
    """
    Clients of one rack that may take of the same layers as one site.

    Args:
        problem: The clients.
        keep_full_apart: Whether one that holds more than its count is a site of its own.
    """
    clients, racks = len(problem.rack), int(problem.rack.max()) + 1
    key = _taking(problem) * racks + problem.rack
    if keep_full_apart:
        at_home = problem.previous_owner[problem.previous_owner != NONE]
        full = np.bincount(at_home, minlength=clients) > problem.count
        key = key * (clients + 1) + np.where(full, np.arange(clients) + 1, 0)
    cells = int(key.max()) + 1
    keys, of_client = numbered(key, cells)
    rack = np.zeros(len(keys), np.int64)
    rack[of_client] = problem.rack
    count = _sums(problem.count, of_client, len(keys))
    if problem.limits is None:
        nothing = np.zeros(len(keys), np.int64)
        layer, site, most = nothing, np.arange(len(keys)), count
    else:
        limits = problem.limits
        pair = limits.layer * len(keys) + of_client[limits.client]
        pairs, place = numbered(pair, int(pair.max(initial=0)) + 1)
        layer, site = np.divmod(pairs, len(keys))
        most = _sums(limits.most, place, len(pairs))
    return Sites(of_client=of_client, rack=rack, count=count, layer=layer, site=site, most=most)


def _taking(problem: RackProblem) -> Ints:
    """(C) a number per client, equal for clients that may take of the same layers."""
    clients = len(problem.rack)
    if problem.limits is None:
        return np.zeros(clients, np.int64)
    layer, client = problem.limits.layer, problem.limits.client
    by_client = layer[np.argsort(client, kind="stable")]
    ends = np.cumsum(np.bincount(client, minlength=clients))
    return by_appearance(one.tobytes() for one in np.split(by_client, ends[:-1]))


def _sums(values: Ints, place: Ints, length: int) -> Ints:
    sums = np.zeros(length, np.int64)
    np.add.at(sums, place, values)
    return sums
