"""
What there is to choose of a fleet, how many partitions its groups have, and what each is like.

A group's protocol, its state and how it fares come in fixed shares, dealt out by a seed.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import NormalDist
from typing import TypeVar

import numpy as np

from evenkeel.engine.model.arrays import Ints

T = TypeVar("T")

MEAN = 100
"""Partitions of the cluster per group, at defaults."""

GIANT_PARTITIONS = 50_000
GIANT_MEMBERS = 1_000
GIANT_TOPICS = 20

GIANT_FROM = 3_000
"""From so many groups on a fleet has its giant by default: below, it would be most of the fleet."""

FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)
"""When the first snapshot is taken."""

EVERY = timedelta(minutes=5)
"""How far snapshots lie apart."""

BROKERS = 12
"""In three racks; one broker more, just added, has few partitions and no rack yet."""

RACKS = ("rack-a", "rack-b", "rack-c")


@dataclass(frozen=True, kw_only=True)
class Shape:
    """
    A fleet to be made.

    Attributes:
        groups: How many.
        seed: Of all that is drawn.
        mean: Partitions of the cluster per group, the giant's included where it fits in twice.
        spread: Sigma of the log of sizes; 0 makes all groups equal.
        largest: Partitions of the largest group but the giant.
        giant: Whether there is a group of 50,000 partitions and 1,000 members; None: from `GIANT_FROM` groups on.
        plain: Only stable consumer groups that keep up and share no topics, for times per group.
        snapshots: How many, the newest included.
        cluster: Its name.
    """

    groups: int = 1_000
    seed: int = 13
    mean: int = MEAN
    spread: float = 1.8
    largest: int = 5_000
    giant: bool | None = None
    plain: bool = False
    snapshots: int = 13
    cluster: str = "fleet"

    @property
    def has_giant(self) -> bool:
        """Whether one of the groups is the giant."""
        return self.groups >= GIANT_FROM if self.giant is None else self.giant


def sizes_of(shape: Shape) -> Ints:
    """
    Partitions per group, the largest first: quantiles of a long-tailed distribution, so that all fleets look alike.

    They sum up to `groups * mean` exactly. A giant is one of the groups; where it would be more than half of the
    fleet its partitions come on top.

    >>> sizes_of(Shape(groups=8, mean=10, largest=40)).tolist()
    [40, 19, 9, 5, 3, 2, 1, 1]
    """
    ordinary, total = shape.groups, shape.groups * shape.mean
    if shape.has_giant:
        within = total >= 2 * GIANT_PARTITIONS
        ordinary, total = ordinary - 1, (total - GIANT_PARTITIONS if within else total - shape.mean)
    drawn = _long_tailed(ordinary, total, shape.spread, shape.largest)
    return np.concatenate([[GIANT_PARTITIONS], drawn]) if shape.has_giant else drawn


def _long_tailed(count: int, total: int, spread: float, largest: int) -> Ints:
    """*count* numbers from 1 to *largest* with this total."""
    normal = NormalDist()
    weights = np.exp(
        [spread * normal.inv_cdf((rank + 0.5) / count) for rank in reversed(range(count))]
    )
    low, high = 0.0, float(total)
    for _ in range(100):
        scale = (low + high) / 2
        if _scaled(weights, scale, largest).sum() > total:
            high = scale
        else:
            low = scale
    sizes = _scaled(weights, low, largest)
    # what rounding left over goes to the largest that may still grow
    missing, room = total - int(sizes.sum()), np.flatnonzero(sizes < largest)
    while missing > 0 and len(room):
        sizes[room[:missing]] += 1
        missing, room = total - int(sizes.sum()), np.flatnonzero(sizes < largest)
    return sizes


def _scaled(weights: np.ndarray, scale: float, largest: int) -> Ints:
    return np.clip(np.rint(weights * scale), 1, largest).astype(np.int64)


@dataclass(frozen=True, slots=True)
class Protocol:
    """A group's type and the wire name of what it runs; *deal* is how its partitions lie."""

    type: str
    wire: str | None
    deal: str

    @property
    def streams(self) -> bool:
        """Whether it is a Kafka Streams application."""
        return self.type == "streams" or self.wire == "stream"


CLASSIC_STREAMS = Protocol("classic", "stream", "tasks")
KIP_1071 = Protocol("streams", None, "tasks")

PROTOCOLS: Mapping[Protocol, float] = {
    Protocol("classic", "range", "range"): 0.34,
    Protocol("classic", "roundrobin", "turns"): 0.10,
    Protocol("classic", "sticky", "shuffled"): 0.08,
    Protocol("classic", "cooperative-sticky", "shuffled"): 0.19,
    Protocol("consumer", "uniform", "turns"): 0.18,
    Protocol("consumer", "range", "range"): 0.06,
    CLASSIC_STREAMS: 0.03,
    KIP_1071: 0.02,
}

STREAMS_SIZES = (6, 400)
"""Least and most partitions of an application, its internal topics included."""


class State(enum.Enum):
    """What a snapshot finds of a group."""

    STABLE = "stable"
    EMPTY = "empty"
    REBALANCING = "rebalancing"
    UNREADABLE = "unreadable"
    UNCOMMITTED = "uncommitted"
    """Stable, and nothing was ever committed."""


STATES: Mapping[State, float] = {
    State.STABLE: 0.862,
    State.EMPTY: 0.09,
    State.REBALANCING: 0.02,
    State.UNCOMMITTED: 0.025,
    State.UNREADABLE: 0.003,
}


