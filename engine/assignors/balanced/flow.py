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
from evenkeel.engine.assignors.balanced.network import Network, network_of
from evenkeel.engine.assignors.balanced.work import ASKED
from evenkeel.engine.kit.compiled import at_work
from evenkeel.engine.kit.flow import Arcs, cheapest_flow, outweighing
from evenkeel.engine.model import NONE, Ints

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
    if len(leeway.start) <= 2 and free:
        return _most_kept(leeway, _kinds(leeway, pattern, len(toll)), keep)
    network = _network(leeway, pattern, toll, leeway.most if keep is None else keep)
    return _plan(leeway, network)


def _kinds(leeway: Leeway, pattern: Ints, patterns: int) -> _Kinds:
    batch = leeway.realm * patterns + pattern
    names, kind, size = _distinct(batch * (leeway.members + 1) + leeway.holder + 1)
    batch_name, holder = np.divmod(names, leeway.members + 1)
    batches, batch, _ = _distinct(batch_name)
    realm, pattern = np.divmod(batches, patterns)
    return _Kinds(kind, holder - 1, batch, size, realm, pattern)


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


def _network(leeway: Leeway, pattern: Ints, toll: Ints, keep: Ints) -> Network:
    worth = outweighing(2 * leeway.partitions)  # at most 2 each for not being mixed
    most = -(-_LARGE // ((int(abs(toll).max(initial=0)) + 1) * worth))
    before = leeway.realm, pattern, leeway.holder, leeway.start, leeway.member, leeway.site
    after = leeway.least, leeway.pool, leeway.extra, keep
    run = at_work(network_of, leeway.partitions + 4 * len(leeway.member), ASKED)
    if run is not network_of:
        return Network(*run(*before, toll.ravel(), toll.shape[1], *after, most))
    lists = [array.tolist() for array in (*before, toll.ravel(), *after)]
    return Network(*run(*lists[:7], toll.shape[1], *lists[7:], most))


def _plan(leeway: Leeway, network: Network) -> FlowPlan | None:
    """Solve it; None when it cannot be."""
    arcs = Arcs(tail=network.tail, head=network.head, capacity=network.capacity, cost=network.cost)
    solved = cheapest_flow(network.supply, arcs)
    if solved is None:
        return None
    cost, flows = solved
    kinds, pairs, ways = len(network.size), len(leeway.member), len(network.way_batch)
    kept = np.zeros(kinds, np.int64)
    kept[network.held] = flows[kinds : kinds + len(network.held)]
    at = kinds + len(network.held) + leeway.members
    amount = flows[at : at + network.ways * ways].reshape(network.ways, ways).sum(axis=0)
    given = flows[len(flows) - network.outs * pairs :].reshape(network.outs, pairs).sum(axis=0)
    way, out = np.flatnonzero(amount), np.flatnonzero(given)
    hub = network.hub_of_pair[out]
    order = np.argsort(hub, kind="stable")
    out = out[order]
    return FlowPlan(
        cost=cost // network.worth,
        kind=network.kind,
        holder=network.holder,
        batch=network.batch,
        size=network.size,
        kept=kept,
        way_batch=network.way_batch[way],
        way_hub=network.way_hub[way],
        way_amount=amount[way],
        out_hub=hub[order],
        out_member=leeway.member[out],
        out_amount=given[out],
    )
