"""What is to be told, until it is told: the outbox, the incidents, and where people read messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Protocol

from evenkeel.engine.message import AlertMessage, Told


@dataclass(frozen=True, slots=True, kw_only=True)
class NewAlert:
    """A message for the outbox: nothing is said twice under one *key*."""

    key: str
    cluster: str
    snapshot_id: str | None
    channel: str
    message: AlertMessage


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingAlert:
    """
    An alert that waits to be delivered.

    Attributes:
        alert_id: Its number; a larger one is younger.
        key: Our own id of what is said.
        channel: Where it is to be said.
        message: The stored form of an `AlertMessage`, unread: another version may have written it.
        attempts: How often its delivery was tried.
        created_at: When it was made.
        thread: Timestamp of the sent message that it answers; None when it answers none.
    """

    alert_id: int
    key: str
    channel: str
    message: Mapping[str, Any]
    attempts: int
    created_at: datetime
    thread: str | None


class Outbox(Protocol):
    """Alerts on their way: pending, then sent; superseded when their time has passed."""

    def told_advice(self, cluster: str) -> list[Told]:
        """What each group of a cluster was told last, by an alert that was sent or still waits."""

    def enqueue(self, alert: NewAlert) -> bool:
        """Add an alert; False when there is one of its key already."""

    def pending_alerts(self) -> list[PendingAlert]:
        """The alerts that wait, oldest first."""

    def claim_alert(self, alert_id: int, lease: timedelta) -> bool:
        """
        Begin an attempt to deliver an alert.

        Args:
            alert_id: The alert.
            lease: For how long an attempt that has not ended keeps all others away.

        Returns:
            False when it does not wait any more, or an attempt of another is under way.
        """

    def mark_alert_sent(self, alert_id: int, delivered: Delivered) -> None:
        """The attempt has succeeded."""

    def mark_alert_failed(self, alert_id: int, error: str) -> None:
        """The attempt has failed; the alert waits for the next one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewIncident:
    """Something that is wrong from now on; *group_id* None when the whole cluster is concerned, *facts* JSON-able."""

    cluster: str
    group_id: str | None
    kind: str
    severity: str
    opened_at: datetime
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident(NewIncident):
    """An incident of the history; *closed_at* None while it is open."""

    incident_id: int
    last_seen_at: datetime
    closed_at: datetime | None = None


class Incidents(Protocol):
    """What is wrong for a while. At most one of a kind is open per cluster and group."""

    def open_incidents(self) -> list[Incident]:
        """Those that are open now, oldest first."""

    def open_incident(
        self, incident: NewIncident, *, channel: str, message: AlertMessage | None
    ) -> bool:
        """
        Open an incident, and with it add its alert to the outbox.

        Args:
            incident: What is wrong. One that is open already stays as it is.
            channel: Where it is to be said.
            message: What is to be said; None says nothing.

        Returns:
            Whether an alert was added.
        """

    def touch_incident(self, incident_id: int, *, now: datetime, facts: Mapping[str, Any]) -> None:
        """An open incident is still there: when it was seen, and what is known about it now."""

    def close_incident(
        self, incident_id: int, *, now: datetime, channel: str, message: AlertMessage
    ) -> bool:
        """
        Close an incident, and with it add the alert of its end; alerts about it that still wait are superseded.

        Returns:
            Whether an alert was added: False when it was not open.
        """


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """Where a message went: enough to find, update or thread it."""

    channel: str
    timestamp: str


class Notifier(Protocol):
    """Somewhere people read messages."""

    def send(
        self, message: AlertMessage, *, channel: str, key: str, thread: str | None = None
    ) -> Delivered:
        """
        Deliver a message.

        Args:
            message: What to say.
            channel: Where to say it.
            key: Our own id of the message; a message already delivered under it is found, not sent again.
            thread: The timestamp of the message this one answers.

        Raises:
            NotifierError: It could not be delivered; sending again later is safe.
        """
