"""Somewhere messages are kept instead of read."""

from __future__ import annotations

from collections.abc import Mapping

from ...model.message import AlertMessage
from ...ports import Delivered


class MemoryNotifier:
    """The port `Notifier`; channels in *refusing* fail with their error, messages in *gone* were deleted."""

    def __init__(self, refusing: Mapping[str, Exception] | None = None) -> None:
        self.refusing = dict(refusing or {})
        self.sent: list[tuple[str, str, AlertMessage]] = []
        self.threads: list[str | None] = []
        self.broadcasts: list[bool] = []
        self.changes: list[tuple[str, str]] = []
        self.gone: set[str] = set()
        self.tried: list[str] = []

    def send(
        self,
        message: AlertMessage,
        *,
        channel: str,
        key: str,
        thread: str | None = None,
        broadcast: bool = False,
    ) -> Delivered:
        """Keep the message, find the one of that key, or fail."""
        self.tried.append(key)
        if channel in self.refusing:
            raise self.refusing[channel]
        kept = [(place, sent) for place, sent, _ in self.sent]
        if (channel, key) not in kept:
            kept.append((channel, key))
            self.sent.append((channel, key, message))
            self.threads.append(thread)
            self.broadcasts.append(broadcast)
        return Delivered(channel=channel, timestamp=str(kept.index((channel, key)) + 1))

    def update(
        self, message: AlertMessage, *, channel: str, key: str, delivered: Delivered
    ) -> Delivered:
        """Put the message in the place of the one that is there, or keep it where that is gone."""
        place = int(float(delivered.timestamp)) - 1
        if delivered.timestamp in self.gone or place >= len(self.sent):
            return self.send(message, channel=channel, key=key)
        self.tried.append(key)
        if channel in self.refusing:
            raise self.refusing[channel]
        self.changes.append((delivered.timestamp, key))
        self.sent[place] = (*self.sent[place][:2], message)
        return delivered
