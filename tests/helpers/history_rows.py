"""
Rows for the history from short descriptions: what the steps would store, without running them.

Everything has a plain default; a keyword overrides a column of every row. Snapshot number n of a cluster is taken
n minutes after `FIRST`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.model.tables import Table
from evenkeel.engine.ports import Manifest
from evenkeel.engine.records import (
    AdviceRow,
    CandidateRow,
    ValidationRow,
    record_of,
    schema_of,
    table_of,
)
from evenkeel.engine.snapshots import METRICS, new_snapshot_id, split_snapshot_id

FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)


def manifest(
    number: int = 0, cluster: str = "demo", *, kafka: str | None = "kafka-1", **facts: Any
) -> Manifest:
    """The manifest of a snapshot of two groups that took three seconds."""
    started = FIRST + timedelta(minutes=number)
    finished = started + timedelta(seconds=3)
    return Manifest(
        snapshot_id=new_snapshot_id(cluster, started),
        cluster=cluster,
        step="snapshot",
        schema_version=1,
        written_at=finished,
        rows={"groups": 2},
        facts={
            "kafka_cluster_id": kafka,
            "started_at": started.isoformat(),
            "finished_at": finished.isoformat(),
            "problems": [],
            "requests": {"ListGroups": 3, "OffsetFetch": 2},
            **facts,
        },
    )


def metrics(
    snapshot_id: str, groups: Mapping[str, Sequence[int | None]], **columns: Any
) -> dict[str, Table]:
    """Metrics of groups with one member each, by the lags of the partitions of topic `orders`."""
    cluster, taken_at = split_snapshot_id(snapshot_id)
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in METRICS}
    for group, lags in groups.items():
        keys = {
            "snapshot_id": snapshot_id,
            "cluster": cluster,
            "group_id": group,
            "config_version": "c0ffee",
        }
        total = None if None in lags else sum(lag or 0 for lag in lags)
        described = {
            "group_type": "classic",
            "state": "Stable",
            "assignor": "range",
            "status": "OK",
        }
        rows["group_metrics"].append(
            keys
            | described
            | {
                "members": 1,
                "partitions": len(lags),
                "total_lag": total,
                "findings": ['one, "two"'],
            }
            | columns
        )
        rows["member_metrics"].append(
            keys
            | {
                "member_id": f"{group}-1",
                "identity": "c@h",
                "client_id": "c",
                "client_host": "h",
                "partitions": len(lags),
                "lag": total,
            }
        )
        rows["partition_metrics"] += [
            keys
            | {
                "topic": "orders",
                "partition": number,
                "lag": lag,
                "lag_basis": "end unknown" if lag is None else "committed",
                "time_lag_basis": "unknown",
                "status": "OK",
                "member_id": f"{group}-1",
                "committed_at": taken_at + timedelta(seconds=1),
                "end_at": taken_at + timedelta(seconds=2),
            }
            for number, lag in enumerate(lags)
        ]
    return {name: Table.from_rows(rows[name], schema) for name, schema in METRICS.items()}


def candidates(
    snapshot_id: str, group: str, strategies: Sequence[str] = ("live", "range"), **columns: Any
) -> Table:
    """A candidate per strategy, as the history keeps it."""
    cluster, _ = split_snapshot_id(snapshot_id)
    rows = [
        {
            "snapshot_id": snapshot_id,
            "cluster": cluster,
            "group_id": group,
            "config_version": "c0ffee",
            "strategy": strategy,
            "position": position,
            "deployment": "already there" if strategy == "live" else "setting",
            "feasibility": "available",
            "is_running": strategy == "range",
            "reason": "it can",
            "largest_member_lag": 10,
            "cross_rack_share": 0.5,
            "drain_seconds": float("inf"),
            "findings": [],
            **columns,
        }
        for position, strategy in enumerate(strategies)
    ]
    return Table.from_rows(rows, schema_of(CandidateRow))


def advice(snapshot_id: str, group: str, **columns: Any) -> AdviceRow:
    """A switch to `range` that moves one partition."""
    cluster, taken_at = split_snapshot_id(snapshot_id)
    row = {
        "snapshot_id": snapshot_id,
        "cluster": cluster,
        "group_id": group,
        "verdict": "switch",
        "strategy": "range",
        "reason": "it is better",
        "how": None,
        "best_undeployable": None,
        "best_undeployable_reason": None,
        "seen": 2,
        "config_version": "c0ffee",
        "created_at": taken_at,
        "moves": [{"topic": "orders", "partition": 0, "from_member": None, "to_member": "m-1"}],
        "state": "missed",
        "state_since": taken_at,
        "events": [
            {
                "at": taken_at,
                "strategy": "range",
                "state": "missed",
                "facts": [],
                "diagnosis": "skewed load",
                "cause": "it came worse",
            }
        ],
        "checks": [
            {
                "strategy": "range",
                "adopted_at": taken_at - timedelta(hours=1),
                "after_seconds": 3600,
                "measure": "lag",
                "unit": "offsets",
                "low": 50,
                "expected": 100,
                "high": 200,
                "actual": 300,
            }
        ],
        **columns,
    }
    return record_of(AdviceRow, row)


def validation(group: str | None, *, success: bool, **columns: Any) -> ValidationRow:
    """A critical expectation about a group, or about the whole snapshot: the one it is stored for."""
    return ValidationRow(
        **{
            "snapshot_id": "",
            "cluster": "",
            "stage": "snapshot",
            "group_id": group,
            "expectation": "offsets in order",
            "severity": "critical",
            "success": success,
            "unexpected_count": 0 if success else 1,
            "checked_count": 2,
            "reason": None if success else "an end before a begin",
            **columns,
        }
    )


def checks(*rows: ValidationRow) -> Table:
    """What a validation stage found."""
    return table_of(ValidationRow, rows)


def fill(history: PostgresHistory, number: int = 0, cluster: str = "demo") -> str:
    """Take one snapshot through every step; its id."""
    taken = manifest(number, cluster)
    snapshot_id = taken.snapshot_id
    history.store_snapshot(taken, "c0ffee")
    found = checks(validation("orders-app", success=True), validation("broken", success=False))
    history.store_validation(snapshot_id, "snapshot", found)
    left = {"members_joined": 0, "members_left": 1, "members_restarted": 0, "partitions_moved": 1}
    would = [{"strategy": "range", "moves": 2}]
    lags = {"orders-app": [5, 7], "idle": [0]}
    history.store_metrics(snapshot_id, metrics(snapshot_id, lags, **left, would_have_moved=would))
    found = checks(validation("orders-app", success=True))
    history.store_validation(snapshot_id, "candidates", found)
    history.store_candidates(snapshot_id, candidates(snapshot_id, "orders-app", moves=2))
    regret = {
        "since": split_snapshot_id(snapshot_id)[1] - timedelta(hours=1),
        "until": split_snapshot_id(snapshot_id)[1],
        "strategy": "range",
        "state": "confirmed",
        "came": 9000.0,
        "saved_low": 4000.0,
        "saved": 5000.0,
        "saved_high": 6000.0,
    }
    history.store_advice(snapshot_id, [advice(snapshot_id, "orders-app", regrets=[regret])])
    return snapshot_id
