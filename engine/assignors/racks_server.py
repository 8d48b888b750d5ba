"""
Our assignor for brokers, `EvenkeelServerAssignor`: KIP-848 groups kept in their racks, each answer as even as can be.

Promises, in this order:

1. Counts are as even as subscriptions allow (least sum of squares): one apart at most where all subscribe to the same.
2. The fewest partitions whose owner's rack holds no replica that such counts allow; where a rack is not known, nothing
   counts.
3. The fewest moves that such racks allow.

Two members in two racks, who have each other's partitions; what is on both racks stays where it is:

>>> from evenkeel.engine.assignors.interface import spec
>>> group = spec(
...     {"C0": ["t"], "C1": ["t"]}, {"t": 4}, racks={"C0": "a", "C1": "b"},
...     replicas={"t": [["b"], ["a", "b"], ["a"], ["b", "a"]]},
...     owned={"C0": [("t", 0), ("t", 1)], "C1": [("t", 2), ("t", 3)]},
... )
>>> group.lists(RacksServer().assign(group))
{'C0': [('t', 1), ('t', 2)], 'C1': [('t', 0), ('t', 3)]}

Cost: that of a flow over classes of partitions (same owner, same racks, same subscribers) instead of single ones:
10,000 partitions of 100 members take 0.2 s, 100,000 of 1,000 1.5 s, compiled, on one of two shared cores.
Source: `followers/java/EvenkeelServerAssignor.java`, to which it is held, ties included; counts by Harvey, Ladner,
Lovasz and Tamir, Semi-matchings for bipartite graphs and load balancing (2006).

What it does not do: it looks at no lag, no load and no leader, and follows no plan. A group of more than 200,000
partitions is left to `uniform`; where subscriptions differ so much that the flow would be large, each member gets as
many as `uniform` gives it. Ties are broken by topic ids, as in `uniform`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..model.arrays import NONE, Flags, Indices, Ints, ragged_entries
from ..model.assignments import Assignment, Deployment
from ..model.batch import count_by, max_by, min_by, sum_by
from ..model.errors import Infeasible
from .flow.least_cost import least_cost_flow
from .interface import USUAL_PROMISES, Answers, GroupSpec, Promise, picked, rejoining
from .kafka.group_coordinator import alike, homogeneous, topic_ids, topic_ids_of_many
from .kafka.racks import replica_racks
from .kafka.uniform import uniform
from .kit.java_order import uuid_order
from .kit.members import members_by_id, partition_order, subscribes
from .kit.orders import by_appearance, numbered, places, row_keys, stable_order
from .kit.why import Steps, by_racks, kept_or_given, owned_of

MOST_PARTITIONS = 200_000
"""Groups with more are left to `uniform`."""

MOST_STEPS = 100_000
"""Of members times how far their counts may lie apart: an arc each."""


class RacksServer:
    """`evenkeel-racks` of the group coordinator."""

    name: ClassVar[str] = "racks-server"
    works_on: ClassVar[frozenset[str]] = frozenset({"partitions"})
    needs: ClassVar[frozenset[str]] = frozenset({"racks"})
    deployment: ClassVar[Deployment] = Deployment.SETTING
    source: ClassVar[str] = "io.evenkeel.EvenkeelServerAssignor, KIP-848"
    promises: ClassVar[frozenset[Promise]] = USUAL_PROMISES | {Promise.EVEN_GROUP}

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition of a subscribed topic; a group without members owns nothing.

        Raises:
            Infeasible: The group is left to `uniform`, and Kafka's class throws.
        """
        return self.assign_many(group).one()

    def assign_many(self, groups: GroupSpec) -> Answers:
        """As `assign`, for each of many groups."""
        owner, stays = _as_it_is(groups)
        owner[~stays[groups.group_of]] = NONE
        problems, own = dict[int, Infeasible](), dict[int, Assignment]()
        for number in np.flatnonzero(~stays).tolist():
            try:
                own[number] = _alone(picked(groups, [number]))
            except Infeasible as problem:
                problems[number] = problem
        return Answers(assignment=Assignment(owner=owner), problems=problems, own=own)

    def explain(self, group: GroupSpec, partition: int) -> Steps:
        """Whether its owner reads it from its own rack, then who had it, and whether it keeps it."""
        answer = self.assign(group)
        owner = int(answer.owner[partition])
        if owner == NONE:
            return ()
        rack = by_racks(group, partition, owner, group.member_rack)
        return *rack, *kept_or_given(group, partition, answer, owned_of(group))