class Course(enum.Enum):
    """How a group fares from snapshot to snapshot."""

    HEALTHY = "healthy"
    SLOW_MEMBER = "slow member"
    HOT_PARTITION = "hot partition"
    UNDER_PROVISIONED = "under-provisioned"
    CATCHING_UP = "catching up"
    STUCK_PARTITION = "stuck partition"


COURSES: Mapping[Course, float] = {
    Course.HEALTHY: 0.80,
    Course.SLOW_MEMBER: 0.06,
    Course.HOT_PARTITION: 0.04,
    Course.UNDER_PROVISIONED: 0.04,
    Course.CATCHING_UP: 0.045,
    Course.STUCK_PARTITION: 0.015,
}

UNEQUAL, SKEWED, SHARING, IDLE = 0.05, 0.08, 0.06, 0.05
"""Shares of groups: members subscribe to different topics, own very different numbers of partitions, read a topic of
another group beside their own, have more members than partitions."""

RESTARTED, NEW_BORN = 0.04, 0.01
"""Shares of groups whose members got new ids, or that were not there yet, in the earlier half of the snapshots."""

TELLING: Mapping[str, float] = {"all": 0.65, "some": 0.05, "none": 0.30}
"""Which of a group's members tell their rack."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Groups:
    """What each of G groups is like, in the order in which they are listed; *giant* is an index or None."""

    size: Ints
    members: Ints
    protocol: list[Protocol]
    state: list[State]
    course: list[Course]
    racks: list[str]
    unequal: np.ndarray
    skewed: np.ndarray
    sharing: np.ndarray
    restarted: np.ndarray
    new_born: np.ndarray
    giant: int | None

    def __len__(self) -> int:
        return len(self.size)


def dealt(shares: Mapping[T, float], count: int, rng: np.random.Generator) -> list[T]:
    """
    *count* values in these shares, in random order; what rounding leaves over goes to the first.

    >>> sorted(dealt({"a": 0.7, "b": 0.3}, 10, np.random.default_rng(1)))
    ['a', 'a', 'a', 'a', 'a', 'a', 'a', 'b', 'b', 'b']
    """
    counts = [round(share * count) for share in shares.values()]
    counts[0] += count - sum(counts)
    values = [value for value, n in zip(shares, counts, strict=True) for _ in range(n)]
    return [values[i] for i in rng.permutation(count).tolist()]


def marked(share: float, can: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Flags of which *share* of all are set, among those that *can* be."""
    flags, some = np.zeros(len(can), np.bool_), rng.permutation(np.flatnonzero(can))
    flags[some[: round(share * len(can))]] = True
    return flags


def groups_of(shape: Shape, sizes: Ints, rng: np.random.Generator) -> Groups:
    """
    Args:
        shape: Of the fleet.
        sizes: Partitions per group, the largest first.
        rng: What is drawn with.
    """
    size = sizes[rng.permutation(len(sizes))]
    count, giant = len(size), int(size.argmax()) if shape.has_giant else None
    members = _members(size, rng)
    if giant is not None:
        members[giant] = GIANT_MEMBERS
    state = dealt(STATES, count, rng)
    protocol = _protocols(size, state, rng)
    course = dealt(COURSES, count, rng)
    racks = dealt(TELLING, count, rng)
    every = np.ones(count, np.bool_)
    several = np.array([s is State.STABLE for s in state]) & (members >= 2) & (size >= 6)
    several &= np.array([not one.streams for one in protocol])
    groups = Groups(
        size=size,
        members=members,
        protocol=protocol,
        state=state,
        course=course,
        racks=racks,
        unequal=marked(UNEQUAL, several, rng),
        skewed=marked(SKEWED, several, rng),
        sharing=marked(SHARING, every, rng),
        restarted=marked(RESTARTED, members > 0, rng),
        new_born=marked(NEW_BORN, every, rng),
        giant=giant,
    )
    plain = range(count) if shape.plain else [giant] if giant is not None else []
    _make_plain(groups, plain)
    return groups


def _members(size: Ints, rng: np.random.Generator) -> Ints:
    """About one for six partitions, between one and 400; some groups have idle ones."""
    each = np.exp(rng.normal(np.log(6), 0.6, len(size)))
    members = np.clip(np.rint(size / each), 1, np.minimum(size, 400)).astype(np.int64)
    idle = marked(IDLE, size < 100, rng)
    return np.where(idle, size + rng.integers(1, 4, len(size)), members)


def _protocols(size: Ints, state: Sequence[State], rng: np.random.Generator) -> list[Protocol]:
    """Applications are stable groups of middling size; all others take what is left."""
    least, most = STREAMS_SIZES
    can = [g for g, s in enumerate(state) if s is State.STABLE and least <= size[g] <= most]
    streams = {one: share for one, share in PROTOCOLS.items() if one.streams}
    others = {one: share for one, share in PROTOCOLS.items() if not one.streams}
    found = dealt(
        {one: share / sum(others.values()) for one, share in others.items()}, len(size), rng
    )
    order = iter(rng.permutation(can).tolist())
    for one, share in streams.items():
        for _ in range(min(round(share * len(size)), len(can) // 3)):
            found[next(order)] = one
    return found


def _make_plain(groups: Groups, which: Sequence[int]) -> None:
    """Nothing is special about these groups but their size."""
    usual = [one for one in PROTOCOLS if not one.streams]
    for g in which:
        groups.state[g], groups.course[g] = State.STABLE, Course.HEALTHY
        groups.racks[g] = "all"
        groups.protocol[g] = usual[g % len(usual)] if g != groups.giant else usual[3]
        for flags in (groups.unequal, groups.skewed, groups.sharing, groups.restarted):
            flags[g] = False
        groups.new_born[g] = False
