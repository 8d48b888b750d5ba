"""A token endpoint on loopback, and the unsigned tokens that test brokers accept."""

from __future__ import annotations

import base64
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler

from tests.stage.serving import LocalServer, Quiet, serving

CLIENT_ID, CLIENT_SECRET = "evenkeel", "a-recognizable-client-s3cret"


@contextmanager
def token_endpoint(subject: str) -> Iterator[str]:
    """A server that gives whoever knows the client's secret an unsigned token of *subject*."""

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            login = base64.b64encode(f"{CLIENT_ID}:{CLIENT_SECRET}".encode()).decode()
            known = self.headers["Authorization"] == f"Basic {login}"
            answer = {"error": "invalid_client"}
            if known:
                answer = {"access_token": unsigned(subject), "expires_in": 300}
            self.send_response(200 if known else 401)
            self.end_headers()
            self.wfile.write(json.dumps(answer).encode())

    with serving(LocalServer(Handler)) as server:
        yield f"{server.origin}/token"


def unsigned(subject: str) -> str:
    """A JSON web token without signature (RFC 7519, section 6), which test brokers accept."""
    now = time.time()
    parts = ({"alg": "none"}, {"sub": subject, "iat": now, "exp": now + 300})
    coded = (base64.urlsafe_b64encode(json.dumps(part).encode()).decode() for part in parts)
    return ".".join(text.rstrip("=") for text in coded) + "."
