"""Notifications and their delivery."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..model.columns import Int32, Unit, column, record


class AlertState(enum.StrEnum):
    """Delivery state of a notification."""

    PENDING = "pending"
    SENT = "sent"
    SUPERSEDED = "superseded"


@record
class AlertRow:
    """One row per notification: pending when it is stored, sent after its delivery."""

    alert_id: int | None = column("Number of the notification.", default=None, generated=True)
    key: str = column("Deduplication key; a key is delivered once.")
    cluster: str = column("Configured name of its cluster.")
    snapshot_id: str | None = column(
        "Snapshot that it reports; null if there is none.", default=None
    )
    kind: str = column("Kind of the notification.")
    channel: str = column("Channel that receives it.")
    message: Mapping[str, Any] = column("Content as JSON, without the markup of a chat program.")
    answers: str | None = column(
        "Key of the notification whose thread it belongs to; null if it starts a thread.",
        default=None,
    )
    replaces: str | None = column(
        "Key of the notification that it edits, as first posted; null if it is posted as a new message.",
        default=None,
    )
    broadcast: bool = column(
        "True if a reply in a thread is also shown in the channel.", default=False
    )
    state: AlertState = column(
        "Delivery state: pending, sent, or superseded by a newer notification before delivery.",
        default=AlertState.PENDING,
    )
    attempts: Int32 = column(
        "Number of delivery attempts.", default=0, unit=Unit.ATTEMPTS, at_least=0
    )
    attempted_at: datetime | None = column(
        "Start of a delivery attempt that may still be running; null if there is none.",
        default=None,
    )
    unsure: bool = column(
        "True if an attempt failed but may have delivered the message.",
        default=False,
    )
    last_error: str | None = column(
        "Error of the last attempt; null if it succeeded.", default=None
    )
    created_at: datetime | None = column("Time when it was stored.", default=None, generated=True)
    sent_at: datetime | None = column("Time of the delivery; null before it.", default=None)
    sent_channel: str | None = column(
        "Id of the channel at the chat program; null before the delivery.", default=None
    )
    sent_timestamp: str | None = column(
        "Id of the message at the chat program, used for edits and replies; null before the delivery.",
        default=None,
    )

    @property
    def may_be_there(self) -> bool:
        """Whether it may have been delivered without a record: an attempt is running, or its result is unknown."""
        return self.unsure or self.attempted_at is not None
