"""The notifier without a chat: messages go to the log, so that an installation without Slack still hears."""

from __future__ import annotations

import logging

from ..messages.length import plain_text
from ..model.logs import logger
from ..model.message import AlertMessage, Severity
from ..model.moments import utc_now
from ..ports import Delivered

log = logger(__name__)

LEVELS = {
    Severity.INFO: logging.INFO,
    Severity.RESOLVED: logging.INFO,
    Severity.WARNING: logging.WARNING,
    Severity.CRITICAL: logging.ERROR,
}


class LogNotifier:
    """Writes each message to the logger of this module, as the port `Notifier`."""

    def __init__(self) -> None:
        self._has_warned = False

    def send(
        self,
        message: AlertMessage,
        *,
        channel: str,
        key: str,
        thread: str | None = None,
        broadcast: bool = False,
    ) -> Delivered:
        """Log the message; the first time, also why it is not on Slack."""
        if not self._has_warned:
            log.warning(
                "No Slack token is set (EVENKEEL_SLACK_TOKEN or the connection evenkeel_slack): "
                "alerts are only logged."
            )
            self._has_warned = True
        # the lines of a message are its own, those of an argument would be a name's
        lines = plain_text(message).replace("%", "%%")
        log.log(LEVELS[message.severity], f"alert %s for %s\n{lines}", key, channel)
        return Delivered(channel="log", timestamp=f"{utc_now().timestamp():.6f}")

    def update(
        self, message: AlertMessage, *, channel: str, key: str, delivered: Delivered
    ) -> Delivered:
        """Log what the message says now: what is in a log stays as it is."""
        self.send(message, channel=channel, key=key)
        return delivered
