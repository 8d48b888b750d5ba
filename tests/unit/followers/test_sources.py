"""Where a follower finds its plan: files and addresses, whole and broken, and what is said of them."""

from __future__ import annotations

import os
import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from time import monotonic
from typing import Any

import pytest

from evenkeel.engine.followers import sources
from evenkeel.engine.followers.sources import Reading, SourceError, TopicSource, source_of
from tests.helpers.certificates import Authority
from tests.stage.serving import LocalServer, Quiet, serving

pytestmark = pytest.mark.slow

SECRET = "hunter2"
Answer = Callable[[BaseHTTPRequestHandler], None]


class Web:
    """A server on loopback that answers as it is told, and remembers what it was asked."""

    def __init__(self, server: LocalServer, asked: list[tuple[str, str | None]]) -> None:
        self.server, self.asked = server, asked
        self.answer: Answer = lambda asked: None

    def address(self, rest: str = "/plan.json", user: str = "") -> str:
        """Of it."""
        return f"http://{user}{self.server.origin.removeprefix('http://')}{rest}"


@pytest.fixture
def web() -> Iterator[Web]:
    """A server that answers nothing yet."""
    asked: list[tuple[str, str | None]] = []

    class Handler(Quiet, BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers["Authorization"]))
            found.answer(self)

    server = LocalServer(Handler)
    found = Web(server, asked)
    with serving(server):
        yield found


def answering(code: int, body: bytes = b"", **headers: str) -> Answer:
    """An answer."""

    def answer(asked: BaseHTTPRequestHandler) -> None:
        asked.send_response(code)
        for name, value in headers.items():
            asked.send_header(name, value)
        asked.end_headers()
        asked.wfile.write(body)

    return answer


def read(plan: str, timeout_seconds: float = 30) -> bytes:
    """What stands there."""
    return Reading(source_of(plan, "g"), timeout_seconds).read()


def test_a_file_is_read_by_path_and_by_address(tmp_path: Path) -> None:
    """Also where its name has blanks, as an address writes them."""
    path = tmp_path / "the plan.json"
    path.write_bytes(b"{}")
    assert read(str(path)) == read(path.as_uri()) == b"{}"


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda path: None, "No such file or directory"),
        (lambda path: path.mkdir(), "it is no file"),
        (lambda path: os.mkfifo(path), "it is no file"),
        (lambda path: path.write_bytes(bytes(101)), "larger than 100 bytes"),
    ],
    ids=["missing", "folder", "pipe", "huge"],
)
def test_a_file_that_holds_no_plan_is_said_to(
    make: Callable[[Path], Any], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """None of them is waited for or read without end."""
    monkeypatch.setattr(sources, "LARGEST", 100)
    monkeypatch.setattr(sources, "_TOO_LARGE", "larger than 100 bytes")
    make(tmp_path / "plan.json")
    with pytest.raises(SourceError, match=told):
        read(str(tmp_path / "plan.json"))


def test_an_address_is_asked_with_its_password_and_shown_without(web: Web) -> None:
    """Basic authorization; neither it nor what stands behind the question mark is shown."""
    web.answer = answering(200, b"{}")
    source = source_of(web.address(f"/plan.json?token={SECRET}", f"me:{SECRET}%21@"), "g")
    assert Reading(source, 30).read() == b"{}"
    assert web.asked == [(f"/plan.json?token={SECRET}", "Basic bWU6aHVudGVyMiE=")]
    assert source.label == web.address()


def test_a_redirect_is_followed_without_the_password(web: Web) -> None:
    """It is for the host that was named."""

    def answer(asked: BaseHTTPRequestHandler) -> None:
        first = asked.path == "/plan.json"
        answering(*((302, b"") if first else (200, b"{}")), Location="/other.json")(asked)

    web.answer = answer
    assert read(web.address(user=f"me:{SECRET}@")) == b"{}"
    assert [path for path, _ in web.asked] == ["/plan.json", "/other.json"]
    assert web.asked[1][1] is None


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (answering(500), "it answers 500"),
        (answering(401), "it answers 401"),
        (answering(302, Location="http://plans.example/"), "it redirects: .* use https"),
        (answering(302, Location="file:///etc/passwd"), "it answers 302"),
        (answering(200, bytes(101)), "larger than 100 bytes"),
        (lambda asked: asked.wfile.write(b"what?\r\n\r\n"), "BadStatusLine"),
    ],
    ids=["500", "401", "to http", "to a file", "huge", "no HTTP"],
)
def test_an_answer_that_is_no_plan_is_said_to(
    answer: Answer, told: str, web: Web, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without what was sent."""
    monkeypatch.setattr(sources, "LARGEST", 100)
    monkeypatch.setattr(sources, "_TOO_LARGE", "larger than 100 bytes")
    web.answer = answer
    with pytest.raises(SourceError, match=told) as found:
        read(web.address(f"/plan.json?token={SECRET}", f"me:{SECRET}@"))
    assert SECRET not in str(found.value)


def test_a_certificate_is_trusted_as_python_trusts_it(
    web: Web, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SSL_CERT_FILE names an authority of one's own; without it nothing is read."""
    authority = Authority(tmp_path)
    certificate, key = authority.issue("plans", address="127.0.0.1")
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    web.server.socket = context.wrap_socket(web.server.socket, server_side=True)
    web.answer = answering(200, b"{}")
    address = web.address().replace("http:", "https:")
    with pytest.raises(SourceError, match="certificate is not trusted: "):
        read(address)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.ca))
    assert read(address) == b"{}"


