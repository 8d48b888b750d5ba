"""Connecting: one clear line for each way an address can be wrong."""

from __future__ import annotations

import logging
import socket
import ssl
import struct
import threading
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import kafka.errors as kafka_errors
import pytest

from evenkeel.engine.adapters.kafka import KafkaClusterReader
from evenkeel.engine.adapters.kafka import connection as connection_module
from evenkeel.engine.adapters.kafka.addresses import reachable
from evenkeel.engine.adapters.kafka.connection import Connection, Traffic
from evenkeel.engine.adapters.kafka.refusals import brief, explain, is_lasting, speaks_tls
from evenkeel.engine.config import ClusterSettings
from evenkeel.engine.model.errors import ClusterUnreachable

pytestmark = pytest.mark.slow

SNAPSHOT_ID = "prod-20260301T120000Z-000000"
LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "reader",
    "sasl.password": "hunter2",
}


@contextmanager
def listener(answer: bytes | None = None) -> Iterator[str]:
    """A server on loopback that accepts connections; it says *answer* at once, else nothing."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        accepted: list[socket.socket] = []

        def accept() -> None:
            while True:
                try:
                    peer, _ = server.accept()
                except OSError:
                    return
                accepted.append(peer)
                if answer is not None:
                    peer.sendall(answer)

        thread = threading.Thread(target=accept, daemon=True)
        thread.start()
        yield f"127.0.0.1:{server.getsockname()[1]}"
        server.shutdown(socket.SHUT_RDWR)
        thread.join(5)
    for peer in accepted:
        peer.close()


def closed_address() -> str:
    """An address on loopback where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return f"127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A broker gets half a second to accept and answer."""
    monkeypatch.setattr(connection_module, "CONNECT_SECONDS", 0.5)


@pytest.mark.timeout(120)
def test_a_wrong_address_fails_at_once(capfd: pytest.CaptureFixture[str]) -> None:
    """Nobody listening gives one line with address, cause and remedy, and nothing on the console."""
    address = closed_address()
    reader = KafkaClusterReader("prod", ClusterSettings(bootstrap=address))
    with pytest.raises(ClusterUnreachable) as caught:
        reader.take_snapshot(SNAPSHOT_ID)
    assert str(caught.value) == (
        f"cluster 'prod' cannot be reached ({address}: connection refused). "
        "Check its bootstrap address, and that its brokers run and may be reached from here."
    )
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("length", [1_000_001, 400_000_000])
@pytest.mark.usefixtures("impatient")
def test_a_long_answer_of_who_has_not_introduced_itself_takes_no_memory(length: int) -> None:
    """The first four bytes say how long it is; what is not a broker may say anything."""
    tracemalloc.start()
    with listener(struct.pack(">i", length) + b"x") as address:
        settings = ClusterSettings(bootstrap=address)
        with pytest.raises(ClusterUnreachable, match=f"Invalid frame length: {length}"):
            KafkaClusterReader("prod", settings).ping()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000


def test_every_wrong_address_has_its_own_cause() -> None:
    """A name nobody knows and a closed port are told apart."""
    closed = closed_address()
    with pytest.raises(ClusterUnreachable) as caught:
        list(reachable("prod", f"no-such-host.invalid:9092, {closed}", 2))
    assert "no-such-host.invalid:9092: the name is not known" in str(caught.value)
    assert f"{closed}: connection refused" in str(caught.value)


def test_one_good_address_is_enough() -> None:
    """Addresses that do not answer are passed over."""
    with listener() as good:
        assert list(reachable("prod", f"{closed_address()},{good}", 2)) == [good]


@pytest.mark.parametrize(
    "answer", [None, b"HTTP/1.1 400 Bad Request\r\n\r\n"], ids=["silent", "another protocol"]
)
@pytest.mark.parametrize("properties", [{}, LOGIN], ids=["no login", "login"])
@pytest.mark.usefixtures("impatient")
def test_what_is_not_a_broker_is_told(
    answer: bytes | None, properties: dict[str, str], capfd: pytest.CaptureFixture[str]
) -> None:
    """A port that accepts and does not speak Kafka ends in seconds with what to check."""
    before = threading.active_count()
    with listener(answer) as address:
        settings = ClusterSettings(bootstrap=address, properties=properties)
        with pytest.raises(ClusterUnreachable) as caught:
            KafkaClusterReader("prod", settings).ping()
    line = str(caught.value)
    assert f"cluster 'prod' at {address} accepts connections but does not answer as Kafka" in line
    assert "Check security.protocol and the port" in line
    assert "\n" not in line
    assert "hunter2" not in line
    assert capfd.readouterr() == ("", "")
    assert threading.active_count() <= before


