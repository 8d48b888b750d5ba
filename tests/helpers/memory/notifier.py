"""Somewhere messages are kept instead of read."""

from __future__ import annotations

from collections.abc import Mapping

from evenkeel.engine.message import AlertMessage
from evenkeel.engine.ports import Delivered


class MemoryNotifier:
    """The port `Notifier`; channels in *refusing* fail with their error."""

    def __init__(self, refusing: Mapping[str, Exception] | None = None) -> None:
        self.refusing = dict(refusing or {})
        self.sent: list[tuple[str, str, AlertMessage]] = []
        self.threads: list[str | None] = []
        self.tried: list[str] = []

    def send(
        self, message: AlertMessage, *, channel: str, key: str, thread: str | None = None
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
        return Delivered(channel=channel, timestamp=str(kept.index((channel, key)) + 1))