def test_nobody_there_is_said() -> None:
    """As the system says it."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        port = taken.getsockname()[1]
        with pytest.raises(SourceError, match="Connection refused"):
            read(f"http://127.0.0.1:{port}/plan.json")


def test_who_does_not_answer_is_waited_for_no_longer_than_allowed(web: Web) -> None:
    """Nor is asked again while the first question is open; afterwards it is."""
    go_on = threading.Event()

    def answer(asked: BaseHTTPRequestHandler) -> None:
        go_on.wait(60)
        answering(200, b"{}")(asked)

    web.answer = answer
    reading = Reading(SlowlyGivenUp(web.address()), 0.05)
    with pytest.raises(SourceError, match=r"no answer within 0\.05 s"):
        reading.read()
    with pytest.raises(SourceError, match="since it was asked before"):
        reading.read()
    go_on.set()
    assert reading._thread is not None
    reading._thread.join(60)
    reading.timeout_seconds = 30
    assert reading.read() == b"{}"
    assert len(web.asked) == 2


class SlowlyGivenUp(sources.WebSource):
    """An address whose reader itself would wait for longer than its caller does."""

    def read(self, deadline: float) -> bytes:
        """Later than anyone waits."""
        return super().read(deadline + 60)


def test_who_answers_drop_by_drop_is_given_up(web: Web) -> None:
    """The time is for all of it, not for each piece."""
    ended = threading.Event()

    def answer(asked: BaseHTTPRequestHandler) -> None:
        asked.send_response(200)
        asked.end_headers()
        try:
            while True:
                asked.wfile.write(b" ")
        except OSError:
            ended.set()

    web.answer = answer
    source = source_of(web.address(), "g")
    with pytest.raises(SourceError, match="in time"):
        source.read(monotonic())
    assert ended.wait(60)


def test_a_topic_is_read_by_a_client_that_joins_and_makes_nothing() -> None:
    """Whatever the given settings say, for they may be those of the group's own consumers."""
    given = {
        "bootstrap_servers": "broker:9092",
        "group_id": "orders-app",
        "group_instance_id": "orders-1",
        "enable_auto_commit": True,
        "value_deserializer": str,
        "sasl_plain_password": SECRET,
    }
    source = source_of("topic:plans", "g", given)
    assert isinstance(source, TopicSource)
    settings = source._settings(monotonic() + 5)
    assert settings["group_id"] is None
    assert "group_instance_id" not in settings
    assert (settings["enable_auto_commit"], settings["allow_auto_create_topics"]) == (False, False)
    assert settings["value_deserializer"] is None
    assert settings["sasl_plain_password"] == SECRET
    assert source.label == "topic:plans"


def test_brokers_that_are_not_there_are_said() -> None:
    """By the kind of error: its text may hold settings."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
        client = {"bootstrap_servers": f"127.0.0.1:{port}", "client_id": SECRET}
        source = source_of("topic:plans", "g", client)
        with pytest.raises(SourceError, match=r"the client says \w+$"):
            source.read(monotonic())
