"""Local servers over HTTP: on loopback only, each in a thread, ended with its block."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, TypeVar


class Quiet:
    """What a handler that logs nothing is, too."""

    def log_message(self, format: str, *arguments: Any) -> None:
        """Say nothing."""


class LocalServer(ThreadingHTTPServer):
    """A server whose open connections do not keep its process."""

    daemon_threads = True

    def __init__(self, handler: type[BaseHTTPRequestHandler], port: int = 0) -> None:
        """
        Args:
            handler: What answers.
            port: Where; 0 chooses a free one.
        """
        super().__init__(("127.0.0.1", port), handler)

    @property
    def origin(self) -> str:
        """What its addresses begin with."""
        return f"http://127.0.0.1:{self.server_address[1]}"


Server = TypeVar("Server", bound=LocalServer)


@contextmanager
def serving(server: Server) -> Iterator[Server]:
    """The server in a thread, ended with the block."""
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
