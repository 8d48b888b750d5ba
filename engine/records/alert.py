"""A message to people, on its way."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from ..model.columns import Int32, Unit, column, record


class AlertState(enum.StrEnum):
    """How far a message has come."""

    PENDING = "pending"
    SENT = "sent"
    SUPERSEDED = "superseded"


@record
class AlertRow:
    """A message to people: stored as pending, then delivered, then marked as sent."""

    alert_id: int | None = column("Number of the message.", default=None, generated=True)
    key: str = column("Our own id of what is said; nothing is said twice under one key.")
    cluster: str = column("Configured name of the cluster it is about.")
    snapshot_id: str | None = column(
        "The snapshot it speaks of, if it speaks of one.", default=None
    )
    kind: str = column("What sort of message it is.")
    channel: str = column("Where it is to be said.")
    message: Mapping[str, Any] = column("What is to be said, without any markup of a messenger.")
    answers: str | None = column(
        "Key of the message in whose thread it belongs; null: it stands alone.", default=None
    )
    replaces: str | None = column(
        "Key of the message that is changed to it, as that was first posted; null: it is posted anew.",
        default=None,
    )
    broadcast: bool = column("Whether an answer is shown in the channel, too.", default=False)
    state: AlertState = column(
        "Whether it is pending, sent, or superseded by something newer before it could be sent.",
        default=AlertState.PENDING,
    )
    attempts: Int32 = column(
        "Number of deliveries tried.", default=0, unit=Unit.ATTEMPTS, at_least=0
    )
    attempted_at: datetime | None = column(
        "When a delivery was begun that may still be under way; null when none is.", default=None
    )
    unsure: bool = column(
        "Whether an attempt failed in such a way that the message may be there after all.",
        default=False,
    )
    last_error: str | None = column("Why the last one failed; null when it did not.", default=None)
    created_at: datetime | None = column("When it was stored.", default=None, generated=True)
    sent_at: datetime | None = column("When it was delivered; null before.", default=None)
    sent_channel: str | None = column(
        "The messenger's own id of where it was delivered.", default=None
    )
    sent_timestamp: str | None = column(
        "The messenger's own id of the message, to update or answer it.", default=None
    )

    @property
    def may_be_there(self) -> bool:
        """Whether it may have arrived though that was not noted: an attempt is under way, or its end is not known."""
        return self.unsure or self.attempted_at is not None
