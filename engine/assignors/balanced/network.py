"""The network of kinds, batches, hubs, members, what members keep, and pools: see `flow`, which has it solved."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from evenkeel.engine.kit.compiled import kernel
from evenkeel.engine.model import Ints

_MANY = 20_000
"""Arcs from hubs to members from which on mixing them takes too long."""


class Network(NamedTuple):
    """
    Nodes and arcs, and what they stand for.

    Attributes:
        kind: (N) kind of each partition.
        holder, batch, size: (kinds) who holds the kind now (NONE for nobody), its batch, how many there are.
        held: (some) kinds that somebody holds.
        way_batch, way_hub: (ways) from which batch to which hub.
        hub_of_pair: (pairs) the hub of each member of a realm.
        supply: (nodes) what each node sends out.
        tail, head, capacity, cost: (arcs) kinds to batches, held kinds to keepers, keepers to members, ways, members
            to pools, hubs to members.
        ways, outs: How often the ways stand there, and the pairs: twice where from a fair share on they cost more.
        worth: What a unit of cost weighs in *cost*: more than all ties.
    """

    kind: Ints
    holder: Ints
    batch: Ints
    size: Ints
    held: Ints
    way_batch: Ints
    way_hub: Ints
    hub_of_pair: Ints
    supply: Ints
    tail: Ints
    head: Ints
    capacity: Ints
    cost: Ints
    ways: int
    outs: int
    worth: int


@kernel
def kinds_of(realm: Any, pattern: Any, holder: Any, patterns: int, members: int) -> Any:
    """
    (N) kind of each partition; holder, batch and size of each kind; realm, pattern and size of each batch.

    Args:
        realm, pattern, holder: (N) what tells kinds apart.
        patterns, members: How many there are.
    """
    count = len(realm)
    keys = [
        (((realm[p] * patterns + pattern[p]) * (members + 1)) + holder[p] + 1, p)
        for p in range(count)
    ]
    keys.sort()
    kind, held_by, batch, size = [0] * count, [0] * 0, [0] * 0, [0] * 0
    batch_realm, batch_pattern, batch_size = [0] * 0, [0] * 0, [0] * 0
    last_key = last_batch = -1
    for key, p in keys:
        if key != last_key:
            last_key = key
            name = key // (members + 1)
            if name != last_batch:
                last_batch = name
                batch_realm.append(realm[p])
                batch_pattern.append(pattern[p])
                batch_size.append(0)
            held_by.append(holder[p])
            batch.append(len(batch_realm) - 1)
            size.append(0)
        kind[p] = len(size) - 1
        size[len(size) - 1] += 1
        batch_size[len(batch_size) - 1] += 1
    return kind, held_by, batch, size, batch_realm, batch_pattern, batch_size


@kernel
def network_of(  # noqa: C901  arcs of one kind after another
    realm: Any,
    pattern: Any,
    holder: Any,
    start: Any,
    member: Any,
    site: Any,
    toll: Any,
    sites: int,
    least: Any,
    pool: Any,
    extra: Any,
    keep: Any,
    most_nodes: int,
) -> Any:
    """
    The network, as the fields of `Network`.

    Args:
        realm, holder, start, member, site, least, pool, extra: As in `Leeway`.
        pattern: (N) row of *toll*.
        toll: (patterns x sites) flat.
        sites: Columns of *toll*.
        keep: (M) how many of what it holds a member can keep at most.
        most_nodes: From so many nodes on costs would be too large for ties to be broken.
    """
    members, everything, realms = len(least), len(realm), len(start) - 1
    kind, held_by, batch, size, batch_realm, batch_pattern, batch_size = kinds_of(
        realm, pattern, holder, len(toll) // sites, members
    )
    kinds = len(size)
    hub_of_pair, hub_site, hub_size = [0] * len(member), [0] * 0, [0] * 0
    first_hub, realm_size = [0] * (realms + 1), [0] * realms
    number = [0] * sites
    for r in range(realms):
        for s in range(sites):
            number[s] = 0
        for pair in range(start[r], start[r + 1]):
            number[site[member[pair]]] += 1
        for s in range(sites):
            if number[s]:
                hub_site.append(s)
                hub_size.append(number[s])
                number[s] = len(hub_site) - 1
        for pair in range(start[r], start[r + 1]):
            hub_of_pair[pair] = number[site[member[pair]]]
        first_hub[r + 1] = len(hub_site)
    for b in range(len(batch_size)):
        realm_size[batch_realm[b]] += batch_size[b]
    hub_at = kinds + len(batch_size)
    member_at = hub_at + len(hub_site)
    keeper_at = member_at + members
    pool_at = keeper_at + members
    nodes = pool_at + len(extra)
    worth = 2 * everything + 1 if nodes < most_nodes else 1
    supply = [0] * nodes
    for m in range(members):
        supply[member_at + m] = -least[m]
    for e in range(len(extra)):
        supply[pool_at + e] = -extra[e]
    tail, head, capacity, cost = [0] * 0, [0] * 0, [0] * 0, [0] * 0
    held = [0] * 0
    for k in range(kinds):  # a kind joins its batch
        supply[k] = size[k]
        tail.append(k)
        head.append(kinds + batch[k])
        capacity.append(size[k])
        cost.append(worth if held_by[k] >= 0 else 0)
    for k in range(kinds):  # or stays with its holder
        if held_by[k] >= 0:
            held.append(k)
            tail.append(k)
            head.append(keeper_at + held_by[k])
            capacity.append(size[k])
            cost.append(toll[batch_pattern[batch[k]] * sites + site[held_by[k]]] * worth)
    for m in range(members):  # as far as that can keep it
        tail.append(keeper_at + m)
        head.append(member_at + m)
        capacity.append(keep[m])
        cost.append(0)
    # A batch goes to the hubs of its realm, best to each by its number of members.
    way_batch, way_hub, fair, twice = [0] * 0, [0] * 0, [0] * 0, False
    for b in range(len(batch_size)):
        r = batch_realm[b]
        crowd = start[r + 1] - start[r]
        for hub in range(first_hub[r], first_hub[r + 1]):
            way_batch.append(b)
            way_hub.append(hub)
            fair.append(-((-batch_size[b] * hub_size[hub]) // crowd))
            if fair[len(fair) - 1] < everything:
                twice = True
    ways = 2 if twice and worth > 1 else 1
    for turn in range(2 - ways, 2):
        for w in range(len(way_batch)):
            b, hub = way_batch[w], way_hub[w]
            tail.append(kinds + b)
            head.append(hub_at + hub)
            capacity.append(everything if turn else fair[w])
            cost.append(toll[batch_pattern[b] * sites + hub_site[hub]] * worth + turn * (ways - 1))
    # A hub gives to its members, best equally much; a member may hand one on to its pool.
    for m in range(members):
        if pool[m] >= 0:
            tail.append(member_at + m)
            head.append(pool_at + pool[m])
            capacity.append(1)
            cost.append(0)
    alike, twice = realms == 1 or len(member) >= _MANY, False
    fair_of_realm = [0] * realms
    for r in range(realms):
        crowd = start[r + 1] - start[r]
        fair_of_realm[r] = realm_size[r] if alike else -(-realm_size[r] // crowd)
        if fair_of_realm[r] < everything:
            twice = True
    outs = 2 if twice and worth > 1 else 1
    for turn in range(2 - outs, 2):
        for r in range(realms):
            for pair in range(start[r], start[r + 1]):
                tail.append(hub_at + hub_of_pair[pair])
                head.append(member_at + member[pair])
                capacity.append(everything if turn else fair_of_realm[r])
                cost.append(turn * (outs - 1))
    return (
        np.array(kind),
        np.array(held_by),
        np.array(batch),
        np.array(size),
        np.array(held, np.int64),
        np.array(way_batch),
        np.array(way_hub),
        np.array(hub_of_pair),
        np.array(supply),
        np.array(tail),
        np.array(head),
        np.array(capacity),
        np.array(cost),
        ways,
        outs,
        worth,
    )
