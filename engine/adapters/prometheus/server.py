"""Who answers `/metrics` and `/healthz`."""

from __future__ import annotations

import re
import socket
import threading
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

from ...model.errors import InputError
from .page import MetricsPage


class MetricsServer:
    """
    A server in threads of its own, from `with` to its end.

    Args:
        page: What is served.
        host, port: Where; port 0 is any free one.

    Raises:
        InputError: It cannot listen there.
    """

    def __init__(self, page: MetricsPage, host: str, port: int) -> None:
        class Handler(_Handler):
            shown = page

        try:
            self._server = (_Server6 if ":" in host else _Server)((host, port), Handler)
        except (OSError, OverflowError) as problem:
            raise InputError(
                f"--listen: {host}:{port} cannot be used: {problem}.", fix="Name another port."
            ) from problem

    @property
    def address(self) -> str:
        """Where it answers: host and port."""
        host, port = self._server.server_address[:2]
        return f"[{host!s}]:{port}" if ":" in str(host) else f"{host!s}:{port}"

    def __enter__(self) -> MetricsServer:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Server(ThreadingHTTPServer):
    daemon_threads = True


class _Server6(_Server):
    address_family = socket.AF_INET6


_GZIP = re.compile(r"\bgzip\b(?!\s*;\s*q=0(?:\.0*)?(?:,|\s|$))")
"""In what a client accepts."""


class _Handler(BaseHTTPRequestHandler):
    shown: MetricsPage
    timeout = 30

    def do_GET(self) -> None:
        """Answer."""
        path = urlsplit(self.path).path
        if path == "/metrics":
            compressed = bool(_GZIP.search(self.headers.get("Accept-Encoding", "")))
            kind, text = self.shown.text(self.headers.get("Accept", ""), compressed=compressed)
            self._answer(
                HTTPStatus.OK, kind, text, {"Content-Encoding": "gzip"} if compressed else {}
            )
        elif path == "/healthz":
            fresh = self.shown.is_fresh
            told = {True: "ok", False: "the values are old", None: "no snapshot yet"}[fresh]
            status = HTTPStatus.OK if fresh else HTTPStatus.SERVICE_UNAVAILABLE
            self._answer(status, "text/plain; charset=utf-8", f"{told}\n".encode(), {})
        else:
            told = "/metrics and /healthz are served.\n"
            self._answer(HTTPStatus.NOT_FOUND, "text/plain; charset=utf-8", told.encode(), {})

    def do_HEAD(self) -> None:
        """The same without the text."""
        self.do_GET()

    def _answer(self, status: HTTPStatus, kind: str, text: bytes, more: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(text)), **more}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(text)

    def log_message(self, format: str, *args: Any) -> None:
        """Log no request."""
