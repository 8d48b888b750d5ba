"""The groups that are measured, by name, and the ratio asked for at each."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from random import Random
from typing import Any

from tests.oracle.groups import SERVER_SIDE, Case, tell

FRESH, JOINS, LEAVES = "fresh", "one joins", "one leaves"
BUCKETS = 5
RACKS = ("rack-0", "rack-1", "rack-2")
THIRD, AS_FAST, TWICE = Fraction(1, 3), Fraction(1), Fraction(2)


@dataclass(frozen=True, slots=True)
class Point:
    """
    One strategy on one group, in one scene or two.

    Attributes:
        name: How it is asked for.
        strategy: Of both sides.
        members, partitions, topics: How many; all topics are of one size.
        asked: Scene -> how many times as fast as Kafka's class ours shall be; None where nothing is asked.
        repeat: Timed calls on either side.
        warm_up: Calls before them: a JVM compiles what it meets often.
        unequal: Members and topics are in five equal parts, as in Kafka's JMH benchmarks; else all
            subscribe to everything.
        racks: Each partition has replicas on two of three racks, else nobody knows of racks.
        rates: What arrives for each partition is known, log-normal; else nothing is.
    """

    name: str
    strategy: str
    members: int
    partitions: int
    topics: int
    asked: Mapping[str, Fraction | None]
    repeat: int = 15
    warm_up: int = 30
    unequal: bool = False
    racks: bool = False
    rates: bool = False

    @property
    def size(self) -> str:
        """Members x partitions x topics, in words."""
        notes = [", unequal" * self.unequal, ", racks" * self.racks, ", rates" * self.rates]
        return f"{self.members:,} x {self.partitions:,} x {self.topics:,}" + "".join(notes)


def _general(name: str, strategy: str) -> Point:
    asked = {FRESH: TWICE, JOINS: TWICE}
    return Point(name, strategy, 1_000, 10_000, 1_000, asked, 3, 1, unequal=True)


_SMALL: dict[str, Fraction | None] = {FRESH: None, JOINS: None}
_QUICK: dict[str, Fraction | None] = {FRESH: THIRD, JOINS: THIRD}

POINTS = (
    Point("small-sticky", "sticky", 10, 100, 5, _SMALL, 201, 5_000),
    Point("small-uniform", "uniform", 10, 100, 5, _SMALL, 201, 5_000),
    Point("range", "range", 1_000, 100_000, 100, {FRESH: THIRD}),
    Point("range-racks", "range", 1_000, 100_000, 100, {FRESH: THIRD}, 7, 10, racks=True),
    Point("range-server", "range-server", 10_000, 100_000, 100, {FRESH: THIRD}),
    Point("roundrobin", "roundrobin", 1_000, 100_000, 100, {FRESH: THIRD}),
    Point("uniform", "uniform", 10_000, 100_000, 100, _QUICK),
    Point("uniform-unequal", "uniform", 10_000, 100_000, 100, _QUICK, unequal=True),
    Point("sticky-racks", "sticky", 1_000, 100_000, 100, _QUICK, 7, 10, racks=True),
    _general("sticky-unequal", "sticky"),
    _general("cooperative-unequal", "cooperative-sticky"),
    Point("sticky-million", "sticky", 2_000, 1_000_000, 500, {FRESH: THIRD, LEAVES: AS_FAST}, 3, 2),
)
"""In the order of the table, and of their cost."""


def _loaded(name: str, members: int, partitions: int, topics: int) -> Point:
    asked = {FRESH: None}
    return Point(name, "balanced", members, partitions, topics, asked, 5, 1, racks=True, rates=True)


ALONE = (
    *(
        Point(strategy, strategy, members, partitions, topics, {FRESH: None}, 5, 1)
        for strategy, members, partitions, topics in (
            ("fair", 1_000, 100_000, 100),
            ("lag-aware", 1_000, 100_000, 100),
            ("random", 1_000, 100_000, 100),
            ("balanced", 100, 1_000, 10),
        )
    ),
    _loaded("balanced-small", 10, 100, 5),
    _loaded("balanced-rates", 100, 1_000, 10),
    _loaded("balanced-giant", 1_000, 50_000, 100),
)
"""Strategies that Kafka has no class for, shown beside nothing."""


def build(point: Point) -> Case:
    """The point's group before anybody owns anything, as a case; the same every time."""
    random = Random(point.name)
    parts = BUCKETS if point.unequal else 1
    names = [f"topic-{t}" for t in range(point.topics)]
    size = point.partitions // point.topics
    members = []
    for place in range(point.members):
        part = place * parts // point.members
        member: dict[str, Any] = {
            "id": f"consumer-app-{place + 1}-{_uuid(random)}",
            "topics": [n for t, n in enumerate(names) if t * parts // point.topics == part],
            "rack": RACKS[place % len(RACKS)] if point.racks else None,
        }
        members.append({**member, "owned": [], "generation": None, "user_data": None})
    case: Case = {"id": point.name, "strategy": point.strategy, "topics": {}, "members": members}
    for name in names:
        replicas = [random.sample(RACKS, 2) if point.racks else [] for _ in range(size)]
        case["topics"][name] = {"partitions": replicas, "lags": [7] * size}
        if point.rates:
            case["topics"][name]["rates"] = [random.lognormvariate(3, 1) for _ in range(size)]
        if point.strategy in SERVER_SIDE:
            case["topics"][name]["id"] = _uuid(random)
    return case


def _uuid(random: Random) -> str:
    return str(uuid.UUID(int=random.getrandbits(128), version=4))


def before(case: Case, scene: str) -> Case | None:
    """The group whose answer is the scene's past; None where there is none."""
    if scene == FRESH:
        return None
    return {**case, "members": case["members"][:-1]} if scene == JOINS else case


def after(case: Case, scene: str, past: Mapping[str, Any]) -> Case:
    """The group of the scene: what was answered *before* is what its members tell of; the middle one leaves."""
    members = copy.deepcopy(case["members"])
    if scene == LEAVES:
        del members[len(members) // 2]
    for member in members:
        if member["id"] in past["assignment"]:
            tell(case["strategy"], member, past["assignment"][member["id"]], 1)
    return {**case, "members": members}
