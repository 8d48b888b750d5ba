"""What there is to choose: topics, members, commits, and what happens when. Times are seconds since snapshot 0."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

FIRST = datetime(2026, 3, 2, 0, tzinfo=UTC)
"""When snapshot 0 is taken: midnight, so that hours of the day can be read off."""

EVERY = 300
"""Seconds from snapshot to snapshot."""

STEP = 5
"""Seconds of one time step."""

WARM = 7200
"""Seconds that are simulated before snapshot 0, so that commits and queues are as if it had always run."""

DAY = 86400.0

Partition = tuple[str, int]
"""A topic as its plan names it, and a partition's number."""

Owners = tuple[int, ...]
"""Index of the member that owns each partition of a group, in the order of its topics; -1 for nobody."""


def at(snapshot: float) -> float:
    """The moment of a snapshot; with a fraction, one between two."""
    return snapshot * EVERY


@dataclass(frozen=True, kw_only=True)
class Topic:
    """
    A topic of one group; in the tables it is called `<group>.<name>`.

    Attributes:
        rates: Records/s that arrive at each partition where the group's traffic is 1.
        keeps: Seconds for which a record is kept (retention.ms).
        cut_every: Seconds from one cut of the log to the next.
        record_bytes: What a record takes on disk.
        replicas: Copies of each partition, in as many racks.
        born: Number of the first partition that exists only from `born_at` on.
        compacted: Whether the log is compacted (cleanup.policy): its start never moves, whatever `keeps` says.
        counts: Of each partition, how many records arrive in one `EVERY` after the other, from `WARM` before snapshot 0
            to the end at least, in place of what rates and traffic say. None: what these say.
    """

    name: str
    rates: tuple[float, ...]
    keeps: float = 7 * DAY
    cut_every: float = 300
    record_bytes: float = 400
    replicas: int = 3
    born: int | None = None
    born_at: float = 0
    compacted: bool = False
    counts: tuple[tuple[int, ...], ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Member:
    """
    A consumer; its client id is `<group>-<number>`, counted from 0.

    Attributes:
        capacity: Records/s that it can consume.
        rack: Its rack.
        topics: What it subscribes to; None: all topics of the group.
        static: Whether it has a group.instance.id: it restarts without a rebalance.
        here: Whether it is there from the beginning; else it joins by an event.
        host: Number of the host it runs on; None: one of its own.
    """

    capacity: float
    rack: str | None = None
    topics: tuple[str, ...] | None = None
    static: bool = False
    here: bool = True
    host: int | None = None


@dataclass(frozen=True, kw_only=True)
class Commits:
    """
    Member m commits at `phase + m * spread`, and every *every* seconds before and after.

    All three are multiples of `STEP`. Where *every* divides 300 commits are *locked* to the snapshots: each sees the
    same age. Else the age *drifts*.
    """

    every: int = STEP
    phase: int = 0
    spread: int = 0


@dataclass(frozen=True, kw_only=True)
class Traffic:
    """
    What all rates of a group are multiplied by over time; what arrives in a step is then Poisson around it.

    Attributes:
        depth: How far below the peak the trough of the day lies, as a share; 0: every hour is the same.
        peak: Second of the day at which most arrives.
        week: Factors of the seven days, from Monday on; empty: every day is the same.
        monday: When a week begins.
        wander: Spread of a slow noise that all partitions share (standard deviation of its logarithm).
        wander_over: Seconds over which that noise forgets.
        bursts: (start, seconds, factor) each.
        changes: (from when on, topic, partition or None for all, factor), each for good and on top of earlier ones.
    """

    depth: float = 0.0
    peak: float = 14 * 3600
    week: tuple[float, ...] = ()
    monday: float = 0.0
    wander: float = 0.05
    wander_over: float = 900
    bursts: tuple[tuple[float, float, float], ...] = ()
    changes: tuple[tuple[float, str, int | None, float], ...] = ()


@dataclass(frozen=True, kw_only=True)
class Event:
    """Something that happens to a group at a moment."""

    at: float


@dataclass(frozen=True, kw_only=True)
class Leave(Event):
    """
    Members leave: cleanly (what they read is committed, a rebalance follows at once) or by a crash.

    After a crash what was read since the last commit is read again, and a rebalance follows after `SESSION` seconds.
    """

    members: tuple[int, ...]
    clean: bool = True


@dataclass(frozen=True, kw_only=True)
class Join(Event):
    """Members join under new ids, a rebalance follows."""

    members: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Restart(Event):
    """A member leaves and joins again *down* seconds later; a static one is only away."""

    member: int
    down: float = 20
    clean: bool = True


@dataclass(frozen=True, kw_only=True)
class Capacity(Event):
    """
    What members can consume becomes their own capacity times a factor, also after restarts.

    0 is a silent member: it polls, so that it keeps what it owns, and reads nothing until it is restarted.
    """

    members: tuple[int, ...]
    factor: float


@dataclass(frozen=True, kw_only=True)
class Stick(Event):
    """A record on which its consumer fails: nothing of the partition is consumed until *until*."""

    partition: Partition
    until: float = float("inf")


@dataclass(frozen=True, kw_only=True)
class Hang(Event):
    """A transaction stays open until *until*: the last stable offset of its partition stays, where it is read to."""

    partition: Partition
    until: float = float("inf")


@dataclass(frozen=True, kw_only=True)
class Reset(Event):
    """Somebody sets the committed offsets: to the end, or so many seconds of records back. Stop the group before."""

    back: float | None = None
    partitions: tuple[Partition, ...] | None = None


@dataclass(frozen=True, kw_only=True)
class Rebalancing(Event):
    """A rebalance that does not end before *until*."""

    until: float


@dataclass(frozen=True, kw_only=True)
class Unread(Event):
    """Until *until* no snapshot can read the ends of the group's partitions (or, *commits*, its offsets)."""

    until: float
    commits: bool = False


@dataclass(frozen=True, kw_only=True)
class Vanish(Event):
    """The group is deleted, with its commits."""


@dataclass(frozen=True, kw_only=True)
class Switch(Event):
    """
    The group takes up another strategy, or a plan of owners, by restarting its members one after another.

    Attributes:
        to: The strategy's name, or who is to own what.
        bounces: Rounds of restarts; with two the old strategy is still elected in the first.
        down: Seconds for which each is away.
        gap: Seconds from one restart to the next.
    """

    to: str | Owners
    bounces: int = 1
    down: float = 10
    gap: float = 30


@dataclass(frozen=True, kw_only=True)
class Swap(Event):
    """Partitions change hands and nobody stops: what a `Switch` would bring if it had no price. No group can do it."""

    to: str | Owners


@dataclass(frozen=True, kw_only=True)
class Follow(Event):
    """
    A plan is laid where the members of a group read theirs, and one of them is restarted.

    Attributes:
        owners: The plan.
        by: The strategy by which it was made, as the leader tells from then on.
        down: Seconds for which the restarted member is away.
    """

    owners: Owners
    by: str
    down: float = 10


SESSION = 45
"""Seconds after which the coordinator misses a member (session.timeout.ms)."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """
    A group, what it reads, and what will happen.

    Attributes:
        strategy: What is elected, as on the wire: `range`, `roundrobin`, `sticky`, `cooperative-sticky` or
            `evenkeel-plan`, whose fallback is `cooperative-sticky`; of a group of the newer protocol `range` or
            `uniform`.
        lists: All strategies that its members list, the elected one first; empty: just that one.
        modern: Whether it is a group of the newer protocol (KIP-848), whose broker assigns.
        deal: Who owns what until the first rebalance, where it is not what the strategy answers.
        backlog: Records of each partition that are not read yet when the simulation starts, `WARM` before snapshot 0.
        pause: Seconds of a rebalance; nobody consumes meanwhile, unless it is cooperative or of the newer protocol.
    """

    name: str
    topics: tuple[Topic, ...]
    members: tuple[Member, ...]
    strategy: str = "range"
    lists: tuple[str, ...] = ()
    modern: bool = False
    deal: Owners | None = None
    traffic: Traffic = field(default_factory=Traffic)
    commits: Commits = field(default_factory=Commits)
    backlog: tuple[float, ...] | None = None
    pause: float = 10
    events: tuple[Event, ...] = ()

    @property
    def partitions(self) -> list[Partition]:
        """All partitions, in the order of `Owners`, those not born yet included."""
        return [(topic.name, p) for topic in self.topics for p in range(len(topic.rates))]

    def client(self, member: int) -> str:
        """The client id of a member."""
        return f"{self.name}-{member}"

    def topic(self, name: str) -> str:
        """A topic's name in the cluster."""
        return f"{self.name}.{name}"


RACKS = ("rack-a", "rack-b", "rack-c")
"""Partition p of every topic is led by broker p % 3, broker n is in rack n."""


def brokers_of(group: Group, partition: Partition) -> list[int]:
    """The brokers with a copy, the leader first."""
    name, number = partition
    copies = next(topic.replicas for topic in group.topics if topic.name == name)
    return [(number + copy) % len(RACKS) for copy in range(copies)]


def racks_of(group: Group, partition: Partition) -> list[str]:
    """The racks with a copy, the leader's first."""
    return [RACKS[broker] for broker in brokers_of(group, partition)]


def members(count: int, capacity: float, racks: Sequence[str] = ()) -> tuple[Member, ...]:
    """Members that are all alike, in racks in turn."""
    return tuple(
        Member(capacity=capacity, rack=racks[m % len(racks)] if racks else None)
        for m in range(count)
    )


def topics(count: int, partitions: int, rate: float) -> tuple[Topic, ...]:
    """Topics `t0`, `t1`, ... with equal rates everywhere."""
    return tuple(Topic(name=f"t{n}", rates=(rate,) * partitions) for n in range(count))


def steady(**other: Any) -> Group:
    """Two members of 100/s, four partitions of 30/s, and no noise but Poisson's."""
    quiet = Traffic(wander=0)
    plain = Group(name="g", topics=topics(1, 4, 30), members=members(2, 100), traffic=quiet)
    return replace(plain, **other)
