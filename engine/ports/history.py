"""
Ports of results in the history database: snapshots, results, advice.

Each method is one transaction. A retry replaces the rows of an earlier try, except advice, which is never rewritten.
HistoryUnreachable is raised if the database is unreachable, HistoryError for a write to an unknown snapshot.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from ..model.assignments import AdviceState, Move
from ..model.figures import Forecast, Score
from ..model.groups import Member
from ..model.tables import Table
from ..records import (
    AdviceCheck,
    AdviceColumns,
    AdviceDigest,
    AdviceRow,
    Course,
    GroupMetrics,
    LedgerRow,
)
from ..records.lifecycle import Claim, Uptake
from .lake import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingSnapshot:
    """A snapshot that should have advice and has none; *claimed_by* is the run that claimed it."""

    snapshot_id: str
    cluster: str
    started_at: datetime
    claimed_by: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LeftBehind:
    """A superseded snapshot that has no metrics yet, and whether it has been validated."""

    snapshot_id: str
    validated: bool


class SnapshotHistory(Protocol):
    """Snapshots."""

    def now(self) -> datetime:
        """The present by the clock of the history database."""

    def store_snapshot(self, manifest: Manifest, config_version: str | None = None) -> None:
        """
        Store a snapshot and its cluster; results of later steps are kept.

        Args:
            manifest: The manifest of the step `snapshot`.
            config_version: Hash of the configuration; None keeps the stored one.

        Raises:
            ClusterChanged: Another Kafka cluster id is stored under this name; nothing is written.
        """

    def missing_snapshots(self, snapshot_ids: Sequence[str]) -> list[str]:
        """The given snapshots that the history database doesn't have, in the given order."""

    def snapshots_without_advice(self, older_than: timedelta) -> list[WaitingSnapshot]:
        """Older snapshots without advice that are neither rejected nor superseded, oldest first."""

    def take_up(
        self, cluster: str, run: str, *, passed: Sequence[str] = (), again: str | None = None
    ) -> str | None:
        """
        Claim the newest waiting snapshot of a cluster for a run.

        It supersedes all older snapshots of the cluster without advice. A run always gets its own claim again.

        Args:
            cluster: Configured name of the cluster.
            run: Id of the run.
            passed: Excluded snapshots, which the run saw rejected.
            again: A snapshot that may be claimed from another, failed run.

        Returns:
            The snapshot id; None if none waits, or if another run has claimed the newest.
        """

    def take_up_by_hand(self, snapshot_id: str, run: str) -> None:
        """Claim exactly this snapshot for a run, regardless of other claims, unless it has advice."""

    def left_behind(self, snapshot_id: str, limit: int = 50) -> list[LeftBehind]:
        """Superseded snapshots without metrics of the day before a snapshot, newest first."""

    def expire(self, before: datetime) -> list[str]:
        """
        Delete rows from before a moment: snapshots with their rows, step runs, resolved incidents, delivered alerts.

        Returns:
            The ids of the deleted snapshots.
        """


