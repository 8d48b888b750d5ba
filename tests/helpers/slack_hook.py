"""An incoming webhook of Slack on loopback, as strict as Slack's about its address and its text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from tests.stage.serving import LocalServer, Quiet, serving

SECRET = "T0/B0/a-recognizable-secret"


class Hooks(LocalServer):
    """The webhook: what was posted, and answers of the test's before its own."""

    def __init__(self) -> None:
        super().__init__(_Hook)
        self.posted: list[dict] = []
        self.answers: list[tuple[int, str]] = []

    @property
    def url(self) -> str:
        """Its address."""
        return f"{self.origin}/services/{SECRET}"


class _Hook(Quiet, BaseHTTPRequestHandler):
    server: Hooks

    def do_POST(self) -> None:
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        status, answer = 200, "ok"
        if self.path != f"/services/{SECRET}":
            status, answer = 404, "no_service"
        elif self.server.answers:
            status, answer = self.server.answers.pop(0)
        elif not content.get("text"):
            status, answer = 400, "no_text"
        else:
            self.server.posted.append(content)
        self.send_response(status)
        self.send_header("Retry-After", "0")
        self.end_headers()
        self.wfile.write(answer.encode())


@contextmanager
def hook_server() -> Iterator[Hooks]:
    """The server in a thread, ended with the block."""
    with serving(Hooks()) as server:
        yield server
