"""Topics, members and who owns what: everything of a fleet that stays as it is from snapshot to snapshot."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from uuid import UUID

import numpy as np

from evenkeel.engine.model.arrays import NONE, Indices, Ints
from tests.helpers.fleet.groups import (
    BROKERS,
    GIANT_TOPICS,
    KIP_1071,
    RACKS,
    Groups,
    Protocol,
    Shape,
    State,
    groups_of,
    sizes_of,
)

DOMAINS = ("billing", "catalog", "clicks", "fraud", "ledger", "orders", "search", "stock")
KINDS = ("audit", "enrich", "export", "index", "report", "sync", "writer")
SHARED_AT_MOST = 64
"""Partitions of a topic that another group reads, too."""

NO_RACK = 1 / 50
"""Share of topics with replicas on the broker that has no rack."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Fleet:
    """
    A fleet at rest.

    Topics are sorted by name and have T entries; partitions (P) lie topic by topic. Links (L) are the topics a group
    reads, group by group; rows (R) are the partitions of the links, so a partition of a shared topic has two rows.
    Members (M) lie group by group, in the broker's order.

    Attributes:
        shape: What was asked for.
        groups: What each group is like.
        names: (G) group ids.
        topic_names, topic_ids: (T).
        topic_size: (T) partitions.
        compacted: (T) whether only the newest record of a key is kept.
        link_group, link_topic, link_subtopology: (L); the last is 0 where there are no tasks.
        member_start: (G + 1) where each group's members begin.
        subscribed: (L) the members of the group that subscribe to the topic, as indices into all; None for all.
        row_link, row_partition: (R) the link, and the partition's index into P.
        owner, target: (R) index into members, NONE for nobody.
        leader: (P) broker.
        replicas: (P, 3) brokers, the leader not always first.
        member_rack: (M) rack index, NONE unknown.
    """

    shape: Shape
    groups: Groups
    names: list[str]
    topic_names: list[str]
    topic_ids: list[str]
    topic_size: Ints
    compacted: np.ndarray
    link_group: Ints
    link_topic: Ints
    link_subtopology: Ints
    member_start: Ints
    subscribed: list[Ints | None]
    row_link: Ints
    row_partition: Ints
    owner: Indices
    target: Indices
    leader: Indices
    replicas: Indices
    member_rack: Indices

    @cached_property
    def topic_start(self) -> Ints:
        """(T + 1) where each topic's partitions begin."""
        return _starts(self.topic_size)

    @cached_property
    def link_start(self) -> Ints:
        """(G + 1) where each group's links begin."""
        return _starts(np.bincount(self.link_group, minlength=len(self.groups)))

    @cached_property
    def partition_topic(self) -> Ints:
        """(P) topic of each partition."""
        return np.repeat(np.arange(len(self.topic_size)), self.topic_size)

    @cached_property
    def partition_number(self) -> Ints:
        """(P) number of each partition in its topic."""
        return np.arange(self.partitions) - np.repeat(self.topic_start[:-1], self.topic_size)

    @cached_property
    def row_group(self) -> Ints:
        """(R) group of each row."""
        return self.link_group[self.row_link]

    @cached_property
    def member_group(self) -> Ints:
        """(M) group of each member."""
        return np.repeat(np.arange(len(self.groups)), np.diff(self.member_start))

    @property
    def partitions(self) -> int:
        """Partitions of the cluster."""
        return int(self.topic_size.sum())

    @property
    def members(self) -> int:
        """Members of all groups."""
        return int(self.member_start[-1])

    def links_of(self, group: int) -> range:
        """The links of a group."""
        return range(int(self.link_start[group]), int(self.link_start[group + 1]))


@dataclass
class _Topics:
    """Topics as they are made, in no order."""

    name: list[str] = field(default_factory=list)
    size: list[int] = field(default_factory=list)
    compacted: list[bool] = field(default_factory=list)

    def add(self, name: str, size: int, compacted: bool = False) -> int:
        """Its index."""
        self.name.append(name)
        self.size.append(size)
        self.compacted.append(compacted)
        return len(self.name) - 1


@dataclass(frozen=True, slots=True)
class _Link:
    group: int
    topic: int
    subtopology: int = 0


