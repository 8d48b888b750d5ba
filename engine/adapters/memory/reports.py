"""What a report shows, in memory: port `ReportHistory`, with the rows of the statements `report_<name>`."""

from __future__ import annotations

import fnmatch
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import fmean, median
from typing import Any

from ...model.figures import ENDS
from ...model.states import CapacityBasis, TimeLagBasis
from ...model.tables import Table
from ...ports import ReportedGroups, StoredReport
from ...records import AdviceCheck, AdviceRow, IncidentRow, Outcome, ValidationRow
from .tables import Memory, StoredSnapshot, Tables

Rows = list[dict[str, Any]]

_GROUP = (
    *("group_id", "group_type", "assignor", "diagnosis", "diagnosis_reason", "members"),
    *("partitions", "total_lag", "delay_seconds", "time_lag_seconds", "error", "findings"),
    *("racks_left_out", "state"),
    *("rebalance_seconds", "rebalance_basis", "rebalances_observed"),
    *("restart_seconds", "restart_basis", "restarts_observed"),
)
_MEMBER = (
    *("group_id", "member_id", "client_id", "client_host", "instance_id", "rack", "partitions"),
    *("lag", "utilization", "capacity_basis", "not_committing", "cross_rack_partitions"),
)
_STRATEGY = (
    *("group_id", "position", "strategy", "deployment", "feasibility", "is_running", "reason"),
    *("forecast_lag_low", "forecast_lag_expected", "forecast_lag_high", "largest_member_lag"),
    *("partition_spread", "cross_rack_share", "moves", "price_restarts"),
)
_ADVICE = (
    *("group_id", "verdict", "strategy", "reason", "how", "state", "state_since"),
    *("best_undeployable", "best_undeployable_reason"),
)
_REBALANCE = (
    *("group_id", "until", "cause", "rebalances", "joined", "left_members", "restarted"),
    *("partitions_moved", "partition_seconds", "delayed_records", "pause_basis"),
)
_SERVED = (
    *("group_id", "group_type", "assignor", "subscribed_topics", "diagnosis", "facts"),
    *(
        "members",
        "idle_members",
        "partitions",
        "total_lag",
        "delay_seconds",
        "time_lag_seconds",
        "production_per_second",
        "consumption_per_second",
    ),
    "cross_rack_bytes_per_second",
)
_AHEAD = tuple(
    f"forecast_{measure}_{end}"
    for measure in ("soon_lag", "lag", "drained_seconds")
    for end in ENDS
)
_FIRM = {CapacityBasis.CONFIGURED, CapacityBasis.SATURATED, CapacityBasis.AS_ITS_PEERS}


class MemoryReports(Memory):
    """The port `ReportHistory`, but for forecasts: who takes snapshots through the pipeline knows them."""

    def report_clusters(self) -> list[str]:
        return sorted(self.tables.clusters)

    def served_groups(self, cluster: str) -> Rows:
        measured = [
            one.snapshot_id
            for one in self.tables.of_cluster(cluster)
            if one.snapshot_id in self.tables.metrics
        ]
        if not measured:
            return []
        tables = self.tables.metrics[measured[-1]]
        members: dict[str, Rows] = defaultdict(list)
        columns = ["group_id", "capacity_per_second", "capacity_basis", "utilization"]
        for member in tables["member_metrics"].select(columns).to_pylist():
            members[member["group_id"]].append(member)
        partitions = tables["partition_metrics"].select(["group_id", "counted", "time_lag_basis"])
        at_least = partitions.filter(partitions["time_lag_basis"].equal(TimeLagBasis.AT_LEAST))
        late = {row["group_id"] for row in at_least.to_pylist() if row["counted"]}
        proposed = self.tables.candidates.get(measured[-1])
        ahead: dict[str, dict[str, Any]] = {}
        if proposed is not None:
            live = proposed.filter(proposed["strategy"].equal("live"))
            ahead = {row["group_id"]: row for row in live.select(["group_id", *_AHEAD]).to_pylist()}
        advice = self.tables.advice.get(measured[-1], {})
        unknown = dict.fromkeys(_AHEAD)
        opened = Counter(
            one.group_id
            for one in self.tables.incidents
            if one.cluster == cluster and one.closed_at is None
        )
        return [
            row
            | ahead.get(row["group_id"], unknown)
            | _able(members[row["group_id"]])
            | {
                "time_lag_at_least": row["group_id"] in late,
                "advice_state": advice[row["group_id"]].state
                if row["group_id"] in advice
                else None,
                "open_incidents": opened[row["group_id"]],
            }
            for row in tables["group_metrics"].select(list(_SERVED)).to_pylist()
        ]

    def report(self, wanted: ReportedGroups) -> StoredReport:
        own = [
            one
            for one in self.tables.of_cluster(wanted.cluster)
            if wanted.since is None or one.started_at >= wanted.since
        ][-wanted.snapshots :]
        return _Report(tables=self.tables, wanted=wanted, own=own).rows()


