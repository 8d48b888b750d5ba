"""Certificates whose time is over or has not come: real handshakes with a server that speaks TLS and nothing else."""

from __future__ import annotations

import json
import re
import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from typer.testing import CliRunner

from evenkeel.engine.adapters.kafka import KafkaClusterReader
from evenkeel.engine.adapters.kafka import connection as connection_module
from evenkeel.engine.adapters.kafka.validity import first_to_end
from evenkeel.engine.cli import app
from evenkeel.engine.config import ClusterSettings
from evenkeel.engine.model.errors import ClusterUnreachable
from evenkeel.engine.model.formats import minute
from tests.helpers.certificates import AHEAD, GOOD, OVER, Authority, day

pytestmark = pytest.mark.slow

Days = tuple[int, int]

EXPIRED = f"expired on {minute(day(OVER[1]))}"
NOT_YET = rf"is valid from {minute(day(AHEAD[0]))} on (\(CN=[\w ]+\)), and the clock here says 20"
CLOCK = "Check the clock of this machine."


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker gets a second to accept and answer."""
    monkeypatch.setattr(connection_module, "CONNECT_SECONDS", 1)


@contextmanager
def server(authority: Authority, days: Days = GOOD, *, asks: bool = False) -> Iterator[str]:
    """Something that speaks TLS 1.3 on loopback and hangs up; it *asks* its clients for a certificate, too."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.issue("broker", address="127.0.0.1", days=days))
    if asks:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(authority.ca)

    def greet(peer: socket.socket) -> None:
        with peer, suppress(OSError), context.wrap_socket(peer, server_side=True) as spoken:
            spoken.recv(1)

    def accept() -> None:
        with suppress(OSError):
            while True:
                peer, _ = listening.accept()
                threading.Thread(target=greet, args=(peer,), daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"127.0.0.1:{listening.getsockname()[1]}"
        listening.shutdown(socket.SHUT_RDWR)
        thread.join(5)


def trusting(authority: Authority, days: Days | None = None) -> dict[str, str]:
    """A client of an authority, with a certificate valid at *days*, or without."""
    found = {"security.protocol": "SSL", "ssl.ca.location": str(authority.ca)}
    if days is None:
        return found
    certificate, key = authority.issue("reader", days=days)
    return found | {"ssl.certificate.location": str(certificate), "ssl.key.location": str(key)}


def refusal(address: str, properties: dict[str, str]) -> str:
    """The one line of a snapshot that cannot be taken, after the name of the cluster."""
    settings = ClusterSettings(bootstrap=address, properties=properties)
    with pytest.raises(ClusterUnreachable) as caught:
        KafkaClusterReader("prod", settings).take_snapshot("prod-20260301T120000Z-000000")
    return str(caught.value).removeprefix(f"cluster 'prod' at {address} ")


@pytest.mark.parametrize(
    ("days", "told", "fix"),
    [
        (OVER, re.escape(f"{EXPIRED} (CN=broker)."), "Renew the broker's certificate."),
        (AHEAD, NOT_YET, CLOCK),
    ],
    ids=["expired", "not yet valid"],
)
def test_a_brokers_certificate_out_of_its_time_is_named_with_its_date(
    tmp_path: Path, days: Days, told: str, fix: str
) -> None:
    """Subject, date and what to do; before its time, our clock may be behind."""
    authority = Authority(tmp_path)
    with server(authority, days) as address:
        line = refusal(address, trusting(authority))
    assert re.match(f"shows a certificate that {told}", line)
    assert line.endswith(fix)


@pytest.mark.parametrize(
    ("days", "told", "fix"),
    [
        (OVER, re.escape(f"{EXPIRED} (CN=old CA)."), "ssl.ca.location or ssl.ca.pem to that CA."),
        (AHEAD, NOT_YET, CLOCK),
    ],
    ids=["expired", "not yet valid"],
)
def test_a_ca_out_of_its_time_is_told_from_the_brokers_certificate(
    tmp_path: Path, days: Days, told: str, fix: str
) -> None:
    """The broker's own certificate is good, so renewing it alone would not help."""
    authority = Authority(tmp_path, "old CA", days)
    with server(authority) as address:
        line = refusal(address, trusting(authority))
    assert re.match(f"shows a certificate whose CA {told}", line)
    assert line.endswith(fix)


@pytest.mark.parametrize(
    ("days", "told", "fix"),
    [
        (
            OVER,
            re.escape(f"{EXPIRED} (CN=reader)."),
            "Renew the certificate of ssl.certificate.location or ssl.certificate.pem.",
        ),
        (AHEAD, NOT_YET, CLOCK),
    ],
    ids=["expired", "not yet valid"],
)
def test_our_own_certificate_out_of_its_time_is_named_with_its_date(
    tmp_path: Path, days: Days, told: str, fix: str
) -> None:
    """The broker's alert doesn't say which date, and over TLS 1.3 it may get lost."""
    authority = Authority(tmp_path)
    with server(authority, asks=True) as address:
        line = refusal(address, trusting(authority, days))
    assert re.match(f"refuses the client certificate, which {told}", line)
    assert line.endswith(fix)


@pytest.mark.parametrize("command", ["lag", "doctor"])
def test_a_command_tells_an_expired_certificate_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    """Which certificate, when, and what to do, without a traceback."""
    monkeypatch.chdir(tmp_path)
    authority = Authority(tmp_path / "ca")
    with server(authority, OVER) as address:
        cluster = {"bootstrap": address, "properties": trusting(authority)}
        monkeypatch.setenv("EVENKEEL_CLUSTERS", json.dumps({"prod": cluster}))
        ended = CliRunner().invoke(app, [command, "--cluster", "prod"])
    words = " ".join(ended.output.split())
    assert f"shows a certificate that {EXPIRED} (CN=broker). Renew the broker's" in words
    assert "Traceback" not in words
    assert ended.exit_code in (1, 3)


def test_the_certificate_to_renew_first_is_found(tmp_path: Path) -> None:
    """A CA with a few days left counts before a broker's certificate that was made for two days."""
    lasting, ending = Authority(tmp_path / "1", "CA", (-400, 400)), tmp_path / "2"
    near = Authority(ending, "near CA", (-400, 20))
    for authority, name in ((lasting, "CN=broker"), (near, "CN=near CA")):
        properties = trusting(authority)
        context = ssl.create_default_context(cafile=str(authority.ca))
        with server(authority) as address:
            first = first_to_end([address], properties, context)
        assert first is not None
        assert (str(first), first.ends_soon) == (name, authority is near)
