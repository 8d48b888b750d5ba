"""
What a strategy is, and the integers it works on.

Members, topics and partitions are indices into name tables; the partitions of topic t are the contiguous indices
`topic_start[t]:topic_start[t + 1]`, so a partition's number within its topic is its index minus the topic's start.
A million partitions are a handful of arrays, not a million objects. Names are a view for people: `lists` and doctests.
"""

from __future__ import annotations

import enum
import itertools
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from evenkeel.engine.model import (
    NONE,
    Assignment,
    Column,
    Flags,
    GroupSnapshot,
    Indices,
    Ints,
    Lists,
    Reach,
    ragged,
)


@dataclass(frozen=True, kw_only=True, eq=False)
class GroupSpec:
    """
    The frozen input of every strategy: M members, T topics, P partitions.

    Attributes:
        members: Member ids, in the order in which the broker lists them.
        instance_ids: `group.instance.id` of static members, None for dynamic ones.
        racks: Rack names; *member_rack* (M), *leader_rack* (P) and *replica_rack* point into it, or NONE.
        topics: Names of all topics anybody mentions; *topic_exists* (T) is False for those the cluster lacks.
        topic_ids: Kafka's topic ids as UUID text, None where not known.
        topic_start: (T + 1) where each topic's partitions begin.
        subscription_start, subscription_topic: Ragged, member -> topic indices *as sent*: any order, even twice.
        replica_start, replica_rack: Ragged, partition -> racks of its replicas; NONE is a broker without rack.
        owner: (P) current owner, NONE for nobody.
        claim_start, claim_topic, claim_partition: Ragged, member -> what it says it owns, in its own order;
            two members may claim the same, and a partition number may no longer exist.
        generation: (M) generation of those claims; unknown where the member carries none.
        blob_start, blob_topic, blob_partition: Ragged, member -> what the strategy's own user data says it owns
            (`sticky` reads its past from there), in blob order.
        blob_generation: (M) the generation in that user data; unknown where it has none.
        user_data: (M) what the strategy's own user data carried, decoded; None without.
        lag: (P) offsets; rate: (P) offsets/s produced, nan where unknown.
        config: (M) free settings of a member for custom strategies (weight, host ...).
    """

    members: tuple[str, ...]
    instance_ids: tuple[str | None, ...]
    racks: tuple[str, ...]
    member_rack: Indices
    topics: tuple[str, ...]
    topic_ids: tuple[str | None, ...]
    topic_exists: Flags
    topic_start: Ints
    subscription_start: Ints
    subscription_topic: Indices
    replica_start: Ints
    replica_rack: Indices
    leader_rack: Indices
    owner: Indices
    claim_start: Ints
    claim_topic: Indices
    claim_partition: Indices
    generation: Column
    blob_start: Ints
    blob_topic: Indices
    blob_partition: Indices
    blob_generation: Column
    user_data: tuple[Mapping[str, Any] | None, ...]
    lag: Column
    rate: npt.NDArray[np.float64]
    config: tuple[Mapping[str, Any], ...] = field(default=())

    @property
    def partition_count(self) -> int:
        """P, the number of partitions of all topics."""
        return int(self.topic_start[-1])

    @cached_property
    def topic_of(self) -> Indices:
        """(P) the topic of each partition."""
        sizes = np.diff(self.topic_start)
        return np.repeat(np.arange(len(self.topics), dtype=np.int32), sizes)

    @cached_property
    def number_of(self) -> Ints:
        """(P) each partition's number within its topic."""
        return np.arange(self.partition_count) - self.topic_start[self.topic_of]

    @cached_property
    def subscribers(self) -> tuple[Indices, ...]:
        """(T) the distinct members subscribed to each topic, ascending."""
        member = np.repeat(np.arange(len(self.members)), np.diff(self.subscription_start))
        keys = np.sort(self.subscription_topic.astype(np.int64) * len(self.members) + member)
        pairs = keys[np.diff(keys, prepend=-1) != 0]  # np.unique takes ten times as long
        topics, members = np.divmod(pairs, max(len(self.members), 1))
        cuts = np.searchsorted(topics, np.arange(len(self.topics) + 1))
        members = members.astype(np.int32)
        return tuple(members[a:b] for a, b in itertools.pairwise(cuts))

    def subscribed(self, member: int) -> Indices:
        """Topic indices as the member sent them."""
        at = self.subscription_start
        return self.subscription_topic[at[member] : at[member + 1]]

    def partitions_of(self, topic: int) -> range:
        """The partition indices of a topic."""
        return range(int(self.topic_start[topic]), int(self.topic_start[topic + 1]))

    def lists(self, assignment: Assignment) -> dict[str, list[tuple[str, int]]]:
        """
        The assignment in names: member -> (topic, partition) pairs, every member present.

        Exactly what is sent where the answer says so, in the strategy's own order where it has one, else by
        (topic, partition). A partition that must be given up first is in nobody's list.
        """
        if assignment.sent is not None:
            return self.named(assignment.sent)
        owner, number, topic_of = assignment.owner, self.number_of, self.topic_of
        order = self.by_name if assignment.order is None else assignment.order
        lists: dict[str, list[tuple[str, int]]] = {member: [] for member in self.members}
        held = order[owner[order] != NONE]
        rows = zip(
            owner[held].tolist(), topic_of[held].tolist(), number[held].tolist(), strict=True
        )
        for member, topic, partition in rows:
            lists[self.members[member]].append((self.topics[topic], partition))
        return lists

    def named(self, lists: Lists) -> dict[str, list[tuple[str, int]]]:
        """Lists of indices in names: member -> (topic, partition) pairs, every member present."""
        names = [self.topics[t] for t in lists.topic.tolist()]
        pairs = list(zip(names, lists.partition.tolist(), strict=True))
        bounds = itertools.pairwise(lists.start.tolist())
        return {m: pairs[a:b] for m, (a, b) in zip(self.members, bounds, strict=True)}

    @cached_property
    def by_name(self) -> Ints:
        """(P) the partitions by (topic name, number); Kafka's topic names are ASCII, so any string order will do."""
        names = sorted(range(len(self.topics)), key=self.topics.__getitem__)
        spans = [np.arange(*self.topic_start[t : t + 2]) for t in names]
        return np.concatenate([np.zeros(0, np.int64), *spans])


