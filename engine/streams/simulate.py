"""
Rebalance after rebalance, until nothing is on its way.

As long as copies warm up, Kafka probes: it rebalances again. Between two rebalances every client
restores what it was given, and afterwards it reports its lags anew. That this ends is a promise of
KIP-925 (section 4, constraint 3) and of KIP-441, not a matter of course: each round could undo the
one before. Source: `TaskAssignorConvergenceTest` of Kafka, whose bound is twice the number of
stateful tasks and their standbys.

What it does not do: nobody joins, leaves or writes in between, and a store that is given up is gone.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..model.arrays import Indices, Ints
from .model import LAG_UNKNOWN, Application, Placement, holding
from .place import place
from .settings import TaskConfig


@dataclass(frozen=True, kw_only=True, eq=False)
class Convergence:
    """
    Where repeated rebalances end.

    Attributes:
        placement: The last one.
        rounds: How many there were, the last one included.
        settled: Whether nothing is on its way any more; otherwise the limit came first.
        warming: How many copies warmed up after each round.
    """

    placement: Placement
    rounds: int
    settled: bool
    warming: tuple[int, ...]


def bound(app: Application, config: TaskConfig) -> int:
    """Rebalances within which Kafka's own test wants an end: twice the stateful tasks and standbys, at least 1."""
    return max(1, 2 * int(app.stateful.sum()) * (1 + config.num_standby_replicas))


def converge(
    app: Application, config: TaskConfig, limit: int | None = None, restored: int | None = None
) -> Convergence:
    """
    Place tasks again and again, each time from where the last placement led.

    Args:
        app: The application as it is.
        config: Its settings.
        limit: At most so many rebalances; `bound` if left out.
        restored: Offsets a copy catches up between two rebalances; all of them if left out.

    Raises:
        Infeasible: There are tasks and no clients.
    """
    limit = bound(app, config) if limit is None else limit
    warming: list[int] = []
    while True:
        placement = place(app, config)
        warming.append(len(placement.warmup))
        if not placement.probing or len(warming) >= limit:
            return Convergence(
                placement=placement,
                rounds=len(warming),
                settled=not placement.probing,
                warming=tuple(warming),
            )
        app = after(app, placement, restored)


def after(app: Application, placement: Placement, restored: int | None = None) -> Application:
    """
    The application once every client runs and restores what *placement* gave it.

    Args:
        app: The application as it was.
        placement: What its clients were given.
        restored: As for `converge`.
    """

    def behind(client: Indices, task: Ints) -> Ints:
        return np.maximum(_lags(app, client, task) - (restored or 0), 0)

    return holding(
        app,
        placement.active,
        placement.standby_start,
        placement.standby,
        None if restored is None else behind,
    )


def _lags(app: Application, client: Indices, task: Ints) -> Ints:
    """What is left to restore of each task on each client, pair by pair."""
    reported: dict[tuple[int, int], int] = {}
    by = np.repeat(np.arange(len(app.clients)), np.diff(app.lag_start)).tolist()
    for c, t, lag in zip(by, app.lag_task.tolist(), app.lag.tolist(), strict=True):
        if lag != LAG_UNKNOWN:
            reported[c, t] = max(lag, 0)
    size = app.log_size.tolist()
    pairs = zip(client.tolist(), task.tolist(), strict=True)
    return np.array([reported.get((c, t), size[t]) for c, t in pairs], np.int64)
