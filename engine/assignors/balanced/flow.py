"""
The cheapest assignment when lags are left aside: a minimum-cost flow of kinds of partitions to members.

A partition costs its toll (by its replicas' racks and its owner's) and 1 where its present holder loses it. Partitions
that cost everybody the same are one *kind*; kinds that differ in nothing but the holder are one *batch*. Members of one
rack that may own the same are one *hub*. A kind stays with its holder or joins its batch, a batch goes to hubs, a hub
gives to its members, members take their least and one more out of their pool. Of equally cheap plans one that mixes is
taken: it leaves most choice to who deals the partitions out by lag. With one realm and one rack no solver is needed:
whoever holds most keeps most.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenkeel.engine.assignors.balanced.leeway import Leeway
from evenkeel.engine.kit.flow import FlowNetwork, outweighing
from evenkeel.engine.model import NONE, Ints

_MANY = 20_000
"""Arcs from hubs to members from which on mixing them takes too long."""

_LARGE = 1 << 61
"""What costs times nodes must stay below, in the solver."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FlowPlan:
    """
    How many partitions of which kind go where, at the least cost.

    Attributes:
        cost: Sum of tolls, plus partitions whose holder loses them.
        kind: (N) kind of each partition.
        holder, batch, size, kept: (kinds) who holds the kind now (NONE for nobody), its batch, how many there are, and
            how many stay.
        way_batch, way_hub, way_amount: How many of a batch go to the members of a hub; ascending.
        out_hub, out_member, out_amount: How many a hub gives to a member; ascending.
    """

    cost: int
    kind: Ints
    holder: Ints
    batch: Ints
    size: Ints
    kept: Ints
    way_batch: Ints
    way_hub: Ints
    way_amount: Ints
    out_hub: Ints
    out_member: Ints
    out_amount: Ints


@dataclass(frozen=True, slots=True)
class _Kinds:
    """Kind of each partition; holder, batch and size of each kind; realm and pattern of each batch."""

    kind: Ints
    holder: Ints
    batch: Ints
    size: Ints
    realm: Ints
    pattern: Ints


def cheapest(leeway: Leeway, toll: Ints, keep: Ints | None = None) -> FlowPlan | None:
    """
    A plan of least cost; None when no assignment obeys *keep* or reaches the counts.

    Args:
        leeway: What the fairest counts leave open.
        toll: (patterns, sites) cost of a partition by its pattern and its owner's site.
        keep: (M) how many of what it holds a member can keep at most; None for all.

    >>> from evenkeel.engine.assignor import spec
    >>> from evenkeel.engine.assignors.balanced.counts import fairest
    >>> from evenkeel.engine.assignors.balanced.leeway import leeway_of
    >>> from evenkeel.engine.assignors.balanced.problem import problem_of
    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 4}, owned={"a": [("t", p) for p in range(3)]})
    >>> problem = problem_of(group)
    >>> plan = cheapest(leeway_of(problem, fairest(problem)), np.zeros((1, 1), np.int64))
    >>> plan.cost, plan.kept.tolist()
    (1, [0, 2])
    """
    free = not toll.any()
    pattern = np.zeros_like(leeway.pattern) if free else leeway.pattern
    batch = leeway.realm * len(toll) + pattern
    names, kind, size = _distinct(batch * (leeway.members + 1) + leeway.holder + 1)
    batch_name, holder = np.divmod(names, leeway.members + 1)
    batches, batch, _ = _distinct(batch_name)
    realm, pattern = np.divmod(batches, len(toll))
    kinds = _Kinds(kind, holder - 1, batch, size, realm, pattern)
    if len(leeway.start) <= 2 and free:
        return _most_kept(leeway, kinds, keep)
    return _Flow(leeway, toll, kinds, keep).plan()


def _distinct(keys: Ints) -> tuple[Ints, Ints, Ints]:
    names, which, size = np.unique(keys, return_inverse=True, return_counts=True)
    return names, which.astype(np.int64), size.astype(np.int64)


def _most_kept(leeway: Leeway, kinds: _Kinds, keep: Ints | None) -> FlowPlan:
    """Where any owner will do, members that hold more than their least are the first to have their most."""
    some = kinds.holder != NONE
    held = np.zeros(leeway.members, np.int64)
    held[kinds.holder[some]] = kinds.size[some]
    can = held if keep is None else np.minimum(held, keep)
    taken = leeway.least.copy()
    if len(leeway.extra):
        asking = np.flatnonzero(leeway.pool >= 0)
        first = asking[np.argsort(can[asking] <= leeway.least[asking], kind="stable")]
        taken[first[: int(leeway.extra[0])]] += 1
    stays = np.minimum(can, taken)
    kept = np.where(some, stays[kinds.holder], 0)
    given = taken - stays
    out = np.flatnonzero(given)
    only = np.zeros(1, np.int64)
    return FlowPlan(
        cost=int((kinds.size - kept)[some].sum()),
        kind=kinds.kind,
        holder=kinds.holder,
        batch=kinds.batch,
        size=kinds.size,
        kept=kept,
        way_batch=only,
        way_hub=only,
        way_amount=given.sum(keepdims=True),
        out_hub=np.zeros(len(out), np.int64),
        out_member=out,
        out_amount=given[out],
    )


