"""
KIP-925's two strategies on a plain consumer group: a partition is a task, a topic a sub-topology, a member a client.

What stands in for the assignment that Streams has computed before it looks at racks: each member
gets as many partitions as it owns now, evened out where that is not even (`plain_group.even_counts`), and a
partition counts as moved unless its present owner keeps it. So a group that is complete and even
keeps its counts, and a new one is dealt out evenly.

The KIP's limit on a sub-topology, ceil(C * 1.0 / n * S), takes it that everybody may have anything.
Here n is what the member may have: the partitions of all topics it subscribes to. With unequal
subscriptions no assignment may keep to such limits; then all of them are raised by one number, the
least that lets one exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ...model.arrays import NONE, Indices
from ...model.assignments import Assignment
from ...model.errors import Infeasible
from ...model.facts import Fact, FactKind, fact, remark
from ..interface import GroupSpec
from .plain_group import PlainGroup, plain_group
from .rack_flow import LayerLimits, RackProblem, solve

MOST_LIMITS = 4_000_000
"""More (topic, subscriber) pairs than this are not tried: they take half a kilobyte each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """
    What things cost; whole numbers from 0.

    Attributes:
        traffic: A partition whose owner's rack has no replica of it.
        move: A partition that its present owner does not keep.
    """

    traffic: int = 10
    move: int = 1


DEFAULT_WEIGHTS = Weights()
"""Those of Kafka's default task assignor."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MinCost:
    """
    An answer and its figures.

    Attributes:
        owner: (P) an owner for each partition of a subscribed topic, NONE elsewhere.
        cost: Total, by the weights.
        partitions: How many were given out.
        crossing: How many of them have no replica in their owner's rack.
        moved: How many have an owner that did not own them.
        raised: By how much limits on topics had to be raised; 0 without limits.
        racks_matter: Whether any partition is nearer to one of its subscribers than to another.
    """

    owner: Indices
    cost: int
    partitions: int
    crossing: int
    moved: int
    raised: int
    racks_matter: bool

    def assignment(self) -> Assignment:
        """The answer with what is proven of it."""
        if not self.partitions:
            return Assignment(owner=self.owner)
        proof = (
            fact(FactKind.EXACT, "assignment_cost", after=self.cost, bound=self.cost),
            remark("cross_rack_partitions", after=self.crossing, bound=self.partitions),
            remark("new_owners", after=self.moved),
        )
        return Assignment(owner=self.owner, proof=(*proof, *self.remarks()))

    def remarks(self) -> tuple[Fact, ...]:
        """What else is to be said of every answer for this group, whatever the weights."""
        return (
            *([] if self.racks_matter else [remark("racks_equal")]),
            *([remark("raised_limits", after=self.raised)] if self.raised else []),
        )


def min_cost(
    group: GroupSpec,
    weights: Weights = DEFAULT_WEIGHTS,
    *,
    balance_topics: bool,
    read: PlainGroup | None = None,
) -> MinCost:
    """
    The cheapest assignment of a group.

    Args:
        group: The group.
        weights: What things cost.
        balance_topics: Whether to limit how many partitions of a topic a member gets.
        read: The group as `plain_group` reads it, where that is at hand.

    Raises:
        Infeasible: A rack is missing, or there are more than `MOST_LIMITS` limits on topics.
        InputError: The weights are beyond 64-bit arithmetic.
    """
    plain = read or plain_group(group)
    owner = np.full(group.partition_count, NONE, np.int32)
    problem = RackProblem(
        cost=plain.crosses * np.int64(weights.traffic),
        move_cost=weights.move,
        previous_owner=plain.previous_owner,
        rack=plain.rack,
        count=plain.count,
        kind=plain.kind,
    )
    client, raised = np.zeros(0, np.int32), 0
    if len(plain.partition) and balance_topics:
        client, raised = _balanced(plain, problem)
    elif len(plain.partition):
        client = _cheapest(plain, problem)
    owner[plain.partition] = plain.member[client]
    crossing = int(plain.crosses[plain.kind, plain.rack[client]].sum())
    moved = int((client != plain.previous_owner).sum())
    return MinCost(
        owner=owner,
        cost=weights.traffic * crossing + weights.move * moved,
        partitions=len(client),
        crossing=crossing,
        moved=moved,
        raised=raised,
        racks_matter=plain.racks_matter,
    )


def _cheapest(plain: PlainGroup, problem: RackProblem) -> Indices:
    """Without limits, topics with the same subscribers need not be told apart."""
    if not plain.same_subscribers.any():
        return solve(problem)
    _, sample = np.unique(plain.same_subscribers, return_index=True)
    spans = [plain.subscriber[plain.start[t] : plain.start[t + 1]] for t in sample.tolist()]
    client = np.concatenate(spans)
    limits = LayerLimits(
        layer=np.repeat(np.arange(len(spans)), [len(span) for span in spans]),
        client=client,
        most=np.maximum(plain.count[client], 1),
    )
    return solve(replace(problem, layer=plain.same_subscribers[plain.topic], limits=limits))


def _balanced(plain: PlainGroup, problem: RackProblem) -> tuple[Indices, int]:
    """
    The cheapest within limits per topic, and by how much these had to be raised.

    Raises:
        Infeasible: There are too many limits.
    """
    if len(plain.subscriber) > MOST_LIMITS:
        raise Infeasible(
            f"{len(plain.start) - 1:,} topics and {len(plain.member):,} members make {len(plain.subscriber):,} limits, "
            f"more than {MOST_LIMITS:,}.",
            fix="Look at min_traffic, which has none.",
        )
    layer = np.repeat(np.arange(len(plain.start) - 1), np.diff(plain.start))
    client, size = plain.subscriber, np.bincount(plain.topic)
    reach = np.zeros(len(plain.member), np.int64)
    np.add.at(reach, client, size[layer])
    # In Kafka's order of evaluation: rounding up shows the last bit of the product.
    share = plain.count.astype(np.float64) / reach
    most = np.ceil(share[client] * size[layer]).astype(np.int64)

    def within(raised: int) -> Indices | None:
        some = most + raised > 0
        limits = LayerLimits(layer=layer[some], client=client[some], most=most[some] + raised)
        try:
            return solve(replace(problem, layer=plain.topic, limits=limits))
        except Infeasible:
            return None

    return _least(within)


def _least(within: Callable[[int], Indices | None]) -> tuple[Indices, int]:
    """The first answer there is: 0, else somewhere up to the first power of two with one."""
    client, high = within(0), 0
    if client is not None:
        return client, 0
    while client is None:
        low, high = high, max(1, 2 * high)
        client = within(high)
    while high - low > 1:
        middle = (low + high) // 2
        other = within(middle)
        if other is None:
            low = middle
        else:
            client, high = other, middle
    return client, high
