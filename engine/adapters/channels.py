"""One notifier for all channels: those of people go to a chat, each program has its own."""

from __future__ import annotations

from collections.abc import Mapping

from ..messages.channels import pager_of
from ..model.errors import NotDelivered
from ..model.message import AlertMessage
from ..ports import Delivered, Notifier


class ChannelNotifier:
    """Hands a message to whom its channel names, as the port `Notifier`."""

    def __init__(self, people: Notifier, pagers: Mapping[str, Notifier]) -> None:
        """
        Args:
            people: Where people read.
            pagers: The programs, by their names in the configuration.
        """
        self._people = people
        self._pagers = dict(pagers)

    def __repr__(self) -> str:
        return f"ChannelNotifier({self._people!r}, {self._pagers!r})"

    def send(
        self,
        message: AlertMessage,
        *,
        channel: str,
        key: str,
        thread: str | None = None,
        broadcast: bool = False,
    ) -> Delivered:
        return self._of(channel).send(
            message, channel=channel, key=key, thread=thread, broadcast=broadcast
        )

    def update(
        self, message: AlertMessage, *, channel: str, key: str, delivered: Delivered
    ) -> Delivered:
        return self._of(channel).update(message, channel=channel, key=key, delivered=delivered)

    def _of(self, channel: str) -> Notifier:
        name = pager_of(channel)
        if name is None:
            return self._people
        if name not in self._pagers:
            fix = f"Add [webhooks.{name}] with its format to evenkeel.toml."
            raise NotDelivered(f"webhook {name!r} is not configured.", fix=fix)
        return self._pagers[name]
