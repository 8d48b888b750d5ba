"""Settings from Airflow's connections."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import Connection

from evenkeel.dags import connections as airflow_connections
from evenkeel.dags.connections import environment, from_connections
from evenkeel.engine.config import Settings, load
from evenkeel.engine.model.errors import ConfigError

pytestmark = pytest.mark.airflow


def settings(**connections: Connection) -> Settings:
    """The settings that these connections give, for the clusters eu and us and the webhook oncall."""
    found, refused = from_connections(connections.get, ["eu", "us"], ["oncall"])
    return load(connections=found, refused=refused)


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
        settings(evenkeel_eu=nested).cluster("eu")
    assert "hidden" not in str(told.value)


NO_SENSE = [
    ('{"bootstrap.servers": "b:1", "client.id": ["a", "b"]}', r"client\.id .* list"),
    ('{"bootstrap.servers": ["b:1"]}', r"bootstrap\.servers .* list"),
    ('{"bootstrap.servers": "broker"}', r"bootstrap .*'us'.* 'broker' is not host:port.* evenkeel_us"),
    ('{"security.protocol": "SSL"}', r"bootstrap .*'us'.* required.* bootstrap\.servers .* evenkeel_us"),
    ('["b:1"]', r"evenkeel_us: its extra is a list"),
]  # fmt: skip


@pytest.mark.parametrize(("extra", "named"), NO_SENSE)
def test_a_connection_that_makes_no_sense_costs_its_own_cluster_only(
    extra: str, named: str
) -> None:
    """The other's settings are whole; whoever asks for the one is told what is wrong and where."""
    bad = Connection(conn_id="kafka", conn_type="kafka", extra=extra)
    found = settings(
        evenkeel_eu=kafka(bootstrap_servers="a:9092", security_protocol="SSL"), evenkeel_us=bad
    )
    assert found.cluster("eu").properties == {"security.protocol": "SSL"}
    assert sorted(found.clusters) == ["eu", "us"]
    with pytest.raises(ConfigError, match=named):
        found.cluster("us")


