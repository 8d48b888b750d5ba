"""A notifier that is in the middle of it."""

from __future__ import annotations

from threading import Event

from evenkeel.engine.adapters.memory import MemoryNotifier
from evenkeel.engine.model.message import AlertMessage
from evenkeel.engine.ports import Delivered


class SlowNotifier(MemoryNotifier):
    """A notifier that waits inside `send` until it is let go."""

    def __init__(self) -> None:
        super().__init__()
        self.inside, self.go = Event(), Event()

    def send(
        self,
        message: AlertMessage,
        *,
        channel: str,
        key: str,
        thread: str | None = None,
        broadcast: bool = False,
    ) -> Delivered:
        """Wait, then keep the message."""
        self.inside.set()
        assert self.go.wait(30)
        return super().send(message, channel=channel, key=key, thread=thread, broadcast=broadcast)
