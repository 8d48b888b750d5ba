"""Ports of notifications: the outbox, incidents, and notification channels."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Protocol

from ..model.columns import column, record
from ..model.groups import WatchOf
from ..model.message import AlertMessage, Announcement
from ..records import AlertRow, IncidentCourse, IncidentRow


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """The location of a delivered message, to find, edit or answer it."""

    channel: str
    timestamp: str


@record
class PendingAlert(AlertRow):
    """
    A pending alert.

    Its *message* is a stored `AlertMessage`, not parsed, because another version may have written it.
    """

    standing_channel: str | None = column("Channel id of the message that it answers or edits.")
    standing_timestamp: str | None = column("Id of that message; None if it was not delivered.")

    @property
    def standing(self) -> Delivered | None:
        """Current location of the message that it answers or edits."""
        if self.standing_channel is None or self.standing_timestamp is None:
            return None
        return Delivered(channel=self.standing_channel, timestamp=self.standing_timestamp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """
    A notification before it becomes an alert in the outbox.

    Attributes:
        key: Deduplication key; a key is delivered once. channel: Channel that receives it. message: Its content.
        answers: Key of the message whose thread it belongs to; None if it starts a thread. Any key of a replaced
        message
            is valid.
        replaces: Key of the message that it edits; None if it is posted as a new message. Any key is valid, as above.
        broadcast: Whether a reply is also shown in the channel.
    """

    key: str
    channel: str
    message: AlertMessage
    answers: str | None = None
    replaces: str | None = None
    broadcast: bool = False


class Outbox(Protocol):
    """Alerts: pending, then sent, or superseded if outdated."""

    def announced_advice(self, cluster: str) -> list[Announcement]:
        """The last news about each group of a cluster, in a sent or pending alert."""

    def enqueue_alert(
        self, posting: Posting, *, cluster: str, snapshot_id: str | None = None
    ) -> bool:
        """
        Add an alert; outdated pending alerts are superseded (`messages.outbox`).

        Args:
            posting: The notification.
            cluster: Its cluster.
            snapshot_id: The snapshot with which the alert is deleted; None without one.

        Returns:
            False if the key exists already.
        """

    def standing_alert(self, key: str) -> AlertRow | None:
        """
        The newest alert that is a message or replaces it, from an evaluation.

        Alerts that only show an acknowledgement (keys that start with `ack `) are excluded.
        """

    def pending_alerts(self) -> list[PendingAlert]:
        """The pending alerts, oldest first."""

    def attempt_alert(self, alert: AlertRow, lease: timedelta) -> AbstractContextManager[bool]:
        """
        A delivery attempt, which excludes others until the block or its process ends.

        Args:
            alert: The alert.
            lease: Duration of the exclusion if the database was restarted since the attempt, so that it cannot know
                whether the process lives.

        Returns:
            False if the alert is no longer pending, or if another attempt is running.
        """

    def mark_alert_sent(self, alert: AlertRow, delivered: Delivered) -> None:
        """Record a successful attempt."""

    def mark_alert_failed(self, alert: AlertRow, error: str, *, refused: bool = False) -> None:
        """Record a failed attempt, *refused* if the message was certainly not delivered; the alert stays pending."""

    def drop_alerts(self, keys: Sequence[str]) -> None:
        """Supersede the pending ones of these alerts."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentWatch:
    """
    State of the incidents of a cluster, of its groups or its pipeline, from one evaluation to the next.

    Attributes:
        cluster: Configured name of the cluster.
        snapshot_id: The newest evaluated snapshot, or evaluation; None before the first.
        at: End of that snapshot, or time of the evaluation.
        first_at: The same of the first one.
        courses: States of open and suspected incidents.
    """

    cluster: str
    snapshot_id: str | None = None
    at: datetime | None = None
    first_at: datetime | None = None
    courses: tuple[IncidentCourse, ...] = ()


CLOCKS_APART = timedelta(minutes=10)
"""Maximum clock skew; an evaluation further in the future doesn't block current ones."""


class Incidents(Protocol):
    """Incidents of groups and pipelines, notified or not."""

    def incident_watch(self, cluster: str, of: WatchOf = WatchOf.GROUPS) -> IncidentWatch:
        """The incident states of the groups of a cluster, or of its pipeline; empty before the first evaluation."""

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
        """
        Store the result of an evaluation and queue its notifications, atomically.

        The history database may not have the snapshot, if it was down when the snapshot was taken.

        Args:
            cluster: Configured name of the cluster.
            snapshot_id: The snapshot.
            at: End of the snapshot.
            courses: States for the next evaluation; all others are deleted.
            incidents: Public rows (`IncidentRow.of_course`) of incidents that are open or were resolved in this
                evaluation. All other open incidents of the subject are resolved.
            postings: Notifications.
            before: The snapshot of the evaluation (`incident_watch`) that this one is based on.
            of: The subject; for a pipeline *snapshot* is the id of the evaluation and *at* its time.

        Returns:
            False if this snapshot, a newer one, or any other since *before* was evaluated already; nothing is stored
            then. A snapshot more than `CLOCKS_APART` in the future doesn't count as newer.
        """

    def unwatched(self, clusters: Sequence[str]) -> list[str]:
        """Other clusters, by name, with incident states or open incidents."""

    def forget_watch(
        self,
        cluster: str,
        now: datetime,
        postings: Sequence[Posting],
        *,
        before: str | None,
        of: WatchOf = WatchOf.GROUPS,
    ) -> bool:
        """
        Delete the incident states of a subject, resolve its open incidents and queue notifications, atomically.

        Args:
            cluster: Name of the cluster.
            now: Time of the resolution.
            postings: Notifications.
            before: The snapshot of the evaluation (`incident_watch`) that this is based on.
            of: The subject.

        Returns:
            False if there was another evaluation, or none; nothing is changed then.
        """


class Notifier(Protocol):
    """A notification channel. Several threads use it in parallel, one per channel."""

    def send(
        self,
        message: AlertMessage,
        *,
        channel: str,
        key: str,
        thread: str | None = None,
        broadcast: bool = False,
    ) -> Delivered:
        """
        Deliver a message.

        Args:
            message: The message.
            channel: Its channel.
            key: Deduplication key; a delivered message with this key is found, not sent again.
            thread: Timestamp of the message that this one answers.
            broadcast: Whether a reply is also shown in the channel.

        Raises:
            NotDelivered: It was refused; ChannelClosed if the channel accepts no messages.
            NotifierError: It was not delivered, or that is unknown; a retry is safe.
        """

    def update(
        self, message: AlertMessage, *, channel: str, key: str, delivered: Delivered
    ) -> Delivered:
        """
        Edit a delivered message; repeating it is harmless.

        A deleted message is posted again; one that can no longer be edited gets a reply that is shown in the channel.

        Args:
            message: The new content.
            channel: Its channel.
            key: Deduplication key of the edit, for new posts.
            delivered: Location of the message.

        Returns:
            Its new location.

        Raises:
            NotifierError: As for `send`.
        """
