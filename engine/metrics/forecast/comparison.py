"""A group's assignments side by side: the forecast of each from what was observed, and what getting there adds."""

from __future__ import annotations

from collections.abc import Sequence
from math import isnan
from typing import Any

import numpy as np

from ...model.arrays import Flags, Floats, Indices
from ...model.figures import ENDS, Forecast
from ...model.pauses import Standstill
from ...model.states import CapacityBasis
from ..observe import Observation
from .backlog import Load, Outlooks, bands_of, outlooks, queues_of, sums
from .correction import NO_CORRECTION, course_of
from .doubt import doubted
from .futures import SOON_SECONDS, futures, step_after

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


def forecasts(
    load: Load,
    owners: Sequence[Indices],
    standstills: Sequence[Standstill | None],
    live: int | None = None,
) -> list[Forecast | None]:
    """
    (K) what becomes of a group under each assignment, what getting there costs included. All are held against the same
    futures; equal ones are worked out once.

    Nothing is told of an assignment that gives a member more than it is known to do (`doubt`).

    Args:
        load: What the group has to do, and can.
        owners: K assignments: (n) a member, or NONE.
        standstills: K times what pauses on the way there; None: it has no price.
        live: Which of them the group has; the others' gain over it is taken future by future. None: none of them.
    """
    told = [not doubt for doubt in doubted(load, owners)]
    if not any(told):
        return [None] * len(owners)
    worked_out: dict[tuple[bytes, ...], int] = {}
    placed: list[Indices] = []
    paused: list[Standstill | None] = []

    def row_of(owner: Indices, stands: Standstill | None) -> int:
        pauses = () if stands is None else (stands.held_up_seconds, stands.lost_seconds)
        key = (owner.tobytes(), *(each.tobytes() for each in pauses))
        if key not in worked_out:
            worked_out[key] = len(placed)
            placed.append(owner)
            paused.append(stands)
        return worked_out[key]

    plain = [row_of(owner, None) for owner in owners]
    priced = [row_of(owner, stands) for owner, stands in zip(owners, standstills, strict=True)]
    seen = outlooks(load, placed, futures(load.arrivals.sum(axis=1)), paused)
    gains = None if live is None else _gains(seen, plain[live], priced)
    costs, bands = _prices(load, seen, placed, paused, plain, priced), _bands(seen)
    return [
        Forecast(
            **bands[row],
            **({} if gains is None or number == live else gains[number]),
            **costs[number],
        )
        if told[number]
        else None
        for number, row in enumerate(priced)
    ]


def _gains(seen: Outlooks, stays: int, rows: Sequence[int]) -> list[dict[str, Any]]:
    """By how much the lag integral of each row is below that of the one that stays, future by future."""
    bands = bands_of(seen.integrals[stays] - seen.integrals[rows], seen.tail).tolist()
    return [dict(zip(_GAIN, band, strict=True)) for band in bands]


def _prices(
    load: Load,
    seen: Outlooks,
    placed: Sequence[Indices],
    paused: Sequence[Standstill | None],
    plain: Sequence[int],
    priced: Sequence[int],
) -> list[dict[str, Any]]:
    """By how much each one's lag integral rises for what stands still, and how many offsets are consumed later."""
    found, stands = [dict[str, Any]() for _ in priced], [paused[row] for row in priced]
    some = [number for number, each in enumerate(stands) if each is not None]
    if some:
        rows, free = ([each[number] for number in some] for each in (priced, plain))
        owners, pauses = [placed[row] for row in rows], [each for each in stands if each]
        delays = delayed_offsets(load, owners, pauses)
        rises = np.median(seen.integrals[rows] - seen.integrals[free], axis=1)
        # no future is better for it, but sums of its numbers may round the other way
        columns = delays.tolist(), np.maximum(rises, 0.0).tolist()
        for number, held_up, rise in zip(some, *columns, strict=True):
            found[number] = {"price_held_up_offsets": held_up, "price_offset_seconds": rise}
    return found


def delayed_offsets(
    load: Load, owners: Sequence[Indices], standstills: Sequence[Standstill]
) -> Floats:
    """
    (K) how many offsets are consumed later because members stand still.

    It is what arrives while its partitions stand still, or if that is more, what a member could have consumed of its
    backlog and of what arrives.

    Args:
        load: What the group has to do, and can.
        owners: K times (n) who gets each partition, NONE for nobody.
        standstills: K times what pauses.
    """
    members, placed = len(load.capacity), queues_of(load, owners)
    lost = np.array([each.lost_seconds for each in standstills])
    arrives = load.arrivals.mean(axis=0)
    arrived = np.array([each.held_up_seconds for each in standstills]) * arrives
    values = np.broadcast_to([[arrives], [load.backlog]], (2, *placed.shape))
    of_each = sums(np.concatenate([values, arrived[None]]), placed, members + 1)
    comes, behind, waits = of_each[..., :-1]
    there = np.where(behind > 0, behind + comes * lost, 0.0)
    could = np.minimum(np.nan_to_num(load.capacity) * lost, there)
    nobody = arrived.sum(axis=1) - waits.sum(axis=1)
    delayed: Floats = np.maximum(waits, could).sum(axis=1) + nobody
    return delayed


_SOON = step_after(SOON_SECONDS)
_GAIN = tuple(f"forecast_gain_{end}" for end in ENDS)
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