def make_fleet(shape: Shape) -> Fleet:
    """The fleet of a shape."""
    rng = np.random.default_rng([shape.seed, 1])
    groups = groups_of(shape, sizes_of(shape), rng)
    names = _names(len(groups), rng)
    topics, links = _Topics(), list[_Link]()
    for group, name in enumerate(names):
        links += _own_links(groups, group, name, topics, rng)
    links = _shared(groups, links, topics, rng)
    links.sort(key=lambda link: link.group)
    place = np.argsort(np.argsort(np.array(topics.name)))
    order = np.argsort(np.array(topics.name)).tolist()
    absent = [state in (State.EMPTY, State.UNREADABLE) for state in groups.state]
    member_start = _starts(np.where(absent, 0, groups.members))
    topic_size = np.array([topics.size[t] for t in order], np.int64)
    link_topic = place[[link.topic for link in links]]
    link_group = np.array([link.group for link in links], np.int64)
    subscribed = list(_subscribed(groups, link_group, member_start, rng))
    owner = _owners(groups, link_group, topic_size[link_topic], member_start, subscribed, rng)
    starts, sizes = _starts(topic_size), topic_size[link_topic]
    first = np.repeat(starts[link_topic] - _starts(sizes)[:-1], sizes)
    leader, replicas = _replicas(topic_size, rng)
    return Fleet(
        shape=shape,
        groups=groups,
        names=names,
        topic_names=[topics.name[t] for t in order],
        topic_ids=[str(UUID(bytes=rng.bytes(16), version=4)) for _ in order],
        topic_size=topic_size,
        compacted=np.array([topics.compacted[t] for t in order], np.bool_),
        link_group=link_group,
        link_topic=link_topic,
        link_subtopology=np.array([link.subtopology for link in links], np.int64),
        member_start=member_start,
        subscribed=subscribed,
        row_link=np.repeat(np.arange(len(links)), sizes),
        row_partition=first + np.arange(int(sizes.sum())),
        owner=owner,
        target=_targets(groups, link_group, sizes, owner, member_start),
        leader=leader,
        replicas=replicas,
        member_rack=_member_racks(groups, member_start, rng),
    )


def _starts(sizes: Ints) -> Ints:
    """(n + 1) where each of some runs begins."""
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _names(count: int, rng: np.random.Generator) -> list[str]:
    """In the order in which a snapshot lists groups: by name."""
    domain, kind = rng.integers(0, len(DOMAINS), count), rng.integers(0, len(KINDS), count)
    return sorted(
        f"{DOMAINS[d]}-{KINDS[k]}-{number:05d}"
        for d, k, number in zip(domain, kind, rng.permutation(count).tolist(), strict=True)
    )


def _own_links(
    groups: Groups, group: int, name: str, topics: _Topics, rng: np.random.Generator
) -> Iterator[_Link]:
    """The topics made for a group, and which of them it reads."""
    size = int(groups.size[group])
    if groups.protocol[group].streams:
        # two sub-topologies: one re-keys, the other counts and keeps its state in a changelog
        tasks = size // 3
        yield _Link(group, topics.add(f"{name}.source", size - 2 * tasks), 0)
        yield _Link(group, topics.add(f"{name}-counts-repartition", tasks), 1)
        topics.add(f"{name}-counts-changelog", tasks, compacted=True)
        return
    least = 2 if groups.unequal[group] else 1
    several = GIANT_TOPICS if group == groups.giant else max(least, _topic_count(size, rng))
    for number, part in enumerate(_parts(size, several, rng, even=group == groups.giant)):
        compacted = bool(rng.random() < 0.1)
        yield _Link(group, topics.add(f"{name}.events-{number}", part, compacted))


def _topic_count(size: int, rng: np.random.Generator) -> int:
    """One topic mostly, a dozen at most."""
    return int(min(1 + rng.geometric(0.45) - 1, 12, size))


def _parts(size: int, count: int, rng: np.random.Generator, even: bool) -> list[int]:
    """*count* sizes of at least one with this sum."""
    shares = np.ones(count) if even else rng.exponential(1, count)
    parts = 1 + np.floor((size - count) * shares / shares.sum()).astype(np.int64)
    parts[0] += size - parts.sum()
    return [int(part) for part in parts]


def _shared(
    groups: Groups, links: list[_Link], topics: _Topics, rng: np.random.Generator
) -> list[_Link]:
    """The links, and those of groups that read a small topic of another group beside their own."""
    lendable = [x for x in links if topics.size[x.topic] <= SHARED_AT_MOST and not x.subtopology]
    found = list(links)
    for group in np.flatnonzero(groups.sharing).tolist():
        lent = lendable[int(rng.integers(len(lendable)))] if lendable else None
        if lent is not None and lent.group != group and not groups.protocol[group].streams:
            found.append(_Link(group, lent.topic))
    return found


