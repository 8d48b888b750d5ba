"""
Clients as far as they have to be told apart.

A task that does not move costs nothing more, and a client can always keep what it holds unless that
is more than its number of tasks or more than it may take of a layer. So where no limit on layers binds, all clients
of a rack that may take the same are one *site*; one that holds too much is a site of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ....model.arrays import NONE, Ints
from ...kit.distinct import numbered
from .problem import LayerLimits, RackProblem


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
    sets = [one.tobytes() for one in np.split(by_client, ends[:-1])]
    numbers = {one: number for number, one in enumerate(dict.fromkeys(sets))}
    return np.array([numbers[one] for one in sets], np.int64)


def _sums(values: Ints, place: Ints, length: int) -> Ints:
    sums = np.zeros(length, np.int64)
    np.add.at(sums, place, values)
    return sums