class _Flow:
    """The network: kinds, their batches, hubs, members, what members keep, pools."""

    def __init__(self, leeway: Leeway, toll: Ints, kinds: _Kinds, keep: Ints | None) -> None:
        self.leeway, self.toll, self.kinds = leeway, toll, kinds
        self.keep = leeway.most if keep is None else keep
        self.of_pair = np.repeat(np.arange(len(leeway.start) - 1), np.diff(leeway.start))
        sites = toll.shape[1]
        hubs, self.hub_of_pair, self.hub_size = _distinct(
            self.of_pair * sites + leeway.site[leeway.member]
        )
        self.hub_realm, self.hub_site = np.divmod(hubs, sites)
        self.held = np.flatnonzero(kinds.holder != NONE)
        self.batch_at = len(kinds.size)
        self.hub_at = self.batch_at + len(kinds.realm)
        self.member_at = self.hub_at + len(hubs)
        self.keeper_at = self.member_at + leeway.members
        self.pool_at = self.keeper_at + leeway.members
        nodes = self.pool_at + len(leeway.extra)
        self.network = FlowNetwork(nodes)
        self.worth = outweighing(2 * leeway.partitions)  # at most 2 each for not being mixed
        if int(abs(toll).max(initial=0) + 1) * self.worth * nodes >= _LARGE:
            self.worth = 1

    def plan(self) -> FlowPlan | None:
        """Solve it; None when it cannot be."""
        leeway, kinds = self.leeway, self.kinds
        keeps, (way_batch, way_hub, ways), outs = self._kinds(), self._batches(), self._members()
        supply = self.network.supply
        supply[: self.batch_at] = kinds.size
        supply[self.member_at : self.keeper_at] = -leeway.least
        supply[self.pool_at :] = -leeway.extra
        solved = self.network.cheapest()
        if solved is None:
            return None
        cost, flows = solved
        kept = np.zeros(self.batch_at, np.int64)
        kept[self.held] = flows[keeps]
        amount: Ints = np.sum([flows[w] for w in ways], axis=0)
        given: Ints = np.sum([flows[o] for o in outs], axis=0)
        way, out = np.flatnonzero(amount), np.flatnonzero(given)
        out = out[np.argsort(self.hub_of_pair[out], kind="stable")]
        return FlowPlan(
            cost=cost // self.worth,
            kind=kinds.kind,
            holder=kinds.holder,
            batch=kinds.batch,
            size=kinds.size,
            kept=kept,
            way_batch=way_batch[way],
            way_hub=way_hub[way],
            way_amount=amount[way],
            out_hub=self.hub_of_pair[out],
            out_member=leeway.member[out],
            out_amount=given[out],
        )

    def _kinds(self) -> slice:
        """A kind stays with its holder, as far as that can keep it, or joins its batch."""
        kinds, leeway, held = self.kinds, self.leeway, self.held
        holder, everyone = kinds.holder[held], np.arange(leeway.members)
        moved = (kinds.holder != NONE) * self.worth
        self.network.add(np.arange(self.batch_at), self.batch_at + kinds.batch, kinds.size, moved)
        toll = self.toll[kinds.pattern[kinds.batch[held]], leeway.site[holder]] * self.worth
        keeps = self.network.add(held, self.keeper_at + holder, kinds.size[held], toll)
        self.network.add(self.keeper_at + everyone, self.member_at + everyone, self.keep, 0)
        return keeps

    def _batches(self) -> tuple[Ints, Ints, list[slice]]:
        """A batch goes to the hubs of its realm, best to each by its number of members."""
        kinds = self.kinds
        batch, hub = _joined(kinds.realm, self.hub_realm)
        size = np.zeros(len(kinds.realm), np.int64)
        np.add.at(size, kinds.batch, kinds.size)
        crowd = np.diff(self.leeway.start)[kinds.realm[batch]]
        fair = -(-size[batch] * self.hub_size[hub] // crowd)
        toll = self.toll[kinds.pattern[batch], self.hub_site[hub]] * self.worth
        return batch, hub, self._mixed(self.batch_at + batch, self.hub_at + hub, fair, toll)

    def _members(self) -> list[slice]:
        """A hub gives to its members, best equally much; a member may hand one on to its pool."""
        leeway, pair = self.leeway, self.of_pair
        asking = np.flatnonzero(leeway.pool >= 0)
        self.network.add(self.member_at + asking, self.pool_at + leeway.pool[asking], 1, 0)
        crowd, size = (
            np.diff(leeway.start),
            np.bincount(leeway.realm, minlength=len(leeway.start) - 1),
        )
        fair = -(-size[pair] // crowd[pair])
        if len(crowd) == 1 or len(pair) >= _MANY:
            fair = size[pair]
        tail, head = self.hub_at + self.hub_of_pair, self.member_at + leeway.member
        return self._mixed(tail, head, fair, np.zeros(len(pair), np.int64))

    def _mixed(self, tail: Ints, head: Ints, fair: Ints, cost: Ints) -> list[slice]:
        """Arcs that cost a unit more from a fair share on."""
        everything = self.leeway.partitions
        if self.worth == 1 or (fair >= everything).all():
            return [self.network.add(tail, head, everything, cost)]
        return [
            self.network.add(tail, head, fair, cost),
            self.network.add(tail, head, everything, cost + 1),
        ]


def _joined(left: Ints, right: Ints) -> tuple[Ints, Ints]:
    """All pairs (i, j) with left[i] == right[j], ascending; *right* is ascending."""
    first, last = np.searchsorted(right, left, "left"), np.searchsorted(right, left, "right")
    sizes = last - first
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(np.arange(len(left)), sizes), (
        np.repeat(first - ends + sizes, sizes) + np.arange(total)
    )
