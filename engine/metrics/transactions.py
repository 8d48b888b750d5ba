"""Transactions that stay open: whoever reads committed records only reads up to the last stable offset, and waits."""

from __future__ import annotations

import numpy as np

from ..model.arrays import Floats
from .past import Past
from .samples import Samples

MARKERS = 10
"""
Offsets by which a commit may lie below the last stable offset though all before that is read: markers of transactions
that ended take an offset each, and some clients commit only what lies behind a record.
"""


def held_back(past: Past, samples: Samples, patience: Floats) -> Floats:
    """
    (n) seconds for which records have waited behind the first open transaction of a partition; nan where none do.

    A transaction has been open since the log ended where its first record, the last stable offset, is now. The group's
    commit stands there. It need not be known whether the group reads committed records only: who reads all would not
    stop just there.

    Args:
        past: The groups and their earlier samples.
        samples: Their partitions.
        patience: (n) seconds for which records may wait: an open transaction is nothing odd by itself.
    """
    table = past.now.partitions
    stable, high = table.last_stable, table.high_watermark
    held = np.full(len(table), np.nan)
    there = stable.known & high.known & (stable.values < high.values) & table.committed.known
    unread = stable.values - table.committed.values
    rows = np.flatnonzero(there & (unread >= 0) & (unread <= MARKERS) & samples.stands)
    if not len(rows):
        return held
    ends = [high, *(past.column("high_watermark", sample) for sample in range(past.samples))]
    as_read = Samples(
        begin=samples.begin[:, rows],
        end=np.array([column.floats()[rows] for column in ends], np.float64),
        committed=np.tile(stable.floats()[rows], (len(ends), 1)),
        at=samples.at[:, rows],
        owner=samples.owner[:, rows],
    )
    waited = as_read.age[0]
    held[rows] = np.where(waited > patience[rows], waited, np.nan)
    return held