@dataclass(frozen=True, kw_only=True)
class _Report:
    """The rows about the groups that are wanted; *own* are the snapshots, oldest first."""

    tables: Tables
    wanted: ReportedGroups
    own: Sequence[StoredSnapshot]

    def rows(self) -> StoredReport:
        """All of them."""
        if not self.own:
            return StoredReport(snapshots=[])
        measured = [one for one in self.own if one.snapshot_id in self.tables.metrics]
        of_now: dict[str, Rows] = {}
        if measured:
            newest = self.tables.metrics[measured[-1].snapshot_id]
            proposed = [
                one.snapshot_id
                for one in self._of_cluster()
                if one.snapshot_id in self.tables.candidates
            ]
            advised = self._advised()
            of_now = {
                "groups": self._groups(newest["group_metrics"], measured, advised),
                "members": sorted(
                    self._picked(newest["member_metrics"], _MEMBER),
                    key=lambda row: (row["group_id"], row["member_id"]),
                ),
                "strategies": self._picked(self.tables.candidates[proposed[-1]], _STRATEGY)
                if proposed
                else [],
                "advice": [{name: getattr(row, name) for name in _ADVICE} for row in advised],
                "moves": self._moves(newest["partition_metrics"], advised),
                "scorecard": self._scorecard(advised),
                "lag": self._lag(measured),
                "rebalances": [
                    row
                    for one in measured
                    for row in self._picked(
                        self.tables.metrics[one.snapshot_id]["rebalances"], _REBALANCE
                    )
                ],
            }
        return StoredReport(
            snapshots=[self._health(one) for one in self.own],
            events=self._events(),
            incidents=self._incidents(),
            failures=self._failures(),
            withheld=self._withheld(),
            **of_now,
        )

    @property
    def since(self) -> datetime:
        """When the first snapshot was begun."""
        return self.own[0].started_at

    def wants(self, group: str) -> bool:
        """Whether a group is asked about."""
        if self.wanted.group is not None:
            return group == self.wanted.group
        return fnmatch.fnmatchcase(group, self.wanted.pattern)

    def _picked(self, table: Table, columns: Iterable[str]) -> Rows:
        known = [name for name in columns if name in table.columns]
        rows: Rows = table.select(known).to_pylist()
        return [row for row in rows if self.wants(row["group_id"])]

    def _of_cluster(self) -> list[StoredSnapshot]:
        return self.tables.of_cluster(self.wanted.cluster)

    def _advised(self) -> list[AdviceRow]:
        """The advice of the newest snapshot that has some."""
        ids = [one.snapshot_id for one in self._of_cluster() if one.advised]
        rows = self.tables.advice[ids[-1]] if ids else {}
        return [rows[group] for group in sorted(rows) if self.wants(group)]

    def _health(self, one: StoredSnapshot) -> dict[str, Any]:
        name, facts = one.snapshot_id, one.manifest.facts
        failures = [row for row in self._verdicts(one) if row.withholds]
        whole = [row.reason for row in failures if row.group_id is None]
        failed = sum(
            run.snapshot_id == name and run.outcome == Outcome.FAILED for run in self.tables.steps
        )
        return {
            "started_at": one.started_at,
            "duration_seconds": (one.finished_at - one.started_at).total_seconds(),
            "group_count": one.manifest.rows.get("groups"),
            "problems": len(facts.get("problems", ())),
            "skipped_groups": len({row.group_id for row in failures} - {None}),
            "rejected": one.rejected,
            "failed_steps": failed,
            # when it was advised nobody notes here
            "seconds_to_advice": None,
            "state": "advised" if one.advised else "rejected" if one.rejected else "waiting",
            "measured": name in self.tables.metrics,
            "rejection": whole[0] if whole else None,
        }

    def _verdicts(self, one: StoredSnapshot) -> list[ValidationRow]:
        name = one.snapshot_id
        known = self.tables.validation.items()
        return [row for (snapshot_id, _), rows in known if snapshot_id == name for row in rows]

    def _groups(
        self, table: Table, measured: Sequence[StoredSnapshot], advised: Sequence[AdviceRow]
    ) -> Rows:
        spans = self._spans(measured)
        owners = {row.group_id: row.owner for row in advised}
        still = {one.group_id: one for one in self._of_groups() if one.closed_at is None}
        rows = self._picked(table, _GROUP)
        for row in rows:
            name = row["group_id"]
            since, already = spans[name]
            incident = still.get(name)
            row |= {
                "owner": owners.get(name) or (incident.owner if incident else None),
                "group_state": row.pop("state"),
                "diagnosis_since": since,
                "diagnosis_already_so": already,
                "incident": incident.kind if incident else None,
            }
        return rows

    def _spans(self, measured: Sequence[StoredSnapshot]) -> dict[str, tuple[datetime, bool]]:
        """Since when the newest diagnosis of each group holds, and whether it did at the first look."""
        spans: dict[str, tuple[datetime, bool]] = {}
        newest: dict[str, str | None] = {}
        for one in measured:
            table = self.tables.metrics[one.snapshot_id]["group_metrics"]
            for row in self._picked(table, ("group_id", "diagnosis")):
                name, diagnosis = row["group_id"], row["diagnosis"]
                if name not in newest or newest[name] != diagnosis:
                    spans[name] = (one.started_at, name not in newest)
                    newest[name] = diagnosis
        return spans

    def _lag(self, measured: Sequence[StoredSnapshot]) -> Rows:
        columns = {"lags": "total_lag", "delays": "delay_seconds", "time_lags": "time_lag_seconds"}
        series: dict[str, dict[str, list[Any]]] = defaultdict(lambda: defaultdict(list))
        for number, one in enumerate(measured):
            table = self.tables.metrics[one.snapshot_id]["group_metrics"]
            for row in self._picked(table, ("group_id", *columns.values())):
                own = series[row["group_id"]]
                own["numbers"].append(number)
                for name, column in columns.items():
                    own[name].append(row[column])
        return [{"group_id": name, **own} for name, own in series.items()]

    def _moves(self, partitions: Table, advised: Sequence[AdviceRow]) -> Rows:
        columns = ("group_id", "topic", "partition", "member_id", "lag")
        moving = {row.group_id for row in advised if row.moves}
        owned = {
            (row["group_id"], row["topic"], row["partition"]): row
            for row in (self._picked(partitions, columns) if moving else ())
        }
        return [
            {
                "group_id": row.group_id,
                "topic": move.topic,
                "partition": move.partition,
                "from_member": move.from_member,
                "to_member": move.to_member,
                "lag": own["lag"] if own else None,
                "still_so": own is not None and own["member_id"] == move.from_member,
            }
            for row in advised
            for move in sorted(row.moves, key=lambda move: (move.topic, move.partition))
            for own in (owned.get((row.group_id, move.topic, move.partition)),)
        ]

    def _advice(self) -> Iterable[AdviceRow]:
        """All that groups were advised, oldest first."""
        for one in self._of_cluster():
            rows = self.tables.advice.get(one.snapshot_id, {})
            yield from (rows[group] for group in sorted(rows) if self.wants(group))

    def _events(self) -> Rows:
        rows: Rows = [
            {
                "group_id": row.group_id,
                "taken_at": event.at,
                "event": event.state.value,
                "event_strategy": event.strategy,
                "event_cause": event.cause,
            }
            for row in self._advice()
            for event in row.events
            if event.at >= self.since
        ]
        return sorted(
            rows, key=lambda row: (row["taken_at"], row["group_id"], row["event"] != "adopted")
        )

    def _of_groups(self) -> Iterable[IncidentRow]:
        return (
            one
            for one in self.tables.incidents
            if one.cluster == self.wanted.cluster
            and one.group_id is not None
            and self.wants(one.group_id)
        )

    def _incidents(self) -> Rows:
        of_pipeline = (
            one
            for one in self.tables.incidents
            if one.cluster == self.wanted.cluster and one.group_id is None
        )
        columns = ("group_id", "kind", "severity", "opened_at", "closed_at", "summary")
        rows = [
            {name: getattr(one, name) for name in columns}
            for one in (*of_pipeline, *self._of_groups())
            if one.closed_at is None or one.closed_at >= self.since
        ]
        return sorted(rows, key=lambda row: (row["opened_at"], row["group_id"] or ""))

    def _scorecard(self, advised: Sequence[AdviceRow]) -> Rows:
        """As the view `advice_scorecard` counts."""
        mutes = {
            (row.group_id, mute.strategy): mute.until
            for row in advised
            for mute in (row.course.mutes if row.course else ())
        }
        same: dict[tuple[str, str, int, str, str], list[AdviceCheck]] = defaultdict(list)
        for row in self._advice():
            for check in row.checks:
                key = (row.group_id, check.strategy, check.after_seconds, check.measure, check.unit)
                same[key].append(check)
        cards = [_card(key, own, mutes) for key, own in sorted(same.items())]
        return sorted(cards, key=lambda card: card["adopted_at"], reverse=True)

    def _failures(self) -> Rows:
        failed: dict[str, list[Any]] = defaultdict(list)
        for run in self.tables.steps:
            own = run.cluster in (self.wanted.cluster, None) and run.started_at >= self.since
            if own and run.outcome == Outcome.FAILED:
                failed[run.step].append(run)
        rows = [
            {
                "step": step,
                "failures": len(runs),
                "last_failed_at": max(run.started_at for run in runs),
                "error": max(runs, key=lambda run: run.started_at).error,
            }
            for step, runs in sorted(failed.items())
        ]
        return sorted(rows, key=lambda row: row["last_failed_at"], reverse=True)

    def _withheld(self) -> Rows:
        same: dict[tuple[str, str, str | None], list[StoredSnapshot]] = defaultdict(list)
        for one in self.own:
            for row in self._verdicts(one):
                if row.withholds and row.group_id is not None and self.wants(row.group_id):
                    own = same[row.group_id, row.stage, row.reason]
                    own += [] if own[-1:] == [one] else [one]
        rows = [
            {
                "group_id": group,
                "stage": stage,
                "reason": reason,
                "snapshots": len(own),
                "last_at": own[-1].started_at,
            }
            for (group, stage, reason), own in sorted(same.items(), key=lambda one: one[0][:2])
        ]
        return sorted(rows, key=lambda row: row["last_at"], reverse=True)


