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

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ...model.arrays import NONE, Indices, Ints, ragged_entries
from ...model.assignments import Assignment
from ...model.batch import count_by
from ...model.errors import Infeasible
from ...model.facts import Fact, FactKind, fact, remark
from ..interface import Answers, GroupSpec
from .plain_group import PlainGroups, plain_groups
from .rack_flow import LayerLimits, RackProblem, limits_of, solve, stays

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
    read: PlainGroups | None = None,
) -> MinCost:
    """
    The cheapest assignment of a group.

    Args:
        group: The group.
        weights: What things cost.
        balance_topics: Whether to limit how many partitions of a topic a member gets.
        read: The group as `plain_groups` reads it, where that is at hand.

    Raises:
        Infeasible: A rack is missing, or there are more than `MOST_LIMITS` limits on topics.
        InputError: The weights are beyond 64-bit arithmetic.
    """
    [found] = min_costs(group, weights, balance_topics=balance_topics, read=read)
    if isinstance(found, Infeasible):
        raise found
    return found


def cheapest(groups: GroupSpec, weights: Weights, *, balance_topics: bool) -> Answers:
    """As `min_costs`, for a strategy."""
    found = list(enumerate(min_costs(groups, weights, balance_topics=balance_topics)))
    return Answers(
        assignment=Assignment(owner=np.full(groups.partition_count, NONE, np.int32)),
        problems={number: one for number, one in found if isinstance(one, Infeasible)},
        own={number: one.assignment() for number, one in found if isinstance(one, MinCost)},
    )


def min_costs(
    groups: GroupSpec,
    weights: Weights,
    *,
    balance_topics: bool,
    read: PlainGroups | None = None,
) -> list[MinCost | Infeasible]:
    """As `min_cost`, for each of many groups, or why there is none."""
    plain = read or plain_groups(groups)
    problem = _problem(plain, weights, balance_topics=balance_topics)
    client, raised = problem.previous_owner.copy(), np.zeros(groups.group_count, np.int64)
    problems = {**plain.problems, **(_too_many(plain) if balance_topics else {})}
    for number in _restless(plain, problem):
        if number not in problems:
            part = _part(plain, problem, number, plain.topics if balance_topics else plain.classes)
            found, raised[number] = _least(part) if balance_topics else (_anywhere(part), 0)
            client[slice(*plain.partitions[number : number + 2])] = found + plain.members[number]
    crosses = plain.crosses[plain.kind, plain.rack[client]]
    crossing = count_by(crosses, plain.partitions).tolist()
    moved = count_by(client != plain.previous_owner, plain.partitions).tolist()
    owner = np.full(groups.partition_count, NONE, np.int32)
    owner[plain.partition] = plain.member[client]
    owner[plain.partition] -= groups.member_start[groups.group_of[plain.partition]]
    counts, matter = np.diff(plain.partitions).tolist(), plain.racks_matter.tolist()
    return [
        problems.get(number)
        or MinCost(
            owner=owner[first:last],
            cost=weights.traffic * crossing[number] + weights.move * moved[number],
            partitions=counts[number],
            crossing=crossing[number],
            moved=moved[number],
            raised=int(raised[number]),
            racks_matter=matter[number],
        )
        for number, (first, last) in enumerate(pairwise(groups.partition_start.tolist()))
    ]


def _problem(plain: PlainGroups, weights: Weights, *, balance_topics: bool) -> RackProblem:
    """All groups as one: layers are topics, each with its limits; else classes of them, which limit nobody."""
    layer = np.arange(len(plain.start) - 1) if balance_topics else plain.same_subscribers
    sample = np.unique(layer, return_index=True)[1]
    start, pairs = ragged_entries(plain.start, sample)
    of_pair, client = np.arange(len(sample)).repeat(np.diff(start)), plain.subscriber[pairs]
    most = np.maximum(plain.count[client], 1)
    if balance_topics:
        size = np.bincount(plain.topic, minlength=len(sample))
        reach = np.zeros(len(plain.member), np.int64)
        np.add.at(reach, client, size[of_pair])
        # In Kafka's order of evaluation: rounding up shows the last bit of the product.
        share = plain.count.astype(np.float64) / reach
        most = np.ceil(share[client] * size[of_pair]).astype(np.int64)
    return RackProblem(
        cost=plain.crosses * np.int64(weights.traffic),
        move_cost=weights.move,
        previous_owner=plain.previous_owner,
        rack=plain.rack,
        count=plain.count,
        kind=plain.kind,
        layer=layer[plain.topic],
        limits=LayerLimits(layer=of_pair, client=client, most=most),
    )


def _too_many(plain: PlainGroups) -> dict[int, Infeasible]:
    """The groups with more limits than are tried."""
    limits = np.diff(plain.start[plain.topics])
    return {
        number: Infeasible(
            f"{np.diff(plain.topics)[number]:,} topics and {np.diff(plain.members)[number]:,} members make "
            f"{limits[number]:,} limits, more than {MOST_LIMITS:,}.",
            fix="Look at min_traffic, which has none.",
        )
        for number in np.flatnonzero(limits > MOST_LIMITS).tolist()
    }


def _restless(plain: PlainGroups, problem: RackProblem) -> list[int]:
    """The groups in which something may be better than what is."""
    if not len(plain.partition):
        return []
    right, fine = stays(problem, limits_of(problem))
    wrong = count_by(~right, plain.members) + count_by(~fine, plain.partitions)
    return np.flatnonzero(wrong).tolist()


def _part(plain: PlainGroups, problem: RackProblem, number: int, layers: Ints) -> RackProblem:
    """The problem of one group alone; *layers*: (G + 1) where those of each begin."""
    tasks, clients, kinds, of_group = (
        slice(*start[number : number + 2].tolist())
        for start in (plain.partitions, plain.members, plain.kinds, layers)
    )
    table, owner = limits_of(problem), problem.previous_owner[tasks]
    span = slice(*np.searchsorted(table[0], [of_group.start, of_group.stop]).tolist())
    return RackProblem(
        cost=problem.cost[kinds],
        move_cost=problem.move_cost,
        previous_owner=np.where(owner == NONE, owner, owner - clients.start),
        rack=problem.rack[clients],
        count=problem.count[clients],
        kind=plain.kind[tasks] - kinds.start,
        layer=problem.layers[tasks] - of_group.start,
        limits=LayerLimits(
            layer=table[0, span] - of_group.start,
            client=table[1, span] - clients.start,
            most=table[2, span],
        ),
    )


def _anywhere(part: RackProblem) -> Indices:
    """The cheapest without limits; topics with the same subscribers need not be told apart."""
    return solve(part if part.layers.any() else replace(part, layer=None, limits=None))


def _least(part: RackProblem) -> tuple[Indices, int]:
    """
    The cheapest within limits, and by how much all of them had to be raised: not at all, else to somewhere up to the
    first power of two with an answer.
    """
    layer, client, most = limits_of(part)

    def within(raised: int) -> Indices | None:
        some = most + raised > 0
        limits = LayerLimits(layer=layer[some], client=client[some], most=most[some] + raised)
        try:
            return solve(replace(part, limits=limits))
        except Infeasible:
            return None

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
