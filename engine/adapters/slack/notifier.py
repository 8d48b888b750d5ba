"""
Posts messages to Slack, each once.

A repeated `chat.postMessage` posts twice, so the client's own retries serve reading only, and a
rate limit, where Slack has certainly not posted. After any other failure that leaves it open
whether the message is there, the channel is searched for our key before the message is posted
again. A repeated `chat.update` changes nothing, so it is retried.
"""

from __future__ import annotations

import http.client
import re
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import partial
from typing import Any

from slack_sdk.errors import SlackApiError, SlackClientError
from slack_sdk.http_retry import RetryHandler
from slack_sdk.http_retry.builtin_handlers import (
    ConnectionErrorRetryHandler,
    RateLimitErrorRetryHandler,
    ServerErrorRetryHandler,
)

from ...model.logs import logger
from ...model.message import AlertMessage
from ...ports import Delivered
from .blocks import EVENT_TYPE, body
from .client import BoundedClient
from .faults import explain, is_doubtful

log = logger(__name__)

TRIES = 3
"""Times one call posts, looking for the message before each further try."""

PAUSE_SECONDS = 1.0
CLOCK_SKEW = timedelta(hours=26)
"""How far our clock may be ahead of Slack's: one that is wrong is often wrong by a time zone, or by a day."""

PAGE = 200
PAGES = 5
LONGEST_WAIT_SECONDS = 60

UNSEEN = frozenset(
    {"missing_scope", "not_in_channel", "channel_not_found", "not_allowed_token_type"}
)
"""Errors of looking that do not keep us from posting."""

UNANSWERABLE = frozenset({"thread_not_found", "message_not_found", "cannot_reply_to_message"})
"""Errors of answering a message that is gone; what is to be said stands alone then."""

GONE = frozenset({"message_not_found", "channel_not_found"})
"""Errors of changing a message that is gone, or that another notifier has delivered."""

UNCHANGEABLE = frozenset({"cant_update_message", "edit_window_closed"})
"""Errors of changing a message that is there: of another app, or too old for the workspace's rules."""

CHANNEL_ID = re.compile(r"[CGD][A-Z0-9]{7,}")

_Errors = (SlackClientError, OSError, http.client.HTTPException)


class _BoundedRateLimit(RateLimitErrorRetryHandler):
    """Waits as long as Slack asks, but not so long that the task dies of it."""

    def _can_retry(self, *, response: Any = None, **rest: Any) -> bool:
        if not super()._can_retry(response=response, **rest):
            return False
        headers = {name.lower(): value for name, value in response.headers.items()}
        asked = headers.get("retry-after", ["1"])[0]
        return str(asked).isdigit() and int(asked) <= LONGEST_WAIT_SECONDS


