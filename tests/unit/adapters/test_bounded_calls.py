"""Calls of Slack and of webhooks: no redirect is followed, an answer has an end, and `ok` alone is no delivery."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from evenkeel.engine.adapters.slack.check import who_am_i
from evenkeel.engine.adapters.slack.incoming_webhook import SlackWebhook
from evenkeel.engine.adapters.slack.notifier import SlackNotifier
from evenkeel.engine.adapters.webhook import http_call
from evenkeel.engine.model.errors import NotDelivered, NotifierError
from evenkeel.engine.model.message import AlertMessage, MessageKind, Severity
from tests.helpers.outbox import NOW
from tests.stage.serving import LocalServer, Quiet, serving

pytestmark = pytest.mark.slow

TOKEN = "xoxb-secret-of-the-test"
MESSAGE = AlertMessage(
    kind=MessageKind.QUIET, severity=Severity.INFO, at=NOW, title="title", summary="summary"
)


class Answering(LocalServer):
    """Answers each call alike; what came is kept."""

    def __init__(self, status: int = 200, content: bytes = b"{}", location: str = "") -> None:
        super().__init__(_Handler)
        self.status, self.content, self.location = status, content, location
        self.drips = 0.0
        self.calls: list[tuple[str, str | None]] = []


class _Handler(Quiet, BaseHTTPRequestHandler):
    server: Answering

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.calls.append((self.path, self.headers.get("Authorization")))
        self.send_response(self.server.status)
        self.send_header("Content-Type", "application/json")
        if self.server.location:
            self.send_header("Location", self.server.location)
        self.end_headers()
        try:
            if not self.server.drips:
                self.wfile.write(self.server.content)
            while self.server.drips:
                self.wfile.write(b" ")
                self.wfile.flush()
                time.sleep(self.server.drips)
        except OSError:
            """The caller left."""

    def do_GET(self) -> None:
        self.do_POST()


@pytest.fixture
def elsewhere() -> Iterator[Answering]:
    """Where a redirect leads; it answers as Slack does."""
    content = json.dumps({"ok": True, "ts": "1.0", "channel": "C0", "user": "u", "team": "t"})
    with serving(Answering(content=content.encode())) as server:
        yield server


def post(server: Answering, seconds: int = 5) -> None:
    """Post a message as a bot."""
    notifier = SlackNotifier(
        TOKEN, f"{server.origin}/api/", timeout_seconds=seconds, pause=lambda _: None
    )
    notifier.send(MESSAGE, channel="C0LOCAL001", key="k")


def hook(server: Answering, seconds: int = 5) -> None:
    """Post it by an incoming webhook."""
    SlackWebhook(f"{server.origin}/services/secret", timeout_seconds=seconds).send(
        MESSAGE, channel="#kafka", key="k"
    )


def call(server: Answering, seconds: int = 5) -> None:
    """Post something to a webhook."""
    http_call.call("the receiver", "POST", server.origin, fix="Fix it.", json={}, token=TOKEN)


@pytest.mark.parametrize("status", [302, 307])
@pytest.mark.parametrize("ask", [post, hook, call])
def test_no_redirect_is_followed(ask, status: int, elsewhere: Answering) -> None:
    """The token stays where it belongs; nothing counts as delivered."""
    with serving(Answering(status, b"moved", f"{elsewhere.origin}/taken")) as server:
        with pytest.raises(NotifierError, match=r"HTTP status 30\d|moved"):
            ask(server)
        assert server.calls
    assert elsewhere.calls == []


def test_a_check_follows_none(elsewhere: Answering) -> None:
    """`doctor` has the token, too."""
    with (
        serving(Answering(302, b"", f"{elsewhere.origin}/taken")) as server,
        pytest.raises(NotifierError),
    ):
        who_am_i(TOKEN, f"{server.origin}/api/", "#kafka")
    assert elsewhere.calls == []


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("ask", [post, hook, call])
def test_an_answer_has_an_end(ask, status: int) -> None:
    """More than a megabyte is not read."""
    with (
        serving(Answering(status, b'"' + b"x" * 2_000_000)) as server,
        pytest.raises(NotifierError, match="larger than 1 MB"),
    ):
        ask(server)


@pytest.mark.parametrize("ask", [post, hook, call])
def test_a_call_has_an_end(ask, monkeypatch: pytest.MonkeyPatch) -> None:
    """However often a byte comes."""
    monkeypatch.setattr(http_call, "WHOLE_SECONDS", 1.0)
    began = time.monotonic()
    with serving(Answering()) as server:
        server.drips = 0.05
        try:
            with pytest.raises(NotifierError, match=r"within \d"):
                ask(server, 1)
        finally:
            server.drips = 0.0
    assert time.monotonic() - began < 30


@pytest.mark.parametrize(
    "content", [{"ok": True}, {"ok": True, "ts": "1.0"}, {"ok": True, "channel": "C0"}]
)
def test_ok_without_a_message_is_no_delivery(content: dict) -> None:
    """It may be there or not: the next run looks for it."""
    with (
        serving(Answering(content=json.dumps(content | {"messages": []}).encode())) as server,
        pytest.raises(NotifierError, match="names no message") as failed,
    ):
        post(server)
    assert not isinstance(failed.value, NotDelivered)
