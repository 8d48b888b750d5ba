"""How the pipeline itself runs: its steps, its locks, what it says about itself; and the user's questions."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol

from ..records import IncidentRow, MemberMetrics, StepRun
from .alerts import Delivered, Incidents, Outbox, Posting
from .history import AdviceHistory, ResultHistory, SnapshotHistory
from .rollups import RollupHistory
from .silences import Silences


@dataclass(frozen=True, slots=True, kw_only=True)
class ToldOutage:
    """
    Something that kept the history from being written, and is over.

    Attributes:
        incident: What it was, with its own key.
        opened: What was told of it, outside of the outbox.
        delivered: Where that went.
        ends: What is to be told of its end.
    """

    incident: IncidentRow
    opened: Posting
    delivered: Delivered
    ends: tuple[Posting, ...]


class StepRuns(Protocol):
    """How the runs of steps ended."""

    def record_step(self, run: StepRun) -> None:
        """Note one."""

    def note_missed(self, runs: Sequence[StepRun], outage: ToldOutage | None = None) -> bool:
        """
        Note runs that could not be noted when they ended, and why: all of it or nothing.

        Args:
            runs: The runs.
            outage: What kept them from being noted, if people heard of it: its incident is written, what was told is an
                alert that was sent, and its end one that waits.

        Returns:
            False when an incident of that key is there already; nothing is written then.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class FailingStep:
    """
    A step whose last tries failed or were skipped: how many in a row, since when, and what the last one said.

    *skipped*: the last one was not begun, because the run before was still at it; the cluster may be well. *runs*: to
    how many runs the failed tries belong. *link*: the address of the last one.
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
    How the pipeline of one configured cluster fares.

    Attributes:
        cluster: Configured name of the cluster.
        watched_since: The first trace of this pipeline; None when there is none yet.
        outage_until: When the newest outage of all clusters was over; None: there was none.
        newest_snapshot_id: None when the cluster was never read.
        newest_finished_at: When its reading ended.
        unwatched_since: When the reading of the first one ended after that of which the groups were watched last;
            None: there is none, or they never were.
        rejected_snapshot_id: The newest snapshot validation has looked at, if it rejected it.
        rejected_at: When its reading ended.
        rejection: Why it was rejected.
        partial_snapshots: How many of the newest snapshots in a row are partial.
        partial_since: When the reading of the first of them ended.
        partial_problems: What the newest one could not read; nothing where it is whole.
        whole_snapshots: How many of the newest two are whole.
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
    RollupHistory,
    AdviceHistory,
    StepRuns,
    PipelineHistory,
    Outbox,
    Incidents,
    Silences,
    Locks,
    Queries,
    Protocol,
):
    """All that is asked of the history in Postgres."""