def _as_it_is(groups: GroupSpec) -> tuple[Indices, Flags]:
    """
    (P) who claims each partition, and (G) whether that is the answer: numbers are even, nothing crosses, and any other
    assignment costs a move.
    """
    by_id, partitions = members_by_id(groups), np.arange(groups.partition_count)
    claimed = _claimed(groups, places(by_id))
    owner = np.append(by_id, NONE)[claimed].astype(np.int32)
    wanted = np.zeros(len(groups.topics), np.bool_)
    wanted[groups.subscription_topic] = True
    rack, replicas = np.append(groups.member_rack, np.int32(NONE))[owner], replica_racks(groups)
    on = np.zeros((groups.partition_count, len(groups.racks) + 1), np.bool_)
    on[replicas.partition, replicas.rack] = True
    crosses = (rack != NONE) & ~on[partitions, rack] & (np.diff(replicas.start) > 0)
    wrong = wanted[groups.topic_of] & ((owner == NONE) | crosses)
    held = np.bincount(owner[owner != NONE], minlength=len(by_id))
    most, fewest = (by(held, groups.member_start, 0) for by in (max_by, min_by))
    stays = alike(groups) & (count_by(wrong, groups.partition_start) == 0) & (most <= fewest + 1)
    stays &= sum_by(groups.topic_size * wanted, groups.topics_start) <= MOST_PARTITIONS
    stays[list(topic_ids_of_many(groups)[1])] = False
    return owner, stays


def _alone(group: GroupSpec) -> Assignment:
    """The answer of one group in which something may change."""
    wanted = np.zeros(len(group.topics), np.bool_)
    wanted[group.subscription_topic] = True
    by_id = uuid_order(topic_ids(group))
    topics = by_id[(wanted & (group.topic_size > 0))[by_id]]
    if group.topic_size[topics].sum() > MOST_PARTITIONS:
        return uniform(group).one()
    if not len(topics):
        return Assignment(owner=np.full(group.partition_count, NONE, np.int32))
    return Assignment(owner=_owners(group, _read(group, topics)))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Read:
    """
    The group as the flow takes it: M members by id, N partitions by topic id and number, L classes of those, O pools.

    Members of a kind have the same rack and subscribe to the same; partitions of a pool have the same racks and
    subscribers, those of a class the same owner besides. All three are numbered as they come first.

    Attributes:
        kind: (M) of each member.
        partition: (N) index in the group.
        alike: (N) class of each partition.
        owner: (L) who may keep the class, NONE for nobody.
        pool: (L) of each class.
        size: (L) how many partitions it has.
        takes: (O, K) whether a kind subscribes to a pool.
        crosses: (O, K) whether a pool has no replica in a kind's rack.
        fewest, most: (M) how many partitions each member can get.
    """

    kind: Ints
    partition: Ints
    alike: Ints
    owner: Ints
    pool: Ints
    size: Ints
    takes: Flags
    crosses: Flags
    fewest: Ints
    most: Ints