class Promise(enum.StrEnum):
    """What a strategy can promise of its answers; `evenkeel.engine.conformance` checks it."""

    COMPLETE = "every partition of a subscribed topic has an owner"
    SUBSCRIBED = "nobody owns a partition of a topic it does not subscribe to"
    REPEATABLE = "the same input gives the same answer"
    UNTOUCHED = "the input is not changed"
    ORDER_FREE = "the order of members and topics in the input does not show"
    EVEN_TOPICS = "the subscribers of a topic own equally many of its partitions, give or take one"
    EVEN_GROUP = "when all subscribe to the same, members own equally many, give or take one"


USUAL_PROMISES = frozenset(Promise) - {Promise.EVEN_TOPICS, Promise.EVEN_GROUP}
"""What every strategy promises that does not say otherwise in its *promises*."""


@runtime_checkable
class Assignor(Protocol):
    """
    A strategy: a name, what it is, and one function of the group.

    It reads nothing but its input, changes nothing, and answers the same twice. A class that promises more or less
    than `USUAL_PROMISES` says so in a class attribute *promises*, a frozenset of `Promise`.
    """

    name: ClassVar[str]
    works_on: ClassVar[frozenset[str]]
    """`partitions`, `tasks` or both."""
    needs: ClassVar[frozenset[str]]
    """`racks`, `lag`, `user_data`: what it looks at beside subscriptions."""
    reach: ClassVar[Reach]
    """How a user gets it."""
    source: ClassVar[str]
    """KIP, paper or class it follows."""

    def assign(self, group: GroupSpec) -> Assignment:
        """
        Returns:
            An owner for each partition; NONE where nobody subscribes.

        Raises:
            Infeasible: It cannot run on this group; the numbers are in the message.
        """


ASSIGNOR_PARTS = ("name", "works_on", "needs", "reach", "source", "assign")
"""What an assignor must have."""


