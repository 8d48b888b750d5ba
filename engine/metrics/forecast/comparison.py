"""A group's assignments side by side: the forecast of each from what was observed, and what getting there adds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from math import isnan
from typing import Any

import numpy as np

from ...model.arrays import Flags, Floats, Indices
from ...model.figures import ENDS, Forecast
from ...model.pauses import Standstill
from ...model.states import CapacityBasis
from ..observe import Observation
from .backlog import Outlooks, bands_of, outlooks
from .correction import NO_CORRECTION, course_of
from .doubt import doubted
from .futures import SOON_SECONDS, step_after
from .load import AssignmentBatch, ForecastInput, Load, worked_out

UNCERTAIN = 0.05
"""By which share of itself a capacity may be off."""

AUTO_COMMIT_SECONDS = 5.0
"""`auto.commit.interval.ms` of a consumer that says nothing else."""


def load_of(seen: Observation, group: int) -> Load | None:
    """
    The load of a group of a batch; None where it cannot be forecast: without a past, or while a lag is unknown.

    Args:
        seen: What the numbers say of the batch.
        group: The number of the group in it.
    """
    rows, own = seen.batch.rows(group), seen.batch.members_of(group)
    chosen = np.flatnonzero(seen.counted[rows]) + rows.start
    arrivals = _arrivals(seen, chosen)
    lag = seen.lag.for_people.take(chosen)
    if not len(arrivals) or not len(chosen) or not bool(lag.known.all()):
        return None
    ages = _ages(seen, chosen, arrivals)
    if not len(ages):  # it was behind all the time
        # so nothing shows how old commits are once it keeps up: half of them as with Kafka's own default, half as with
        # the interval that was learned so far
        learned = np.nan_to_num(seen.commit_interval[group], nan=AUTO_COMMIT_SECONDS)
        ages = np.outer((AUTO_COMMIT_SECONDS, learned), np.linspace(0.1, 0.9, 5)).ravel()
    behind = np.nan_to_num(seen.delays[0][chosen]) > 0
    backlog = np.maximum(lag.values - arrivals[0] * ages.mean(), 0)
    owner = seen.batch.owners_of(group)[seen.counted[rows]]
    at_least = seen.capacity.basis.take(own).equal(CapacityBasis.AT_LEAST)
    capacity = capacity_of(seen.capacity.per_second[own], at_least, seen.silent[own])
    course = course_of(seen, group)
    return Load(
        arrivals=arrivals,
        backlog=np.where(behind, backlog, 0.0),
        capacity=capacity,
        stuck=seen.still[chosen] & ~np.append(seen.silent[own], False)[owner],
        uncertainty=np.full(len(capacity), UNCERTAIN),
        ages=ages,
        owner=owner,
        correction=np.array(NO_CORRECTION if course is None else course.correction),
        seen=np.where(seen.silent[own], np.nan, seen.capacity.per_second[own]),
    )


def capacity_of(per_second: Floats, at_least: Flags, silent: Flags) -> Floats:
    """
    (M) offsets/s that members can do at most, nan unknown.

    Args:
        per_second: (M) offsets/s, nan unknown.
        at_least: (M) whose that is only known to be so much at least.
        silent: (M) who does nothing any more.
    """
    return np.where(silent, 0.0, np.where(at_least, np.nan, per_second))


def _arrivals(seen: Observation, chosen: Indices) -> Floats:
    """(I, n) offsets/s in past intervals, newest first; of an interval that is unknown of a partition, its mean."""
    speeds = seen.samples.arrived[:, chosen] / seen.samples.seconds[:, chosen]
    known = ~np.isnan(speeds)
    speeds = speeds[known.any(axis=1)]
    known = known[known.any(axis=1)]
    mean = np.where(known, speeds, 0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)
    return np.where(known, speeds, mean)


def _ages(seen: Observation, chosen: Indices, arrivals: Floats) -> Floats:
    """(A) seconds of arrivals that its commits were behind at each sample, over the partitions that kept up then."""
    samples, kept_up = seen.samples, seen.delays[:, chosen] == 0
    lag = np.maximum(samples.end[:, chosen] - samples.committed[:, chosen], 0)
    speed = np.concatenate([arrivals, arrivals[-1:]])[: len(lag)]
    usable = kept_up[: len(speed)] & ~np.isnan(lag[: len(speed)])
    waits = np.where(usable, lag[: len(speed)], 0).sum(axis=1)
    speeds = np.where(usable, speed, 0).sum(axis=1)
    ages: Floats = waits[speeds > 0] / speeds[speeds > 0]
    return ages


def forecasts(groups: Sequence[ForecastInput]) -> list[list[Forecast | None]]:
    """
    (K) of each group what becomes of it under each assignment, what getting there costs included. All of a group are
    held against the same futures; equal ones are worked out once.

    Nothing is told of an assignment that gives a member more than it is known to do (`doubt`).
    """
    return worked_out(groups, _forecasts)


def lags(loads: Sequence[Load]) -> list[Floats]:
    """(T, 3) of each group its lag at each step under the assignment it has, as a snapshot would show it."""
    stay = [ForecastInput(load=load, owners=[load.owner], standstills=[None]) for load in loads]
    return worked_out(stay, lambda some: outlooks(AssignmentBatch(some)).lag)


def _forecasts(groups: Sequence[ForecastInput]) -> list[list[Forecast | None]]:
    doubts = [*doubted(groups)]
    some = [_distinct(each) for each, doubt in zip(groups, doubts, strict=True) if not all(doubt)]
    found = _compared(some) if some else iter(())
    return [
        [None] * len(each)
        if all(each)
        else [None if doubt else one for one, doubt in zip(next(found), each, strict=True)]
        for each in doubts
    ]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Distinct:
    """
    What is asked of a group, and the assignments among it that are different.

    Attributes:
        asked: What is asked.
        rows: The different ones, with what pauses on the way there.
        own, free: Which of them each assignment is: with what pauses, and without.
    """

    asked: ForecastInput
    rows: ForecastInput
    own: Sequence[int]
    free: Sequence[int]

    @property
    def stays(self) -> Sequence[int]:
        """Which of them each one's gain is taken over."""
        live = self.asked.live
        return self.own if live is None else [self.free[live]] * len(self.own)


