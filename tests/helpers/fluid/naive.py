"""
Plain forecasts to hold evenkeel's against: as it is (persistence), as it goes (Holt), as it was a season ago.

Each has a band from p10 to p90 of its own errors so far, as far ahead, of the same group.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

import numpy as np

from evenkeel.engine.model.arrays import Floats

LEVEL, TREND = 0.5, 0.2
"""How much of the newest value, and of the newest slope, Holt's method takes over."""

LEAST, MOST = 8, 36
"""A band takes so many errors at least, and the newest ones at most."""

Naive = Callable[[Floats, int], Floats]
"""(K) what is forecast at each snapshot for some snapshots later, from the values until then; nan where it can't."""


def persistence(values: Floats, ahead: int) -> Floats:
    """It stays as it is."""
    return values.copy()


def holt(values: Floats, ahead: int) -> Floats:
    """It goes on as it went, by a smoothed level and a smoothed slope (Holt, 1957)."""
    found, level, slope = np.empty(len(values)), float(values[0]), 0.0
    for k, value in enumerate(values.tolist()):
        before = level
        level = LEVEL * value + (1 - LEVEL) * (level + slope)
        slope = TREND * (level - before) + (1 - TREND) * slope
        found[k] = max(level + ahead * slope, 0.0)
    return found


def seasonal(season: int, values: Floats, ahead: int) -> Floats:
    """It will be as it was at the same time of the newest season that is known."""
    found = np.full(len(values), np.nan)
    back = -(-ahead // season) * season - ahead
    found[back:] = values[: len(values) - back]
    return found


def methods(season: int | None) -> Mapping[str, Naive]:
    """By name; *season* in snapshots."""
    plain: dict[str, Naive] = {"persistence": persistence, "holt": holt}
    return plain | ({"seasonal": partial(seasonal, season)} if season else {})


def bands(values: Floats, ahead: int, method: Naive) -> Floats:
    """
    (K, 3) p10, p50 and p90 that are forecast at each snapshot; nan where too few errors are known.

    >>> bands(np.arange(20.0), 2, persistence)[[5, 19]].tolist()
    [[nan, nan, nan], [21.0, 21.0, 21.0]]
    """
    middle = method(values, ahead)
    errors = np.full(len(values), np.nan)
    errors[ahead:] = values[ahead:] - middle[: len(values) - ahead]
    found = np.full((len(values), 3), np.nan)
    for k in range(len(values)):
        known = errors[: k + 1][~np.isnan(errors[: k + 1])][-MOST:]
        if len(known) >= LEAST and not np.isnan(middle[k]):
            found[k] = np.maximum(middle[k] + np.quantile(known, [0.1, 0.5, 0.9]), 0)
    return found
