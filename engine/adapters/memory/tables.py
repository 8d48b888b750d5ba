"""What the history holds, in memory; who made it may look at it and put things into it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from ...model.errors import HistoryError, HistoryUnreachable
from ...model.groups import WatchOf
from ...model.moments import utc_now
from ...model.tables import Table
from ...ports import CLOCKS_APART, IncidentWatch, Manifest
from ...records import AdviceRow, AlertRow, IncidentRow, SilenceRow, StepRun, ValidationRow


@dataclass
class StoredSnapshot:
    """A snapshot and what the steps noted about it."""

    manifest: Manifest
    config_version: str | None = None
    rejected: bool | None = None
    advised: bool = False
    claimed_by: str | None = None
    superseded_by: str | None = None
    validated: bool = False
    measured: bool = False

    @property
    def snapshot_id(self) -> str:
        """Its id."""
        return self.manifest.snapshot_id

    @property
    def cluster(self) -> str:
        """Its cluster."""
        return self.manifest.cluster

    @property
    def started_at(self) -> datetime:
        """When its reading began."""
        return datetime.fromisoformat(self.manifest.facts["started_at"])

    @property
    def finished_at(self) -> datetime:
        """When its reading ended."""
        return datetime.fromisoformat(self.manifest.facts["finished_at"])

    @property
    def age(self) -> tuple[datetime, str]:
        """What orders the snapshots of a cluster."""
        return (self.started_at, self.snapshot_id)


@dataclass
class Tables:
    """
    The rows, by their keys.

    *clusters* holds Kafka's ids, *advice* is by snapshot and group, *alerts* are in the order of their numbers, *held*
    has the numbers of the alerts that are being delivered.
    """

    clusters: dict[str, str | None] = field(default_factory=dict)
    snapshots: dict[str, StoredSnapshot] = field(default_factory=dict)
    validation: dict[tuple[str, str], list[ValidationRow]] = field(default_factory=dict)
    metrics: dict[str, Mapping[str, Table]] = field(default_factory=dict)
    candidates: dict[str, Table] = field(default_factory=dict)
    advice: dict[str, dict[str, AdviceRow]] = field(default_factory=dict)
    alerts: list[AlertRow] = field(default_factory=list)
    held: set[int | None] = field(default_factory=set)
    incidents: list[IncidentRow] = field(default_factory=list)
    watches: dict[tuple[str, WatchOf], IncidentWatch] = field(default_factory=dict)
    silences: list[SilenceRow] = field(default_factory=list)
    steps: list[StepRun] = field(default_factory=list)
    locks: set[str] = field(default_factory=set)

    def of_cluster(self, cluster: str) -> list[StoredSnapshot]:
        """The snapshots of a cluster, oldest first."""
        own = (s for s in self.snapshots.values() if s.cluster == cluster)
        return sorted(own, key=lambda s: s.age)


class Memory:
    """A history in memory; while it is *down*, every use of it fails."""

    def __init__(self, clock: Callable[[], datetime] = utc_now) -> None:
        self.down = False
        self._one_at_a_time = threading.RLock()
        self._clock = clock
        self._tables = Tables()

    @property
    def tables(self) -> Tables:
        """The rows."""
        if self.down:
            raise HistoryUnreachable("no answer from db.")
        return self._tables

    def _known(self, snapshot_id: str) -> StoredSnapshot:
        if snapshot_id not in self.tables.snapshots:
            raise HistoryError(
                f"the history database has no snapshot {snapshot_id}.",
                fix="Run `validate_snapshot` for it again, which stores it from the lake.",
            )
        return self.tables.snapshots[snapshot_id]

    def _has_come(self, one: StoredSnapshot) -> bool:
        """Whether it is not from the future, by a clock that was ahead."""
        return one.started_at <= self._clock() + CLOCKS_APART

    def _counts_for(self, one: StoredSnapshot, other: StoredSnapshot) -> bool:
        """Whether another snapshot may be newer than this: one from the future only than one of its own kind."""
        return self._has_come(other) or not self._has_come(one)
