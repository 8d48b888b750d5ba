"""Time and memory of one call."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from statistics import median
from time import perf_counter
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """The median time of some calls, and the memory one more took at its peak, beside what was there before."""

    milliseconds: float
    peak_mib: float


def measure(call: Callable[[Any], object], argument: Callable[[], Any], repeat: int) -> Measured:
    """
    Measure a call.

    Args:
        call: What is measured.
        argument: Makes a fresh argument for each call; not measured.
        repeat: Number of timed calls, after one that warms up.
    """
    call(argument())
    times = [_timed(call, argument()) for _ in range(repeat)]
    return Measured(milliseconds=median(times), peak_mib=_peak(call, argument()))


def _timed(call: Callable[[Any], object], argument: Any) -> float:
    began = perf_counter()
    call(argument)
    return (perf_counter() - began) * 1000


def _peak(call: Callable[[Any], object], argument: Any) -> float:
    tracemalloc.start()
    try:
        call(argument)
        return tracemalloc.get_traced_memory()[1] / (1 << 20)
    finally:
        tracemalloc.stop()
