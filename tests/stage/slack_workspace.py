"""
A pretended Slack workspace: its channels, its messages and its refusals, without HTTP.

As strict as Slack where evenkeel could go wrong: limits of blocks, tokens, scopes, channels by name or by id.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Json = dict[str, Any]

TOKEN_PREFIX = "xoxb-"
REVOKED = "xoxb-revoked"
WITHOUT_HISTORY = "xoxb-write-only"
ANY = "any"
CHANNELS = {"kafka": "C0KAFKA001", "team-orders": "C0ORDERS01"}


@dataclass(frozen=True)
class Fault:
    """
    What happens to one coming call of a method (`ANY`: of whichever) instead of the ordinary.

    *status* answers so (429 with *retry_after*); *drop* closes the connection; *stored* does the work first; *delay*
    lets so many seconds pass before the answer; *kills* ends the process that calls, if it runs on this machine.
    """

    method: str = "chat.postMessage"
    status: int | None = None
    retry_after: int = 1
    drop: bool = False
    stored: bool = False
    error: str | None = None
    delay: float = 0
    kills: bool = False

    @property
    def fails(self) -> bool:
        """Whether the caller gets another answer than the ordinary one, or none."""
        return not self.delay or bool(self.status or self.drop or self.error or self.kills)


class SlackError(Exception):
    """A refusal with Slack's own error code."""

    def __init__(self, code: str, **more: Any) -> None:
        super().__init__(code)
        self.answer: Json = {"ok": False, "error": code, **more}


@dataclass
class Workspace:
    """Channels and their messages; what the server knows, without HTTP."""

    store: Path | None = None
    channels: dict[str, str] = field(default_factory=lambda: dict(CHANNELS))
    messages: list[Json] = field(default_factory=list)
    calls: list[str] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)
    clock: Callable[[], float] = time.time
    lock: threading.RLock = field(default_factory=threading.RLock)

    def __post_init__(self) -> None:
        if self.store and self.store.exists():
            lines = self.store.read_text(encoding="utf-8").splitlines()
            self.messages = [json.loads(line) for line in lines]

    def fault(self, method: str, arguments: Json) -> Fault | None:
        """The next planned fault, if it is for this method; a workspace of a test may look at the arguments."""
        with self.lock:
            self.calls.append(method)
            if self.faults and self.faults[0].method in (method, ANY):
                return self.faults.popleft()
            return None

    def call(self, method: str, token: str, arguments: Json) -> Json:
        """
        Answer one call.

        Raises:
            SlackError: As Slack would refuse it.
        """
        if not token:
            raise SlackError("not_authed")
        if not token.startswith(TOKEN_PREFIX) or token == REVOKED:
            raise SlackError("invalid_auth")
        methods: dict[str, Callable[[Json, str], Json]] = {
            "auth.test": self._auth_test,
            "chat.postMessage": self._post,
            "chat.update": self._update,
            "conversations.history": self._history,
            "conversations.replies": self._replies,
            "users.conversations": self._conversations,
        }
        if method not in methods:
            raise SlackError("unknown_method", req_method=method)
        with self.lock:
            return {"ok": True, **methods[method](arguments, token)}

    def _auth_test(self, arguments: Json, token: str) -> Json:
        return {"url": "https://local.slack.com/", "team": "local", "user": "evenkeel"}

    def _post(self, arguments: Json, token: str) -> Json:
        channel = self._channel(arguments.get("channel"), by_name=True)
        check_content(arguments)
        thread = arguments.get("thread_ts")
        if thread and not any(m["ts"] == thread and m["channel"] == channel for m in self.messages):
            raise SlackError("thread_not_found")
        message = _content(arguments) | {
            "channel": channel,
            "ts": self._timestamp(),
            "type": "message",
        }
        if thread:
            message |= {"thread_ts": thread, "broadcast": _true(arguments.get("reply_broadcast"))}
        self.messages.append(message)
        self._keep()
        return {"channel": channel, "ts": message["ts"], "message": message}

    def _timestamp(self) -> str:
        """The moment of posting, which Slack makes unique in its channel."""
        newest = max((float(message["ts"]) for message in self.messages), default=0.0)
        return f"{max(self.clock(), newest + 0.0001):.6f}"

    def _update(self, arguments: Json, token: str) -> Json:
        channel = self._channel(arguments.get("channel"), by_name=False)
        check_content(arguments)
        if len(str(arguments.get("text") or "")) > 4_000:
            raise SlackError("msg_too_long")
        for message in self.messages:
            if message["channel"] == channel and message["ts"] == arguments.get("ts"):
                message.update(_content(arguments))
                self._keep()
                return {"channel": channel, "ts": message["ts"], "text": message["text"]}
        raise SlackError("message_not_found")

    def _history(self, arguments: Json, token: str) -> Json:
        _needs_scope(token, "channels:history")
        channel = self._channel(arguments.get("channel"), by_name=False)
        shown = [
            message
            for message in reversed(self.messages)
            if not message.get("thread_ts") or message.get("broadcast")
        ]
        return _read(shown, channel, arguments)

    def _replies(self, arguments: Json, token: str) -> Json:
        _needs_scope(token, "channels:history")
        channel = self._channel(arguments.get("channel"), by_name=False)
        thread = arguments.get("ts")
        if not any(m["ts"] == thread and m["channel"] == channel for m in self.messages):
            raise SlackError("thread_not_found")
        answers = [m for m in self.messages if thread in (m["ts"], m.get("thread_ts"))]
        return _read(answers, channel, arguments)

    def _conversations(self, arguments: Json, token: str) -> Json:
        _needs_scope(token, "channels:read")
        page, after = _page([{"id": i, "name": n} for n, i in self.channels.items()], arguments)
        return {"channels": page, "response_metadata": {"next_cursor": after}}

    def _channel(self, named: Any, *, by_name: bool) -> str:
        """The id; names are accepted only by the methods where Slack accepts them."""
        if named in self.channels.values():
            return str(named)
        name = str(named).removeprefix("#")
        if by_name and name in self.channels:
            return self.channels[name]
        raise SlackError("channel_not_found")

    def _keep(self) -> None:
        if self.store:
            text = "".join(f"{json.dumps(message)}\n" for message in self.messages)
            partly = self.store.with_suffix(".part")
            partly.write_text(text, encoding="utf-8")
            partly.replace(self.store)


