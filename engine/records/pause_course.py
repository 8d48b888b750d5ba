"""Pauses of a group as they were seen, carried from one snapshot to the next by `evenkeel.engine.metrics.pauses`."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain
from typing import NamedTuple

from ..model.columns import column, record

KEPT = 15
"""Of so many intervals with rebalances, with restarts and with restored stores each, the newest are kept."""


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
    """How long rebalances, restarts and restoring of a group lasted, as the next snapshot needs it."""

    # lists of numbers: they are read for every group of every snapshot
    rebalances: tuple[float, ...] = column(
        "Of each interval with rebalances, oldest first: Unix time of its end, and the seconds that a rebalance paused"
        " members at least and at most.",
        default=(),
    )
    restarts: tuple[float, ...] = column(
        "Of each interval with restarts the same: the seconds that a member was away.", default=()
    )
    restores: tuple[float, ...] = column(
        "Of each snapshot with a task that is being restored the same: the seconds for which a thread restores"
        " 1,000,000 records.",
        default=(),
    )


def newest(spans: Iterable[PauseSpan]) -> tuple[float, ...]:
    """The newest `KEPT` as a list of the record; of those at one time the last counts."""
    of_each = {span.at: span for span in spans}
    return tuple(chain.from_iterable(sorted(of_each.values())[-KEPT:]))


def spans_of(numbers: Iterable[float]) -> list[PauseSpan]:
    """
    A list of the record as spans.

    >>> spans_of((10.0, 1.0, 3.0, 20.0, 2.0, 4.0))
    [PauseSpan(at=10.0, low=1.0, high=3.0), PauseSpan(at=20.0, low=2.0, high=4.0)]
    """
    each = iter(numbers)
    return [PauseSpan(*row) for row in zip(each, each, each, strict=True)]
