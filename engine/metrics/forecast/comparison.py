"""A group's assignments side by side: the forecast of each from what was observed, and what getting there adds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ...model.arrays import Flags, Floats, Indices
from ...model.figures import ENDS, Forecast
from ...model.states import CapacityBasis
from ..observe import Observation
from .backlog import Load, Outlooks, outlooks
from .futures import futures, step_after

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
    return Load(
        arrivals=arrivals,
        backlog=np.where(behind, backlog, 0.0),
        capacity=capacity,
        stuck=seen.still[chosen] & ~np.append(seen.silent[own], False)[owner],
        uncertainty=np.full(len(capacity), UNCERTAIN),
        ages=ages,
        owner=owner,
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


SOON_SECONDS = 900.0
"""How far ahead the nearer forecast looks."""


def forecasts(
    load: Load, owners: Sequence[Indices], held_up_seconds: Sequence[Floats | None]
) -> list[Forecast]:
    """
    (K) what becomes of a group under each assignment. All are held against the same futures; equal ones are worked out
    once.

    Args:
        load: What the group has to do, and can.
        owners: K assignments: (n) a member, or NONE.
        held_up_seconds: K times (n) how long each partition stands still on the way there; None: it has no price.
    """
    speed = load.arrivals.mean(axis=0)
    worked_out: dict[tuple[bytes, bytes], int] = {}
    placed: list[Indices] = []
    added: list[Floats] = []

    def row_of(owner: Indices, offsets: Floats) -> int:
        key = (owner.tobytes(), offsets.tobytes())
        if key not in worked_out:
            worked_out[key] = len(placed)
            placed.append(owner)
            added.append(offsets)
        return worked_out[key]

    nothing = np.zeros(len(speed))
    held_up = [None if seconds is None else seconds * speed for seconds in held_up_seconds]
    plain = [row_of(owner, nothing) for owner in owners]
    priced = [
        None if offsets is None else row_of(owner, offsets)
        for owner, offsets in zip(owners, held_up, strict=True)
    ]
    seen = outlooks(load, placed, futures(load.arrivals.sum(axis=1)), added)
    totals = seen.lag_integral[:, 1].tolist()
    bands = [_forecast(seen, row) for row in range(len(placed))]
    return [
        bands[row]
        if with_price is None or offsets is None
        else replace(
            bands[row],
            price_held_up_offsets=float(offsets.sum()),
            # no future is better for it, but sums of its numbers may round the other way
            price_offset_seconds=max(totals[with_price] - totals[row], 0.0),
        )
        for row, with_price, offsets in zip(plain, priced, held_up, strict=True)
    ]


def _forecast(seen: Outlooks, row: int) -> Forecast:
    soon = seen.lag[row, step_after(SOON_SECONDS)]
    ends_of: dict[str, Floats] = {
        "soon_lag": soon,
        "lag": seen.lag[row, -1],
        "delay_seconds": seen.delay_seconds[row],
        "drained_seconds": seen.drained_seconds[row],
        "utilization": seen.utilization[row],
        "lag_integral": seen.lag_integral[row],
    }
    known: dict[str, Any] = {
        f"forecast_{name}_{end}": None if math.isnan(value) else value
        for name, band in ends_of.items()
        for end, value in zip(ENDS, band.tolist(), strict=True)
    }
    return Forecast(**known)
