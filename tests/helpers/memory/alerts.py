"""The outbox and the incidents in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from evenkeel.engine.message import AlertMessage, MessageKind, Told
from evenkeel.engine.ports import Delivered, Incident, NewAlert, NewIncident, PendingAlert
from tests.helpers.memory.tables import Memory, StoredAlert


class MemoryOutbox(Memory):
    """The port `Outbox`."""

    def messages(self, state: str = "pending") -> list[AlertMessage]:
        """The messages of the alerts in a state, oldest first."""
        return [AlertMessage.from_json(a.message) for a in self.tables.alerts if a.state == state]

    def told_advice(self, cluster: str) -> list[Told]:
        """What the newest alert says of each group."""
        told = {
            one["group_id"]: Told(**one)
            for alert in self.tables.alerts
            if alert.cluster == cluster and alert.state in ("pending", "sent")
            if alert.message["kind"] == MessageKind.ADVICE
            for one in alert.message["told"]
        }
        return [told[group] for group in sorted(told)]

    def enqueue(self, alert: NewAlert) -> bool:
        """Keep it, the first time."""
        return self._add(
            alert.key, alert.cluster, alert.channel, alert.message, snapshot_id=alert.snapshot_id
        )

    def _add(
        self,
        key: str,
        cluster: str,
        channel: str,
        message: AlertMessage,
        *,
        snapshot_id: str | None = None,
        incident_id: int | None = None,
    ) -> bool:
        if any(alert.key == key for alert in self.tables.alerts):
            return False
        alert = StoredAlert(
            alert_id=max((a.alert_id for a in self.tables.alerts), default=0) + 1,
            key=key,
            cluster=cluster,
            snapshot_id=snapshot_id,
            incident_id=incident_id,
            channel=channel,
            message=message.to_json(),
            created_at=self._clock(),
        )
        self.tables.alerts.append(alert)
        return True

    def pending_alerts(self) -> list[PendingAlert]:
        """Those that wait, oldest first."""
        return [
            PendingAlert(
                alert_id=alert.alert_id,
                key=alert.key,
                channel=alert.channel,
                message=alert.message,
                attempts=alert.attempts,
                created_at=alert.created_at,
                thread=self._thread(alert),
            )
            for alert in self.tables.alerts
            if alert.state == "pending"
        ]

    def _thread(self, alert: StoredAlert) -> str | None:
        sent = (
            earlier.sent_timestamp
            for earlier in self.tables.alerts
            if alert.incident_id is not None
            and earlier.alert_id < alert.alert_id
            and (earlier.incident_id, earlier.channel, earlier.state)
            == (alert.incident_id, alert.channel, "sent")
        )
        return next(sent, None)

    def _alert(self, alert_id: int) -> StoredAlert:
        return next(a for a in self.tables.alerts if a.alert_id == alert_id)

    def claim_alert(self, alert_id: int, lease: timedelta) -> bool:
        """Note an attempt."""
        alert, now = self._alert(alert_id), self._clock()
        under_way = alert.attempted_at is not None and alert.attempted_at >= now - lease
        if alert.state != "pending" or under_way:
            return False
        alert.attempted_at, alert.attempts = now, alert.attempts + 1
        return True

    def mark_alert_sent(self, alert_id: int, delivered: Delivered) -> None:
        """Note where it is."""
        alert = self._alert(alert_id)
        alert.state, alert.attempted_at, alert.last_error = "sent", None, None
        alert.sent_timestamp = delivered.timestamp

    def mark_alert_failed(self, alert_id: int, error: str) -> None:
        """Note the error."""
        alert = self._alert(alert_id)
        alert.attempted_at, alert.last_error = None, error


class MemoryIncidents(MemoryOutbox):
    """The port `Incidents`, whose alerts go to the outbox."""

    def open_incidents(self) -> list[Incident]:
        """Those without an end."""
        return [one for one in self.tables.incidents if one.closed_at is None]

    def open_incident(
        self, incident: NewIncident, *, channel: str, message: AlertMessage | None
    ) -> bool:
        """Keep it and its alert, unless one of its kind is open."""
        same = (incident.cluster, incident.group_id, incident.kind)
        if any((i.cluster, i.group_id, i.kind) == same for i in self.open_incidents()):
            return False
        number = max((i.incident_id for i in self.tables.incidents), default=0) + 1
        self.tables.incidents.append(
            Incident(
                incident_id=number,
                cluster=incident.cluster,
                group_id=incident.group_id,
                kind=incident.kind,
                severity=incident.severity,
                opened_at=incident.opened_at,
                last_seen_at=incident.opened_at,
                facts=incident.facts,
            )
        )
        if message is None:
            return False
        key = f"incident {number} opened"
        return self._add(key, incident.cluster, channel, message, incident_id=number)

    def touch_incident(self, incident_id: int, *, now: datetime, facts: Mapping[str, Any]) -> None:
        """Note what is known now."""
        self._change(incident_id, last_seen_at=now, facts=facts)

    def close_incident(
        self, incident_id: int, *, now: datetime, channel: str, message: AlertMessage
    ) -> bool:
        """End it, with its alert."""
        incident = self._change(incident_id, closed_at=now)
        if incident is None:
            return False
        for alert in self.tables.alerts:
            if alert.incident_id == incident_id and alert.state == "pending":
                alert.state = "superseded"
        key = f"incident {incident_id} closed"
        return self._add(key, incident.cluster, channel, message, incident_id=incident_id)

    def _change(self, incident_id: int, **news: Any) -> Incident | None:
        """The incident with something new, if it is open."""
        for place, one in enumerate(self.tables.incidents):
            if one.incident_id == incident_id and one.closed_at is None:
                self.tables.incidents[place] = replace(one, **news)
                return self.tables.incidents[place]
        return None