def _distinct(asked: ForecastInput) -> _Distinct:
    rows: dict[tuple[bytes, ...], int] = {}
    owners, paused = list[Indices](), list[Standstill | None]()

    def row_of(owner: Indices, stands: Standstill | None) -> int:
        pauses = () if stands is None else (stands.held_up_seconds, stands.lost_seconds)
        key = (owner.tobytes(), *(each.tobytes() for each in pauses))
        if key not in rows:
            rows[key] = len(rows)
            owners.append(owner)
            paused.append(stands)
        return rows[key]

    free = [row_of(owner, None) for owner in asked.owners]
    own = [row_of(*each) for each in zip(asked.owners, asked.standstills, strict=True)]
    apart = replace(asked, owners=owners, standstills=paused)
    return _Distinct(asked=asked, rows=apart, own=own, free=free)


def _compared(groups: Sequence[_Distinct]) -> Iterator[list[Forecast]]:
    """(K) of each group the forecasts of all its assignments."""
    batch = AssignmentBatch([each.rows for each in groups])
    seen, first = outlooks(batch), batch.first.tolist()
    own, free, stays = (
        np.array([start + row for start, rows in zip(first, each, strict=False) for row in rows])
        for each in zip(*((each.own, each.free, each.stays) for each in groups), strict=True)
    )
    gains = bands_of(seen.integrals[stays] - seen.integrals[own], seen.tail)
    rises = np.median(seen.integrals[own] - seen.integrals[free], axis=1)
    # no future is better for what stands still, but sums of its numbers may round the other way
    costs = np.stack([delayed_offsets(batch)[own], np.maximum(rises, 0.0)], axis=1)
    bands = _bands(seen)
    rows = zip(own.tolist(), gains.tolist(), costs.tolist(), strict=True)
    for asked in (each.asked for each in groups):
        some = enumerate(islice(rows, len(asked.owners)))
        yield [
            Forecast(**bands[row], **_beside(asked, number, gain, cost))
            for number, (row, gain, cost) in some
        ]


def _beside(
    asked: ForecastInput, number: int, gain: Sequence[float], cost: Sequence[float]
) -> dict[str, Any]:
    """What an assignment gains over the one that the group has, and what getting there costs."""
    gained = () if asked.live in (None, number) else zip(_GAIN, gain, strict=True)
    priced = () if asked.standstills[number] is None else zip(_COST, cost, strict=True)
    return dict(chain(gained, priced))


def delayed_offsets(batch: AssignmentBatch) -> Floats:
    """
    (K) how many offsets are consumed later because members stand still.

    It is what arrives while its partitions stand still, or if that is more, what a member could have consumed of its
    backlog and of what arrives.
    """
    comes, behind, waits = batch.sums(batch.arrives, batch.backlog, batch.held_up * batch.arrives)
    there = np.where(behind > 0, behind + comes * batch.lost, 0.0)
    could = np.minimum(np.nan_to_num(batch.capacity)[batch.member] * batch.lost, there)
    delayed: Floats = np.add.reduceat(np.maximum(waits, could), batch.start[:-1])
    return delayed


_SOON = step_after(SOON_SECONDS)
_GAIN = tuple(f"forecast_gain_{end}" for end in ENDS)
_COST = ("price_held_up_offsets", "price_offset_seconds")
_BANDS = tuple(
    f"forecast_{name}_{end}"
    for name in (
        "soon_lag",
        "lag",
        "delay_seconds",
        "drained_seconds",
        "utilization",
        "lag_integral",
    )
    for end in ENDS
)


def _bands(seen: Outlooks) -> list[dict[str, Any]]:
    """What is forecast of each row."""
    ends_of = (
        *(seen.lag[:, _SOON], seen.lag[:, -1], seen.delay_seconds),
        *(seen.drained_seconds, seen.utilization, seen.lag_integral),
    )
    table = np.concatenate(ends_of, axis=1).tolist()
    return [
        {
            **{n: None if isnan(v) else v for n, v in zip(_BANDS, row, strict=True)},
            "overload_per_second": overload,
        }
        for row, overload in zip(table, seen.overload.tolist(), strict=True)
    ]