@pytest.mark.timeout(120)
@pytest.mark.usefixtures("impatient")
def test_a_port_that_is_silent_under_tls_is_given_up() -> None:
    """The library would wait for the other side of a handshake for ever."""
    with listener() as address:
        settings = ClusterSettings(bootstrap=address, properties={"security.protocol": "SSL"})
        with pytest.raises(ClusterUnreachable, match="does not answer as Kafka over SSL"):
            Connection("prod", settings)


@pytest.mark.usefixtures("impatient")
def test_another_protocol_under_tls_is_told() -> None:
    """What answers in the clear gets the protocol named."""
    with listener(b"HTTP/1.1 400 Bad Request\r\n\r\n") as address:
        settings = ClusterSettings(bootstrap=address, properties={"security.protocol": "SSL"})
        with pytest.raises(ClusterUnreachable, match="does not speak TLS on this port"):
            Connection("prod", settings)


@pytest.mark.usefixtures("impatient")
def test_the_library_stays_silent_under_a_configured_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Airflow and applications configure the root logger; kafka-python does not spill into it."""
    logging.getLogger("kafka").setLevel(logging.NOTSET)
    with caplog.at_level(logging.DEBUG), listener() as address:
        with pytest.raises(ClusterUnreachable):
            Connection("prod", ClusterSettings(bootstrap=address))
        assert [record for record in caplog.records if record.name.startswith("kafka")] == []


def test_a_library_error_becomes_one_short_line() -> None:
    """Line breaks, error numbers and doubled class names go."""
    assert brief(ValueError("a\n  b.")) == "ValueError: a b"
    assert brief(KeyError()) == "KeyError"
    assert brief(OSError("[Error 7] OSError: late")) == "OSError: late"


def test_what_no_second_attempt_mends_is_told_apart() -> None:
    """A login refused often may lock an account; a broken connection is worth another attempt."""
    assert is_lasting(kafka_errors.SaslAuthenticationFailedError("no"))
    assert is_lasting(kafka_errors.KafkaConnectionError(ssl.SSLCertVerificationError("no")))
    assert not is_lasting(kafka_errors.KafkaConnectionError(ConnectionResetError("gone")))
    assert is_lasting(kafka_errors.KafkaConfigurationError("no region"))
    assert not is_lasting(AttributeError("'NoneType' object has no attribute 'write'"))
    assert not is_lasting(None)


@pytest.mark.parametrize(
    ("cause", "protocol", "mechanism", "told", "fix"),
    [
        (
            kafka_errors.UnsupportedSaslMechanismError(),
            "SASL_SSL",
            "PLAIN",
            "refused the login: it does not take sasl.mechanism PLAIN",
            "Set sasl.mechanism to one that this port offers.",
        ),
        (
            kafka_errors.IllegalSaslStateError(),
            "SASL_PLAINTEXT",
            "PLAIN",
            "refused the login: it asks for none on this port, and security.protocol is "
            "SASL_PLAINTEXT",
            "Set security.protocol to PLAINTEXT, or use the port for logins.",
        ),
    ],
)
def test_each_refused_login_has_its_fix(
    cause: Exception, protocol: str, mechanism: str, told: str, fix: str
) -> None:
    """The mechanism, the port, or who logs in."""
    assert explain([cause], protocol, mechanism, tls_spoken=False) == (told, fix)


def test_a_connection_cut_later_is_not_called_another_protocol() -> None:
    """Only a handshake that is cut says something about the port."""
    early = kafka_errors.KafkaConnectionError("Handshake failed: reset")
    early.__context__ = ConnectionResetError("reset")
    assert explain([early], "SSL", None, tls_spoken=False) is not None
    late = kafka_errors.KafkaConnectionError(ConnectionResetError("reset"))
    assert explain([late], "SSL", None, tls_spoken=False) is None


def test_a_port_that_speaks_no_tls_is_known() -> None:
    """Silence and another protocol are no TLS, a closed port neither."""
    with listener() as silent, listener(b"HTTP/1.1 400 Bad Request\r\n\r\n") as other:
        assert not any(speaks_tls(where, 0.5) for where in (silent, other, closed_address()))


def test_what_a_broker_says_before_it_hangs_up_is_heard() -> None:
    """Answer and end may come in one piece; the end is told next, and once. Bytes are counted both ways."""
    end = kafka_errors.KafkaConnectionError("socket disconnected")
    received = [(b"hello", None), (b"refused", end), (b"", None)]
    traffic = Traffic()
    transport = connection_module._heard_out(
        SimpleNamespace(_sock_recv=lambda: received.pop(0), _sock_send=lambda: (3, None)), traffic
    )
    assert transport._sock_send() == (3, None)
    heard = [transport._sock_recv() for _ in range(4)]
    assert heard == [(b"hello", None), (b"refused", None), (b"", end), (b"", None)]
    assert traffic == Traffic(sent=3, received=len("hello") + len("refused"))
