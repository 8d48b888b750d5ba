"""How the pipeline itself runs: its steps, its locks, what it says about itself; and the user's questions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from evenkeel.engine.ports.alerts import Incidents, Outbox
from evenkeel.engine.ports.history import AdviceHistory, ResultHistory, SnapshotHistory
from evenkeel.engine.records import MemberMetrics, StepRun


class StepRuns(Protocol):
    """How the runs of steps ended."""

    def record_step(self, run: StepRun) -> None:
        """Note one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingStep:
    """
    A step whose last runs failed or were skipped: how many in a row, since when, and what the last one said.

    *skipped*: the last one was not begun, because the run before was still at it; the cluster may be well.
    """

    step: str
    failures: int
    failing_since: datetime
    last_failed_at: datetime
    error: str | None
    skipped: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """
    How the pipeline of one configured cluster fares.

    Attributes:
        cluster: Configured name of the cluster.
        watched_since: The first trace of this pipeline; None when there is none yet.
        newest_snapshot_id: None when the cluster was never read.
        newest_finished_at: When its reading ended.
        rejected_snapshot_id: The newest snapshot validation has looked at, if it rejected it.
        rejected_at: When its reading ended.
        rejection: Why it was rejected.
        unadvised: Snapshots newer than the newest advice that should have some.
        oldest_unadvised_id: The oldest of them.
        oldest_unadvised_at: When its reading ended.
        run_seconds: How long a run of late took to store its advice; None where none did.
        gap_seconds: How often a snapshot came of late; None before the second.
        failing: Steps whose last run failed, longest first; one that serves all clusters stands with the first.
        unsent: Alerts that are still pending, but for those about unsent alerts.
        oldest_unsent_at: When the oldest of them was made.
        unsent_channels: Where they should go.
        unsent_error: What the last attempt at the oldest that was attempted said.
    """

    cluster: str
    watched_since: datetime | None = None
    newest_snapshot_id: str | None = None
    newest_finished_at: datetime | None = None
    rejected_snapshot_id: str | None = None
    rejected_at: datetime | None = None
    rejection: str | None = None
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
    """How the pipeline of each cluster fares."""

    def cluster_facts(self, clusters: Sequence[str]) -> list[ClusterFacts]:
        """The facts of these clusters, in their order; of one the history has never heard of, empty ones."""


class Locks(Protocol):
    """What only one process may do at a time."""

    def lock(self, key: str) -> AbstractContextManager[None]:
        """
        Hold the lock of a name, for as long as this process lives.

        Raises:
            ClusterBusy: Somebody else holds it.
        """


class Queries(Protocol):
    """The user's questions: the named queries of `sql/queries`."""

    def query(self, name: str, **parameters: Any) -> list[dict[str, Any]]:
        """
        The rows of a query, in a transaction that cannot write.

        Raises:
            InputError: There is no query of that name, or a parameter is missing, unknown or not of its type.
        """

    def members_of_groups_with(self, member_ids: Sequence[str]) -> list[MemberMetrics]:
        """All members of the groups that one of these is in, in the newest measured and newest advised snapshots."""


class History(
    SnapshotHistory,
    ResultHistory,
    AdviceHistory,
    StepRuns,
    PipelineHistory,
    Outbox,
    Incidents,
    Locks,
    Queries,
    Protocol,
):
    """All that is asked of the history in Postgres."""