def _read(group: GroupSpec, topics: Ints) -> _Read:
    order = members_by_id(group)
    subscriptions = _subscriptions(group, order)
    racks = group.member_rack[order].astype(np.int64)
    some_racks = len(group.racks) + 1
    sample, kind = _first_and_place(subscriptions * some_racks + racks + 1, len(order) * some_racks)
    reach = np.zeros((len(sample), len(group.topics)), np.bool_)
    start, named = ragged_entries(group.subscription_start, order[sample])
    reach[np.arange(len(sample)).repeat(np.diff(start)), group.subscription_topic[named]] = True
    partition = partition_order(group, topics)
    topic = group.topic_of[partition]
    on = np.zeros((group.partition_count, len(group.racks)), np.bool_)
    replicas = replica_racks(group)
    on[replicas.partition, replicas.rack] = True
    owner = _claimed(group, places(order))
    (reaching, reaches), (near, nears) = _same_rows(reach.T), _same_rows(on)
    first_of_pool, pool = _first_and_place(
        reaching[topic] * nears + near[partition], reaches * nears
    )
    holders = len(order) + 1
    first, alike = _first_and_place(
        pool * holders + owner[partition] + 1, len(first_of_pool) * holders
    )
    fewest, most = _bounds(group, order, owner, len(partition))
    return _Read(
        kind=kind,
        partition=partition,
        alike=alike,
        owner=owner[partition[first]],
        pool=pool[first],
        size=np.bincount(alike),
        takes=reach[:, topic[first_of_pool]].T,
        crosses=_crosses(on[partition[first_of_pool]], racks[sample]),
        fewest=fewest,
        most=most,
    )


def _subscriptions(group: GroupSpec, order: Ints) -> Ints:
    """(M) a number for what each member subscribes to, equal where existing topics are."""
    if homogeneous(group):
        return np.zeros(len(order), np.int64)
    sets = [np.unique(group.subscribed(m)) for m in order.tolist()]
    return by_appearance(one[group.topic_exists[one]].tobytes() for one in sets)


def _first_and_place(keys: Ints, cells: int) -> tuple[Ints, Ints]:
    """
    Where each distinct key stands first, ascending, and the place of each key among these.

    Args:
        keys: At least 0.
        cells: More than any key.
    """
    names, which = numbered(keys, cells)
    first = np.empty(len(names), np.int64)
    first[which[::-1]] = np.arange(len(keys) - 1, -1, -1)
    order = first.argsort()
    return first[order], places(order)[which]


def _same_rows(table: Flags) -> tuple[Ints, int]:
    """A number per row, equal where rows are equal, and how many numbers there are."""
    names, number = numbered(*row_keys(table))
    return number, len(names)


def _claimed(group: GroupSpec, place: Ints) -> Ints:
    """(P) place of the member that may keep a partition: of several that name it, the first."""
    member = np.repeat(np.arange(len(group.members)), np.diff(group.owned_start))
    topic, number = group.owned_topic, group.owned_partition
    there = (topic != NONE) & (number >= 0) & (number < np.append(group.topic_size, 0)[topic])
    member, topic, number = member[there], topic[there], number[there]
    may = subscribes(group, member, topic)
    claims, by = group.topic_start[topic[may]] + number[may], place[member[may]]
    last_first = stable_order(-by)
    owner = np.full(group.partition_count, NONE, np.int64)
    owner[claims[last_first]] = by[last_first]
    return owner


def _crosses(on: Flags, rack: Ints) -> Flags:
    """(O, K) whether both racks are known, and the kind's is none of the pool's."""
    held = np.append(on, np.ones((len(on), 1), np.bool_), axis=1)  # what NONE reads
    known: Flags = np.asarray(on.any(axis=1))[:, None]
    return ~held[:, rack] & known