def missing_parts(candidate: object) -> list[str]:
    """Names of what *candidate* lacks of an assignor."""
    return [part for part in ASSIGNOR_PARTS if not hasattr(candidate, part)]


def spec(
    members: Mapping[str, Sequence[str]],
    topics: Mapping[str, int],
    *,
    racks: Mapping[str, str] | None = None,
    replicas: Mapping[str, Sequence[Sequence[str | None]]] | None = None,
    instance_ids: Mapping[str, str] | None = None,
    owned: Mapping[str, Sequence[tuple[str, int]]] | None = None,
    lags: Mapping[str, Sequence[int | None]] | None = None,
) -> GroupSpec:
    """
    A group from names, for doctests, tests and people.

    Args:
        members: Member id -> subscribed topics.
        topics: Topic -> number of partitions; a topic left out does not exist.
        racks: Member id -> rack.
        replicas: Topic -> per partition the racks of its replicas.
        instance_ids: Member id -> `group.instance.id`.
        owned: Member id -> (topic, partition) it owns now.
        lags: Topic -> per partition lag in offsets, None unknown.

    >>> group = spec({"c0": ["t"], "c1": ["t"]}, {"t": 3})
    >>> group.partition_count, [s.tolist() for s in group.subscribers]
    (3, [[0, 1]])
    """
    names = [*topics, *dict.fromkeys(t for s in members.values() for t in s if t not in topics)]
    partitions = [(t, p) for t in names for p in range(topics.get(t, 0))]
    held = {pair: m for m, pairs in (owned or {}).items() for pair in pairs}
    order = list(members)
    of_replicas = [list((replicas or {}).get(t, [[]] * (p + 1))[p]) for t, p in partitions]
    return build_spec(
        members=order,
        instance_ids=[(instance_ids or {}).get(m) for m in order],
        member_racks=[(racks or {}).get(m) for m in order],
        subscriptions=[list(members[m]) for m in order],
        topics=names,
        partition_counts=[topics.get(t) for t in names],
        replica_racks=of_replicas,
        owner=[order.index(held[p]) if p in held else NONE for p in partitions],
        claims=[list((owned or {}).get(m, ())) for m in order],
        lag=Column.of([(lags or {}).get(t, [None] * (p + 1))[p] for t, p in partitions]),
    )


def build_spec(
    *,
    members: Sequence[str],
    instance_ids: Sequence[str | None],
    member_racks: Sequence[str | None],
    subscriptions: Sequence[Sequence[str]],
    topics: Sequence[str],
    partition_counts: Sequence[int | None],
    replica_racks: Sequence[Sequence[str | None]],
    topic_ids: Sequence[str | None] | None = None,
    leader_racks: Sequence[str | None] | None = None,
    owner: Sequence[int] | None = None,
    claims: Sequence[Sequence[tuple[str, int]]] | None = None,
    generation: Sequence[int | None] | None = None,
    user_data: Sequence[Mapping[str, Any] | None] | None = None,
    lag: Column | None = None,
    rate: Sequence[float | None] | None = None,
    config: Sequence[Mapping[str, Any]] | None = None,
) -> GroupSpec:
    """
    A group from parallel lists of names: one entry per member, per topic, or per partition in topic order.

    A topic with a partition count of None does not exist. Topics must include every name a subscription mentions.
    An empty rack string is no rack. Of user data, `owned` (pairs) and `generation` also become arrays.
    """
    rack_names = sorted(
        {r for r in member_racks if r}
        | {r for racks in replica_racks for r in racks if r}
        | {r for r in leader_racks or () if r}
    )
    rack_of: dict[str | None, int] = {name: i for i, name in enumerate(rack_names)}
    topic_of = {name: i for i, name in enumerate(topics)}
    count = len(members)
    topic_start = np.zeros(len(topics) + 1, np.int64)
    np.cumsum([n or 0 for n in partition_counts], out=topic_start[1:])
    size = int(topic_start[-1])
    subscription_start, subscription_topic = ragged(
        [[topic_of[t] for t in s] for s in subscriptions]
    )
    replica_start, replica_rack = ragged(
        [[rack_of.get(r, NONE) for r in racks] for racks in replica_racks]
    )
    claim_start, claim_topic, claim_partition = _pairs(claims or [()] * count, topic_of)
    told = user_data or [None] * count
    blob_start, blob_topic, blob_partition = _pairs([_past(u, "owned", ()) for u in told], topic_of)
    return GroupSpec(
        members=tuple(members),
        instance_ids=tuple(instance_ids),
        racks=tuple(rack_names),
        member_rack=np.array([rack_of.get(r, NONE) for r in member_racks], np.int32),
        topics=tuple(topics),
        topic_ids=tuple(topic_ids or [None] * len(topics)),
        topic_exists=np.array([n is not None for n in partition_counts], np.bool_),
        topic_start=topic_start,
        subscription_start=subscription_start,
        subscription_topic=subscription_topic,
        replica_start=replica_start,
        replica_rack=replica_rack,
        leader_rack=np.array(
            [rack_of.get(r, NONE) for r in leader_racks or [None] * size], np.int32
        ),
        owner=np.full(size, NONE, np.int32) if owner is None else np.array(owner, np.int32),
        claim_start=claim_start,
        claim_topic=claim_topic,
        claim_partition=claim_partition,
        generation=Column.of(generation or [None] * count),
        blob_start=blob_start,
        blob_topic=blob_topic,
        blob_partition=blob_partition,
        blob_generation=Column.of([_past(u, "generation", None) for u in told]),
        user_data=tuple(told),
        lag=lag if lag is not None else Column.unknown(size),
        rate=np.array([np.nan if r is None else r for r in rate or [None] * size], np.float64),
        config=tuple(config or [{}] * count),
    )


