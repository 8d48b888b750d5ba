"""The outbox and the incidents in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from evenkeel.engine.message import AlertMessage, Announcement, MessageKind
from evenkeel.engine.ports import Delivered, PendingAlert
from evenkeel.engine.records import AlertRow, AlertState, IncidentRow, record_of, row_of
from tests.helpers.memory.tables import Memory


class MemoryOutbox(Memory):
    """The port `Outbox`."""

    def messages(self, state: str = "pending") -> list[AlertMessage]:
        """The messages of the alerts in a state, oldest first."""
        return [AlertMessage.from_json(a.message) for a in self.tables.alerts if a.state == state]

    def announced_advice(self, cluster: str) -> list[Announcement]:
        """What the newest alert says of each group."""
        told = {
            one["group_id"]: Announcement.from_json(
                one, datetime.fromisoformat(alert.message["at"])
            )
            for alert in self.tables.alerts
            if alert.cluster == cluster and alert.state in ("pending", "sent")
            if alert.message["kind"] == MessageKind.ADVICE
            for one in alert.message["told"]
        }
        return [told[group] for group in sorted(told)]

    def enqueue_alert(
        self,
        key: str,
        message: AlertMessage,
        *,
        cluster: str,
        snapshot_id: str | None,
        channel: str,
    ) -> bool:
        """Keep it, the first time."""
        return self._add(key, message, cluster=cluster, snapshot_id=snapshot_id, channel=channel)

    def _add(self, key: str, message: AlertMessage, **columns: Any) -> bool:
        if any(alert.key == key for alert in self.tables.alerts):
            return False
        alert = AlertRow(
            alert_id=max((a.alert_id or 0 for a in self.tables.alerts), default=0) + 1,
            key=key,
            kind=message.kind.value,
            message=message.to_json(),
            created_at=self._clock(),
            **columns,
        )
        self.tables.alerts.append(alert)
        return True

    def pending_alerts(self) -> list[PendingAlert]:
        """Those that wait, oldest first."""
        return [
            record_of(PendingAlert, row_of(alert) | {"thread": self._thread(alert)})
            for alert in self.tables.alerts
            if alert.state == "pending"
        ]

    def _thread(self, alert: AlertRow) -> str | None:
        sent = (
            earlier.sent_timestamp
            for earlier in self.tables.alerts
            if alert.incident_id is not None
            and (earlier.alert_id or 0) < (alert.alert_id or 0)
            and (earlier.incident_id, earlier.channel, earlier.state)
            == (alert.incident_id, alert.channel, "sent")
        )
        return next(sent, None)

    def _set(self, alert_id: int | None, **columns: Any) -> None:
        self.tables.alerts[:] = [
            replace(alert, **columns) if alert.alert_id == alert_id else alert
            for alert in self.tables.alerts
        ]

    def claim_alert(self, alert: AlertRow, lease: timedelta) -> bool:
        """Note an attempt."""
        now = self._clock()
        (stored,) = (one for one in self.tables.alerts if one.alert_id == alert.alert_id)
        under_way = stored.attempted_at is not None and stored.attempted_at >= now - lease
        if stored.state != "pending" or under_way:
            return False
        self._set(alert.alert_id, attempted_at=now, attempts=stored.attempts + 1)
        return True

    def mark_alert_sent(self, alert: AlertRow, delivered: Delivered) -> None:
        """Note where it is."""
        self._set(
            alert.alert_id,
            state=AlertState.SENT,
            sent_at=self._clock(),
            sent_channel=delivered.channel,
            sent_timestamp=delivered.timestamp,
            attempted_at=None,
            last_error=None,
        )

    def mark_alert_failed(self, alert: AlertRow, error: str) -> None:
        """Note the error."""
        self._set(alert.alert_id, attempted_at=None, last_error=error)


class MemoryIncidents(MemoryOutbox):
    """The port `Incidents`, whose alerts go to the outbox."""

    def open_incidents(self) -> list[IncidentRow]:
        """Those without an end."""
        return [one for one in self.tables.incidents if one.closed_at is None]

    def open_incident(
        self, incident: IncidentRow, *, channel: str, message: AlertMessage | None
    ) -> bool:
        """Keep it and its alert, unless one of its kind is open."""
        same = (incident.cluster, incident.group_id, incident.kind)
        if any((i.cluster, i.group_id, i.kind) == same for i in self.open_incidents()):
            return False
        number = max((i.incident_id or 0 for i in self.tables.incidents), default=0) + 1
        self.tables.incidents.append(replace(incident, incident_id=number))
        return message is not None and self._tell(number, "opened", incident, channel, message)

    def touch_incident(
        self, incident: IncidentRow, *, now: datetime, facts: Mapping[str, Any]
    ) -> None:
        """Note what is known now."""
        self._change(incident, last_seen_at=now, facts=facts)

    def close_incident(
        self, incident: IncidentRow, *, now: datetime, channel: str, message: AlertMessage
    ) -> bool:
        """End it, with its alert."""
        number = incident.incident_id
        if not self._change(incident, closed_at=now):
            return False
        for alert in list(self.tables.alerts):
            if alert.incident_id == number and alert.state == "pending":
                self._set(alert.alert_id, state=AlertState.SUPERSEDED)
        return self._tell(number, "closed", incident, channel, message)

    def _tell(
        self,
        number: int | None,
        what: str,
        incident: IncidentRow,
        channel: str,
        message: AlertMessage,
    ) -> bool:
        key = f"incident {number} {what}"
        return self._add(
            key, message, cluster=incident.cluster, incident_id=number, channel=channel
        )

    def _change(self, incident: IncidentRow, **news: Any) -> bool:
        """Whether the incident was open; then it has something new."""
        for place, one in enumerate(self.tables.incidents):
            if one.incident_id == incident.incident_id and one.closed_at is None:
                self.tables.incidents[place] = replace(one, **news)
                return True
        return False
