"""How many partitions groups have: quantiles of a long-tailed distribution, so that fleets of any size look alike."""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from evenkeel.engine.model import Ints
from tests.helpers.fleet.shape import GIANT_PARTITIONS, Shape


def sizes_of(shape: Shape) -> Ints:
    """
    Partitions per group, the largest first.

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