def _subscribed(
    groups: Groups, link_group: Ints, member_start: Ints, rng: np.random.Generator
) -> Iterator[Ints | None]:
    """Per link which members subscribe; the first link's are all where subscriptions differ, so nobody has none."""
    seen = -1
    for group in link_group.tolist():
        members = np.arange(member_start[group], member_start[group + 1])
        first, seen = group != seen, group
        if not groups.unequal[group] or groups.protocol[group].streams or not len(members):
            yield None
        elif first:
            yield members
        else:
            some = members[rng.random(len(members)) < 0.6]
            yield some if 0 < len(some) < len(members) else members[:1]


def _owners(
    groups: Groups,
    link_group: Ints,
    sizes: Ints,
    member_start: Ints,
    subscribed: list[Ints | None],
    rng: np.random.Generator,
) -> Indices:
    """(R) who owns each row; nobody while a classic group rebalances."""
    found, turn, seen = [], 0, -1
    for link, (group, size) in enumerate(zip(link_group.tolist(), sizes.tolist(), strict=True)):
        some = subscribed[link]
        members = np.arange(member_start[group], member_start[group + 1]) if some is None else some
        turn, seen = (turn if group == seen else 0), group
        found.append(_dealt(groups, group, members, size, turn, rng))
        turn += size
    return np.concatenate(found).astype(np.int32)


def _dealt(
    groups: Groups, group: int, members: Ints, size: int, turn: int, rng: np.random.Generator
) -> Ints:
    """Who owns the partitions of one topic."""
    protocol, place = groups.protocol[group], np.arange(size)
    if not len(members) or (
        groups.state[group] is State.REBALANCING and protocol.type == "classic"
    ):
        return np.full(size, NONE)
    if groups.skewed[group] and not protocol.streams:
        return members[np.minimum(rng.geometric(0.3, size) - 1, len(members) - 1)]
    if protocol.deal == "range":
        return members[place * len(members) // size]
    turns = (turn + place) % len(members)
    return members[rng.permutation(turns) if protocol.deal == "shuffled" else turns]


def _targets(
    groups: Groups, link_group: Ints, sizes: Ints, owner: Indices, member_start: Ints
) -> Indices:
    """(R) who is to own each row: in a group that reconciles the next member, else who does."""
    moving = np.array([state is State.REBALANCING for state in groups.state])
    group = np.repeat(link_group, sizes)
    first, count = member_start[:-1][group], np.maximum(np.diff(member_start)[group], 1)
    other = first + (owner - first + 1) % count
    return np.where(moving[group] & (owner != NONE), other, owner).astype(np.int32)


def _replicas(topic_size: Ints, rng: np.random.Generator) -> tuple[Indices, Indices]:
    """(P) leaders and (P, 3) replicas: one in each rack; of few topics some lie on the broker that has none."""
    racks, each, count = len(RACKS), BROKERS // len(RACKS), int(topic_size.sum())
    moved = np.repeat(rng.random(len(topic_size)) < NO_RACK, topic_size) & (rng.random(count) < 0.3)
    replicas = np.column_stack(
        [rack + racks * rng.integers(0, each, count) for rack in range(racks)]
    )
    replicas = rng.permuted(replicas, axis=1)
    replicas[moved, 2] = BROKERS
    leader = np.where(rng.random(count) < 0.1, replicas[:, 1], replicas[:, 0])
    return leader.astype(np.int32), replicas.astype(np.int32)


def _member_racks(groups: Groups, member_start: Ints, rng: np.random.Generator) -> Indices:
    """(M) racks: all members of a group tell theirs, or some, or none."""
    rack = rng.integers(0, len(RACKS), int(member_start[-1]))
    told = np.array([{"all": 1.0, "some": 0.6, "none": 0.0}[each] for each in groups.racks])
    kept = rng.random(len(rack)) < np.repeat(told, np.diff(member_start))
    return np.where(kept, rack, NONE).astype(np.int32)


def is_modern(protocol: Protocol) -> bool:
    """Whether the broker assigns (KIP-848, KIP-1071), so that there are epochs and targets."""
    return protocol.type == "consumer" or protocol == KIP_1071
