"""The groups that are measured, by name."""

from __future__ import annotations

import copy
import uuid
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from random import Random
from typing import Any

from tests.oracle.groups import SERVER_SIDE, Case, tell

FRESH, JOINS, LEAVES = "fresh", "one joins", "one leaves"
BUCKETS = 5
RACKS = ("rack-0", "rack-1", "rack-2")


@dataclass(frozen=True, slots=True)
class Point:
    """
    One strategy on groups of one size, in one scene or more.

    Attributes:
        strategy: Of both sides.
        members, partitions, topics: How many a group has; all topics are of one size.
        scenes: What happened to the groups before.
        repeat: Timed calls on either side.
        warm_up: Calls before them: a JVM compiles what it meets often.
        groups: How many different groups a call takes: at once, or where a strategy cannot, and on Kafka's side, one
            after the other.
        unequal: Members and topics are in five equal parts, as in Kafka's JMH benchmarks; else all
            subscribe to everything.
        racks: Each partition has replicas on two of three racks, else nobody knows of racks.
        rates: What arrives for each partition is known, log-normal; else nothing is.
    """

    strategy: str
    members: int
    partitions: int
    topics: int
    scenes: tuple[str, ...] = (FRESH,)
    repeat: int = 15
    warm_up: int = 30
    groups: int = 1
    unequal: bool = False
    racks: bool = False
    rates: bool = False

    @property
    def notes(self) -> list[str]:
        """What the groups have beside their size."""
        return [note for note in ("unequal", "racks", "rates") if getattr(self, note)]

    @property
    def size(self) -> str:
        """Members x partitions, in words."""
        return ", ".join([f"{self.members:,} x {self.partitions:,}", *self.notes])

    @property
    def name(self) -> str:
        """How it is asked for."""
        return "-".join([self.strategy, str(self.members), str(self.partitions), *self.notes])


SIZES = {
    "small": Point("", 10, 100, 5, (), 15, 40, 250),
    "middle": Point("", 100, 1_000, 10, (), 7, 30, 100),
    "large": Point("", 1_000, 100_000, 100, (), 9, 15),
    "huge": Point("", 2_000, 1_000_000, 500, (), 3, 3),
}
KEEPS = ("sticky", "cooperative-sticky", "uniform")
"""Those of Kafka's strategies that look at what members had."""


def _peers() -> Iterator[Point]:
    """Every strategy of Kafka's at every size, and some with racks, or unequal subscriptions."""
    for strategy in ("range", "roundrobin", "range-server", *KEEPS):
        scenes = (FRESH, JOINS) if strategy in KEEPS else (FRESH,)
        for size in SIZES.values():
            yield replace(size, strategy=strategy, scenes=scenes)
    large = SIZES["large"]
    yield replace(large, strategy="range", scenes=(FRESH,), repeat=5, warm_up=8, racks=True)
    yield replace(large, strategy="sticky", scenes=(FRESH, JOINS), repeat=3, warm_up=5, racks=True)
    yield Point("uniform", 10_000, 100_000, 100, (FRESH, JOINS), 9, 15, unequal=True)
    for strategy in ("sticky", "cooperative-sticky"):
        yield Point(strategy, 1_000, 10_000, 1_000, (FRESH, JOINS), 3, 1, unequal=True)


def _alone() -> Iterator[Point]:
    """Strategies that Kafka has no class for."""
    for strategy, known in (
        ("balanced", {"racks": True, "rates": True}),
        ("drain", {"rates": True}),
        *(
            (name, {"racks": True})
            for name in ("min_traffic", "balance_subtopology", "racks-server")
        ),
        *((name, {}) for name in ("fair", "lag-aware", "random")),
    ):
        for size in ("small", "middle", "large"):
            yield replace(
                SIZES[size], strategy=strategy, scenes=(FRESH,), repeat=3, warm_up=1, **known
            )


POINTS = (*_peers(), *_alone())
"""In the order of the table."""


def build(point: Point, number: int = 0) -> Case:
    """One of the point's groups before anybody owns anything, as a case; the same every time."""
    random = Random(f"{point.name} {number}")
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
    case: Case = {
        "id": f"{point.name}-{number}",
        "strategy": point.strategy,
        "topics": {},
        "members": members,
    }
    for name in names:
        replicas = [random.sample(RACKS, 2) if point.racks else [] for _ in range(size)]
        case["topics"][name] = {"partitions": replicas, "lags": [7] * size}
        if point.rates:
            case["topics"][name]["lags"] = [int(random.lognormvariate(8, 2)) for _ in range(size)]
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
