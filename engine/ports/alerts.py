"""What is to be told, until it is told: the outbox, the incidents, and where people read messages."""

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
    """Where a message went: enough to find, update or thread it."""

    channel: str
    timestamp: str


@record
class PendingAlert(AlertRow):
    """
    An alert that waits to be delivered.

    Its *message* is the stored form of an `AlertMessage`, unread: another version may have written it.
    """

    standing_channel: str | None = column(
        "The messenger's own id of where the message is that it answers or replaces."
    )
    standing_timestamp: str | None = column(
        "The messenger's own id of that message; null when nobody has it."
    )

    @property
    def standing(self) -> Delivered | None:
        """Where the message stands now that it answers or replaces."""
        if self.standing_channel is None or self.standing_timestamp is None:
            return None
        return Delivered(channel=self.standing_channel, timestamp=self.standing_timestamp)


@dataclass(frozen=True, slots=True, kw_only=True)
class Posting:
    """
    Something to be told, before it is an alert in the outbox.

    Attributes:
        key: Our own id of what is said; nothing is said twice under one key.
        channel: Where it is to be said.
        message: What is to be said.
        answers: Key of the message in whose thread it belongs; None: it stands alone. Of one that was replaced any of
            its keys will do.
        replaces: Key of the message whose place it takes: that is changed, nothing new is posted; likewise.
        broadcast: Whether an answer is shown in the channel, too.
    """

    key: str
    channel: str
    message: AlertMessage
    answers: str | None = None
    replaces: str | None = None
    broadcast: bool = False


class Outbox(Protocol):
    """Alerts on their way: pending, then sent; superseded when their time has passed."""

    def announced_advice(self, cluster: str) -> list[Announcement]:
        """What each group of a cluster was told last, by an alert that was sent or still waits."""

    def enqueue_alert(
        self, posting: Posting, *, cluster: str, snapshot_id: str | None = None
    ) -> bool:
        """
        Add an alert; what waits and is out of date with it gives way (`messages.outbox`).

        Args:
            posting: What is to be said, and where.
            cluster: The cluster it is about.
            snapshot_id: The snapshot it goes with when that is forgotten; None when it goes with none.

        Returns:
            False when there is one of its key already.
        """

    def standing_alert(self, key: str) -> AlertRow | None:
        """
        What a message says as it was last written by those who judge: the newest alert that is it or replaces it.

        Those by which people are only shown that it is acknowledged (their keys begin with `ack `) are left out.
        """

    def pending_alerts(self) -> list[PendingAlert]:
        """The alerts that wait, oldest first."""

    def attempt_alert(self, alert: AlertRow, lease: timedelta) -> AbstractContextManager[bool]:
        """
        An attempt to deliver an alert: it keeps all others away until the block, or its process, ends.

        Args:
            alert: The alert.
            lease: For how long an attempt keeps others away of which the history cannot know whether its process lives:
                it was begun before the history itself was started.

        Returns:
            False when it does not wait any more, or an attempt of another is under way: then there is none of ours.
        """

    def mark_alert_sent(self, alert: AlertRow, delivered: Delivered) -> None:
        """The attempt has succeeded."""

    def mark_alert_failed(self, alert: AlertRow, error: str, *, refused: bool = False) -> None:
        """The attempt has failed, *refused* if the message is certainly not there; the alert waits for the next one."""

    def drop_alerts(self, keys: Sequence[str]) -> None:
        """Nobody is to be told of these any more: those of them that wait are superseded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IncidentWatch:
    """
    What is remembered of the groups of a cluster from one snapshot to the next, or of its pipeline from look to look.

    Attributes:
        cluster: Configured name of the cluster.
        snapshot_id: The newest snapshot that was looked at, or look; None before the first.
        at: When its reading ended, or when that was.
        first_at: The same of the first one.
        courses: Of those with which something is wrong.
    """

    cluster: str
    snapshot_id: str | None = None
    at: datetime | None = None
    first_at: datetime | None = None
    courses: tuple[IncidentCourse, ...] = ()


CLOCKS_APART = timedelta(minutes=10)
"""How far clocks may lie apart; a watch that is further ahead of now than that does not hold off those of now."""


class Incidents(Protocol):
    """What is wrong with groups and with pipelines, told or not yet."""

    def incident_watch(self, cluster: str, of: WatchOf = WatchOf.GROUPS) -> IncidentWatch:
        """What is remembered of a cluster's groups, or of its pipeline; nothing before the first look."""

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
        Keep what a look changed, and queue what is told of it: all of it or nothing.

        The history need not know the snapshot: it may have been down when that was taken.

        Args:
            cluster: Configured name of the cluster.
            snapshot_id: The snapshot.
            at: When its reading ended.
            courses: What the next look has to know; what is remembered of any other is forgotten.
            incidents: Of those that are open, or over since this look: what people are shown
                (`IncidentRow.of_course`). Any other that is open of this cluster's groups, or pipeline, is over, too.
            postings: What is to be told.
            before: The snapshot of the watch (`incident_watch`) that all this was worked out from.
            of: What was looked at; of a pipeline the *snapshot* is the look, *at* a moment.

        Returns:
            False when this snapshot, a younger one or any other since *before* was looked at already: nothing is kept
            then. None is younger that is more than `CLOCKS_APART` ahead of now.
        """

    def unwatched(self, clusters: Sequence[str]) -> list[str]:
        """The clusters other than these, by name, of which something is remembered or open."""

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
        Forget the groups of a cluster, or its pipeline, end what is open of it, and queue what is told of that: all or
        nothing.

        Args:
            cluster: Name of the cluster.
            now: When it is over.
            postings: What is to be told.
            before: The snapshot of the watch (`incident_watch`) that all this was worked out from.
            of: What is forgotten.

        Returns:
            False when there is another watch by now, or none any more: nothing is changed then.
        """


class Notifier(Protocol):
    """Somewhere people read messages. It is used by several threads at once, one for each channel."""

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
            message: What to say.
            channel: Where to say it.
            key: Our own id of the message; a message already delivered under it is found, not sent again.
            thread: The timestamp of the message this one answers.
            broadcast: Whether an answer is shown in the channel, too.

        Raises:
            NotDelivered: It was refused; as ChannelClosed where the channel takes nothing of ours.
            NotifierError: It could not be delivered, or it is not known whether it was; sending again later is safe.
        """

    def update(
        self, message: AlertMessage, *, channel: str, key: str, delivered: Delivered
    ) -> Delivered:
        """
        Change a message that was delivered; to repeat that is harmless.

        One that is gone is posted anew; one that may not be changed any more gets an answer that the channel sees.

        Args:
            message: What it is to say.
            channel: Where it was said.
            key: Our own id of the change, for what is posted.
            delivered: Where the message is.

        Returns:
            Where it is now.

        Raises:
            NotifierError: As for `send`.
        """