class SlackNotifier:
    """
    A workspace, as the port `Notifier`.

    Needs the scope `chat:write` and, to find what was posted before, `channels:read` and
    `channels:history` (`groups:…` for private channels). Without those it still posts, but an
    attempt whose outcome stayed unknown may be repeated.
    """

    def __init__(
        self,
        token: str,
        base_url: str = "https://slack.com/api/",
        *,
        timeout_seconds: int = 30,
        pause: Callable[[float], None] = time.sleep,
    ) -> None:
        """
        Args:
            token: A bot token (xoxb-…).
            base_url: Where the Web API is.
            timeout_seconds: How long one request may take.
            pause: Waits between two tries to post, in seconds.
        """
        self.base_url = base_url if base_url.endswith("/") else f"{base_url}/"
        self._pause = pause
        self._ids: dict[str, str] = {}
        self._unseen: set[str] = set()
        waits = _BoundedRateLimit(max_retry_count=2)
        reading = [waits, ConnectionErrorRetryHandler(1), ServerErrorRetryHandler(1)]
        self._reader = self._client(token, timeout_seconds, reading)
        self._writer = self._client(token, timeout_seconds, [waits])
        self._changer = self._client(token, timeout_seconds, reading)

    def __repr__(self) -> str:
        return f"SlackNotifier({self.base_url!r})"

    def _client(
        self, token: str, timeout_seconds: int, handlers: list[RetryHandler]
    ) -> BoundedClient:
        client = BoundedClient(
            token=token,
            base_url=self.base_url,
            timeout=timeout_seconds,
            retry_handlers=handlers,
        )
        # The client takes a proxy from the environment and ignores NO_PROXY; urllib heeds both when left alone.
        client.proxy = None
        return client

    def send(
        self,
        message: AlertMessage,
        *,
        channel: str,
        key: str,
        thread: str | None = None,
        broadcast: bool = False,
    ) -> Delivered:
        """*channel* is a name (`#kafka`) or an id."""
        since = message.at - CLOCK_SKEW
        content: dict[str, Any] = {"channel": channel, "unfurl_links": False, **body(message, key)}
        if thread:
            content |= {"thread_ts": thread, "reply_broadcast": broadcast}
        for attempt in range(1, TRIES + 1):
            if found := self._find(channel, key, since, thread, certain=attempt == 1):
                log.info("%s was posted to %s before.", key, channel)
                return found
            try:
                return self._post(channel, content)
            except _Errors as problem:
                doubtful = is_doubtful(problem)
                # Unseen, a doubtful message is not repeated here: the next run may see.
                if attempt == TRIES or channel in self._unseen or not doubtful:
                    certain = attempt == 1 and not doubtful
                    raise explain(problem, channel, self.base_url, certain=certain) from problem
                log.warning("%s: posting to %s failed (%s), looking for it.", key, channel, problem)
                self._pause(PAUSE_SECONDS * attempt)
        raise AssertionError("every try returns or raises")

    def _post(self, channel: str, content: dict[str, Any]) -> Delivered:
        try:
            answer = self._writer.chat_postMessage(**content)
        except SlackApiError as problem:
            if "thread_ts" not in content or problem.response.get("error") not in UNANSWERABLE:
                raise
            alone = {
                name: content[name] for name in content.keys() - {"thread_ts", "reply_broadcast"}
            }
            answer = self._writer.chat_postMessage(**alone)
        if not answer.get("channel") or not answer.get("ts"):
            raise OSError("its answer names no message")
        delivered = Delivered(channel=str(answer["channel"]), timestamp=str(answer["ts"]))
        self._ids[channel] = delivered.channel
        return delivered

    def update(
        self, message: AlertMessage, *, channel: str, key: str, delivered: Delivered
    ) -> Delivered:
        """What was its key stays its key."""
        content = {name: part for name, part in body(message, key).items() if name != "metadata"}
        try:
            self._changer.chat_update(channel=delivered.channel, ts=delivered.timestamp, **content)
        except SlackApiError as problem:
            error = problem.response.get("error")
            if error in GONE:
                return self.send(message, channel=channel, key=key)
            if error not in UNCHANGEABLE:
                certain = not is_doubtful(problem)
                raise explain(problem, channel, self.base_url, certain=certain) from problem
            thread = delivered.timestamp
            self.send(message, channel=channel, key=key, thread=thread, broadcast=True)
        except _Errors as problem:
            raise explain(problem, channel, self.base_url) from problem
        return delivered

    def _find(
        self, channel: str, key: str, since: datetime, thread: str | None, *, certain: bool
    ) -> Delivered | None:
        """The message of this key, if we may look and it is there; *certain*: nothing was posted yet."""
        if channel in self._unseen:
            return None
        try:
            channel_id = self._id_of(channel)
            if channel_id is not None:
                return self._search(channel_id, key, since, thread)
            self._give_up_looking(channel, "not_in_channel")
        except SlackApiError as problem:
            error = str(problem.response.get("error"))
            if error not in UNSEEN:
                raise explain(problem, channel, self.base_url, certain=certain) from problem
            self._give_up_looking(
                channel, f"{error} {problem.response.get('needed') or ''}".strip()
            )
        except _Errors as problem:
            raise explain(problem, channel, self.base_url, certain=certain) from problem
        return None

    def _give_up_looking(self, channel: str, why: str) -> None:
        self._unseen.add(channel)
        log.warning(
            "Slack does not let us read %s (%s): an alert may be doubled there after a failure. "
            "Invite the bot and give the app the scopes channels:read and channels:history.",
            channel,
            why,
        )

    def _search(
        self, channel_id: str, key: str, since: datetime, thread: str | None
    ) -> Delivered | None:
        if thread is None:
            return self._turn(self._reader.conversations_history, channel_id, key, since)
        answers = partial(self._reader.conversations_replies, ts=thread)
        try:
            return self._turn(answers, channel_id, key, since)
        except SlackApiError as problem:
            if problem.response.get("error") not in UNANSWERABLE:
                raise
            return self._search(channel_id, key, since, None)

    def _turn(
        self, pages: Callable[..., Any], channel_id: str, key: str, since: datetime
    ) -> Delivered | None:
        """The message of a key on the pages that a method reads."""
        cursor = ""
        for _ in range(PAGES):
            page = pages(
                channel=channel_id,
                oldest=f"{since.timestamp():.6f}",
                limit=PAGE,
                include_all_metadata=True,
                cursor=cursor or None,
            )
            for posted in page["messages"]:
                if _key_of(posted) == key:
                    return Delivered(channel=channel_id, timestamp=str(posted["ts"]))
            cursor = _next(page)
            if not cursor:
                break
        return None

    def _id_of(self, channel: str) -> str | None:
        """The id of a channel we are in: only its history can be read, and only by id."""
        if CHANNEL_ID.fullmatch(channel):
            return channel
        name, cursor = channel.removeprefix("#"), ""
        while channel not in self._ids:
            page = self._reader.users_conversations(
                types="public_channel,private_channel",
                exclude_archived=True,
                limit=PAGE,
                cursor=cursor or None,
            )
            for one in page["channels"]:
                if one["name"] == name:
                    self._ids[channel] = str(one["id"])
            cursor = _next(page)
            if not cursor:
                break
        return self._ids.get(channel)


def _key_of(posted: dict[str, Any]) -> str | None:
    metadata = posted.get("metadata") or {}
    if metadata.get("event_type") != EVENT_TYPE:
        return None
    key: str | None = (metadata.get("event_payload") or {}).get("key")
    return key


def _next(page: Any) -> str:
    return str((page.get("response_metadata") or {}).get("next_cursor") or "")
