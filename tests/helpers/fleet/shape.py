"""What there is to choose of a fleet."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

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
