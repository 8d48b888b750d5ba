"""What there is to choose of a fleet, and how many partitions its groups have."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from statistics import NormalDist

import numpy as np

from evenkeel.engine.model.arrays import Ints

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
