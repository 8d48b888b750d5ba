"""Pauses of a group as they were seen, carried from one snapshot to the next by `evenkeel.engine.metrics.pauses`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

from ..model.columns import column, record

KEPT = 15
"""Of so many intervals with rebalances, and of so many with restarts, the newest are kept."""


class PauseSpan(NamedTuple):
    """
    How long something lasted, as far as it was seen.

    Attributes:
        at: Unix time of the sample that showed its end.
        low, high: Seconds that it lasted at least and at most.
    """

    at: float
    low: float
    high: float


@record
class PauseCourse:
    """How long rebalances and restarts of a group lasted, as the next snapshot needs it."""

    # lists of numbers: they are read for every group of every snapshot
    rebalances: tuple[float, ...] = column(
        "Of each interval with rebalances, oldest first: Unix time of its end, and the seconds that a rebalance paused"
        " members at least and at most."
    )
    restarts: tuple[float, ...] = column(
        "Of each interval with restarts the same: the seconds that a member was away."
    )

    @classmethod
    def of(cls, rebalances: Iterable[PauseSpan], restarts: Iterable[PauseSpan]) -> PauseCourse:
        """The newest `KEPT` of each."""
        newest = (sorted(spans)[-KEPT:] for spans in (rebalances, restarts))
        first, second = (tuple(chain.from_iterable(spans)) for spans in newest)
        return cls(rebalances=first, restarts=second)


def spans_of(numbers: Iterable[float]) -> list[PauseSpan]:
    """
    A list of the record as spans.

    >>> spans_of((10.0, 1.0, 3.0, 20.0, 2.0, 4.0))
    [PauseSpan(at=10.0, low=1.0, high=3.0), PauseSpan(at=20.0, low=2.0, high=4.0)]
    """
    each = iter(numbers)
    return [PauseSpan(*row) for row in zip(each, each, each, strict=True)]