@pytest.fixture
def configure_us(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Write a file with a sound cluster `eu`, and `us` as the test says."""

    def write(us: str) -> None:
        file = tmp_path / "evenkeel.toml"
        file.write_text(f'[clusters.eu]\nbootstrap = "a:9092"\n[clusters.us]\n{us}\n')
        monkeypatch.setenv("EVENKEEL_CONFIG", str(file))

    return write


NOBODYS_ADDRESS = [
    # the file has filters of a cluster and leaves its address to a connection that somebody removed
    ("timeout_seconds = 9", {}, "evenkeel_us"),
    # the file has an address that would do, the connection beats it with one that is none
    ('bootstrap = "c:9092"', {"bootstrap_servers": "broker"}, r"'broker' is not host:port.* evenkeel_us"),
]  # fmt: skip


@pytest.mark.parametrize(("us", "connection", "named"), NOBODYS_ADDRESS)
def test_a_connection_that_gives_no_address_is_not_the_files_fault(
    configure_us: Callable[[str], None], us: str, connection: dict[str, str], named: str
) -> None:
    """It costs its own cluster only."""
    configure_us(us)
    found = settings(**({"evenkeel_us": kafka(**connection)} if connection else {}))
    assert found.cluster("eu").bootstrap == "a:9092"
    with pytest.raises(ConfigError, match=named):
        found.cluster("us")


@pytest.mark.parametrize("wrong", ['bootstrap = "b"', 'bootstrap = "b:1"\ntimeout = 9'])
def test_a_file_that_is_wrong_is_refused_as_a_whole(
    wrong: str, configure_us: Callable[[str], None]
) -> None:
    """It is one file, validated before it is put in place: nothing runs on half of it."""
    configure_us(wrong)
    with pytest.raises(ConfigError, match=r"clusters\.us\."):
        settings(evenkeel_us=kafka(security_protocol="SSL"))


def test_a_spark_step_runs_whatever_a_connection_says() -> None:
    """Spark's environment names the refused cluster with an address that is one, so that its program can start."""
    found = settings(
        evenkeel_eu=kafka(bootstrap_servers="a:9092"), evenkeel_us=kafka(bootstrap_servers="b")
    )
    told = environment(found)["EVENKEEL_CLUSTERS"]
    assert set(load(connections={"clusters": json.loads(told)}).clusters) == {"eu", "us"}


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


def test_a_slack_connection_may_hold_an_incoming_webhook() -> None:
    """A password that is an address is one, and no token."""
    made = Connection(conn_id="s", conn_type="slackwebhook", password="https://hooks.test/T/B/x")
    found = settings(evenkeel_slack=made)
    assert found.slack_token is None
    assert found.slack_webhook_url is not None
    assert found.slack_webhook_url.get_secret_value() == "https://hooks.test/T/B/x"


ADDRESSES = [
    ({"password": "R0UT1NG"}, None, "R0UT1NG"),
    ({"host": "am", "port": 9093}, "http://am:9093", None),
    ({"host": "am", "schema": "https", "password": "t0ken"}, "https://am", "t0ken"),
    ({"host": "am", "login": "me", "password": "p@ss"}, "http://me:p%40ss@am", None),
    ({"host": "https://mimir/alertmanager", "port": 8443}, "https://mimir:8443/alertmanager", None),
    ({"password": "https://u:p@am/x"}, "https://u:p@am/x", None),
]


@pytest.mark.parametrize(("connection", "url", "key"), ADDRESSES)
def test_a_webhook_connection_gives_address_and_key(
    configure_us: Callable[[str], None], connection: dict[str, Any], url: str, key: str
) -> None:
    """`evenkeel_webhook_<name>` adds its secrets to what the file says of the webhook, and shows none of them."""
    configure_us('bootstrap = "b:1"\n[webhooks.oncall]\nformat = "alertmanager"')
    made = Connection(conn_id="w", conn_type="http", **connection)
    found = settings(evenkeel_webhook_oncall=made).webhooks["oncall"]
    secrets = [secret and secret.get_secret_value() for secret in (found.url, found.key)]
    assert secrets == [url, key]
    assert not any(secret in repr(found) for secret in secrets if secret)


def test_a_heartbeat_connection_gives_its_address() -> None:
    """It is the password, so that Airflow shows it nobody."""
    made = Connection(conn_id="h", conn_type="http", password="https://hc.test/uuid-{cluster}")
    found = settings(evenkeel_heartbeat=made).heartbeat_url
    assert found is not None
    assert found.get_secret_value() == "https://hc.test/uuid-{cluster}"


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


@pytest.mark.parametrize(
    ("base_url", "address"),
    [
        ("https://host", "https://host/plugin/evenkeel/evenkeel"),
        ("https://host/airflow/", "https://host/airflow/plugin/evenkeel/airflow/evenkeel"),
        ("/airflow", None),
        (None, None),
    ],
)
def test_the_pages_are_where_airflow_is(
    base_url: str | None, address: str | None, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Airflow's own address, if it is told one, says where the pages in its navigation are."""
    monkeypatch.delenv("AIRFLOW__API__BASE_URL", raising=False)
    if base_url is not None:
        monkeypatch.setenv("AIRFLOW__API__BASE_URL", base_url)
    monkeypatch.setenv("EVENKEEL_CONFIG", str(empty(tmp_path)))
    monkeypatch.setattr(airflow_connections, "_connection", lambda name: None)
    assert airflow_connections.settings().report_url == address


def test_the_pages_are_where_the_configuration_says(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An address in the file wins over Airflow's own."""
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://internal")
    file = empty(tmp_path)
    file.write_text('report_url = "https://outside/evenkeel"\n')
    monkeypatch.setenv("EVENKEEL_CONFIG", str(file))
    monkeypatch.setattr(airflow_connections, "_connection", lambda name: None)
    assert airflow_connections.settings().report_url == "https://outside/evenkeel"


def test_the_pages_about_diagnoses_are_those_in_airflow_unless_configured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Below Airflow's own pages, or where the file says; without an address of Airflow nowhere."""
    file = empty(tmp_path)
    monkeypatch.setenv("EVENKEEL_CONFIG", str(file))
    monkeypatch.setattr(airflow_connections, "_connection", lambda name: None)
    found = lambda: airflow_connections.settings().runbook_url  # noqa: E731
    assert found() is None
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://internal/a")
    assert found() == "https://internal/a/plugin/evenkeel/a/evenkeel/diagnoses"
    file.write_text('runbook_url = "https://docs/diagnoses"\n')
    assert found() == "https://docs/diagnoses"


def empty(folder: Path) -> Path:
    """A configuration that says nothing."""
    file = folder / "evenkeel.toml"
    file.touch()
    return file
