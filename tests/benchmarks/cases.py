"""The groups that are measured: as many members and partitions as the budgets name, made from a seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from engine.assignor import GroupSpec, build_spec


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """
    A group in which everybody subscribes to every topic.

    With racks, each partition has replicas on two of them, and no two topics are of one size, so
    that racks decide topic by topic; without, all topics are of one size. The number of topics is
    even.
    """

    members: int
    partitions: int
    topics: int
    racks: int = 0

    @property
    def sizes(self) -> list[int]:
        """Partitions of each topic."""
        mean = self.partitions // self.topics
        if not self.racks:
            return [mean] * self.topics
        return [mean + (1 + t // 2) * (1 if t % 2 else -1) for t in range(self.topics)]


CASES = tuple(
    Case(members=members, partitions=partitions, topics=topics, racks=racks)
    for members, partitions, topics in (
        (1_000, 10_000, 100),
        (1_000, 100_000, 100),
        (2_000, 1_000_000, 500),
    )
    for racks in (0, 6)
)


def names(case: Case) -> dict[str, Any]:
    """The arguments of `build_spec`: what a reader of a group has in hand."""
    random = np.random.default_rng(case.members)
    topics = [f"topic-{t}" for t in range(case.topics)]
    racks = [f"rack-{r}" for r in range(case.racks)]
    first = random.integers(case.racks or 1, size=case.partitions).tolist()
    replicas = [[racks[r], racks[(r + 1) % case.racks]] if racks else [] for r in first]
    tails = random.integers(1 << 62, size=case.members).tolist()
    return {
        "members": [f"consumer-app-{m}-{tail:016x}" for m, tail in enumerate(tails)],
        "instance_ids": [None] * case.members,
        "member_racks": [racks[m % case.racks] if racks else None for m in range(case.members)],
        "subscriptions": [topics] * case.members,
        "topics": topics,
        "partition_counts": case.sizes,
        "replica_racks": replicas,
    }


def build(case: Case) -> GroupSpec:
    """The strategies' input for a case."""
    return build_spec(**names(case))
