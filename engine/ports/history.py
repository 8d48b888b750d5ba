"""
What the steps leave in the history and read back: snapshots, results, advice.

Each method is one transaction; writing what an earlier try has written replaces it, but for advice, which is never
rewritten. Whatever cannot be reached raises HistoryUnreachable; a write for a snapshot that the history does not know
raises HistoryError.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

import pyarrow as pa

from ..model.assignments import Move
from ..model.figures import Forecast, Score
from ..model.groups import Member
from ..records import AdviceCheck, AdviceColumns, AdviceRow, Course, GroupMetrics
from ..records.lifecycle import Uptake
from .lake import Manifest


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingSnapshot:
    """A snapshot that should have advice and has none; *claimed_by* is the run that began to work on it."""

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
    """Which snapshots there are."""

    def store_snapshot(self, manifest: Manifest, config_version: str | None = None) -> None:
        """
        Note a snapshot and its cluster; what later steps have noted about it stays.

        Args:
            manifest: That of the step `snapshot`.
            config_version: Hash of the configuration; None leaves the one that is stored.

        Raises:
            ClusterChanged: Another Kafka cluster id is stored under this name; nothing is written.
        """

    def missing_snapshots(self, snapshot_ids: Sequence[str]) -> list[str]:
        """Those of these snapshots that the history does not have, in the order given."""

    def snapshots_without_advice(self, older_than: timedelta) -> list[WaitingSnapshot]:
        """Snapshots written longer ago than that, neither rejected nor superseded, without advice; oldest first."""

    def take_up(
        self, cluster: str, run: str, *, passed: Sequence[str] = (), again: str | None = None
    ) -> str | None:
        """
        Take up, for a run, the newest snapshot of a cluster that waits for advice.

        Whatever else of the cluster has no advice and is older is then superseded by it. A run that has taken up a
        snapshot before gets the same again, whatever has become of it.

        Args:
            cluster: Configured name of the cluster.
            run: Id of the run.
            passed: Snapshots it saw rejected and does not want again.
            again: A snapshot that it may take from another run, which has failed.

        Returns:
            The snapshot id; None when nothing waits, or another run works on the newest.
        """

    def take_up_by_hand(self, snapshot_id: str, run: str) -> None:
        """Note that a run works on exactly this snapshot, whoever else did; one with advice stays as it is."""

    def left_behind(self, snapshot_id: str, limit: int = 50) -> list[LeftBehind]:
        """Overtaken snapshots without metrics of the day before a snapshot, newest first."""

    def expire(self, before: datetime) -> list[str]:
        """
        Forget what began before a moment: snapshots with all that belongs to them, runs of steps, incidents that are
        over, alerts that no longer wait.

        Returns:
            The ids of the snapshots that went.
        """


class ResultHistory(Protocol):
    """What the steps found in a snapshot; found again, it replaces what was found before."""

    def store_validation(self, snapshot_id: str, stage: str, results: pa.Table) -> None:
        """
        Replace what one stage found, and note the verdict.

        Args:
            snapshot_id: Of which snapshot.
            stage: `snapshot`, `metrics` or `candidates`.
            results: Rows of `snapshots.VALIDATION`; that they are of this snapshot and stage is taken as given.
        """

    def store_metrics(self, snapshot_id: str, tables: Mapping[str, pa.Table]) -> None:
        """
        Replace the metrics of a snapshot: the tables of `snapshots.METRICS`.

        Each group's 20 worst partitions are kept, and all of them while the snapshot is its cluster's newest.
        """

    def store_candidates(self, snapshot_id: str, candidates: pa.Table) -> None:
        """Replace the candidates of a snapshot: rows of `CandidateColumns`, their moves are for the lake."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PreviousAdvice:
    """How far the advice of a group had come before a snapshot; *course* is None where there is nothing to remember."""

    group_id: str
    course: Course | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AdvisedSnapshot:
    """
    A snapshot whose advice is to be told.

    Attributes:
        snapshot_id: The snapshot.
        cluster: Its cluster.
        started_at: When its reading began.
        finished_at: When its reading ended.
        partial: Whether something could not be read.
        problems: What that was.
        newest_advised_id: The newest snapshot of the cluster that has advice; None while there is none.
        newest_started_at: When the newest snapshot of the cluster was begun, with or without advice.
    """

    snapshot_id: str
    cluster: str
    started_at: datetime
    finished_at: datetime
    partial: bool
    problems: Sequence[str]
    newest_advised_id: str | None
    newest_started_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredAdvice(AdviceColumns):
    """
    The advice of a group and what it rests on.

    Attributes:
        seen_since: When the first of the `seen` consecutive snapshots began in which the strategy won; None if none.
        live: What the group had; None when that was not scored or is gone.
        proposed: What the advised strategy would give it; None likewise.
        metrics: The group's metrics; None when they are gone.
        running: By strategy, whether the group runs it; None where that is not known.
        members: Of a group that is advised to switch, its members by id; none elsewhere.
        notes: What is to be said of both assignments beside their scores, each once.
        live_forecast: What becomes of the group as it is; None unknown.
        forecast: What becomes of it with the advised strategy; None likewise.
        checks: What came of the promises of what it took up last, as far as they have come due.
    """

    seen_since: datetime | None
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
    def uptake(self) -> Uptake | None:
        """What the group took up last."""
        return self.course.uptakes[-1] if self.course and self.course.uptakes else None


class AdviceHistory(Protocol):
    """What was advised. It is added to and never rewritten."""

    def store_advice(self, snapshot_id: str, rows: Sequence[AdviceRow]) -> bool:
        """
        Add the advice of a snapshot with its moves, events and checks; no rows are an advice too, that of a snapshot
        without groups.

        Returns:
            False when the snapshot has its advice already, which then stays.
        """

    def thin(self, cluster: str, detail_hours: float) -> None:
        """
        Forget of a cluster's older snapshots what only the newest are asked for; what they say over time stays.

        Args:
            cluster: Configured name of the cluster.
            detail_hours: For so long before the newest snapshot all of them keep every metric and advice.
        """

    def previous_advice(self, snapshot_id: str) -> list[PreviousAdvice]:
        """
        The newest advice before this snapshot, which may be unknown, by group.

        Of the groups that the cluster's newest advised snapshot before it has advice for, or the newest of those that
        was not partial, and of the groups that this one has metrics of.
        """

    def advised_snapshot(self, snapshot_id: str) -> AdvisedSnapshot | None:
        """The snapshot and how new its advice is; None when the history does not know it."""

    def advice_with_scores(self, snapshot_id: str) -> list[ScoredAdvice]:
        """The advice of a snapshot and the scores it rests on, by group."""

    def first_moves(self, advice_ids: Sequence[int], most: int) -> dict[int, list[Move]]:
        """At most so many moves of each advice, in order of topic and partition; none: no entry."""