def _past(user_data: Mapping[str, Any] | None, name: str, missing: Any) -> Any:
    """What user data says of a member's past; *missing* where it says nothing."""
    found = (user_data or {}).get(name)
    return missing if found is None else found


def _pairs(
    lists: Sequence[Sequence[tuple[str, int]]], topic_of: Mapping[str, int]
) -> tuple[Ints, Indices, Indices]:
    """Lists of (topic, partition number) as ragged arrays; NONE for a topic that is not in the tables."""
    start, topics = ragged([[topic_of.get(t, NONE) for t, _ in pairs] for pairs in lists])
    return start, topics, ragged([[p for _, p in pairs] for pairs in lists])[1]


def fresh(group: GroupSpec, forgetful: Collection[str] | None = None) -> GroupSpec:
    """
    The group when members come back without a past, though *owner* still says what they have.

    Args:
        group: The group.
        forgetful: Ids of the members that report nothing; None for all, as after a restart of every member.

    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 2}, owned={"a": [("t", 0)], "b": [("t", 1)]})
    >>> fresh(group).claim_partition.tolist(), fresh(group).owner.tolist()
    ([], [0, 1])
    >>> fresh(group, {"a"}).claim_start.tolist(), fresh(group, {"a"}).claim_partition.tolist()
    ([0, 0, 1], [1])
    """
    if forgetful is not None and not forgetful:
        return group
    told = np.array([forgetful is not None and m not in forgetful for m in group.members], bool)
    claims, blobs = (
        np.repeat(told, np.diff(start)) for start in (group.claim_start, group.blob_start)
    )
    return replace(
        group,
        claim_start=_kept_starts(group.claim_start, told),
        claim_topic=group.claim_topic[claims],
        claim_partition=group.claim_partition[claims],
        generation=_where(group.generation, told),
        blob_start=_kept_starts(group.blob_start, told),
        blob_topic=group.blob_topic[blobs],
        blob_partition=group.blob_partition[blobs],
        blob_generation=_where(group.blob_generation, told),
        user_data=tuple(
            data if kept else None for data, kept in zip(group.user_data, told, strict=True)
        ),
    )


