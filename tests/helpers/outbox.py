"""Snapshots with advice, and what a chat refuses: for tests of what is told, and how often."""

from __future__ import annotations

import zlib
from datetime import UTC, datetime, timedelta
from typing import Any

from evenkeel.engine.datasets import CANDIDATES, METRICS, rows_to_table
from evenkeel.engine.errors import NotifierError
from evenkeel.engine.ports import History, Manifest

Row = dict[str, Any]

NOW = datetime(2026, 3, 1, 9, 0, tzinfo=UTC)
CLUSTER = "test"


def score(**numbers: Any) -> Row:
    """A candidate row as JSON: everything unknown but what is given."""
    names = (
        "largest_member_lag",
        "lag_floor",
        "cross_rack_share",
        "partition_spread",
        "drain_seconds",
        "moves",
        "newly_owned",
        "racks_left_out",
    )
    return {name: numbers.get(name) for name in names}


def advice(
    group: str, verdict: str = "switch", strategy: str | None = "sticky", **more: Any
) -> Row:
    """A row of the statement `alert_advice`."""
    row = {
        "advice_id": more.pop("advice_id", zlib.crc32(group.encode())),
        "group_id": group,
        "verdict": verdict,
        "strategy": strategy if verdict == "switch" else None,
        "reason": "largest member lag 900 -> 300 offsets (-67%)",
        "facts": [{"kind": "gain", "measure": "largest_member_lag", "before": 900, "after": 300}],
        "how": "set partition.assignment.strategy",
        "yardstick": None,
        "yardstick_reason": None,
        "seen": 2 if verdict == "switch" else 0,
        "seen_since": NOW - timedelta(minutes=5),
        "live": score(largest_member_lag=900, lag_floor=300),
        "proposed": score(largest_member_lag=300, moves=4) if verdict == "switch" else None,
        "metrics": {"assignor": "range", "group_type": "classic", "partitions": 12},
        "running": {"live": False, "range": True, "sticky": False, "fair": False},
    }
    return row | more


def take(
    history: History,
    snapshot_id: str,
    *rows: Row,
    cluster: str = CLUSTER,
    at: datetime = NOW,
    advised: bool = True,
) -> str:
    """Store a snapshot of a cluster, and its advice: rows as `advice` makes them. Its id."""
    times = {"started_at": at.isoformat(), "finished_at": at.isoformat()}
    keys = {"snapshot_id": snapshot_id, "cluster": cluster, "config_version": "v"}
    history.store_snapshot(
        Manifest(
            snapshot_id=snapshot_id,
            cluster=cluster,
            step="snapshot",
            schema_version=1,
            written_at=at,
            rows={},
            facts=times,
        )
    )
    measured = {name: schema.empty_table() for name, schema in METRICS.items()}
    measured["group_metrics"] = rows_to_table(
        [keys | {"group_id": row["group_id"]} | row["metrics"] for row in rows],
        METRICS["group_metrics"],
    )
    history.store_metrics(snapshot_id, measured)
    scores = [
        keys | {"group_id": row["group_id"], "strategy": strategy} | known
        for row in rows
        for strategy, known in _candidates(row).items()
    ]
    history.store_candidates(snapshot_id, rows_to_table(scores, CANDIDATES["candidates"]))
    if advised:
        history.store_advice(snapshot_id, [keys | {"created_at": at} | row for row in rows])
    return snapshot_id


def _candidates(row: Row) -> dict[str, Row]:
    """Strategy -> what is known of it, of the group of a row made by `advice`."""
    known = {name: {"is_running": so} for name, so in row["running"].items()}
    for strategy, scored in (("live", row["live"]), (row["strategy"], row["proposed"])):
        if scored:
            known[strategy] = known.get(strategy, {}) | scored
    return known


def refusal(channel: str = "#kafka") -> NotifierError:
    """What a notifier raises when Slack refuses."""
    return NotifierError(f"Slack refused {channel}: channel_not_found.", fix="Invite the bot.")
