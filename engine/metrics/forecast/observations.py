"""What a group has to do and can, as it was observed: what forecasts are made from."""

from __future__ import annotations

import numpy as np

from ...model.arrays import Flags, Floats, Indices
from ...model.states import CapacityBasis
from ..observe import Observation
from .backlog import Load

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
        ages = _supposed(float(seen.commit_interval[group]))
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


def _supposed(interval: float) -> Floats:
    """
    (10) ages of commits for a group that was behind all the time, so that nothing shows how old they are once it keeps
    up: half of them as with Kafka's own default, half as with the interval that was learned so far (nan: none).
    """
    learned = AUTO_COMMIT_SECONDS if np.isnan(interval) else interval
    return np.outer((AUTO_COMMIT_SECONDS, learned), np.linspace(0.1, 0.9, 5)).ravel()
