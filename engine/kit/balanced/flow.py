"""
The cheapest assignment when lags are left aside: a minimum-cost flow of kinds of partitions to members.

A partition costs its toll (by its replicas' racks and its owner's) and 1 where its present holder loses it. Partitions
that cost everybody the same are one *kind*; members of one rack that may own the same are one *hub*. A kind stays with
its holder or goes to hubs, a hub gives to its members, members take their least and one more out of their pool. With
one realm and one rack no solver is needed: whoever holds most keeps most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from engine.kit.balanced.leeway import Leeway
from engine.model import NONE, Ints


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Plan:
    """
    How many partitions of which kind go where, at the least cost.

    Attributes:
        cost: Sum of tolls, plus partitions whose holder loses them.
        kind: (N) kind of each partition.
        holder, kept: (kinds) who holds the kind now (NONE for nobody) and how many it keeps.
        way_kind, way_hub, way_amount: How many of a kind go to the members of a hub; ascending.
        out_hub, out_member, out_amount: How many a hub gives to a member; ascending.
    """

    cost: int
    kind: Ints
    holder: Ints
    kept: Ints
    way_kind: Ints
    way_hub: Ints
    way_amount: Ints
    out_hub: Ints
    out_member: Ints
    out_amount: Ints


def cheapest(leeway: Leeway, toll: Ints, keep: Ints | None = None) -> Plan | None:
    """
    A plan of least cost; None when no assignment obeys *keep*.

    Args:
        leeway: What the fairest counts leave open.
        toll: (patterns, sites) cost of a partition by its pattern and its owner's site.
        keep: (M) how many of what it holds a member can keep at most; None for all.

    >>> from engine.assignor import spec
    >>> from engine.kit.balanced.counts import fairest
    >>> from engine.kit.balanced.leeway import leeway_of
    >>> from engine.kit.balanced.problem import problem_of
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 4}, owned={"a": [("t", p) for p in range(3)]})
    >>> problem = problem_of(group)
    >>> plan = cheapest(leeway_of(problem, fairest(problem)), np.zeros((1, 1), np.int64))
    >>> plan.cost, plan.kept.tolist()
    (1, [0, 2])
    """
    free = not toll.any()
    pattern = np.zeros_like(leeway.pattern) if free else leeway.pattern
    keys = (leeway.realm * len(toll) + pattern) * (leeway.members + 1) + leeway.holder + 1
    names, kind, size = _distinct(keys)
    rest, holder = np.divmod(names, leeway.members + 1)
    holder -= 1
    realm, pattern = np.divmod(rest, len(toll))
    if len(leeway.start) <= 2 and free:
        return _most_kept(leeway, kind, size, holder, keep)
    return _solved(leeway, toll, keep, _Kinds(kind, size, holder, realm, pattern))


def _distinct(keys: Ints) -> tuple[Ints, Ints, Ints]:
    names, which, size = np.unique(keys, return_inverse=True, return_counts=True)
    return names, which.astype(np.int64), size.astype(np.int64)


def _most_kept(leeway: Leeway, kind: Ints, size: Ints, holder: Ints, keep: Ints | None) -> Plan:
    """Where any owner will do, members that hold more than their least are the first to have their most."""
    members = leeway.members
    held = np.zeros(members, np.int64)
    held[holder[holder != NONE]] = size[holder != NONE]
    can = held if keep is None else np.minimum(held, keep)
    taken = leeway.least.copy()
    if len(leeway.extra):
        asking = np.flatnonzero(leeway.pool >= 0)
        first = asking[np.argsort(can[asking] <= leeway.least[asking], kind="stable")]
        taken[first[: int(leeway.extra[0])]] += 1
    kept = np.where(holder != NONE, np.minimum(can, taken)[holder], 0)
    given = taken - np.minimum(can, taken)
    out = np.flatnonzero(given)
    moved = np.where(holder != NONE, size - kept, 0)
    way = np.flatnonzero(size - kept)
    return Plan(
        cost=int(moved.sum()),
        kind=kind,
        holder=holder,
        kept=kept,
        way_kind=way,
        way_hub=np.zeros(len(way), np.int64),
        way_amount=(size - kept)[way],
        out_hub=np.zeros(len(out), np.int64),
        out_member=out,
        out_amount=given[out],
    )


@dataclass(frozen=True, slots=True)
class _Kinds:
    kind: Ints
    size: Ints
    holder: Ints
    realm: Ints
    pattern: Ints


def _solved(leeway: Leeway, toll: Ints, keep: Ints | None, kinds: _Kinds) -> Plan | None:
    sites, members = toll.shape[1], leeway.members
    of_pair = np.repeat(np.arange(len(leeway.start) - 1), np.diff(leeway.start))
    hubs, hub_of_pair, _ = _distinct(of_pair * sites + leeway.site[leeway.member])
    hub_realm, hub_site = np.divmod(hubs, sites)
    way_kind, way_hub = _joined(kinds.realm, hub_realm)
    held = np.flatnonzero(kinds.holder != NONE)
    hub_at = len(kinds.size)
    member_at = hub_at + len(hubs)
    keeper_at = member_at + members
    pool_at = keeper_at + members
    asking = np.flatnonzero(leeway.pool >= 0)
    holder = kinds.holder[held]
    network = Network(pool_at + len(leeway.extra))
    ways = network.arcs(
        way_kind,
        hub_at + way_hub,
        kinds.size[way_kind],
        toll[kinds.pattern[way_kind], hub_site[way_hub]] + (kinds.holder[way_kind] != NONE),
    )
    keeps = network.arcs(
        held,
        keeper_at + holder,
        kinds.size[held],
        toll[kinds.pattern[held], leeway.site[holder]],
    )
    outs = network.arcs(
        hub_at + hub_of_pair, member_at + leeway.member, leeway.most[leeway.member], 0
    )
    everyone = np.arange(members)
    network.arcs(
        keeper_at + everyone, member_at + everyone, leeway.most if keep is None else keep, 0
    )
    network.arcs(member_at + asking, pool_at + leeway.pool[asking], 1, 0)
    network.supply[:hub_at] = kinds.size
    network.supply[member_at:keeper_at] = -leeway.least
    network.supply[pool_at:] = -leeway.extra
    solved = network.solve()
    if solved is None:
        return None
    cost, flows = solved
    kept = np.zeros(len(kinds.size), np.int64)
    kept[held] = flows[keeps]
    way, out = np.flatnonzero(flows[ways]), np.flatnonzero(flows[outs])
    out = out[np.argsort(hub_of_pair[out], kind="stable")]
    return Plan(
        cost=cost,
        kind=kinds.kind,
        holder=kinds.holder,
        kept=kept,
        way_kind=way_kind[way],
        way_hub=way_hub[way],
        way_amount=flows[ways][way],
        out_hub=hub_of_pair[out],
        out_member=leeway.member[out],
        out_amount=flows[outs][out],
    )


def _joined(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """All pairs (i, j) with left[i] == right[j], ascending; *right* is ascending."""
    first, last = np.searchsorted(right, left, "left"), np.searchsorted(right, left, "right")
    sizes = last - first
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(np.arange(len(left)), sizes), (
        np.repeat(first - ends + sizes, sizes) + np.arange(total)
    )


class Network:
    """A flow network in the making, for OR-Tools."""

    def __init__(self, nodes: int) -> None:
        """
        Args:
            nodes: Number of nodes; set *supply* (negative: demand) before solving.
        """
        self.supply = np.zeros(nodes, np.int64)
        self._parts: list[tuple[Ints, Ints, Ints, Ints]] = []
        self._count = 0

    def arcs(self, tail: Ints, head: Ints, capacity: Ints | int, cost: Ints | int) -> slice:
        """Add arcs; where their flows will stand."""
        size = len(tail)
        whole = (np.broadcast_to(np.asarray(v, np.int64), size) for v in (capacity, cost))
        self._parts.append((tail, head, *whole))
        self._count += size
        return slice(self._count - size, self._count)

    def solve(self) -> tuple[int, Ints] | None:
        """
        Least cost and the flows; None when demand cannot be met.

        Raises:
            RuntimeError: The solver gave up, which costs within 62 bits rule out.
        """
        from ortools.graph.python import min_cost_flow

        tail, head, capacity, cost = (
            np.concatenate([part[i] for part in self._parts]) for i in range(4)
        )
        solver = min_cost_flow.SimpleMinCostFlow()
        arcs = solver.add_arcs_with_capacity_and_unit_cost(
            tail.astype(np.int32), head.astype(np.int32), capacity, cost
        )
        solver.set_nodes_supplies(np.arange(len(self.supply), dtype=np.int32), self.supply)
        status = solver.solve()
        if status == solver.INFEASIBLE:
            return None
        if status != solver.OPTIMAL:
            raise RuntimeError(f"minimum-cost flow failed with status {status}")
        return int(solver.optimal_cost()), solver.flows(arcs)
