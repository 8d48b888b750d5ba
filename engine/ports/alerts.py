"""What is to be told, until it is told: the outbox, the incidents, and where people read messages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Protocol

from evenkeel.engine.columns import column
from evenkeel.engine.message import AlertMessage, Announcement
from evenkeel.engine.records import AlertRow, IncidentRow


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingAlert(AlertRow):
    """
    An alert that waits to be delivered.

    Its *message* is the stored form of an `AlertMessage`, unread: another version may have written it.
    """

    thread: str | None = field(
        metadata=column(
            "The messenger's own id of the message that it answers; null when it answers none."
        )
    )


class Outbox(Protocol):
    """Alerts on their way: pending, then sent; superseded when their time has passed."""

    def announced_advice(self, cluster: str) -> list[Announcement]:
        """What each group of a cluster was told last, by an alert that was sent or still waits."""

    def enqueue_alert(
        self,
        key: str,
        message: AlertMessage,
        *,
        cluster: str,
        snapshot_id: str | None,
        channel: str,
    ) -> bool:
        """
        Add an alert.

        Args:
            key: Our own id of what is said; nothing is said twice under one key.
            message: What is to be said.
            cluster: The cluster it is about.
            snapshot_id: The snapshot it speaks of; None when it speaks of none.
            channel: Where it is to be said.

        Returns:
            False when there is one of its key already.
        """

    def pending_alerts(self) -> list[PendingAlert]:
        """The alerts that wait, oldest first."""

    def claim_alert(self, alert: AlertRow, lease: timedelta) -> bool:
        """
        Begin an attempt to deliver an alert.

        Args:
            alert: The alert.
            lease: For how long an attempt that has not ended keeps all others away.

        Returns:
            False when it does not wait any more, or an attempt of another is under way.
        """

    def mark_alert_sent(self, alert: AlertRow, delivered: Delivered) -> None:
        """The attempt has succeeded."""

    def mark_alert_failed(self, alert: AlertRow, error: str) -> None:
        """The attempt has failed; the alert waits for the next one."""


class Incidents(Protocol):
    """What is wrong for a while. At most one of a kind is open per cluster and group."""

    def open_incidents(self) -> list[IncidentRow]:
        """Those that are open now, oldest first."""

    def open_incident(
        self, incident: IncidentRow, *, channel: str, message: AlertMessage | None
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

    def touch_incident(
        self, incident: IncidentRow, *, now: datetime, facts: Mapping[str, Any]
    ) -> None:
        """An open incident is still there: when it was seen, and what is known about it now."""

    def close_incident(
        self, incident: IncidentRow, *, now: datetime, channel: str, message: AlertMessage
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