def _able(members: Rows) -> dict[str, float | None]:
    """Capacity of all members and utilization of the busiest, where that of each is known."""
    known = members and all(one["capacity_basis"] in _FIRM for one in members)
    loads = [one["utilization"] for one in members if one["utilization"] is not None]
    return {
        "capacity_per_second": sum(one["capacity_per_second"] for one in members)
        if known
        else None,
        "utilization": max(loads, default=None) if known else None,
    }


def _card(
    key: tuple[str, str, int, str, str],
    checks: Sequence[AdviceCheck],
    mutes: Mapping[tuple[str, str], datetime],
) -> dict[str, Any]:
    group, strategy, after, measure, unit = key
    known = [(check, check.actual) for check in checks if check.actual is not None]
    stayed = [check.if_stayed for check in checks if check.if_stayed is not None]
    saved = [check.saved for check in checks if check.saved is not None]

    def share(held: Callable[[AdviceCheck, float], bool]) -> float | None:
        return fmean(float(held(check, came)) for check, came in known) if known else None

    return {
        "group_id": group,
        "strategy": strategy,
        "measure": measure,
        "after_seconds": after,
        "unit": unit,
        "checks": len(checks),
        "known": len(known),
        "error": median(came - check.expected for check, came in known) if known else None,
        "inside_share": share(lambda check, came: check.low <= came <= check.high),
        "no_worse_share": share(lambda check, came: came <= check.high),
        "adopted_at": max(check.adopted_at for check in checks),
        "muted_until": mutes.get((group, strategy)),
        "came": median(came for _, came in known) if known else None,
        "if_stayed": median(stayed) if stayed else None,
        "saved_offset_seconds": sum(saved) if saved else None,
    }