class ResultHistory(Protocol):
    """Results of the steps of a snapshot; a repeated step replaces its results."""

    def store_validation(self, snapshot_id: str, stage: str, results: Table) -> None:
        """
        Replace the validation results of a stage, and store whether the snapshot is rejected.

        Args:
            snapshot_id: Id of the snapshot.
            stage: `snapshot`, `metrics` or `candidates`.
            results: Rows of `snapshots.VALIDATION` of this snapshot and stage.
        """

    def store_metrics(self, snapshot_id: str, tables: Mapping[str, Table]) -> None:
        """
        Replace the metrics of a snapshot: the tables of `snapshots.METRICS`.

        All partitions are stored for the newest snapshot of a cluster, the 20 worst of each group for older ones.
        """

    def store_candidates(self, snapshot_id: str, candidates: Table) -> None:
        """Replace the candidates of a snapshot: rows of `CandidateRow`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousAdvice:
    """State of the advice of a group before a snapshot; *course* is None without a state."""

    group_id: str
    course: Course | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvisedSnapshot:
    """
    A snapshot whose advice is notified.

    Attributes:
        snapshot_id: The snapshot.
        cluster: Its cluster.
        started_at: Start of the snapshot.
        finished_at: End of the snapshot.
        partial: Whether it has read errors.
        problems: Its read errors.
        newest_advised_id: The newest snapshot of the cluster with advice; None without one.
        newest_started_at: Start of the newest snapshot of the cluster, with or without advice.
        verdicts: Number of groups by verdict.
    """

    snapshot_id: str
    cluster: str
    started_at: datetime
    finished_at: datetime
    partial: bool
    problems: Sequence[str]
    newest_advised_id: str | None
    newest_started_at: datetime
    verdicts: Mapping[str, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredAdvice(AdviceColumns):
    """
    The advice of a group with its scores.

    Attributes:
        live: Score of the current assignment; None if not scored or deleted.
        proposed: Score of the advised strategy; None if not scored or deleted.
        metrics: Metrics of the group; None if deleted.
        running: By strategy, whether the group runs it; None if unknown.
        members: Members by id, for a group with the advice to switch; otherwise empty.
        notes: Notes about both assignments, each once.
        live_forecast: Forecast with the current assignment; None if unknown.
        forecast: Forecast with the advised strategy; None if unknown.
        checks: Due forecast checks of the last adopted advice.
    """

    live: Score | None
    proposed: Score | None
    metrics: GroupMetrics | None
    running: Mapping[str, bool | None]
    members: tuple[Member, ...] = ()
    notes: tuple[str, ...] = ()
    live_forecast: Forecast | None = None
    forecast: Forecast | None = None
    checks: tuple[AdviceCheck, ...] = ()

    @property
    def claim(self) -> Claim | None:
        """Since when the strategy would help, and how much speaks for that."""
        claims = self.course.claims if self.course else ()
        return next((one for one in claims if one.strategy == self.strategy), None)

    @property
    def uptake(self) -> Uptake | None:
        """The last adopted strategy."""
        return self.course.uptakes[-1] if self.course and self.course.uptakes else None


class AdviceHistory(Protocol):
    """Advice, append-only."""

    def store_advice(self, snapshot_id: str, rows: Sequence[AdviceRow]) -> bool:
        """
        Add the advice of a snapshot with moves, events and checks; it has no rows if the snapshot has no groups.

        A database adds its row of the ledger in the same transaction.

        Returns:
            False if the snapshot has advice already, which is kept.
        """

    def thin(self, cluster: str, detail_hours: float) -> None:
        """
        Delete details of older snapshots of a cluster; samples and changes are kept.

        Args:
            cluster: Configured name of the cluster.
            detail_hours: Hours before the newest snapshot in which all snapshots keep all metrics and advice.
        """

    def previous_advice(self, snapshot_id: str) -> list[PreviousAdvice]:
        """
        The newest advice before this snapshot, which may be unknown, by group.

        Includes groups with advice in the newest advised snapshot before it, or the newest complete one, and groups
        with metrics in this snapshot.
        """

    def advised_snapshot(self, snapshot_id: str) -> AdvisedSnapshot | None:
        """The snapshot and the age of its advice; None if the snapshot is unknown."""

    def advice_with_scores(
        self, snapshot_id: str, states: Collection[AdviceState] | None = None
    ) -> list[ScoredAdvice]:
        """The advice of a snapshot with its scores, by group: in these states, or (None) all of it."""

    def first_moves(self, advice_ids: Sequence[int], most: int) -> dict[int, list[Move]]:
        """A limited number of moves of each advice, by topic and partition; advice without moves has no entry."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerEntry:
    """
    A row of the ledger beside the advice that is stored now.

    Attributes:
        written: The row; None if the ledger lacks the snapshot.
        found: The stored advice; None if the snapshot is deleted.
        is_thinned: Whether repeated advice of the snapshot is deleted.
    """

    written: LedgerRow | None
    found: AdviceDigest | None
    is_thinned: bool


class LedgerHistory(Protocol):
    """The ledger."""

    def ledger(self, cluster: str | None = None) -> list[LedgerEntry]:
        """The rows of the ledger beside the stored advice, by cluster and number; snapshots that it lacks come last."""
