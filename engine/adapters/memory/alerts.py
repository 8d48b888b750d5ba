"""The outbox and the incidents, of pipelines and of groups, in memory."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from threading import Lock
from typing import Any

from ...messages.outbox import entering
from ...model.groups import WatchOf
from ...model.message import AlertMessage, Announcement, MessageKind
from ...ports import CLOCKS_APART, Delivered, IncidentWatch, PendingAlert, Posting
from ...records import AlertRow, AlertState, IncidentCourse, IncidentRow, record_of, row_of
from .tables import Memory

STORING = Lock()
"""Of those who store a watch one does so at a time, as in a transaction."""


class MemoryOutbox(Memory):
    """The port `Outbox`."""

    def messages(self, state: str = "pending") -> list[AlertMessage]:
        """The messages of the alerts in a state, oldest first."""
        return [AlertMessage.from_json(a.message) for a in self.tables.alerts if a.state == state]

    def announced_advice(self, cluster: str) -> list[Announcement]:
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
        self, posting: Posting, *, cluster: str, snapshot_id: str | None = None
    ) -> bool:
        return self._enqueue([posting], cluster, snapshot_id) > 0

    def _enqueue(
        self,
        postings: Sequence[Posting],
        cluster: str,
        snapshot_id: str | None = None,
    ) -> int:
        entered = entering(postings, self.tables.alerts)
        self._supersede(entered.superseded)
        for posting in entered.postings:
            gone = posting.key in entered.superseded
            alert = AlertRow(
                alert_id=max((a.alert_id or 0 for a in self.tables.alerts), default=0) + 1,
                key=posting.key,
                cluster=cluster,
                snapshot_id=snapshot_id,
                kind=posting.message.kind.value,
                channel=posting.channel,
                message=posting.message.to_json(),
                answers=posting.answers,
                replaces=posting.replaces,
                broadcast=posting.broadcast,
                state=AlertState.SUPERSEDED if gone else AlertState.PENDING,
                created_at=self._clock(),
            )
            self.tables.alerts.append(alert)
        return len(entered.postings)

    def standing_alert(self, key: str) -> AlertRow | None:
        own = [a for a in self.tables.alerts if key in (a.key, a.replaces)]
        return next((a for a in reversed(own) if not a.key.startswith("ack ")), None)

    def pending_alerts(self) -> list[PendingAlert]:
        return [
            record_of(PendingAlert, row_of(alert) | self._standing(alert))
            for alert in self.tables.alerts
            if alert.state == "pending"
        ]

    def _standing(self, alert: AlertRow) -> dict[str, str | None]:
        about = alert.replaces or alert.answers
        sent = [
            earlier
            for earlier in self.tables.alerts
            if about in (earlier.key, earlier.replaces) and about is not None
            if (earlier.channel, earlier.state) == (alert.channel, "sent")
        ]
        return {
            "standing_channel": sent[-1].sent_channel if sent else None,
            "standing_timestamp": sent[-1].sent_timestamp if sent else None,
        }

    def _stored(self, alert: AlertRow) -> AlertRow:
        (stored,) = (one for one in self.tables.alerts if one.alert_id == alert.alert_id)
        return stored

    def _set(self, alert_id: int | None, **columns: Any) -> None:
        self.tables.alerts[:] = [
            replace(alert, **columns) if alert.alert_id == alert_id else alert
            for alert in self.tables.alerts
        ]

    @contextmanager
    def attempt_alert(self, alert: AlertRow, lease: timedelta) -> Iterator[bool]:
        """Note it, and that it lasts; this history is never started anew."""
        with self._one_at_a_time:
            stored = self._stored(alert)
            is_ours = alert.alert_id not in self.tables.held and stored.state == "pending"
            if is_ours:
                self._set(
                    alert.alert_id,
                    attempted_at=self._clock(),
                    attempts=stored.attempts + 1,
                    unsure=stored.may_be_there,
                )
                self.tables.held.add(alert.alert_id)
        try:
            yield is_ours
        finally:
            if is_ours:
                self._tables.held.discard(alert.alert_id)

    def mark_alert_sent(self, alert: AlertRow, delivered: Delivered) -> None:
        with self._one_at_a_time:
            self._set(
                alert.alert_id,
                state=AlertState.SENT,
                sent_at=self._clock(),
                sent_channel=delivered.channel,
                sent_timestamp=delivered.timestamp,
                attempted_at=None,
                last_error=None,
            )
            sent = self._stored(alert)
            self.tables.incidents[:] = [
                replace(one, notified_at=one.notified_at or self._clock())
                if one.alert_key is not None and one.alert_key in (sent.key, sent.replaces)
                else one
                for one in self.tables.incidents
            ]

    def mark_alert_failed(self, alert: AlertRow, error: str, *, refused: bool = False) -> None:
        with self._one_at_a_time:
            unsure = self._stored(alert).unsure or not refused
            self._set(alert.alert_id, attempted_at=None, last_error=error, unsure=unsure)

    def drop_alerts(self, keys: Sequence[str]) -> None:
        self._supersede(keys)

    def _supersede(self, keys: Collection[str]) -> None:
        """Those of them that wait."""
        waiting = (a for a in self.tables.alerts if a.state == AlertState.PENDING and a.key in keys)
        for alert in list(waiting):
            self._set(alert.alert_id, state=AlertState.SUPERSEDED)


class MemoryIncidents(MemoryOutbox):
    """The port `Incidents`, whose postings go to the outbox."""

    def incident_watch(self, cluster: str, of: WatchOf = WatchOf.GROUPS) -> IncidentWatch:
        return self.tables.watches.get((cluster, of), IncidentWatch(cluster=cluster))

    def store_watch(
        self,
        cluster: str,
        snapshot_id: str,
        at: datetime,
        courses: Sequence[IncidentCourse],
        incidents: Sequence[IncidentRow],
        postings: Sequence[Posting],
        *,
        before: str | None,
        of: WatchOf = WatchOf.GROUPS,
    ) -> bool:
        """Keep it, unless it is not younger, or was worked out from what is not remembered any more."""
        with STORING:
            watch = self.incident_watch(cluster, of)
            is_late = watch.at is not None and at <= watch.at <= self._clock() + CLOCKS_APART
            if is_late or watch.snapshot_id != before:
                return False
            self.tables.watches[cluster, of] = IncidentWatch(
                cluster=cluster,
                snapshot_id=snapshot_id,
                at=at,
                first_at=min(watch.first_at or at, at),
                courses=tuple(sorted(courses, key=lambda course: course.name)),
            )
            self._merge(cluster, of, at, {incident.key: incident for incident in incidents})
            self._enqueue(postings, cluster)
            return True

    def unwatched(self, clusters: Sequence[str]) -> list[str]:
        watched = (cluster for cluster, _ in self.tables.watches)
        open_ones = (one.cluster for one in self.tables.incidents if one.closed_at is None)
        return sorted({*watched, *open_ones} - set(clusters))

    def forget_watch(
        self,
        cluster: str,
        now: datetime,
        postings: Sequence[Posting],
        *,
        before: str | None,
        of: WatchOf = WatchOf.GROUPS,
    ) -> bool:
        if self.incident_watch(cluster, of).snapshot_id != before:
            return False
        self.tables.watches.pop((cluster, of), None)
        self._merge(cluster, of, now, {})
        self._enqueue(postings, cluster)
        return True

    def _merge(
        self,
        cluster: str,
        of: WatchOf,
        at: datetime,
        incidents: Mapping[str | None, IncidentRow],
    ) -> None:
        merged = []
        is_pipeline = of is WatchOf.PIPELINE
        for one in self.tables.incidents:
            if one.key is not None and one.key in incidents:
                merged.append(
                    replace(
                        incidents[one.key],
                        incident_id=one.incident_id,
                        opened_at=one.opened_at,
                        notified_at=one.notified_at,
                    )
                )
            elif (one.cluster, one.group_id is None, one.closed_at) == (cluster, is_pipeline, None):
                merged.append(replace(one, closed_at=at))
            else:
                merged.append(one)
        known = {one.key for one in merged}
        for key, incident in incidents.items():
            if key not in known:
                number = max((one.incident_id or 0 for one in merged), default=0) + 1
                merged.append(replace(incident, incident_id=number))
        self.tables.incidents[:] = merged
