"""
Clients as far as they have to be told apart.

Whoever stays, stays at home, and a client can always keep what it holds unless that is more than its
number of tasks or more than it may take of a layer. So where no limit on layers binds, all clients
of a rack that may take the same are one *site*; one that holds too much is a site of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenkeel.engine.kit.distinct import numbered
from evenkeel.engine.kit.rack_flow.problem import Places, Problem
from evenkeel.engine.model import NONE, Ints


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


def limits_bind(problem: Problem) -> bool:
    """Whether anybody may take fewer tasks of a layer than there are, though its count has room."""
    if problem.places is None:
        return False
    places = problem.places
    size = np.bincount(problem.layers, minlength=int(places.layer.max(initial=0)) + 1)
    room = np.minimum(problem.count[places.client], size[places.layer])
    return bool((places.most < room).any())


def each_client(problem: Problem) -> Sites:
    """Every client a site."""
    places = problem.places or _anything(problem)
    return Sites(
        of_client=np.arange(len(problem.rack)),
        rack=problem.rack.astype(np.int64),
        count=problem.count,
        layer=places.layer,
        site=places.client,
        most=places.most,
    )


def alike(problem: Problem, *, keep_full_apart: bool) -> Sites:
    """
    Clients of one rack that may take of the same layers as one site.

    Args:
        problem: The clients.
        keep_full_apart: Whether one that holds more than its count is a site of its own.
    """
    clients, racks = len(problem.rack), int(problem.rack.max()) + 1
    key = _taking(problem) * racks + problem.rack
    if keep_full_apart:
        at_home = problem.home[problem.home != NONE]
        full = np.bincount(at_home, minlength=clients) > problem.count
        key = key * (clients + 1) + np.where(full, np.arange(clients) + 1, 0)
    cells = int(key.max()) + 1
    found, of_client = numbered(key, cells)
    rack = np.zeros(len(found), np.int64)
    rack[of_client] = problem.rack
    count = _sums(problem.count, of_client, len(found))
    if problem.places is None:
        nothing = np.zeros(len(found), np.int64)
        layer, site, most = nothing, np.arange(len(found)), count
    else:
        places = problem.places
        pair = places.layer * len(found) + of_client[places.client]
        pairs, place = numbered(pair, int(pair.max(initial=0)) + 1)
        layer, site = np.divmod(pairs, len(found))
        most = _sums(places.most, place, len(pairs))
    return Sites(of_client=of_client, rack=rack, count=count, layer=layer, site=site, most=most)


def _anything(problem: Problem) -> Places:
    """Everybody may take as much as its count of the one layer there is."""
    clients = len(problem.rack)
    return Places(layer=np.zeros(clients, np.int64), client=np.arange(clients), most=problem.count)


def _taking(problem: Problem) -> Ints:
    """(C) a number per client, equal for clients that may take of the same layers."""
    clients = len(problem.rack)
    if problem.places is None:
        return np.zeros(clients, np.int64)
    layer, client = problem.places.layer, problem.places.client
    by_client = layer[np.argsort(client, kind="stable")]
    ends = np.cumsum(np.bincount(client, minlength=clients))
    sets = [one.tobytes() for one in np.split(by_client, ends[:-1])]
    numbers = {one: number for number, one in enumerate(dict.fromkeys(sets))}
    return np.array([numbers[one] for one in sets], np.int64)


def _sums(values: Ints, place: Ints, length: int) -> Ints:
    sums = np.zeros(length, np.int64)
    np.add.at(sums, place, values)
    return sums
