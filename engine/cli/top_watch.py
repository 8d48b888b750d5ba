"""Snapshots for `evenkeel top`, one after another, with what is known of their groups."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..model.tables import Table
from ..pipeline.measure import compute_metrics, record_metrics
from .command_end import explain
from .lag_rows import partition_rows
from .sources import SHORTEST, SnapshotSource, newer, problems, select
from .views.lag import furthest_behind

PATIENCE = 2.0
"""Seconds that the end waits for a snapshot that is under way."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Seen:
    """
    The newest snapshot, whole: the lake may have dropped it by the time that it is looked at.

    Attributes:
        source: Where it is.
        groups: Rows of `group_metrics`, in the order of `evenkeel lag`.
        members: Table of `member_metrics`.
        partitions: Rows of `partition_rows`.
        problems: What could not be read, one line each, without groups.
        snapshots: Number of snapshots that its metrics are from, itself included.
    """

    source: SnapshotSource
    groups: Sequence[Mapping[str, Any]]
    members: Table
    partitions: Sequence[Mapping[str, Any]]
    problems: Sequence[str]
    snapshots: int


def see(source: SnapshotSource, pattern: str) -> Seen:
    """
    Measure the newest snapshot of a source.

    Metrics of a live cluster stay in memory, so that the next snapshot knows the commit intervals.

    Args:
        source: Where it is.
        pattern: Shell pattern of group ids.

    Raises:
        NothingFound: No group matches.
    """
    chosen = select(source, pattern)
    metrics = compute_metrics(source.lake, source.settings, source.newest, chosen)
    if source.is_live:
        record_metrics(source.lake, source.newest, metrics, chosen)
    groups = sorted(metrics["group_metrics"].to_pylist(), key=furthest_behind)
    return Seen(
        source=source,
        groups=groups,
        members=metrics["member_metrics"],
        partitions=partition_rows(source, groups, metrics["partition_metrics"]),
        problems=problems(source),
        snapshots=len(source.ids(source.settings.lookback + 1)),
    )


class Watch:
    """
    Looks for a new snapshot again and again, on a thread of its own; use it as a context.

    Attributes:
        seen: The newest snapshot that could be read.
        failure: Why a later one could not be read; None without one.
    """

    def __init__(self, first: Seen, pattern: str, every: float) -> None:
        """
        Args:
            first: The first snapshot.
            pattern: Shell pattern of group ids.
            every: Seconds from the start of one to the start of the next, `SHORTEST` at least.
        """
        self.seen = first
        self.failure: str | None = None
        self._pattern, self.every = pattern, max(every, SHORTEST)
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="top", daemon=True)

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join(PATIENCE)

    def look(self) -> None:
        """Look for a new snapshot once."""
        try:
            now = self.seen.source
            # metrics look back on so many
            source = newer(now, now.settings.lookback + 1)
            if source.newest != now.newest:
                self.seen = see(source, self._pattern)
            self.failure = None
        except Exception as problem:  # noqa: BLE001 the next one may be read
            self.failure = explain(problem)[0].removeprefix("evenkeel: ")

    def _run(self) -> None:
        due = time.monotonic() + self.every
        while not self._ended.wait(max(due - time.monotonic(), 0)):
            self.look()
            due = max(due + self.every, time.monotonic())
