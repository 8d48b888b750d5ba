"""Snapshots, results and advice in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

import pyarrow as pa

from evenkeel.engine.columns import columns_of
from evenkeel.engine.datasets import split_snapshot_id
from evenkeel.engine.errors import ClusterChanged
from evenkeel.engine.model import Member, Move
from evenkeel.engine.ports import (
    AdvisedSnapshot,
    ClusterDay,
    LeftBehind,
    Manifest,
    PreviousAdvice,
    ScoredAdvice,
    WaitingSnapshot,
)
from evenkeel.engine.records import (
    AdviceCheck,
    AdviceColumns,
    AdviceRow,
    CandidateColumns,
    GroupMetrics,
    ValidationRow,
    records_of,
)
from evenkeel.engine.records.course import Uptake
from tests.helpers.memory.tables import Memory, StoredSnapshot


class MemorySnapshots(Memory):
    """The port `SnapshotHistory`."""

    def store_snapshot(self, manifest: Manifest, config_version: str | None = None) -> None:
        """Keep the manifest."""
        known = self.tables.clusters.get(manifest.cluster)
        given = manifest.facts.get("kafka_cluster_id")
        if None not in (known, given) and known != given:
            raise ClusterChanged(
                f"cluster {manifest.cluster!r} was Kafka cluster {known}, now {given} answers."
            )
        self.tables.clusters[manifest.cluster] = known or given
        stored = self.tables.snapshots.setdefault(
            manifest.snapshot_id, StoredSnapshot(manifest=manifest)
        )
        stored.manifest = manifest
        stored.config_version = config_version or stored.config_version

    def missing_snapshots(self, snapshot_ids: Sequence[str]) -> list[str]:
        """Those that were not stored."""
        return [one for one in snapshot_ids if one not in self.tables.snapshots]

    def snapshots_without_advice(self, older_than: timedelta) -> list[WaitingSnapshot]:
        """Those that wait, oldest first."""
        return [
            WaitingSnapshot(
                snapshot_id=one.manifest.snapshot_id,
                cluster=one.cluster,
                started_at=one.started_at,
                taken_up_by=one.taken_up_by,
            )
            for one in sorted(self.tables.snapshots.values(), key=lambda s: s.age)
            if not one.advised
            and not one.rejected
            and not self._overtaken(one)
            and one.manifest.written_at < self._clock() - older_than
        ]

    def _overtaken(self, one: StoredSnapshot) -> bool:
        newer = self.tables.snapshots.get(one.overtaken_by or "")
        return newer is not None and not newer.rejected

    def take_up(
        self, cluster: str, run: str, *, passed: Sequence[str] = (), again: str | None = None
    ) -> str | None:
        """Take up the newest; the others are overtaken."""
        own = self.tables.of_cluster(cluster)
        done = [one.age for one in own if one.advised]
        open_to = [
            one
            for one in own
            if one.manifest.snapshot_id not in passed
            and (
                one.taken_up_by == run
                or not (one.advised or one.rejected or (done and one.age < done[-1]))
            )
        ]
        newest = max(open_to, key=lambda one: (one.taken_up_by == run, one.age), default=None)
        got = newest is not None and (
            newest.taken_up_by in (None, run) or newest.manifest.snapshot_id == again
        )
        if newest is not None and got:
            newest.taken_up_by, newest.overtaken_by = run, None
        worked_on = [one for one in own if not one.rejected and (one.advised or one.taken_up_by)]
        for one in own:
            behind = bool(worked_on) and one.age < worked_on[-1].age
            waits = not (one.advised or one.rejected or one.taken_up_by == run)
            if behind and waits and not self._overtaken(one):
                one.overtaken_by = worked_on[-1].manifest.snapshot_id
        return newest.manifest.snapshot_id if newest is not None and got else None

    def take_up_by_hand(self, snapshot_id: str, run: str) -> None:
        """Note the run."""
        stored = self.tables.snapshots.get(snapshot_id)
        if stored is not None and not stored.advised:
            stored.taken_up_by = run

    def left_behind(self, snapshot_id: str, limit: int = 50) -> list[LeftBehind]:
        """Overtaken ones without metrics, newest first."""
        newer = self.tables.snapshots.get(snapshot_id)
        if newer is None:
            return []
        found = [
            LeftBehind(snapshot_id=one.manifest.snapshot_id, validated=one.validated)
            for one in reversed(self.tables.of_cluster(newer.cluster))
            if one.overtaken_by
            and not (one.advised or one.rejected or one.measured)
            and one.age < newer.age
            and one.started_at > newer.started_at - timedelta(days=1)
        ]
        return found[:limit]

    def expire(self, before: datetime) -> list[str]:
        """Forget what began before."""
        tables = self.tables
        old = [name for name, one in tables.snapshots.items() if one.started_at < before]
        over = {i.incident_id for i in tables.incidents if i.closed_at and i.closed_at < before}
        standing = {i.alert_key for i in tables.incidents if i.alert_key and not i.closed_at}
        for name in old:
            for by_snapshot in (tables.snapshots, tables.metrics, tables.candidates):
                by_snapshot.pop(name, None)
        tables.validation = {k: v for k, v in tables.validation.items() if k[0] not in old}
        tables.advice = [a for a in tables.advice if a.snapshot_id not in old]
        tables.steps = [s for s in tables.steps if s.started_at >= before]
        tables.silences = [s for s in tables.silences if not s.over_at or s.over_at >= before]
        tables.incidents = [i for i in tables.incidents if i.incident_id not in over]
        tables.alerts = [
            a
            for a in tables.alerts
            if a.snapshot_id not in old
            and a.incident_id not in over
            and (
                a.state == "pending"
                or a.created_at >= before
                or not standing.isdisjoint((a.key, a.replaces))
            )
        ]
        return old

    def days_to_roll_up(self, before: datetime) -> list[ClusterDay]:
        """None: only views show hours and days, and there are no views here."""
        return []

    def roll_up(self, day: ClusterDay, *, kept: datetime, before: datetime) -> int:
        """Nothing is counted."""
        return 0

    def pack_samples(self, before: datetime) -> None:
        """Nothing is there."""

    def expire_rollups(self, *, hours: datetime, days: datetime) -> None:
        """Nothing is there."""


class MemoryResults(Memory):
    """The port `ResultHistory`."""

    def store_validation(self, snapshot_id: str, stage: str, results: pa.Table) -> None:
        """Keep the rows of a stage."""
        stored = self._known(snapshot_id)
        self.tables.validation[snapshot_id, stage] = records_of(ValidationRow, results)
        stored.rejected = bool(self.rejections(snapshot_id))
        stored.validated = True

    def rejections(self, snapshot_id: str) -> list[ValidationRow]:
        """The failures that reject a snapshot as a whole."""
        return [
            row
            for (name, _), rows in self.tables.validation.items()
            for row in rows
            if (name, row.group_id) == (snapshot_id, None) and row.withholds
        ]

    def store_metrics(self, snapshot_id: str, tables: Mapping[str, pa.Table]) -> None:
        """Keep the tables."""
        self._known(snapshot_id).measured = True
        self.tables.metrics[snapshot_id] = dict(tables)

    def store_candidates(self, snapshot_id: str, candidates: pa.Table) -> None:
        """Keep the table."""
        self._known(snapshot_id)
        self.tables.candidates[snapshot_id] = candidates


class MemoryAdvice(Memory):
    """The port `AdviceHistory`."""

    def store_advice(self, snapshot_id: str, rows: Sequence[AdviceRow]) -> bool:
        """Keep the rows, the first time."""
        stored = self._known(snapshot_id)
        if stored.advised:
            return False
        stored.advised = True
        for row in rows:
            number = len(self.tables.advice) + 1
            self.tables.advice.append(replace(row, snapshot_id=snapshot_id, advice_id=number))
        return True

    def thin(self, cluster: str, detail_hours: float) -> None:
        """Nothing is forgotten: what is here is little."""

    def _advice_of(self, snapshot_id: str) -> list[AdviceRow]:
        own = (row for row in self.tables.advice if row.snapshot_id == snapshot_id)
        return sorted(own, key=lambda row: row.group_id)

    def previous_advice(self, snapshot_id: str) -> list[PreviousAdvice]:
        """The newest advice of each group that was advised lately."""
        cluster, _ = split_snapshot_id(snapshot_id)
        advised = [
            one.manifest
            for one in self.tables.of_cluster(cluster)
            if one.advised and one.manifest.snapshot_id < snapshot_id
        ]
        before = [one.snapshot_id for one in advised]
        whole = [one.snapshot_id for one in advised if not one.facts.get("problems")]
        named = {row.group_id for one in (before[-1:] + whole[-1:]) for row in self._advice_of(one)}
        measured = self.tables.metrics.get(snapshot_id)
        if measured:
            named |= set(measured["group_metrics"]["group_id"].to_pylist())
        newest = {
            row.group_id: row
            for one in before
            for row in self._advice_of(one)
            if row.group_id in named
        }
        return [
            PreviousAdvice(group_id=name, course=row.course) for name, row in sorted(newest.items())
        ]

    def advised_snapshot(self, snapshot_id: str) -> AdvisedSnapshot | None:
        """The snapshot beside the newest ones."""
        stored = self.tables.snapshots.get(snapshot_id)
        if stored is None:
            return None
        own = self.tables.of_cluster(stored.cluster)
        ids = [one.manifest.snapshot_id for one in own]
        advised = [one for one in ids if self._advice_of(one)]
        problems = list(stored.manifest.facts.get("problems", ()))
        return AdvisedSnapshot(
            snapshot_id=snapshot_id,
            cluster=stored.cluster,
            started_at=stored.started_at,
            finished_at=stored.finished_at,
            partial=bool(problems),
            problems=problems,
            newest_advised_id=advised[-1] if advised else None,
            newest_started_at=own[-1].started_at,
        )

    def advice_with_scores(self, snapshot_id: str) -> list[ScoredAdvice]:
        """Advice joined with candidates and metrics."""
        proposed = self.tables.candidates.get(snapshot_id)
        candidates = records_of(CandidateColumns, proposed) if proposed else []
        measured = self.tables.metrics.get(snapshot_id)
        groups = records_of(GroupMetrics, measured["group_metrics"]) if measured else []
        metrics = {row.group_id: row for row in groups}
        found = []
        for row in self._advice_of(snapshot_id):
            own = {c.strategy: c for c in candidates if c.group_id == row.group_id}
            scores = {strategy: c.score for strategy, c in own.items()}
            forecasts = {strategy: c.forecast for strategy, c in own.items()}
            both = [own[name] for name in ("live", row.strategy) if name in own]
            scored = ScoredAdvice(
                **{spec.name: getattr(row, spec.name) for spec in columns_of(AdviceColumns)},
                seen_since=self._seen_since(row),
                live=scores.get("live"),
                proposed=scores.get(row.strategy or ""),
                metrics=metrics.get(row.group_id),
                members=_members_of(measured, row),
                running={strategy: c.is_running for strategy, c in own.items()},
                notes=tuple(dict.fromkeys(note for c in both for note in c.notes or ())),
                live_forecast=forecasts.get("live"),
                forecast=forecasts.get(row.strategy or ""),
            )
            found.append(replace(scored, checks=self._checks(row, scored.uptake)))
        return found

    def _checks(self, row: AdviceRow, uptake: Uptake | None) -> tuple[AdviceCheck, ...]:
        found = [
            check
            for one in self.tables.advice
            if one.group_id == row.group_id and (one.advice_id or 0) <= (row.advice_id or 0)
            for check in one.checks
            if uptake is not None and check.taken_up_at == uptake.at
        ]
        by_measure = sorted(found, key=lambda check: check.measure, reverse=True)
        return tuple(sorted(by_measure, key=lambda check: check.after_seconds))

    def _seen_since(self, row: AdviceRow) -> datetime | None:
        this = self.tables.snapshots[row.snapshot_id]
        advised = [a.snapshot_id for a in self.tables.advice if a.group_id == row.group_id]
        began = [
            one.started_at
            for one in self.tables.of_cluster(this.cluster)
            if one.manifest.snapshot_id in advised and one.started_at <= this.started_at
        ]
        return began[-row.seen] if 0 < row.seen <= len(began) else None

    def first_moves(self, advice_ids: Sequence[int], most: int) -> dict[int, list[Move]]:
        """The first moves of each advice."""
        moves = {
            row.advice_id: sorted(
                row.moves,
                key=lambda move: (move.topic, move.partition),
            )[:most]
            for row in self.tables.advice
            if row.advice_id in advice_ids
        }
        return {number: some for number, some in moves.items() if some}


def _members_of(measured: Mapping[str, pa.Table] | None, advice: AdviceRow) -> tuple[Member, ...]:
    """The members of a group that is told to switch."""
    rows = measured["member_metrics"].to_pylist() if measured else []
    return tuple(
        Member(
            id=row["member_id"],
            client_id=row["client_id"],
            host=row["client_host"],
            instance_id=row["instance_id"],
        )
        for row in sorted(rows, key=lambda row: str(row["member_id"]))
        if row["group_id"] == advice.group_id and advice.verdict == "switch"
    )
