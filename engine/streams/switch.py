"""
Whether racks may play a part in placing tasks, and if not, why, with the names.

One missing rack anywhere switches them off: of a client, of a broker that holds a source partition,
and where standbys are configured of one that holds a changelog partition. Unknown replicas count as
a missing rack. Source: `RackAwareTaskAssignor` of Kafka 4.3, which writes an error to its log;
KIP-925, section 6, asks for a warning. Its rule that equal costs everywhere switch them off too was
never built in Kafka: `nothing_to_gain` (evenkeel.engine.streams.traffic) tells it here.
"""

from __future__ import annotations

import numpy as np

from evenkeel.engine.model import NONE, Flags, Indices
from evenkeel.engine.streams.model import Application
from evenkeel.engine.streams.settings import RackStrategy, TaskConfig
from evenkeel.engine.text import named

EQUAL_COSTS = "every task costs the same on every client: racks have nothing to gain"


def racks_off(app: Application, config: TaskConfig) -> str | None:
    """
    Why racks cannot play a part, in words; None when they can.

    >>> from evenkeel.engine.streams.model import ClientLine, TaskLine, application
    >>> app = application(
    ...     [TaskLine(id="0_0", sources=[("t", 0)])],
    ...     [ClientLine(process_id="00000000-0000-0000-0000-000000000001", rack="a")],
    ...     {("t", 0): ["a", None]},
    ... )
    >>> racks_off(app, TaskConfig(strategy=RackStrategy.MIN_TRAFFIC))
    '1 source partition (t-0) lies on a broker without rack'
    """
    if config.strategy is RackStrategy.NONE:
        return "the strategy is none"
    bare = np.flatnonzero(app.client_rack == NONE).tolist()
    if bare:
        names = [app.clients[c] for c in bare]
        return (
            f"{named(names, 'client', 'has', 'have')} no rack, or one that its members disagree on"
        )
    reason = _data_off(app, app.source, "source")
    if reason is None and config.num_standby_replicas:
        reason = _data_off(app, app.changelog, "changelog")
    return reason


def _data_off(app: Application, used: Indices, kind: str) -> str | None:
    """Why the racks of these partitions do not do."""
    read = np.zeros(len(app.partitions), np.bool_)
    read[used] = True
    replicas = np.diff(app.replica_start)
    unknown = _names(app, read & (replicas == 0))
    if unknown:
        return f"{named(unknown, f'{kind} partition', 'has', 'have')} no known replicas"
    row = np.repeat(np.arange(len(app.partitions)), replicas)
    rackless = np.zeros(len(app.partitions), np.bool_)
    rackless[row[app.replica_rack == NONE]] = True
    bare = _names(app, read & rackless)
    if bare:
        return f"{named(bare, f'{kind} partition', 'lies', 'lie')} on a broker without rack"
    return None


def _names(app: Application, marked: Flags) -> list[str]:
    return [f"{t}-{p}" for t, p in (app.partitions[i] for i in np.flatnonzero(marked).tolist())]
