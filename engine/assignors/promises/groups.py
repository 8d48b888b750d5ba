"""
Random groups as they occur, and some that hardly do: racks, static members, different subscriptions, a past, lags.

Made from a seed with Python's own generator: the same seed gives the same groups. Most are small, because small
groups find most faults and can be read; every fifteenth or so is larger.

>>> first, again = (next(sketches(1, seed=7)) for _ in range(2))
>>> first == again
True
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from random import Random
from typing import Any

from .sketch import MemberSketch, Pair, PartitionSketch, Sketch, TopicSketch

DATA: tuple[Mapping[str, Any], ...] = (
    {},
    {"weight": 1},
    {"weight": 2},
    {"weight": 5},
    {"weight": 0.5},
)
"""What members may carry as configuration, unless told otherwise."""

_MEMBERS = ("c10", "c2", "b", "a", "C1", "Aa", "BB", "é")
"""Orders that differ: by number, by case, by hash (Aa and BB share theirs, so do AaAa and BBBB)."""
_TOPICS = ("t10", "t2", "orders", "AaAa", "BBBB")
_GONE = "gone"
_RACKS = ("rack-a", "rack-b", "rack-c")
_MANY = 15
_SELDOM = 25


def sketches(
    count: int, *, seed: int = 0, data: Sequence[Mapping[str, Any]] = DATA, sent: bool = False
) -> Iterator[Sketch]:
    """
    So many groups, one after another.

    Args:
        count: How many.
        seed: Another seed, other groups.
        data: What a member's configuration is drawn from, in half of the groups.
        sent: Whether every member has sent user data, too, drawn from the same.
    """
    for number in range(count):
        random = Random(f"{seed}/{number}")
        made = _sketch(random, data)
        yield _with_user_data(random, made, data) if sent else made


def _with_user_data(random: Random, made: Sketch, data: Sequence[Mapping[str, Any]]) -> Sketch:
    return replace(made, members=tuple(replace(m, sent=random.choice(data)) for m in made.members))


def _sketch(random: Random, data: Sequence[Mapping[str, Any]]) -> Sketch:
    large = random.randrange(_MANY) == 0
    topics = _topics(random, large)
    members = _members(random, large)
    subscribed = _subscriptions(random, len(members), [t.name for t in topics])
    members = [replace(m, topics=s) for m, s in zip(members, subscribed, strict=True)]
    if random.randrange(2):
        members = [replace(m, config=dict(random.choice(data))) for m in members]
    if members and random.randrange(2):
        members = _with_past(random, members, topics)
    return Sketch(topics=tuple(topics), members=tuple(members))


def _some(random: Random, most: int) -> int:
    """Seldom none."""
    return 0 if random.randrange(_SELDOM) == 0 else random.randint(1, most)


def _topics(random: Random, large: bool) -> list[TopicSketch]:
    names = random.sample(_TOPICS, _some(random, len(_TOPICS)))
    most = 40 if large else 7
    alike = random.randint(1, most) if random.randrange(3) == 0 else None
    # mostly known; unknown ones would make a strategy that needs lag say so every time
    lag = random.choice(["any"] * 5 + ["none", "none", "unknown", "some unknown"])
    racked, rated = random.randrange(2), random.randrange(2)
    topics = []
    for name in names:
        size = random.randint(0, most) if alike is None else alike
        partitions = tuple(
            PartitionSketch(
                racks=_replicas(random) if racked else (),
                lag=_lag(random, lag),
                rate=random.randint(0, 400) / 4 if rated else None,
            )
            for _ in range(size)
        )
        topic_id = str(uuid.uuid5(uuid.NAMESPACE_URL, name))
        topics.append(TopicSketch(name=name, partitions=partitions, id=topic_id))
    return topics


def _lag(random: Random, kind: str) -> int | None:
    if kind == "unknown" or (kind == "some unknown" and random.randrange(4) == 0):
        return None
    return 0 if kind == "none" else random.choice([0, 1, random.randint(0, 9), random.randint(0, 10**6)])  # fmt: skip


def _replicas(random: Random) -> tuple[str | None, ...]:
    racks: list[str | None] = [*_RACKS]
    if random.randrange(10) == 0:
        racks[0] = None
    return tuple(random.sample(racks, random.choice([0, 1, 2, 2, 2, 3])))


def _members(random: Random, large: bool) -> list[MemberSketch]:
    names = random.sample(_MEMBERS, _some(random, len(_MEMBERS)))
    if large:
        names += [f"consumer-{n}" for n in random.sample(range(100), 16)]
    static, racked = random.choice([0.0, 0.0, 0.5, 1.0]), random.choice([0.0, 0.5, 1.0, 1.0])
    hosts = [f"host-{n}" for n in random.sample(range(1, 99), len(names))]
    return [
        MemberSketch(
            id=name,
            topics=(),
            instance_id=host if random.random() < static else None,
            rack=random.choice(_RACKS) if random.random() < racked else None,
        )
        for name, host in zip(names, hosts, strict=True)
    ]


def _subscriptions(random: Random, count: int, names: list[str]) -> list[tuple[str, ...]]:
    """Equal for all in half of the groups; else any, some empty, naming a topic twice or one that is gone."""
    if random.randrange(2):
        return [tuple(names)] * count
    subscriptions = []
    for _ in range(count):
        own = random.sample(names, random.randint(0, len(names)))
        if own and random.randrange(8) == 0:
            own.append(random.choice(own))
        if random.randrange(8) == 0:
            own.append(_GONE)
        subscriptions.append(tuple(own))
    return subscriptions


def _with_past(
    random: Random, members: list[MemberSketch], topics: list[TopicSketch]
) -> list[MemberSketch]:
    """What members report to own: each partition mostly once; sometimes twice, by a stranger to it, or gone."""
    odd, in_user_data = random.randrange(4) == 0, random.randrange(2) == 0
    owned_of: list[list[Pair]] = [[] for _ in members]
    for topic in topics:
        able = [i for i, m in enumerate(members) if topic.name in m.topics]
        for number in range(len(topic.partitions) + odd):
            for _ in range(2 if odd and random.randrange(6) == 0 else 1):
                who = random.randrange(len(members)) if odd else random.choice([*able, None])
                if who is not None and (topic.name, number) not in owned_of[who]:
                    owned_of[who].append((topic.name, number))
    newest = random.randint(1, 9)
    return [
        replace(
            member,
            owned=tuple(owned),
            generation=newest - random.randrange(2) if odd else newest,
            in_user_data=in_user_data,
        )
        for member, owned in zip(members, owned_of, strict=True)
    ]
