"""Ports of the operation of the pipeline: step runs, health, locks; and named queries."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from ..records import IncidentRow, MemberMetrics, StepRun
from .alerts import Delivered, Incidents, Outbox, Posting
from .history import AdviceHistory, LedgerHistory, ResultHistory, SnapshotHistory
from .rollups import RollupHistory
from .silences import Silences


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldOutage:
    """
    A past outage of the history database.

    Attributes:
        incident: Its incident, with a key of its own.
        opened: The notification that was sent outside of the outbox.
        delivered: Location of that notification.
        ends: The notification of its end.
    """

    incident: IncidentRow
    opened: Posting
    delivered: Delivered
    ends: tuple[Posting, ...]


class StepRuns(Protocol):
    """Step runs."""

    def record_step(self, run: StepRun) -> None:
        """Record a run."""

    def note_missed(self, runs: Sequence[StepRun], outage: ToldOutage | None = None) -> bool:
        """
        Record runs of a past outage, atomically.

        Args:
            runs: The runs. outage: The outage, if it was notified: stores its incident, its notification as a sent
            alert, and that of its
                end as a pending one.

        Returns:
            False if an incident with that key exists; nothing is written then.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingStep:
    """
    A step whose last tries failed or were skipped: number of consecutive tries, start, and last error.

    *skipped*: the last try was skipped because the previous run was still active. *runs*: number of runs of the failed
    tries. *link*: URL of the last one.
    """

    step: str
    failures: int
    failing_since: datetime
    last_failed_at: datetime
    error: str | None
    skipped: bool = False
    runs: int = 1
    link: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """
    Health of the pipeline of a configured cluster.

    Attributes:
        cluster: Configured name of the cluster. watched_since: Time of the first step run; None if there is none.
        outage_until: End of the newest outage of all clusters; None if there was none. newest_snapshot_id: The newest
        snapshot; None if there is none. newest_finished_at: End of the newest snapshot. unwatched_since: End of the
        first snapshot after the last one whose groups were evaluated; None if there is none,
            or if groups were never evaluated.
        rejected_snapshot_id: The newest validated snapshot, if it was rejected.
        rejected_at: End of that snapshot.
        rejection: Reason of the rejection.
        partial_snapshots: Number of the newest consecutive partial snapshots.
        partial_since: End of the first of them.
        partial_problems: Read errors of the newest snapshot.
        whole_snapshots: Number of complete snapshots among the newest two.
        unadvised: Number of snapshots newer than the newest advice that should have advice.
        oldest_unadvised_id: The oldest of them.
        oldest_unadvised_at: End of that snapshot.
        run_seconds: Recent duration of a run until its advice was stored; None if there was none.
        gap_seconds: Recent interval between snapshots; None before the second.
        failing: Steps whose last run failed, longest first; a step of all clusters is listed with the first cluster.
        unsent: Number of pending alerts, without those about unsent alerts.
        oldest_unsent_at: Time when the oldest of them was created.
        unsent_channels: Their channels.
        unsent_error: Error of the last attempt at the oldest attempted one.
    """

    cluster: str
    watched_since: datetime | None = None
    outage_until: datetime | None = None
    newest_snapshot_id: str | None = None
    newest_finished_at: datetime | None = None
    unwatched_since: datetime | None = None
    rejected_snapshot_id: str | None = None
    rejected_at: datetime | None = None
    rejection: str | None = None
    partial_snapshots: int = 0
    partial_since: datetime | None = None
    partial_problems: tuple[str, ...] = ()
    whole_snapshots: int = 0
    unadvised: int = 0
    oldest_unadvised_id: str | None = None
    oldest_unadvised_at: datetime | None = None
    run_seconds: float | None = None
    gap_seconds: float | None = None
    failing: tuple[FailingStep, ...] = ()
    unsent: int = 0
    oldest_unsent_at: datetime | None = None
    unsent_channels: tuple[str, ...] = ()
    unsent_error: str | None = None


class PipelineHistory(Protocol):
    """Health of the pipeline of each cluster."""

    def cluster_facts(
        self, clusters: Sequence[str], now: datetime | None = None
    ) -> list[ClusterFacts]:
        """
        The health of these clusters, in their order; empty for an unknown one.

        Args:
            clusters: Configured names of clusters.
            now: Snapshots more than `CLOCKS_APART` after it are left out; None leaves out none.
        """


class Locks(Protocol):
    """Named locks."""

    def lock(self, key: str) -> AbstractContextManager[None]:
        """
        Hold a named lock, at most for the lifetime of this process.

        Raises:
            ClusterBusy: Another process holds it.
        """


class Queries(Protocol):
    """The named queries of `sql/queries`."""

    def query(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """
        The rows of a query, in a read-only transaction.

        Raises:
            InputError: The query is unknown, or a parameter is missing, unknown or of the wrong type.
        """

    def members_of_groups_with(self, member_ids: Sequence[str]) -> list[MemberMetrics]:
        """All members of the groups of these members, in the newest snapshots with metrics and with advice."""


class History(
    SnapshotHistory,
    ResultHistory,
    RollupHistory,
    AdviceHistory,
    LedgerHistory,
    StepRuns,
    PipelineHistory,
    Outbox,
    Incidents,
    Silences,
    Locks,
    Queries,
    Protocol,
):
    """All ports of the history database."""