def _needs_scope(token: str, scope: str) -> None:
    if token == WITHOUT_HISTORY:
        raise SlackError("missing_scope", needed=scope, provided="chat:write")


def _true(value: Any) -> bool:
    return value in (True, "true", "True", "1", 1)


def _content(arguments: Json) -> Json:
    return {name: arguments[name] for name in ("text", "blocks", "metadata") if arguments.get(name)}


def _read(messages: Sequence[Json], channel: str, arguments: Json) -> Json:
    """A page of some messages: those of the channel, from a moment on, with their metadata if that is wanted."""
    oldest = float(arguments.get("oldest") or 0)
    hidden = () if _true(arguments.get("include_all_metadata")) else ("metadata",)
    visible = [
        {name: part for name, part in message.items() if name not in hidden}
        for message in messages
        if message["channel"] == channel and float(message["ts"]) > oldest
    ]
    page, after = _page(visible, arguments)
    return {
        "messages": page,
        "has_more": bool(after),
        "response_metadata": {"next_cursor": after},
    }


def _page(items: Sequence[Json], arguments: Json) -> tuple[list[Json], str]:
    start, limit = int(arguments.get("cursor") or 0), int(arguments.get("limit") or 100)
    after = start + limit
    return list(items[start:after]), str(after) if after < len(items) else ""


def check_content(arguments: Json) -> None:
    """
    Refuse what Slack refuses: no text, too many or too long blocks, unknown or empty ones.

    Raises:
        SlackError: With the error Slack gives.
    """
    blocks = arguments.get("blocks") or []
    if not arguments.get("text") and not blocks:
        raise SlackError("no_text")
    if len(str(arguments.get("text") or "")) > 40_000:
        raise SlackError("msg_too_long")
    if not isinstance(blocks, list) or len(blocks) > 50:
        raise SlackError(
            "invalid_blocks", errors=["no more than 50 items allowed [json-pointer:/blocks]"]
        )
    for place, block in enumerate(blocks):
        if problem := _wrong(block):
            raise SlackError("invalid_blocks", errors=[f"{problem} [json-pointer:/blocks/{place}]"])
    if len(json.dumps(blocks)) > 13_200:
        raise SlackError("msg_blocks_too_long")
    metadata = arguments.get("metadata")
    if metadata and not (
        metadata.get("event_type") and isinstance(metadata.get("event_payload"), dict)
    ):
        raise SlackError("invalid_metadata_format")


def _wrong(block: Any) -> str | None:
    kind = block.get("type") if isinstance(block, dict) else None
    if kind == "divider":
        return None
    if kind == "header":
        return _wrong_text(block.get("text"), ("plain_text",), 150)
    if kind == "section":
        return _wrong_text(block.get("text"), ("mrkdwn", "plain_text"), 3_000)
    if kind == "context":
        elements = block.get("elements") or []
        if not 1 <= len(elements) <= 10:
            return "between 1 and 10 elements allowed"
        found = (_wrong_text(one, ("mrkdwn", "plain_text"), 3_000) for one in elements)
        return next((problem for problem in found if problem), None)
    return f"unsupported type: {kind}"


def _wrong_text(text: Any, kinds: Sequence[str], limit: int) -> str | None:
    if not isinstance(text, dict) or text.get("type") not in kinds:
        return "invalid text object"
    if not 1 <= len(text.get("text") or "") <= limit:
        return f"must be between 1 and {limit} characters"
    return None


def as_seen(message: Json) -> str:
    """A stored message as text, close to what people see in the channel."""
    parts = []
    for block in message.get("blocks") or [{"type": "section", "text": {"text": message["text"]}}]:
        if block["type"] == "divider":
            parts.append("-" * 40)
        elif block["type"] == "context":
            parts.append("\n".join(f"  {_unescaped(e['text'])}" for e in block["elements"]))
        else:
            parts.append(_unescaped(block["text"]["text"]))
    return "\n".join(parts)


def _unescaped(text: str) -> str:
    plain = text.replace("```", "\n" if "\n" in text else "")
    # a date token is read in the reader's time zone; here it is what readers without one see
    plain = re.sub(r"<!date\^[^|>]*\|([^>]*)>", r"\1", plain)
    return plain.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def read_store(store: Path) -> list[Json]:
    """The messages a server has kept, oldest first; none if there is no file."""
    return Workspace(store=store).messages
