"""The outbox's tables in memory, and notifiers that record or fail: for tests of what is told, and how often."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from evenkeel import sql
from evenkeel.engine.errors import NotifierError
from evenkeel.engine.message import AlertMessage
from evenkeel.engine.ports import Delivered

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


class OutboxHistory:
    """
    The port `History` as far as the outbox uses it. A statement that does not exist, or is called with other parameters
    than its file names, is an error.

    *snapshots*, oldest first, hold rows of `alert_snapshot`; *advice* the rows of `alert_advice` by snapshot; *watched*
    the rows of the three `watch_` statements.
    """

    def __init__(self) -> None:
        self.snapshots: list[Row] = []
        self.advice: dict[str, list[Row]] = {}
        self.moves: list[Row] = []
        self.watched: dict[str, list[Row]] = {}
        self.alerts: list[Row] = []
        self.incidents: list[Row] = []

    def snapshot(self, snapshot_id: str, *rows: Row, cluster: str = CLUSTER, **more: Any) -> str:
        """Add the newest snapshot of a cluster with its advice."""
        row = {
            "snapshot_id": snapshot_id,
            "cluster": cluster,
            "started_at": NOW,
            "finished_at": NOW,
            "partial": False,
            "problems": [],
        }
        self.snapshots.append(row | more)
        self.advice[snapshot_id] = list(rows)
        return snapshot_id

    def messages(self, state: str = "pending") -> list[AlertMessage]:
        """The messages of the alerts in a state, oldest first."""
        return [AlertMessage.from_json(a["message"]) for a in self.alerts if a["state"] == state]

    def execute(self, name: str, **parameters: Any) -> list[Row]:
        """Run a statement."""
        wanted = {p.name for p in sql.statements()[name].parameters}
        assert wanted == parameters.keys(), f"{name} takes {wanted}, got {parameters.keys()}"
        rows: list[Row] = getattr(self, f"_{name}")(**parameters)
        return rows

    def query(self, name: str, **parameters: Any) -> list[Row]:
        """The outbox asks no user's query."""
        raise AssertionError(f"unexpected query {name}")

    def _alert_snapshot(self, snapshot_id: str) -> list[Row]:
        for row in self.snapshots:
            if row["snapshot_id"] == snapshot_id:
                own = [s for s in self.snapshots if s["cluster"] == row["cluster"]]
                advised = [s["snapshot_id"] for s in own if self.advice.get(s["snapshot_id"])]
                newest = {
                    "newest_advised_id": advised[-1] if advised else None,
                    "newest_started_at": max(s["started_at"] for s in own),
                }
                return [row | newest]
        return []

    def _alert_advice(self, snapshot_id: str) -> list[Row]:
        return self.advice[snapshot_id]

    def _alert_moves(self, advice_ids: list[int], most: int) -> list[Row]:
        return [move for move in self.moves if move["advice_id"] in advice_ids][:most]

    def _told_advice(self, cluster: str) -> list[Row]:
        told: dict[str, Row] = {}
        for alert in self.alerts:
            if alert["cluster"] == cluster and alert["state"] in ("pending", "sent"):
                told |= {one["group_id"]: one for one in alert["message"]["told"]}
        return list(told.values())

    def _insert_alert(self, **row: Any) -> list[Row]:
        return self._insert(incident_id=None, **row)

    def _insert(self, *, key: str, message: str, **row: Any) -> list[Row]:
        if any(alert["key"] == key for alert in self.alerts):
            return []
        alert = {"alert_id": len(self.alerts) + 1, "key": key, "message": json.loads(message)}
        self.alerts.append(
            alert | {"state": "pending", "attempts": 0, "error": None, "claimed": False} | row
        )
        return [{"alert_id": alert["alert_id"]}]

    def _pending_alerts(self) -> list[Row]:
        return [self._with_thread(a) for a in self.alerts if a["state"] == "pending"]

    def _with_thread(self, alert: Row) -> Row:
        openings = [
            a["sent_timestamp"]
            for a in self.alerts
            if a["incident_id"] is not None
            and (a["incident_id"], a["channel"], a["state"])
            == (alert["incident_id"], alert["channel"], "sent")
        ]
        return alert | {"thread": openings[0] if openings else None}

    def _alert(self, alert_id: int) -> Row:
        return next(a for a in self.alerts if a["alert_id"] == alert_id)

    def _claim_alert(self, alert_id: int, lease_seconds: float) -> list[Row]:
        alert = self._alert(alert_id)
        if alert["state"] != "pending" or alert["claimed"]:
            return []
        alert.update(claimed=True, attempts=alert["attempts"] + 1)
        return [{"alert_id": alert_id}]

    def _mark_alert_sent(self, alert_id: int, sent_channel: str, sent_timestamp: str) -> list[Row]:
        self._alert(alert_id).update(
            state="sent", claimed=False, sent_channel=sent_channel, sent_timestamp=sent_timestamp
        )
        return []

    def _mark_alert_failed(self, alert_id: int, error: str) -> list[Row]:
        self._alert(alert_id).update(claimed=False, error=error)
        return []

    def _watch_snapshots(self, clusters: list[str]) -> list[Row]:
        return [
            dict(row) for row in self.watched.get("snapshots", []) if row["cluster"] in clusters
        ]

    def _watch_steps(self, clusters: list[str]) -> list[Row]:
        return [dict(row) for row in self.watched.get("steps", []) if row["cluster"] in clusters]

    def _watch_alerts(self, clusters: list[str]) -> list[Row]:
        return [dict(row) for row in self.watched.get("alerts", []) if row["cluster"] in clusters]

    def _open_incidents(self) -> list[Row]:
        return [dict(i) for i in self.incidents if i["closed_at"] is None]

    def _open_incident(
        self,
        cluster: str,
        now: datetime,
        facts: str,
        channel: str,
        alert_kind: str,
        message: str | None,
        **row: Any,
    ) -> list[Row]:
        number = len(self.incidents) + 1
        self.incidents.append(
            {"incident_id": number, "cluster": cluster, "opened_at": now, "last_seen_at": now}
            | {"closed_at": None, "facts": json.loads(facts)}
            | row
        )
        if message is None:
            return []
        return self._about(number, "opened", cluster, channel, alert_kind, message)

    def _touch_incident(self, incident_id: int, now: datetime, facts: str) -> list[Row]:
        self.incidents[incident_id - 1].update(last_seen_at=now, facts=json.loads(facts))
        return []

    def _close_incident(
        self, incident_id: int, now: datetime, channel: str, alert_kind: str, message: str
    ) -> list[Row]:
        incident = self.incidents[incident_id - 1]
        incident["closed_at"] = now
        for alert in self.alerts:
            if alert["incident_id"] == incident_id and alert["state"] == "pending":
                alert["state"] = "superseded"
        return self._about(incident_id, "closed", incident["cluster"], channel, alert_kind, message)

    def _about(
        self, number: int, what: str, cluster: str, channel: str, kind: str, message: str
    ) -> list[Row]:
        key = f"incident {number} {what}"
        return self._insert(
            key=key,
            message=message,
            cluster=cluster,
            incident_id=number,
            kind=kind,
            channel=channel,
        )


class Recorder:
    """A notifier that keeps what it was given; channels in *refusing* fail with their error."""

    def __init__(self, refusing: Mapping[str, Exception] | None = None) -> None:
        self.refusing = dict(refusing or {})
        self.sent: list[tuple[str, str, AlertMessage]] = []
        self.threads: list[str | None] = []
        self.tried: list[str] = []

    def send(
        self, message: AlertMessage, *, channel: str, key: str, thread: str | None = None
    ) -> Delivered:
        """Keep the message, or fail."""
        self.tried.append(key)
        if channel in self.refusing:
            raise self.refusing[channel]
        self.sent.append((channel, key, message))
        self.threads.append(thread)
        return Delivered(channel=channel, timestamp=str(len(self.sent)))


def refusal(channel: str = "#kafka") -> NotifierError:
    """What a notifier raises when Slack refuses."""
    return NotifierError(f"Slack refused {channel}: channel_not_found.", fix="Invite the bot.")
