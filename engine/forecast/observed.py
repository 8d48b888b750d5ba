"""What a group has to do and can, as it was observed: what forecasts are made from."""

from __future__ import annotations

import numpy as np

from evenkeel.engine.forecast.backlog import Load
from evenkeel.engine.metrics.observe import Observation
from evenkeel.engine.metrics.samples import silent_members
from evenkeel.engine.model import CapacityBasis, Floats, Indices

UNCERTAIN = 0.05
"""By which share of itself a capacity may be off."""


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
    ages, behind = _ages(seen, chosen, arrivals), np.nan_to_num(seen.delays[0][chosen]) > 0
    backlog = np.maximum(lag.values - arrivals[0] * ages.mean(), 0)
    firm = ~seen.capacity.basis.take(own).equal(CapacityBasis.AT_LEAST)
    capacity = np.where(firm, seen.capacity.per_second[own], np.nan)
    owner = seen.batch.owners_of(group)[seen.counted[rows]]
    still = behind & seen.samples.stood[0][chosen]
    silent = silent_members(still, seen.samples.moved[0][chosen], owner, len(capacity))
    return Load(
        arrivals=arrivals,
        backlog=np.where(behind, backlog, 0.0),
        capacity=np.where(silent, 0.0, capacity),
        stuck=still & ~np.append(silent, False)[owner],
        uncertainty=np.full(own.stop - own.start, UNCERTAIN),
        ages=ages,
        owner=owner,
    )


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
    ages = waits[speeds > 0] / speeds[speeds > 0]
    return ages if len(ages) else np.zeros(1)
