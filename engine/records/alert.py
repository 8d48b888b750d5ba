"""A message to people, on its way."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from ..model.columns import Int32, Unit, column


class AlertState(enum.StrEnum):
    """How far a message has come."""

    PENDING = "pending"
    SENT = "sent"
    SUPERSEDED = "superseded"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlertRow:
    """A message to people: stored as pending, then delivered, then marked as sent."""

    alert_id: int | None = field(
        default=None, metadata=column("Number of the message.", generated=True)
    )
    key: str = field(
        metadata=column("Our own id of what is said; nothing is said twice under one key.")
    )
    cluster: str = field(metadata=column("Configured name of the cluster it is about."))
    snapshot_id: str | None = field(
        default=None, metadata=column("The snapshot it speaks of, if it speaks of one.")
    )
    kind: str = field(metadata=column("What sort of message it is."))
    channel: str = field(metadata=column("Where it is to be said."))
    message: Mapping[str, Any] = field(
        metadata=column("What is to be said, without any markup of a messenger.")
    )
    answers: str | None = field(
        default=None,
        metadata=column("Key of the message in whose thread it belongs; null: it stands alone."),
    )
    replaces: str | None = field(
        default=None,
        metadata=column(
            "Key of the message that is changed to it, as that was first posted; null: it is posted anew."
        ),
    )
    broadcast: bool = field(
        default=False, metadata=column("Whether an answer is shown in the channel, too.")
    )
    state: AlertState = field(
        default=AlertState.PENDING,
        metadata=column(
            "Whether it is pending, sent, or superseded by something newer before it could be sent."
        ),
    )
    attempts: Int32 = field(
        default=0,
        metadata=column("Number of deliveries tried.", unit=Unit.ATTEMPTS, at_least=0),
    )
    attempted_at: datetime | None = field(
        default=None,
        metadata=column(
            "When a delivery was begun that may still be under way; null when none is."
        ),
    )
    unsure: bool = field(
        default=False,
        metadata=column(
            "Whether an attempt failed in such a way that the message may be there after all."
        ),
    )
    last_error: str | None = field(
        default=None, metadata=column("Why the last one failed; null when it did not.")
    )
    created_at: datetime | None = field(
        default=None, metadata=column("When it was stored.", generated=True)
    )
    sent_at: datetime | None = field(
        default=None, metadata=column("When it was delivered; null before.")
    )
    sent_channel: str | None = field(
        default=None, metadata=column("The messenger's own id of where it was delivered.")
    )
    sent_timestamp: str | None = field(
        default=None,
        metadata=column("The messenger's own id of the message, to update or answer it."),
    )

    @property
    def may_be_there(self) -> bool:
        """Whether it may have arrived though that was not noted: an attempt is under way, or its end is not known."""
        return self.unsure or self.attempted_at is not None
