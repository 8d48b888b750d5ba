"""
How many partitions of a task have no replica in a rack; and why racks may play no part, with names: a reason as a fact.

A client reads from the nearest replica, so what a task costs depends on its client's rack alone:
tasks x racks say it all, and tasks x clients are never written out. Source: KIP-925, KIP-881.

One missing rack anywhere switches racks off: of a client, of a broker that holds a source partition,
and where standbys are configured of one that holds a changelog partition. Unknown replicas count as
a missing rack. Source: `RackAwareTaskAssignor` of Kafka 4.3, which writes an error to its log;
KIP-925, section 6, asks for a warning. Its rule that equal costs everywhere switch them off too was
never built in Kafka: `nothing_to_gain` tells it here.
"""

from __future__ import annotations

import numpy as np

from ..model.arrays import NONE, Flags, Indices, Ints
from ..model.facts import Fact, reason
from .model import Application
from .settings import RackStrategy, TaskConfig


def cross_rack(app: Application, start: Ints, partition: Indices) -> Ints:
    """
    (N, racks) partitions of each task that no replica brings into each rack.

    Args:
        app: The application.
        start: (N + 1) where each task's partitions begin: `app.source_start` or `app.changelog_start`.
        partition: `app.source` or `app.changelog`.

    >>> from evenkeel.engine.streams.model import TaskLine, application
    >>> lines = [TaskLine(id="0_0", sources=[("t", 0), ("u", 0)])]
    >>> app = application(lines, [], {("t", 0): ["a", "b"], ("u", 0): ["b"]})
    >>> app.racks, cross_rack(app, app.source_start, app.source).tolist()
    (('a', 'b'), [[1, 0]])
    """
    here = np.zeros((len(app.partitions), len(app.racks)), np.bool_)
    row = np.repeat(np.arange(len(app.partitions)), np.diff(app.replica_start))
    known = app.replica_rack != NONE
    here[row[known], app.replica_rack[known]] = True
    missing = np.zeros((len(partition) + 1, len(app.racks)), np.int64)
    np.cumsum(~here[partition], axis=0, out=missing[1:])
    counted: Ints = missing[start[1:]] - missing[start[:-1]]
    return counted


def nothing_to_gain(app: Application, cross: Ints) -> bool:
    """
    Whether every task costs the same on every client, so that racks cannot tell clients apart.

    Args:
        app: The application; every client's rack must be known.
        cross: Of `cross_rack`.
    """
    used = cross[:, np.unique(app.client_rack)]
    return bool((used == used[:, :1]).all())


EQUAL_COSTS = "equal_costs"
"""The measure of the fact that every task costs the same on every client."""


def racks_off(app: Application, config: TaskConfig) -> Fact | None:
    """
    Why racks cannot play a part; None when they can.

    >>> from evenkeel.engine.streams.model import ClientLine, TaskLine, application
    >>> app = application(
    ...     [TaskLine(id="0_0", sources=[("t", 0)])],
    ...     [ClientLine(process_id="00000000-0000-0000-0000-000000000001", rack="a")],
    ...     {("t", 0): ["a", None]},
    ... )
    >>> off = racks_off(app, TaskConfig(strategy=RackStrategy.MIN_TRAFFIC))
    >>> off.measure, off.subjects
    ('source_brokers_without_rack', ('t-0',))
    """
    if config.strategy is RackStrategy.NONE:
        return reason("strategy_none")
    bare = np.flatnonzero(app.client_rack == NONE).tolist()
    if bare:
        return reason("clients_without_rack", [app.clients[c] for c in bare])
    off = _data_off(app, app.source, "source")
    if off is None and config.num_standby_replicas:
        off = _data_off(app, app.changelog, "changelog")
    return off


def _data_off(app: Application, used: Indices, kind: str) -> Fact | None:
    """Why the racks of these partitions do not do."""
    read = np.zeros(len(app.partitions), np.bool_)
    read[used] = True
    replicas = np.diff(app.replica_start)
    unknown = _names(app, read & (replicas == 0))
    if unknown:
        return reason(f"{kind}_replicas_unknown", unknown, partitions=len(unknown))
    row = np.repeat(np.arange(len(app.partitions)), replicas)
    rackless = np.zeros(len(app.partitions), np.bool_)
    rackless[row[app.replica_rack == NONE]] = True
    bare = _names(app, read & rackless)
    if bare:
        return reason(f"{kind}_brokers_without_rack", bare, partitions=len(bare))
    return None


def _names(app: Application, marked: Flags) -> list[str]:
    return [f"{t}-{p}" for t, p in (app.partitions[i] for i in np.flatnonzero(marked).tolist())]
