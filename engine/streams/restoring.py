"""
What the stores of tasks take to restore that a placement moves: records to read, and seconds in which nobody runs them.

A client that gets a task with stores reads what its copy lacks of the changelogs, all of them without a copy.

* A sticky assignor moves the task at once: it pauses until all of that is read. So do brokers up to Kafka 4.4, which
  have settings for warm-ups (KIP-1071) and an `AssignmentRefiner` that changes nothing.
* The high-availability assignor lets a copy warm up first, while the old client goes on. The task moves at a probing
  rebalance once at most `acceptable.recovery.lag` records are left, and pauses for these. At most
  `max.warmup.replicas` copies warm up at a time, so that several rounds of `probing.rebalance.interval.ms` may pass.

How fast a thread reads is configured, else observed (`metrics.restores`), else assumed: see `metrics.pauses`. A count
store of 300,000 small records in memory was restored at 150,000 records/s per thread; disks and quotas slow it down.

A thread reads the changelogs of all its tasks in turn, so one that is as large as another is there when that is:

    seconds of a task = sum over the thread's tasks of min(its records, the task's) / records a second

>>> import numpy as np
>>> shared(np.array([100.0, 300.0, 50.0]), np.array([0, 0, 1])).tolist()
[200.0, 400.0, 50.0]

What it does not do: know what a restarted instance finds on its disk (it is taken to find all), count compacted records
that are gone, or share a disk or network that is busy.

Source: KIP-441, KIP-869 (the thread that restores); `DefaultStateUpdater` of Kafka 4.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from ..model.arrays import NONE, Flags, Floats, Indices
from .compare import PlacementOutcome
from .live import Running
from .model import LAG_UNKNOWN, RUNNING


@dataclass(frozen=True, kw_only=True, eq=False)
class Restoring:
    """
    What a placement has to restore.

    Attributes:
        pauses: (N) whether a task moves before its stores are there.
        paused: (N) records that are read while nobody runs it, the last ones after a warm-up among them; nan unknown.
        seconds: (N) how long that takes; nan unknown.
        warms: (N) whether a copy warms up before the task moves to it.
        warmed: (N) records that it reads before; nan unknown.
        rounds: How many probing rebalances it takes until all tasks are where they are to be.
        settles_seconds: How long that is; nan unknown.
    """

    pauses: Flags
    paused: Floats
    seconds: Floats
    warms: Flags
    warmed: Floats
    rounds: int
    settles_seconds: float

    @property
    def longest(self) -> float:
        """Seconds for which a task pauses at most; nan unknown."""
        return float(self.seconds.max(initial=0.0))


def restoring(placed: PlacementOutcome) -> Restoring:
    """What a placement of a live application has to restore."""
    running, then = placed.application, placed.owner
    config, stateful = running.config, running.app.stateful
    per_second = config.restore_records_per_second
    first = then if placed.placement is None else placed.placement.active
    left = remaining(running)
    pauses = stateful & (first != running.owner) & (first != NONE)
    warms = stateful & (then != first) & (then != NONE) & (first != NONE)
    task = np.arange(len(then))
    paused, warmed = (
        np.where(chosen, left[task, client], 0.0)
        for chosen, client in ((pauses, first), (warms, then))
    )
    pauses &= paused != 0
    paused = paused + np.minimum(warmed, config.acceptable_recovery_lag)
    together = shared(warmed, placed.threads) / per_second
    rounds = ceil(int(warms.sum()) / config.max_warmup_replicas)
    each = config.probing_rebalance_interval_seconds
    longest = float(together.max(initial=0.0))
    settles = np.nan if np.isnan(longest) else max(rounds, ceil(longest / each)) * each
    return Restoring(
        pauses=pauses,
        paused=paused,
        seconds=shared(paused, placed.threads) / per_second,
        warms=warms,
        warmed=warmed,
        rounds=rounds,
        settles_seconds=settles,
    )


def remaining(running: Running) -> Floats:
    """(N, C) records that each client has to read until it has all of a task's stores; nan unknown."""
    app = running.app
    left = np.repeat(running.to_read[:, None], len(app.clients), axis=1)
    client = np.repeat(np.arange(len(app.clients)), np.diff(app.lag_start))
    lag = np.where(app.lag == RUNNING, 0.0, app.lag)
    known = np.fmin(lag, left[app.lag_task, client])
    left[app.lag_task, client] = np.where(app.lag == LAG_UNKNOWN, np.nan, known)
    return left


def shared(records: Floats, thread: Indices) -> Floats:
    """
    (N) how many records a thread has read, of all its tasks in turn, when it has read those of each.

    Args:
        records: (N) of each task; nan unknown, as are then all of its thread.
        thread: (N) who reads them, NONE for nobody.
    """
    read = np.zeros(len(records))
    for one in np.unique(thread[records != 0]).tolist():
        own = np.flatnonzero((thread == one) & (records != 0))
        read[own] = np.minimum(records[own][:, None], records[own]).sum(axis=1)
    return read
