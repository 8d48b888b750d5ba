"""
The cheapest assignment of a plain group, and what is proven of it.

The KIP's limit on a sub-topology, ceil(C * 1.0 / n * S), takes it that everybody may have anything.
Here n is what the member may have: the partitions of all topics it subscribes to. With unequal
subscriptions no assignment may keep to such limits; then all of them are raised by one number, the
least that lets one exist.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from evenkeel.engine.assignor import GroupSpec
from evenkeel.engine.errors import Infeasible
from evenkeel.engine.kit.min_cost.reading import PlainGroup, plain_group
from evenkeel.engine.kit.rack_flow import Places, Problem, solve
from evenkeel.engine.model import NONE, Assignment, Indices

MOST_PLACES = 4_000_000
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
        told = [
            f"exact: total cost {self.cost}, no assignment with these counts costs less "
            f"({self.crossing:,} of {self.partitions:,} partitions cross racks, {self.moved:,} new to their owner)"
        ]
        if not self.racks_matter:
            told.append("racks have nothing to gain, each partition costs the same on every member")
        if self.raised:
            told.append(f"limits per topic raised by {self.raised}, because subscriptions differ")
        return Assignment(owner=self.owner, proof="; ".join(told))


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
        read: The group as `plain` reads it, where that is at hand.

    Raises:
        Infeasible: A rack is missing, or there are more than `MOST_PLACES` limits on topics.
        InputError: The weights are beyond 64-bit arithmetic.
    """
    asked = read or plain_group(group)
    owner = np.full(group.partition_count, NONE, np.int32)
    problem = _problem(asked, weights)
    client, raised = np.zeros(0, np.int32), 0
    if len(asked.partition) and balance_topics:
        client, raised = _balanced(asked, problem)
    elif len(asked.partition):
        client = _cheapest(asked, problem)
    owner[asked.partition] = asked.member[client]
    crossing = asked.crosses[np.arange(len(client)), asked.rack[client]]
    return MinCost(
        owner=owner,
        cost=problem.total(client),
        partitions=len(client),
        crossing=int(crossing.sum()),
        moved=int((client != asked.home).sum()),
        raised=raised,
        racks_matter=_racks_matter(asked),
    )


def _problem(asked: PlainGroup, weights: Weights) -> Problem:
    return Problem(
        cost=weights.traffic * asked.crosses.astype(np.int64),
        away=weights.move,
        home=asked.home.astype(np.int32),
        rack=asked.rack,
        count=asked.count,
    )


def _cheapest(asked: PlainGroup, problem: Problem) -> Indices:
    """Without limits, topics with the same subscribers need not be told apart."""
    if not asked.alike.any():
        return solve(problem)
    _, sample = np.unique(asked.alike, return_index=True)
    spans = [asked.able[asked.start[t] : asked.start[t + 1]] for t in sample.tolist()]
    client = np.concatenate(spans)
    places = Places(
        layer=np.repeat(np.arange(len(spans)), [len(span) for span in spans]),
        client=client,
        most=np.maximum(asked.count[client], 1),
    )
    return solve(replace(problem, layer=asked.alike[asked.topic], places=places))


def _balanced(asked: PlainGroup, problem: Problem) -> tuple[Indices, int]:
    """
    The cheapest within limits per topic, and by how much these had to be raised.

    Raises:
        Infeasible: There are too many limits.
    """
    if len(asked.able) > MOST_PLACES:
        raise Infeasible(
            f"{len(asked.start) - 1:,} topics and {len(asked.member):,} members make {len(asked.able):,} limits, "
            f"more than {MOST_PLACES:,}.",
            fix="Look at min_traffic, which has none.",
        )
    layer = np.repeat(np.arange(len(asked.start) - 1), np.diff(asked.start))
    client, size = asked.able, np.bincount(asked.topic)
    reach = np.zeros(len(asked.member), np.int64)
    np.add.at(reach, client, size[layer])
    # In Kafka's order of evaluation: rounding up shows the last bit of the product.
    share = asked.count.astype(np.float64) / reach
    most = np.ceil(share[client] * size[layer]).astype(np.int64)

    def within(raised: int) -> Indices | None:
        some = most + raised > 0
        places = Places(layer=layer[some], client=client[some], most=most[some] + raised)
        try:
            return solve(replace(problem, layer=asked.topic, places=places))
        except Infeasible:
            return None

    return _least(within)


def _least(within: Callable[[int], Indices | None]) -> tuple[Indices, int]:
    """The first answer there is: 0, else somewhere up to the first power of two with one."""
    found, high = within(0), 0
    if found is not None:
        return found, 0
    while found is None:
        low, high = high, max(1, 2 * high)
        found = within(high)
    while high - low > 1:
        middle = (low + high) // 2
        other = within(middle)
        if other is None:
            low = middle
        else:
            found, high = other, middle
    return found, high


def _racks_matter(asked: PlainGroup) -> bool:
    """Whether any partition is nearer to one of its subscribers than to another."""
    racks = asked.crosses.shape[1]
    topic = np.repeat(np.arange(len(asked.start) - 1), np.diff(asked.start))
    has = np.zeros((len(asked.start) - 1, racks), np.bool_)
    has[topic, asked.rack[asked.able]] = True
    here = has[asked.topic]
    return bool(((here & asked.crosses).any(axis=1) & (here & ~asked.crosses).any(axis=1)).any())