def by_leader(group: GroupSpec) -> GroupSpec:
    """
    The group as if each partition lay with its leader alone: what counts where brokers serve reads from leaders only.

    >>> group = spec({"a": ["t"]}, {"t": 1}, replicas={"t": [["x", "y"]]})
    >>> group.replica_rack.tolist(), by_leader(replace(group, leader_rack=np.array([1]))).replica_rack.tolist()
    ([0, 1], [1])
    """
    return replace(
        group,
        replica_start=np.arange(group.partition_count + 1, dtype=np.int64),
        replica_rack=group.leader_rack,
    )


def _kept_starts(start: Ints, kept: Flags) -> Ints:
    """Where each member's list begins once only some members have one."""
    return np.concatenate(([0], np.cumsum(np.diff(start) * kept)))


def _where(column: Column, kept: Flags) -> Column:
    return Column(column.values, column.known & kept)


def rejoining(group: GroupSpec, owner: Indices, generation: int = 1) -> GroupSpec:
    """
    The group as its members would rejoin while they own *owner*: all report that, with one generation.

    Both ways of reporting are filled in, the subscription's (`cooperative-sticky`, server side) and the user data's
    (`sticky`), each list by (topic, partition) as the Java client writes it.

    Args:
        group: The group.
        owner: (P) who owns what when they rejoin, NONE for nobody.
        generation: What all of them report.

    >>> group = spec({"a": ["t"], "b": ["t"]}, {"t": 3})
    >>> again = rejoining(group, np.array([1, 0, 1]))
    >>> again.claim_start.tolist(), again.claim_partition.tolist(), again.generation.tolist()
    ([0, 1, 3], [1, 0, 2], [1, 1])
    """
    count = len(group.members)
    held = group.by_name[owner[group.by_name] != NONE]
    held = held[np.argsort(owner[held], kind="stable")]
    start = np.zeros(count + 1, np.int64)
    np.cumsum(np.bincount(owner[held], minlength=count), out=start[1:])
    topic, partition = group.topic_of[held], group.number_of[held].astype(np.int32)
    generations = Column(np.full(count, generation, np.int64))
    return replace(
        group,
        claim_start=start,
        claim_topic=topic,
        claim_partition=partition,
        generation=generations,
        blob_start=start,
        blob_topic=topic,
        blob_partition=partition,
        blob_generation=generations,
    )


def spec_of(
    group: GroupSnapshot,
    lag: Column,
    rate: npt.NDArray[np.float64],
    config: Sequence[Mapping[str, Any]] | None = None,
) -> GroupSpec:
    """
    The strategies' input for a live group: its subscribed, existing partitions; current owners as claims.

    Args:
        group: The group as snapshot.
        lag: Per row of the group's partition table, as strategies shall see it.
        rate: Offsets/s produced per row, nan where unknown.
        config: Per member, what configuration says of it (weight, host ...).
    """
    table = group.partitions
    rows = np.flatnonzero(table.assignable)
    names = [table.topics[t] for t in table.topic[rows].tolist()]
    counts = Counter(names)  # in the order of the table
    topics = list(counts)
    missing = dict.fromkeys(
        t for m in group.members for t in m.subscription or () if t not in counts
    )
    ids = dict(zip(table.topics, table.topic_ids, strict=True))
    owner = table.owner[rows]
    if group.type.value == "consumer":
        owner = table.target_owner[rows]
    racks = np.array([*table.racks, None], dtype=object)
    bounds = zip(
        table.replica_start[rows].tolist(), table.replica_start[rows + 1].tolist(), strict=True
    )
    built = build_spec(
        members=[m.id for m in group.members],
        instance_ids=[m.instance_id for m in group.members],
        member_racks=[m.rack for m in group.members],
        subscriptions=[m.subscription or () for m in group.members],
        topics=[*topics, *missing],
        topic_ids=[ids.get(t) for t in [*topics, *missing]],
        partition_counts=[*counts.values(), *(None for _ in missing)],
        replica_racks=[racks[table.replica_rack[a:b]].tolist() for a, b in bounds],
        leader_racks=racks[table.leader_rack[rows]].tolist(),
        owner=owner.tolist(),
        lag=lag.take(rows),
        rate=[None if np.isnan(r) else r for r in rate[rows].tolist()],
        config=config,
    )
    return rejoining(built, built.owner)
