"""Connecting: translated properties, and one clear line for each way an address can be wrong."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from engine.adapters.kafka import KafkaClusterReader
from engine.adapters.kafka import connection as connection_module
from engine.adapters.kafka.addresses import reachable
from engine.adapters.kafka.connection import Connection, brief
from engine.adapters.kafka.properties import client_arguments
from engine.config import ClusterSettings
from engine.errors import ClusterUnreachable, ConfigError

SNAPSHOT_ID = "prod-20260301T120000Z-000000"


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


def test_properties_are_translated() -> None:
    """librdkafka names become kafka-python's, values in the form it takes."""
    translated = client_arguments(
        {
            "security.protocol": "sasl_ssl",
            "sasl.mechanisms": "scram-sha-512",
            "sasl.username": "reader",
            "sasl.password": "hunter2",
            "ssl.endpoint.identification.algorithm": "none",
            "client.id": "evenkeel",
            "bootstrap.servers": "elsewhere:9092",
            "group.id": "unused",
        },
        "cluster 'prod'",
    )
    assert translated == {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "reader",
        "sasl_plain_password": "hunter2",
        "ssl_check_hostname": False,
        "client_id": "evenkeel",
    }


def test_files_of_certificates_must_be_there(tmp_path: Path) -> None:
    """A missing certificate is named with its property before anything is connected."""
    (tmp_path / "ca.pem").touch()
    assert client_arguments({"ssl.ca.location": f"{tmp_path}/ca.pem"}, "x") == {
        "ssl_cafile": f"{tmp_path}/ca.pem"
    }
    with pytest.raises(ConfigError, match=r"ssl\.key\.location names .*gone, which cannot be read"):
        client_arguments({"ssl.key.location": f"{tmp_path}/gone"}, "cluster 'prod'")


@pytest.mark.parametrize(
    ("properties", "told"),
    [
        ({"sasl.oauthbearer.token": "hunter2"}, r"property sasl\.oauthbearer\.token is not"),
        ({"security.protocol": "TLS"}, r"security\.protocol is 'TLS'.*SASL_SSL"),
        ({"sasl.mechanism": "DIGEST"}, r"sasl\.mechanism is 'DIGEST'.*SCRAM-SHA-256"),
    ],
)
def test_what_is_not_supported_is_named(properties: dict[str, str], told: str) -> None:
    """An unknown property or value is a configuration error of that cluster, without secrets."""
    settings = ClusterSettings(bootstrap="broker:9092", properties=properties)
    with pytest.raises(ConfigError, match=f"cluster 'prod': {told}") as caught:
        KafkaClusterReader("prod", settings)
    assert "hunter2" not in str(caught.value)


@pytest.mark.timeout(15)
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
@pytest.mark.usefixtures("impatient")
def test_what_is_not_a_broker_is_told(
    answer: bytes | None, capfd: pytest.CaptureFixture[str]
) -> None:
    """A port that accepts and does not speak Kafka ends in seconds with what to check."""
    before = threading.active_count()
    with listener(answer) as address:
        settings = ClusterSettings(bootstrap=address, properties={"sasl.password": "hunter2"})
        with pytest.raises(ClusterUnreachable) as caught:
            KafkaClusterReader("prod", settings).ping()
    line = str(caught.value)
    assert f"cluster 'prod' at {address} accepts connections but does not answer as Kafka" in line
    assert "Check security.protocol and the port" in line
    assert "\n" not in line
    assert "hunter2" not in line
    assert capfd.readouterr() == ("", "")
    assert threading.active_count() <= before


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
