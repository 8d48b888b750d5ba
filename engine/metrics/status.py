"""
How a partition fares, from its last four samples.

The rules are Burrow's, restated for samples of the committed offset (a snapshot sees offsets, not the commits
themselves). They are tried in this order:

| rule | what the samples show | status |
| --- | --- | --- |
| 1 | the commit fell and has not recovered | REWIND |
| 2 | the lag is unknown now | UNKNOWN |
| 3 | lag was 0 at some sample of the window | OK |
| 4 | fewer than three samples | UNKNOWN |
| 5 | the commit never moved, and the group is rebalancing, though not all through the window | UNKNOWN |
| 6 | the commit never moved, and nobody owns the partition | STOP |
| 7 | the commit never moved, though a member owns it, and it may or may not be late | UNKNOWN |
| 8 | the commit never moved, though a member owns it, and it is late | STALL |
| 9 | the commit moves, the lag grew at every step, and it is late | WARN |
| 10 | anything else | OK |

*Late* is behind by more than the group's objective beyond its commit interval (`commit_interval`): what a group that
commits once an hour shows in between is no stall.

A first commit is a move: where an earlier sample has a lag without a commit (it would begin at the log start), the
group has begun since.

A rebalance excuses a commit that stands still only while it is one that ends: of a group that rebalances in all four
samples rules 6 to 8 are true, whatever the reason is.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..model.arrays import Column, Flags, Ints
from ..model.batch import max_by
from ..model.labels import Labels
from ..model.states import Status

WINDOW = 4
"""Samples looked at, the present one included."""


def statuses(
    owned: Flags,
    lags: Sequence[Column],
    commits: Sequence[Column],
    *,
    rebalancing: Sequence[Flags | bool] = (),
    late: Flags | None = None,
    in_doubt: Flags | None = None,
) -> Labels[Status]:
    """
    The status of each partition.

    Args:
        owned: (n) whether somebody owns each of the present partitions.
        lags: Their lag, newest first: now, then the earlier samples (unknown where there was none).
        commits: Their committed offsets, in the same order.
        rebalancing: Whether ownership was in motion at each of these samples, for all partitions or for each, so that
            nobody could be said to own anything; without it at none.
        late: (n) whether each is behind by more than its group may be; without it all are.
        in_doubt: (n) of which that is not known; without it of none.
    """
    lags, commits = lags[:WINDOW], commits[:WINDOW]
    count = len(owned)
    seen = sum((lag.known.astype(np.int64) for lag in lags), np.zeros(count, np.int64))
    highest = np.max([c.filled(-1) for c in commits], axis=0)
    lowest = np.min([c.filled(np.iinfo(np.int64).max) for c in commits], axis=0)
    rewound = commits[0].known & (commits[0].values < highest)
    never_zero = np.all([~lag.known | (lag.values > 0) for lag in lags], axis=0)
    begun = np.zeros(count, np.bool_)
    for lag, commit in zip(lags[1:], commits[1:], strict=True):
        begun |= commits[0].known & lag.known & ~commit.known
    moved = (lowest < highest) | begun
    rising = np.ones(count, np.bool_)
    last, last_known = lags[0].values, lags[0].known
    for lag in lags[1:]:  # a sample without lag is stepped over: its neighbors are compared
        rising &= ~(last_known & lag.known) | (last > lag.values)
        last, last_known = np.where(lag.known, lag.values, last), last_known | lag.known
    overdue = np.ones(count, np.bool_) if late is None else late
    doubtful = np.zeros(count, np.bool_) if in_doubt is None else in_doubt
    return Labels.choose(
        Status,
        [
            rewound,
            ~lags[0].known,
            ~never_zero,
            seen < 3,
            ~moved & _excused(rebalancing[:WINDOW], count),
            ~moved & ~owned,
            ~moved & owned & doubtful,
            ~moved & owned & overdue,
            rising & overdue,
        ],
        [
            Status.REWIND,
            Status.UNKNOWN,
            Status.OK,
            Status.UNKNOWN,
            Status.UNKNOWN,
            Status.STOP,
            Status.UNKNOWN,
            Status.STALL,
            Status.WARN,
        ],
        Status.OK,
    )


def _excused(rebalancing: Sequence[Flags | bool], count: int) -> Flags:
    """(n) rebalancing now, though not all through the window."""
    if not rebalancing:
        return np.zeros(count, np.bool_)
    samples = [np.broadcast_to(np.asarray(each, np.bool_), count) for each in rebalancing]
    all_through = len(samples) == WINDOW and np.logical_and.reduce(samples)
    excused: Flags = samples[0] & ~np.broadcast_to(all_through, count)
    return excused


def worst_by(statuses: Labels[Status], counted: Flags, start: Ints) -> list[Status]:
    """
    (G) each group's status: that of its worst partition; UNKNOWN without partitions.

    Args:
        statuses: (n) of the partitions of a batch.
        counted: (n) which of them count.
        start: (G + 1) where the partitions of each group begin.
    """
    severities = np.where(counted, statuses.codes, -1).astype(np.int64)
    worst = max_by(severities, start, -1).tolist()
    return [statuses.words[code] if code >= 0 else Status.UNKNOWN for code in worst]
