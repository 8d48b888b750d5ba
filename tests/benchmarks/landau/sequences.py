"""The rates of partitions over many measurements: a random walk between 0 and what one member can take."""

from __future__ import annotations

import numpy as np

from evenkeel.engine.model.arrays import Ints

CAPACITY = 100
"""What a member can take; no partition has more."""

PARTITIONS, MEASUREMENTS = 200, 501

DELTAS = (0, 5, 10, 15, 20, 25)
"""By how much a rate changes at most from one measurement to the next."""

STARTS = (None, 0, 50, 100)
"""The rate that all partitions have at first; None: any, each its own."""


def sequence(delta: int, start: int | None = None, measurements: int = MEASUREMENTS) -> Ints:
    """(measurements, P) whole rates; the same for the same arguments."""
    random = np.random.default_rng(delta)
    rate = random.integers(0, CAPACITY + 1, PARTITIONS)
    rates = [rate if start is None else np.full(PARTITIONS, start)]
    while len(rates) < measurements:
        step = random.integers(-delta, delta + 1, PARTITIONS)
        rates.append(np.clip(rates[-1] + step, 0, CAPACITY))
    return np.stack(rates)
