"""Tokens by the client credentials grant, from a small server on loopback."""

from __future__ import annotations

import base64
import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs

import kafka.errors as kafka_errors
import pytest

from evenkeel.engine.adapters.kafka import oauth
from evenkeel.engine.adapters.kafka.connection import Connection
from evenkeel.engine.adapters.kafka.oauth import TokenProvider
from evenkeel.engine.config import ClusterSettings
from evenkeel.engine.model.errors import ClusterUnreachable

pytestmark = pytest.mark.slow

SECRET = "hunter2-secret"


class Endpoint:
    """A token endpoint: what it answers next, and what it was asked."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, object]] = []
        self.asked: list[tuple[str, dict[str, list[str]]]] = []
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                form = self.rfile.read(int(self.headers["Content-Length"])).decode()
                endpoint.asked.append((self.headers["Authorization"], parse_qs(form)))
                code, answer = endpoint.answers.pop(0)
                self.send_response(code)
                if code == 302:
                    self.send_header("Location", str(answer))
                self.end_headers()
                raw = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.wfile.write(raw)

            def log_message(self, *args: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/token"
        threading.Thread(
            target=self.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True
        ).start()

    def properties(self, **more: str) -> dict[str, str]:
        """A login by this endpoint's tokens."""
        named = {
            "method": "oidc",
            "token.endpoint.url": self.url,
            "client.id": "evenkeel",
            "client.secret": SECRET,
        } | more
        return {f"sasl.oauthbearer.{name}": value for name, value in named.items()}

    def provider(self, **more: str) -> TokenProvider:
        """Of the cluster `prod`."""
        return TokenProvider(self.properties(**more), "cluster 'prod'")


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """One that is ended with the test."""
    started = Endpoint()
    yield started
    started.server.shutdown()
    started.server.server_close()


def test_a_token_is_asked_for_once_while_it_lasts(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By client id and secret, with the scope; a new one before the old one ends."""
    now = [1000.0]
    monkeypatch.setattr(oauth.time, "monotonic", lambda: now[0])
    endpoint.answers = [
        (200, {"access_token": "first", "expires_in": 300}),
        (200, {"access_token": "second", "expires_in": 300}),
    ]
    provider = endpoint.provider(scope="kafka", extensions="logicalCluster=lkc-1,identityPoolId=p")
    assert [provider.token(), provider.token()] == ["first", "first"]
    now[0] += 241
    assert provider.token() == "second"
    login = base64.b64encode(f"evenkeel:{SECRET}".encode()).decode()
    asked = (f"Basic {login}", {"grant_type": ["client_credentials"], "scope": ["kafka"]})
    assert endpoint.asked == [asked] * 2
    assert provider.extensions() == {"logicalCluster": "lkc-1", "identityPoolId": "p"}


@pytest.mark.parametrize(
    ("code", "answer", "cause"),
    [
        (401, {"error": "invalid_client"}, "HTTP 401, invalid_client"),
        (
            400,
            {"error": "bad", "error_description": f"not\n {SECRET}\x1b[31m"},
            "HTTP 400, bad: not ***[31m",
        ),
        (503, b"<html>busy</html>", "HTTP 503"),
        (200, b"<html>login page</html>", "the answer is no JSON"),
        (200, ["token"], "the answer is no JSON object"),
        (200, {"token": "x"}, "the answer has no access_token"),
        (200, {"access_token": "x\x01auth=y"}, "the answer has no access_token"),
    ],
)
def test_what_is_no_token_is_told(
    endpoint: Endpoint, code: int, answer: object, cause: str
) -> None:
    """Cluster, address, cause and fix; what repeats the secret is masked."""
    endpoint.answers = [(code, answer)] * 2
    with pytest.raises(ClusterUnreachable) as caught:
        endpoint.provider().fetch()
    assert str(caught.value) == (
        f"cluster 'prod' got no OAUTHBEARER token from {endpoint.url} ({cause}). "
        "Check sasl.oauthbearer.token.endpoint.url, client.id, client.secret and scope of its "
        "connection."
    )
    with pytest.raises(kafka_errors.SaslAuthenticationFailedError) as refused:
        endpoint.provider().token()
    assert cause in str(refused.value)


def test_a_secret_does_not_follow_a_redirect(endpoint: Endpoint) -> None:
    """It goes to the configured address only; the other one would answer 501 to a GET."""
    endpoint.answers = [(302, f"{endpoint.url}/elsewhere")]
    with pytest.raises(ClusterUnreachable, match="HTTP 302"):
        endpoint.provider().fetch()


def test_an_endpoint_that_is_not_there_is_told_before_a_broker_is_asked(
    endpoint: Endpoint,
) -> None:
    """The connection fails with the endpoint's address, not with a broker's."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        closed = f"http://127.0.0.1:{server.getsockname()[1]}/token"
    login = {"security.protocol": "SASL_PLAINTEXT", "sasl.mechanism": "OAUTHBEARER"}
    properties = login | endpoint.properties(**{"token.endpoint.url": closed})
    with pytest.raises(ClusterUnreachable, match=rf"from {closed} \(Connection refused\)"):
        Connection("prod", ClusterSettings(bootstrap="127.0.0.1:1", properties=properties))


@pytest.mark.parametrize("code", [200, 401])
def test_an_answer_that_comes_byte_by_byte_has_one_limit_of_time(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, code: int
) -> None:
    """Each byte comes in time, and all of them together would take for ever."""

    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.wfile.write(f"HTTP/1.1 {code} OK\r\nContent-Length: 1000\r\n\r\n".encode())
        for _ in range(50):
            handler.wfile.write(b" ")
            time.sleep(0.1)

    monkeypatch.setattr(endpoint.server.RequestHandlerClass, "do_POST", drip)
    monkeypatch.setattr(oauth, "_SECONDS", 0.5)
    began = time.monotonic()
    with pytest.raises(ClusterUnreachable, match=r"no answer within 0.5 s|HTTP 401"):
        endpoint.provider().fetch()
    assert time.monotonic() - began < 3
