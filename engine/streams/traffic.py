"""
Cross-rack partitions: how many partitions of a task have no replica in a rack.

A client reads from the nearest replica, so what a task costs depends on its client's rack alone:
tasks x racks say it all, and tasks x clients are never written out. Source: KIP-925, KIP-881.
"""

from __future__ import annotations

import numpy as np

from ..model.arrays import NONE, Indices, Ints
from .model import Application


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
