"""
Slack without a bot: an incoming webhook, which posts to one channel.

It has no threads, and it can't edit or find its posts. Of an incident, it posts the opening, and a short message if the
incident becomes more severe or is resolved. An attempt with unknown outcome is repeated, which may double a message.

Format and errors: https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks/
"""

from __future__ import annotations

import http.client
import logging
from typing import Any

from slack_sdk.errors import SlackRequestError
from slack_sdk.http_retry.builtin_handlers import RateLimitErrorRetryHandler
from slack_sdk.webhook import WebhookResponse

from ...model.errors import NotDelivered, NotifierError
from ...model.logs import logger
from ...model.message import AlertMessage, MessageKind
from ...model.moments import utc_now
from ...model.text import host_of
from ...ports import Delivered
from .blocks import body
from .client import BoundedWebhook
from .faults import cause_of, is_doubtful

log = logger(__name__)

FIX = (
    "Make a new incoming webhook in Slack, and set EVENKEEL_SLACK_WEBHOOK_URL or the password of the Airflow "
    "connection evenkeel_slack to its address."
)

NETWORK_FIX = "Check network and proxy from this host; the alert is sent by a later run."

LATER = "No action is needed: a later run sends it."

EMPTY = frozenset({"no_text", "invalid_payload", "missing_text_or_fallback_or_attachments"})
"""Slack's answers to a message without content, if the webhook works."""


ANSWERS = (MessageKind.INCIDENT_CLOSED, MessageKind.DIGEST, MessageKind.ADVICE)
"""Messages of a thread that are posted by themselves, since a webhook has no threads."""


class SlackWebhook:
    """An incoming webhook, as the port `Notifier`."""

    def __init__(self, url: str, *, timeout_seconds: int = 30) -> None:
        """
        Args:
            url: Its address, all of which but the host is secret.
            timeout_seconds: How long one request may take.
        """
        self.host = host_of(url) or "an unknown host"
        # The client logs the address it calls: this logger has no reader.
        silent = logging.Logger("an incoming webhook", logging.CRITICAL)
        waits = RateLimitErrorRetryHandler(max_retry_count=1)
        self._client = BoundedWebhook(url, timeout_seconds, logger=silent, retry_handlers=[waits])
        self._client.proxy = None  # as in the notifier: left alone, urllib heeds the environment

    def __repr__(self) -> str:
        return f"SlackWebhook({self.host!r})"

    def send(
        self,
        message: AlertMessage,
        *,
        channel: str,
        key: str,
        thread: str | None = None,
        broadcast: bool = False,
    ) -> Delivered:
        """An answer is posted only if it is broadcast, ends an incident, or has the rest of a digest."""
        # the first message stays unchanged: without another one it would be open for ever
        if thread is None or broadcast or message.kind in ANSWERS:
            content = body(message, key)
            self._post(text=content["text"], blocks=content["blocks"], unfurl_links=False)
        else:
            log.info("%s is an answer to %s: an incoming webhook can't post it.", key, thread)
        return Delivered(channel=self.host, timestamp=f"{utc_now().timestamp():.6f}")

    def update(
        self, message: AlertMessage, *, channel: str, key: str, delivered: Delivered
    ) -> Delivered:
        """Leave the post unchanged."""
        log.info("%s edits a post: an incoming webhook can't.", key)
        return delivered

    def check(self) -> None:
        """
        Check the webhook by a message without content, which Slack never posts.

        Raises:
            NotifierError: It doesn't exist, or Slack doesn't answer.
        """
        answer = self._call(text="")
        if answer.body not in EMPTY:
            raise self._refused(answer)

    def _post(self, **content: Any) -> None:
        answer = self._call(**content)
        if answer.status_code != 200:
            raise self._refused(answer)

    def _call(self, **content: Any) -> WebhookResponse:
        try:
            return self._client.send(**content)
        # These quote the address: not even as a cause are they seen.
        except (ValueError, SlackRequestError, http.client.InvalidURL):
            wrong = "the address of Slack's incoming webhook is invalid."
            raise NotDelivered(wrong, fix=FIX) from None
        except (OSError, http.client.HTTPException) as problem:
            wrong = (
                f"Slack's incoming webhook at {self.host} cannot be reached: {cause_of(problem)}."
            )
            kind = NotifierError if is_doubtful(problem) else NotDelivered
            raise kind(wrong, fix=NETWORK_FIX) from problem

    def _refused(self, answer: WebhookResponse) -> NotifierError:
        kind = NotifierError if answer.status_code >= 500 else NotDelivered
        passing = answer.status_code == 429 or answer.status_code >= 500
        told = "" if passing else answer.body[:100]
        reason = told or f"HTTP status {answer.status_code}"
        return kind(
            f"Slack at {self.host} refused the message: {reason}.", fix=LATER if passing else FIX
        )
