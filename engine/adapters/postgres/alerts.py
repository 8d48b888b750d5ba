"""What is to be told: ports `Outbox` and `Incidents`. A message is stored as its JSON form."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from evenkeel.engine.adapters.postgres.database import Database
from evenkeel.engine.message import AlertMessage, Announcement, MessageKind
from evenkeel.engine.ports import Delivered, PendingAlert
from evenkeel.engine.records import AlertRow, IncidentRow, record_of


class OutboxTables(Database):
    """The port `Outbox`."""

    def announced_advice(self, cluster: str) -> list[Announcement]:
        """What the newest alert that was sent or waits says of each group."""
        rows = self._execute("announced_advice", cluster=cluster)
        return [Announcement.from_json(row, row["at"]) for row in rows]

    def enqueue_alert(
        self,
        key: str,
        message: AlertMessage,
        *,
        cluster: str,
        snapshot_id: str | None,
        channel: str,
    ) -> bool:
        """Insert it, unless its key is there."""
        rows = self._execute(
            "enqueue_alert",
            key=key,
            cluster=cluster,
            snapshot_id=snapshot_id,
            kind=message.kind.value,
            channel=channel,
            message=message.to_json(),
        )
        return bool(rows)

    def pending_alerts(self) -> list[PendingAlert]:
        """The rows that wait, oldest first."""
        return [record_of(PendingAlert, row) for row in self._execute("pending_alerts")]

    def claim_alert(self, alert: AlertRow, lease: timedelta) -> bool:
        """Note an attempt, unless one of another may be under way."""
        seconds = lease.total_seconds()
        return bool(self._execute("claim_alert", alert_id=alert.alert_id, lease_seconds=seconds))

    def mark_alert_sent(self, alert: AlertRow, delivered: Delivered) -> None:
        """Note where it is."""
        self._execute(
            "mark_alert_sent",
            alert_id=alert.alert_id,
            sent_channel=delivered.channel,
            sent_timestamp=delivered.timestamp,
        )

    def mark_alert_failed(self, alert: AlertRow, error: str) -> None:
        """End the attempt and note its error."""
        self._execute("mark_alert_failed", alert_id=alert.alert_id, error=error)


class IncidentTables(Database):
    """The port `Incidents`."""

    def open_incidents(self) -> list[IncidentRow]:
        """The rows without an end, oldest first."""
        return [record_of(IncidentRow, row) for row in self._execute("open_incidents")]

    def open_incident(
        self, incident: IncidentRow, *, channel: str, message: AlertMessage | None
    ) -> bool:
        """Insert the incident, unless one of its kind is open, and its alert with it."""
        rows = self._execute(
            "open_incident",
            cluster=incident.cluster,
            group_id=incident.group_id,
            kind=incident.kind,
            severity=incident.severity,
            now=incident.opened_at,
            facts=dict(incident.facts),
            channel=channel,
            alert_kind=MessageKind.INCIDENT_OPENED.value,
            message=message and message.to_json(),
        )
        return bool(rows)

    def touch_incident(
        self, incident: IncidentRow, *, now: datetime, facts: Mapping[str, Any]
    ) -> None:
        """Note that it was seen, and what is known now."""
        self._execute(
            "touch_incident", incident_id=incident.incident_id, now=now, facts=dict(facts)
        )

    def close_incident(
        self, incident: IncidentRow, *, now: datetime, channel: str, message: AlertMessage
    ) -> bool:
        """End it, supersede its alerts that wait, and insert that of its end."""
        rows = self._execute(
            "close_incident",
            incident_id=incident.incident_id,
            now=now,
            channel=channel,
            alert_kind=MessageKind.INCIDENT_CLOSED.value,
            message=message.to_json(),
        )
        return bool(rows)
