"""
A local server that speaks the part of Slack's Web API that evenkeel uses, as strict about limits as Slack.

Posted messages are kept as JSON lines in a file, so the demo can show them and a second start finds them again.
`python -m tests.stage slack --port N --store FILE` runs it alone.
"""

from __future__ import annotations

import argparse
import json
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

import psutil

from tests.stage.process import asked_to_end
from tests.stage.serving import LocalServer, Quiet, serving
from tests.stage.slack_workspace import (
    CHANNELS,
    Fault,
    Json,
    SlackError,
    Workspace,
    as_seen,
    read_store,
)

__all__ = ["SlackServer", "Workspace", "as_seen", "main", "read_store", "running"]


REDIRECTS = (301, 302, 303, 307, 308)


class _Handler(Quiet, BaseHTTPRequestHandler):
    """One connection; the workspace hangs on the server."""

    protocol_version = "HTTP/1.1"
    server: SlackServer

    def do_POST(self) -> None:
        """Answer a call of the Web API."""
        method = self.path.strip("/").removeprefix("api/")
        arguments = self._arguments()
        workspace = self.server.workspace
        fault = workspace.fault(method, arguments)
        if fault and fault.fails and not fault.stored:
            self._fail(fault)
            return
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        try:
            answer = workspace.call(method, token if scheme == "Bearer" else "", arguments)
        except SlackError as refusal:
            answer = refusal.answer
        if fault and fault.fails:
            self._fail(fault)
        else:
            time.sleep(fault.delay if fault else 0)
            self._answer(200, answer)

    def _arguments(self) -> Json:
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        if "json" in self.headers.get("Content-Type", ""):
            arguments: Json = json.loads(raw or "{}")
            return arguments
        return dict(parse_qsl(raw))

    def _fail(self, fault: Fault) -> None:
        time.sleep(fault.delay)
        if fault.kills:
            _kill_owner(self.client_address[1])
        if fault.drop or fault.kills:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)
        elif fault.error:
            self._answer(200, {"ok": False, "error": fault.error})
        else:
            status = fault.status or 500
            code = "ratelimited" if status == 429 else "internal_error"
            wait = {"Retry-After": str(fault.retry_after)} if status == 429 else {}
            elsewhere = {"Location": self.path} if status in REDIRECTS else {}
            self._answer(status, {"ok": False, "error": code}, wait | elsewhere)

    def _answer(self, status: int, answer: Json, headers: dict[str, str] | None = None) -> None:
        content = json.dumps(answer).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", **(headers or {})}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


def _kill_owner(port: int) -> None:
    """End the process that has the other end of a connection, as a machine that loses power does."""
    for each in psutil.net_connections("tcp4"):
        if each.laddr and each.laddr.port == port and each.pid:
            psutil.Process(each.pid).kill()


class SlackServer(LocalServer):
    """The workspace behind HTTP."""

    def __init__(self, workspace: Workspace, port: int = 0) -> None:
        super().__init__(_Handler, port)
        self.workspace = workspace

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a caller that has gone before its answer came."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    @property
    def base_url(self) -> str:
        """What a client takes as its base URL."""
        return f"{self.origin}/api/"


@contextmanager
def running(workspace: Workspace, port: int = 0) -> Iterator[SlackServer]:
    """The server in a thread, ended with the block."""
    with serving(SlackServer(workspace, port)) as server:
        yield server


def main(arguments: Sequence[str]) -> int:
    """Serve until ended by a signal; the first line of output is the base URL."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.stage slack", description=(__doc__ or "").strip().splitlines()[0]
    )
    parser.add_argument("--port", type=int, default=0, help="port (0 for a free one)")
    parser.add_argument("--store", type=Path, required=True, help="file for posted messages")
    parser.add_argument(
        "--channel", action="append", default=[], help="name of an additional channel"
    )
    given = parser.parse_args(arguments)
    given.store.parent.mkdir(parents=True, exist_ok=True)
    further = {name.removeprefix("#"): f"C0LOCAL{i:03}" for i, name in enumerate(given.channel)}
    ended = asked_to_end()
    with running(Workspace(store=given.store, channels=CHANNELS | further), given.port) as server:
        print(server.base_url, flush=True)
        ended.wait()
    return 0