def _bounds(group: GroupSpec, order: Ints, owner: Ints, partitions: int) -> tuple[Ints, Ints]:
    """
    (M) the fewest and the most that members get in whatever is most even.

    That has no lower minimum and no higher maximum than any other, so those of `uniform` bound it.
    """
    members = len(order)
    if homogeneous(group):
        fewest = np.full(members, partitions // members)
        return fewest, fewest + 1
    held = np.append(order, NONE)[owner].astype(np.int32)
    given = uniform(rejoining(group, held)).one().owner
    size = np.bincount(given[given != NONE], minlength=members)[order]
    least, highest = int(size.min()), int(size.max())
    if members * (highest - least) > MOST_STEPS:
        return size, size
    return np.full(members, least), np.full(members, highest)


def _owners(group: GroupSpec, read: _Read) -> Indices:
    """(P) the flow's answer: the lowest numbers stay, what leaves is dealt out in the order of members."""
    arcs = _Arcs(read)
    onward, stays, arrives = arcs.solved()
    row = stable_order(read.alike)
    begin = np.cumsum(read.size) - read.size
    nth = np.arange(len(row)) - np.repeat(begin, read.size)
    by = np.full(len(row), NONE, np.int64)
    staying = nth < np.repeat(stays, read.size)
    by[row[staying]] = np.repeat(read.owner, stays)
    leaving = row[~staying]
    leaving = leaving[stable_order(read.pool[read.alike[leaving]])]
    coming = leaving[stable_order(np.repeat(arcs.kind, onward))]
    members = stable_order(read.kind)
    by[coming] = np.repeat(members, arrives[members])
    owner = np.full(group.partition_count, NONE, np.int32)
    owner[read.partition] = members_by_id(group)[by]
    return owner


class _Arcs:
    """
    The network, arc for arc as our Java draws it: from a class of partitions to its owner, or over its pool and a
    kind to another member.

    A partition that crosses racks costs more than all moves together, each further partition of a member more than
    the one before, by more than all racks together.
    """

    def __init__(self, read: _Read) -> None:
        self.read = read
        self.pool, self.kind = np.nonzero(read.takes)
        self.kept = np.flatnonzero(read.owner != NONE)

    def solved(self) -> tuple[Ints, Ints, Ints]:
        """How much goes from pools to kinds (a pair of *pool* and *kind* each), stays (L), comes to members (M)."""
        read, sink = self.read, 1
        members, classes = len(read.kind), len(read.size)
        pools, kinds = read.takes.shape
        kind_at, member_at = 2, 2 + kinds
        pool_at = member_at + members
        class_at = pool_at + pools
        crossing = len(read.partition) + 1
        step = crossing * (crossing + 1)
        spread = read.most - read.fewest + 1
        to_sink = np.repeat(np.arange(members), spread)
        further = np.arange(len(to_sink)) - np.repeat(np.cumsum(spread) - spread, spread)
        far, kept, each = read.crosses.astype(np.int64) * crossing, self.kept, np.arange(classes)
        nothing = np.zeros(max(members, classes), np.int64)
        parts = (
            (
                member_at + to_sink,
                np.full(len(to_sink), sink),
                np.where(further > 0, 1, read.fewest[to_sink]),
                step * further,
            ),
            (kind_at + read.kind, member_at + np.arange(members), read.most, nothing[:members]),
            (
                pool_at + self.pool,
                kind_at + self.kind,
                np.full(len(self.pool), len(read.partition)),
                far[self.pool, self.kind] + 1,
            ),
            (np.zeros_like(each), class_at + each, read.size, nothing[:classes]),
            (class_at + each, pool_at + read.pool, read.size, nothing[:classes]),
            (
                class_at + kept,
                member_at + read.owner[kept],
                read.size[kept],
                far[read.pool[kept], read.kind[read.owner[kept]]],
            ),
        )
        tail, head, most, cost = (np.concatenate(one) for one in zip(*parts, strict=True))
        sent = least_cost_flow(class_at + classes, tail, head, most, cost, sink)
        ends = np.cumsum([len(part[0]) for part in parts])[:-1]
        _, arrives, onward, _, _, keeps = np.split(sent, ends)
        stays = np.zeros(classes, np.int64)
        stays[kept] = keeps
        return onward, stays, arrives
