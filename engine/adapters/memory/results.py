"""Snapshots, results and advice in memory."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta

from ...model.assignments import AdviceState, Move
from ...model.columns import columns_of
from ...model.errors import ClusterChanged
from ...model.groups import Member
from ...model.tables import Table, empty
from ...ports import (
    AdvisedSnapshot,
    ClusterDay,
    LeftBehind,
    Manifest,
    PreviousAdvice,
    ScoredAdvice,
    WaitingSnapshot,
)
from ...records import (
    AdviceCheck,
    AdviceColumns,
    AdviceRow,
    CandidateRow,
    GroupMetrics,
    ValidationRow,
    records_of,
)
from ...records.lifecycle import Uptake
from ...snapshots import METRICS, split_snapshot_id
from .tables import Memory, StoredSnapshot


class MemorySnapshots(Memory):
    """The port `SnapshotHistory`."""

    def now(self) -> datetime:
        return self._clock()

    def store_snapshot(self, manifest: Manifest, config_version: str | None = None) -> None:
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
        return [one for one in snapshot_ids if one not in self.tables.snapshots]

    def snapshots_without_advice(self, older_than: timedelta) -> list[WaitingSnapshot]:
        return [
            WaitingSnapshot(
                snapshot_id=one.snapshot_id,
                cluster=one.cluster,
                started_at=one.started_at,
                claimed_by=one.claimed_by,
            )
            for one in sorted(self.tables.snapshots.values(), key=lambda s: s.age)
            if not one.advised
            and not one.rejected
            and not self._superseded(one)
            and one.manifest.written_at < self._clock() - older_than
        ]

    def _superseded(self, one: StoredSnapshot) -> bool:
        newer = self.tables.snapshots.get(one.superseded_by or "")
        return newer is not None and not newer.rejected

    def take_up(
        self, cluster: str, run: str, *, passed: Sequence[str] = (), again: str | None = None
    ) -> str | None:
        own = self.tables.of_cluster(cluster)

        def age(one: StoredSnapshot) -> tuple[object, ...]:
            return self._has_come(one), one.age

        done = [one for one in own if one.advised]
        open_to = [
            one
            for one in own
            if one.snapshot_id not in passed
            and (
                one.claimed_by == run
                or not (
                    one.advised
                    or one.rejected
                    or any(one.age < each.age and self._counts_for(one, each) for each in done)
                )
            )
        ]
        newest = max(open_to, key=lambda one: (one.claimed_by == run, age(one)), default=None)
        got = newest is not None and (
            newest.claimed_by in (None, run) or newest.snapshot_id == again
        )
        if newest is not None and got:
            newest.claimed_by, newest.superseded_by = run, None
        worked_on = sorted(
            (one for one in own if not one.rejected and (one.advised or one.claimed_by)), key=age
        )
        for one in own:
            behind = bool(worked_on) and one.age < worked_on[-1].age
            waits = not (one.advised or one.rejected or one.claimed_by == run)
            if behind and waits and not self._superseded(one):
                one.superseded_by = worked_on[-1].snapshot_id
        return newest.snapshot_id if newest is not None and got else None

    def take_up_by_hand(self, snapshot_id: str, run: str) -> None:
        stored = self.tables.snapshots.get(snapshot_id)
        if stored is not None and not stored.advised:
            stored.claimed_by = run

    def left_behind(self, snapshot_id: str, limit: int = 50) -> list[LeftBehind]:
        newer = self.tables.snapshots.get(snapshot_id)
        if newer is None:
            return []
        found = [
            LeftBehind(snapshot_id=one.snapshot_id, validated=one.validated)
            for one in reversed(self.tables.of_cluster(newer.cluster))
            if one.superseded_by
            and not (one.advised or one.rejected or one.measured)
            and one.age < newer.age
            and one.started_at > newer.started_at - timedelta(days=1)
        ]
        return found[:limit]

    def expire(self, before: datetime) -> list[str]:
        tables = self.tables
        old = [name for name, one in tables.snapshots.items() if one.started_at < before]
        standing = {i.alert_key for i in tables.incidents if i.alert_key and not i.closed_at}
        for name in old:
            tables.snapshots.pop(name)
            for by_snapshot in (tables.metrics, tables.candidates, tables.advice):
                by_snapshot.pop(name, None)
        tables.validation = {k: v for k, v in tables.validation.items() if k[0] not in old}
        tables.steps = [s for s in tables.steps if s.started_at >= before]
        tables.silences = [s for s in tables.silences if not s.over_at or s.over_at >= before]
        tables.incidents = [i for i in tables.incidents if not i.closed_at or i.closed_at >= before]
        tables.alerts = [
            a
            for a in tables.alerts
            if a.snapshot_id not in old
            and (
                a.state == "pending"
                or (a.created_at is not None and a.created_at >= before)
                or not standing.isdisjoint((a.key, a.replaces))
            )
        ]
        return old

    def days_to_roll_up(self, before: datetime) -> list[ClusterDay]:
        """None: only views show hours and days, and there are no views here."""
        return []

    def roll_up(self, day: ClusterDay, *, kept: datetime, before: datetime) -> int:
        return 0

    def pack_samples(self, before: datetime) -> None:
        """Nothing is there."""

    def expire_candidates(self, *, samples: datetime, hours: datetime, days: datetime) -> None:
        """Nothing is there."""

    def expire_rollups(self, *, hours: datetime, days: datetime) -> None:
        """Nothing is there."""


class MemoryResults(Memory):
    """The port `ResultHistory`."""

    def store_validation(self, snapshot_id: str, stage: str, results: Table) -> None:
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

    def store_metrics(self, snapshot_id: str, tables: Mapping[str, Table]) -> None:
        self._known(snapshot_id).measured = True
        self.tables.metrics[snapshot_id] = dict(tables)

    def store_candidates(self, snapshot_id: str, candidates: Table) -> None:
        self._known(snapshot_id)
        self.tables.candidates[snapshot_id] = candidates


_THINNED = {name: empty(schema) for name, schema in METRICS.items()}
_KEPT = ("group_metrics", "rebalances")


class MemoryAdvice(Memory):
    """The port `AdviceHistory`."""

    def store_advice(self, snapshot_id: str, rows: Sequence[AdviceRow]) -> bool:
        stored = self._known(snapshot_id)
        if stored.advised:
            return False
        stored.advised = True
        first = 1 + sum(map(len, self.tables.advice.values()))
        self.tables.advice[snapshot_id] = {
            row.group_id: replace(row, snapshot_id=snapshot_id, advice_id=number)
            for number, row in enumerate(rows, start=first)
        }
        return True

    def thin(self, cluster: str, detail_hours: float) -> None:
        """Forget candidates, members and partitions of older snapshots; groups and their rebalances stay."""
        own = self.tables.of_cluster(cluster)
        if not own:
            return
        kept_since = own[-1].started_at - timedelta(hours=detail_hours)
        for one in own[:-1]:
            if one.started_at >= kept_since:
                break
            name = one.snapshot_id
            self.tables.candidates.pop(name, None)
            if name in self.tables.metrics:
                kept = self.tables.metrics[name]
                self.tables.metrics[name] = _THINNED | {each: kept[each] for each in _KEPT}

    def _advice_of(self, snapshot_id: str) -> list[AdviceRow]:
        own = self.tables.advice.get(snapshot_id, {})
        return [own[group] for group in sorted(own)]

    def previous_advice(self, snapshot_id: str) -> list[PreviousAdvice]:
        cluster, _ = split_snapshot_id(snapshot_id)
        advised = [
            one.manifest
            for one in self.tables.of_cluster(cluster)
            if one.advised and one.snapshot_id < snapshot_id
        ]
        before = [one.snapshot_id for one in advised]
        whole = [one.snapshot_id for one in advised if not one.facts.get("problems")]
        named = {group for one in (before[-1:] + whole[-1:]) for group in self.tables.advice[one]}
        measured = self.tables.metrics.get(snapshot_id)
        if measured:
            named |= set(measured["group_metrics"]["group_id"].to_pylist())
        newest: dict[str, AdviceRow] = {}
        for one in reversed(before):
            rows = self.tables.advice[one]
            newest |= {group: rows[group] for group in named & rows.keys()}
            named -= rows.keys()
            if not named:
                break
        return [
            PreviousAdvice(group_id=name, course=row.course) for name, row in sorted(newest.items())
        ]

    def advised_snapshot(self, snapshot_id: str) -> AdvisedSnapshot | None:
        stored = self.tables.snapshots.get(snapshot_id)
        if stored is None:
            return None
        every = self.tables.of_cluster(stored.cluster)
        own = [one for one in every if self._counts_for(stored, one)]
        ids = [one.snapshot_id for one in own]
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
            verdicts=Counter(row.verdict for row in self._advice_of(snapshot_id)),
        )

    def advice_with_scores(
        self, snapshot_id: str, states: Collection[AdviceState] | None = None
    ) -> list[ScoredAdvice]:
        every = self._advice_of(snapshot_id)
        rows = [row for row in every if states is None or row.state in states]
        live, advised, running = self._candidates_of(snapshot_id)
        measured = self.tables.metrics.get(snapshot_id)
        groups = records_of(GroupMetrics, measured["group_metrics"]) if measured else []
        metrics = {row.group_id: row for row in groups}
        switches = any(row.verdict == "switch" for row in rows)
        rows_of_members = measured["member_metrics"].to_pylist() if measured and switches else []
        members = sorted(rows_of_members, key=lambda one: str(one["member_id"]))
        found = []
        for row in rows:
            name = row.group_id
            both = [each[name] for each in (live, advised) if name in each]
            now, then = live.get(name), advised.get(name)
            scored = ScoredAdvice(
                **{spec.name: getattr(row, spec.name) for spec in columns_of(AdviceColumns)},
                live=now.score if now else None,
                proposed=then.score if then else None,
                metrics=metrics.get(name),
                members=tuple(
                    Member(
                        id=one["member_id"],
                        client_id=one["client_id"],
                        host=one["client_host"],
                        instance_id=one["instance_id"],
                    )
                    for one in (members if row.verdict == "switch" else ())
                    if one["group_id"] == name
                ),
                running=running.get(name, {}),
                notes=tuple(dict.fromkeys(note for c in both for note in c.notes or ())),
                live_forecast=now.forecast if now else None,
                forecast=then.forecast if then else None,
            )
            found.append(replace(scored, checks=self._checks(row, scored.uptake)))
        return found

    def _candidates_of(
        self, snapshot_id: str
    ) -> tuple[dict[str, CandidateRow], dict[str, CandidateRow], dict[str, dict[str, bool | None]]]:
        """Per group what it has, what it is advised, and by strategy whether it runs that."""
        table = self.tables.candidates.get(snapshot_id)
        if table is None:
            return {}, {}, {}
        advised = {row.group_id: row.strategy for row in self._advice_of(snapshot_id)}
        running: dict[str, dict[str, bool | None]] = defaultdict(dict)
        wanted = []
        columns = ("group_id", "strategy", "is_running")
        for number, (group, strategy, runs) in enumerate(
            zip(*(table[name].to_pylist() for name in columns), strict=True)
        ):
            running[group][strategy] = runs
            if strategy in ("live", advised.get(group)):
                wanted.append(number)
        rows = records_of(CandidateRow, table.take(wanted))
        return (
            {row.group_id: row for row in rows if row.strategy == "live"},
            {row.group_id: row for row in rows if row.strategy == advised.get(row.group_id)},
            running,
        )

    def _checks(self, row: AdviceRow, uptake: Uptake | None) -> tuple[AdviceCheck, ...]:
        if uptake is None:
            return ()
        own = (rows[row.group_id] for rows in self.tables.advice.values() if row.group_id in rows)
        found = [
            check
            for one in own
            if (one.advice_id or 0) <= (row.advice_id or 0)
            for check in one.checks
            if check.adopted_at == uptake.at
        ]
        by_measure = sorted(found, key=lambda check: check.measure, reverse=True)
        return tuple(sorted(by_measure, key=lambda check: check.after_seconds))

    def first_moves(self, advice_ids: Sequence[int], most: int) -> dict[int, list[Move]]:
        wanted = set(advice_ids)
        return {
            row.advice_id: sorted(row.moves, key=lambda move: (move.topic, move.partition))[:most]
            for rows in self.tables.advice.values()
            for row in rows.values()
            if row.advice_id in wanted and row.advice_id is not None and row.moves and most
        }
