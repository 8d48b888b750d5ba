"""Settings from Airflow's connections."""

from __future__ import annotations

import json
from typing import Any

import pytest
from airflow.sdk import Connection

from dags.connections import environment, from_connections
from engine.config import Settings, load
from engine.errors import ConfigError

pytestmark = pytest.mark.airflow


def settings(**connections: Connection) -> Settings:
    """The settings that these connections give, for the clusters eu and us."""
    found = from_connections(connections.get, ["eu", "us"])
    return load(connections=found)


def kafka(**properties: Any) -> Connection:
    """A Kafka connection, its properties written with underscores."""
    extra = {name.replace("_", "."): value for name, value in properties.items()}
    return Connection(conn_id="kafka", conn_type="kafka", extra=json.dumps(extra))


def test_a_kafka_connection_has_librdkafka_properties() -> None:
    """`evenkeel_<cluster>` gives the address and all other properties, as text."""
    found = settings(
        evenkeel_eu=kafka(
            bootstrap_servers="a:9092", security_protocol="SSL", socket_timeout_ms=9000
        )
    )
    assert list(found.clusters) == ["eu"]
    assert found.clusters["eu"].bootstrap == "a:9092"
    assert found.clusters["eu"].properties == {
        "security.protocol": "SSL",
        "socket.timeout.ms": "9000",
    }


def test_values_that_are_no_text_are_written_as_librdkafka_does() -> None:
    """True and false in small letters; null is left out; anything nested is refused by name, not shown."""
    extra = {
        "bootstrap.servers": "a:9092",
        "enable.ssl.certificate.verification": False,
        "sasl.username": None,
    }
    made = Connection(conn_id="kafka", conn_type="kafka", extra=json.dumps(extra))
    found = settings(evenkeel_eu=made).clusters["eu"]
    assert found.properties == {"enable.ssl.certificate.verification": "false"}
    nested = Connection(
        conn_id="kafka", conn_type="kafka", extra=json.dumps({"sasl.password": {"is": "hidden"}})
    )
    with pytest.raises(ConfigError, match=r"sasl\.password .* dict") as told:
        settings(evenkeel_eu=nested)
    assert "hidden" not in str(told.value)


def test_a_connection_adds_to_what_the_file_says(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file may hold the address and the filters, the connection only the credentials."""
    file = tmp_path / "evenkeel.toml"
    file.write_text('[clusters.eu]\nbootstrap = "a:9092"\ngroups = {deny = ["x*"]}\n')
    monkeypatch.setenv("EVENKEEL_CONFIG", str(file))
    found = settings(evenkeel_eu=kafka(sasl_password="hidden")).clusters["eu"]
    assert (found.bootstrap, found.groups.deny) == ("a:9092", ("x*",))
    assert found.properties == {"sasl.password": "hidden"}
    assert "hidden" not in repr(found)


@pytest.mark.parametrize(
    ("connection", "url"),
    [
        (
            {"host": "db", "port": 5433, "login": "app", "password": "p@ss/", "schema": "history"},
            "postgresql://app:p%40ss%2F@db:5433/history",
        ),
        (
            {"host": "db", "login": "app", "schema": "history", "extra": '{"sslmode": "require"}'},
            "postgresql://app@db/history?sslmode=require",
        ),
        (
            {"host": "/run/pg", "port": 5432, "login": "app", "schema": "history"},
            "postgresql://app@/history?host=%2Frun%2Fpg&port=5432",
        ),
    ],
)
def test_a_postgres_connection_becomes_a_url(connection: dict[str, Any], url: str) -> None:
    """Host, socket folder, login and options end where the database driver looks for them."""
    made = Connection(conn_id="evenkeel_postgres", conn_type="postgres", **connection)
    found = settings(evenkeel_postgres=made).database_url
    assert found is not None
    assert found.get_secret_value() == url


def test_a_slack_connection_gives_token_channel_and_address() -> None:
    """The password is the token; channel and address may stand in the extra."""
    extra = json.dumps({"channel": "#ops", "base_url": "http://localhost:1/api/"})
    made = Connection(conn_id="s", conn_type="slack", password="xoxb-1", extra=extra)
    found = settings(evenkeel_slack=made)
    assert found.slack_token is not None
    assert (found.slack_token.get_secret_value(), found.slack_channel) == ("xoxb-1", "#ops")
    assert found.slack_base_url == "http://localhost:1/api/"


def test_the_environment_beats_a_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable wins over the connection of the same meaning."""
    monkeypatch.setenv("EVENKEEL_SLACK_CHANNEL", "#mine")
    made = Connection(conn_id="s", conn_type="slack", extra='{"channel": "#ops"}')
    assert settings(evenkeel_slack=made).slack_channel == "#mine"


def test_a_program_gets_no_secret_that_it_does_not_need() -> None:
    """Spark's environment has the addresses and the database, not Kafka's and Slack's secrets."""
    found = settings(
        evenkeel_eu=kafka(bootstrap_servers="a:9092", sasl_password="hidden"),
        evenkeel_slack=Connection(conn_id="s", conn_type="slack", password="xoxb-hidden"),
        evenkeel_postgres=Connection(conn_id="p", conn_type="postgres", host="db", login="app"),
    )
    assert environment(found) == {
        "EVENKEEL_CLUSTERS": '{"eu": {"bootstrap": "a:9092"}}',
        "EVENKEEL_DATABASE_URL": "postgresql://app@db/",
    }
