"""Who scores the assignments of a group, by what was measured of it and what the configuration knows."""

from __future__ import annotations

import numpy as np

from ..advice.scoring import Judge
from ..assignors.interface import GroupSpec
from ..config import Rule
from ..metrics.racks import tariff
from ..model.arrays import Floats
from ..model.figures import Figures
from ..model.groups import GroupSnapshot


def judge_of(
    group: GroupSnapshot,
    spec: GroupSpec,
    rule: Rule,
    *,
    production: Floats,
    bytes_per_record: Floats,
    capacity: Floats,
    live: Figures | None = None,
) -> Judge:
    """
    Who scores the assignments of a group.

    Args:
        group: The group.
        spec: Its spec, lags as they are shown.
        rule: What the configuration knows of it.
        production: (n) offsets/s produced to each row of its partition table, nan unknown.
        bytes_per_record: (n) the same rows; nan unknown.
        capacity: (M) offsets/s each member can consume, nan unknown.
        live: The figures of what the group has now, where they have been worked out before.
    """
    table, rows = group.partitions, group.partitions.assignable
    # of the replica entries that `spec_of` keeps
    kept = rows.repeat(np.diff(table.replica_start))
    return Judge(
        group=spec,
        capacity=capacity,
        live=live,
        in_sync=table.in_sync[kept],
        leaders_only=group.follower_fetching is False,
        tariff=tariff(bytes_per_record, production, rows, rule.price_per_gb, rule.currency)
        # unless it is known who serves reads, what crosses is a guess: no ground for a bill
        if group.follower_fetching is not None
        else None,
    )
