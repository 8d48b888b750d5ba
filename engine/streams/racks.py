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
from ..model.facts import Fact, finding, reason
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

CLIENTS_WITHOUT_RACK = "clients_without_rack"
"""The measure of the fact that clients send no `client.rack`: one is enough to switch racks off for all of them."""


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
    off = clients_off(app)
    replicas, racked = np.diff(app.replica_start), racked_replicas(app)
    used = {"source": app.source}
    if config.num_standby_replicas:
        used["changelog"] = app.changelog
    for kind, partitions in used.items():
        off = off or partitions_off(app, partitions, replicas == 0, f"{kind}_replicas_unknown")
        rackless = racked < replicas
        off = off or partitions_off(app, partitions, rackless, f"{kind}_brokers_without_rack")
    return off


def clients_off(app: Application) -> Fact | None:
    """That clients without rack leave racks out; None when there are none."""
    bare = np.flatnonzero(app.client_rack == NONE).tolist()
    return reason(CLIENTS_WITHOUT_RACK, [app.names[c] for c in bare]) if bare else None


def racks_switched_off(
    app: Application, configured: RackStrategy | None, *, kip_1071: bool = False
) -> Fact | None:
    """
    That some clients send no `client.rack`, and so switch racks off for all of them; None when none does, or nobody is
    said to want racks: the strategy is `none`, or no client sends one and no strategy is configured. A broker that
    assigns tasks looks at no rack (KIP-1071).

    >>> from evenkeel.engine.streams.model import ClientLine, application
    >>> clients = [ClientLine(process_id=f"00000000-0000-0000-0000-00000000000{n}") for n in range(2)]
    >>> racks_switched_off(application([], clients), None)
    >>> off = racks_switched_off(application([], clients), RackStrategy.MIN_TRAFFIC)
    >>> off.measure, off.after, off.bound
    ('racks_switched_off', 2, 2)

    Source: KIP-925, section 6.
    """
    bare = np.flatnonzero(app.client_rack == NONE).tolist()
    nobody = configured is None and len(bare) == len(app.clients)
    if not bare or nobody or kip_1071 or configured is RackStrategy.NONE:
        return None
    names, every = [app.names[c] for c in bare], len(app.clients)
    return finding("racks_switched_off", names, after=len(bare), bound=every)


def racked_replicas(app: Application) -> Ints:
    """(P) how many replicas of each partition are on brokers with a rack."""
    row = np.repeat(np.arange(len(app.partitions)), np.diff(app.replica_start))
    return np.bincount(row[app.replica_rack != NONE], minlength=len(app.partitions))


def partitions_off(app: Application, used: Indices, lacking: Flags, measure: str) -> Fact | None:
    """That some of the partitions *used* are *lacking* (P) what racks take; None when none is."""
    lacks = [app.partitions[p] for p in np.unique(used).tolist() if lacking[p]]
    names = [f"{topic}-{number}" for topic, number in lacks]
    return reason(measure, names, partitions=len(names)) if names else None
