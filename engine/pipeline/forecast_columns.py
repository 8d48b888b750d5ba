"""
Past values that `compute_metrics` stores for forecasts, and their reader.

They are stored only for groups that may be advised to switch, because most groups are healthy.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ..advice.by_racks import SECONDS_PER_DAY
from ..config import Policy
from ..metrics.forecast import UNCERTAIN, Load
from ..metrics.observe import Observation
from ..model.arrays import Flags, Floats, Indices
from ..model.figures import Figures
from ..model.states import Diagnosis
from ..model.tables import FLOAT64, Lists, Numbers, Series, Table
from ..records import Course, GroupMetrics
from ..snapshots.arrays import flags_to, floats_of, floats_to, truths_of


def needs_forecast(
    diagnosis: Diagnosis | None, live: Figures | None, arrives: float | None, policy: Policy
) -> bool:
    """
    Whether a switch may be advised: the group is not healthy, or its cross-rack traffic could be worth saving.

    Args:
        diagnosis, live, arrives: As in its metrics, *arrives* its production in offsets/s.
        policy: When advice pays for it.
    """
    if diagnosis is not Diagnosis.HEALTHY:
        return True
    if live is None:
        return False
    # all that crosses racks has to be the least saving that a switch needs that is advised already
    cost, carried = live.cross_rack_cost_per_month, live.cross_rack_bytes_per_second
    share = live.cross_rack_rate_share
    if policy.cost_gain is not None and cost is not None:
        return cost >= policy.cost_gain * policy.hysteresis
    if carried is not None:
        return carried * SECONDS_PER_DAY >= policy.least_saving_bytes_per_day * policy.hysteresis
    if not share or arrives is None:
        return False
    records = share * arrives * SECONDS_PER_DAY
    return records >= policy.least_saving_records_per_day * policy.hysteresis


def may_switch(row: GroupMetrics, course: Course | None, policy: Policy) -> bool:
    """
    Whether a group may be advised to switch, or has forecasts to check.

    False if it needs no forecast and all its partitions have an owner.
    """
    if course is not None and (course.proposal or any(u.outcome is None for u in course.uptakes)):
        return True
    arrives = row.production_per_second
    return bool(row.unowned_partitions) or needs_forecast(row.diagnosis, row.live, arrives, policy)


def past_columns(seen: Observation, loads: Mapping[int, Load]) -> dict[str, Series]:
    """
    The columns of `partition_metrics` with past values.

    Args:
        seen: Observations of the batch.
        loads: Forecast inputs by group.
    """
    size = len(seen.counted)
    length, has = np.zeros(size, np.int64), np.zeros(size, np.bool_)
    backlog, stuck = np.full(size, np.nan), np.zeros(size, np.bool_)
    values = [np.zeros(0)]
    for group, load in sorted(loads.items()):
        own = seen.batch.rows(group)
        rows = np.flatnonzero(seen.counted[own]) + own.start
        length[rows], has[rows] = len(load.arrivals), True
        backlog[rows], stuck[rows] = load.backlog, load.stuck
        values.append(load.arrivals.T.ravel())
    start = np.append(0, np.cumsum(length))
    return {
        "past_arrivals_per_second": Lists(start, Numbers(np.concatenate(values), FLOAT64), has),
        "backlog": floats_to(backlog),
        "stuck": flags_to(stuck, has),
    }


PAST = ("past_arrivals_per_second", "backlog", "stuck")
"""The columns of `partition_metrics` with forecast inputs."""


class PastColumns:
    """The columns of `partition_metrics` with forecast inputs of many groups."""

    def __init__(self, partitions: Table) -> None:
        arrivals = partitions["past_arrivals_per_second"]
        self._has: Flags = arrivals.known
        self._start = arrivals.start
        self._arrivals = floats_of(arrivals.entries)
        self._backlog = floats_of(partitions["backlog"])
        self._stuck = truths_of(partitions["stuck"])

    def load_of(
        self,
        rows: slice,
        owner: Indices,
        capacity: Floats,
        seen: Floats,
        ages: Floats,
        correction: Sequence[float],
    ) -> Load | None:
        """
        The forecast input of a group; None if it was not stored.

        Args:
            rows: Rows of its partitions.
            owner: (n) owner of each partition.
            capacity: (M) capacity of members in offsets/s, nan unknown.
            seen: (M) offsets/s that they were seen to do, nan where nothing was.
            ages: (A) commit ages in seconds.
            correction: By how much earlier forecasts were too narrow or too wide.
        """
        counted = self._has[rows]
        if not bool(counted.any()):
            return None
        first, last = self._start[rows.start], self._start[rows.stop]
        return Load(
            arrivals=self._arrivals[first:last].reshape(int(counted.sum()), -1).T,
            backlog=self._backlog[rows][counted],
            capacity=capacity,
            uncertainty=np.full(len(capacity), UNCERTAIN),
            ages=ages,
            owner=owner[counted],
            stuck=self._stuck[rows][counted],
            correction=np.array(correction),
            seen=seen,
        )
