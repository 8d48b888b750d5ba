"""
Security against a real broker: TLS, certificates, logins, rights, secrets that stay secret, and all
of it through connections of a real Airflow.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import sqlite3
import subprocess
import sys
import time
import traceback
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as Pair
from confluent_kafka.admin import AclOperation, ResourceType
from cryptography.fernet import Fernet
from kafka import TopicPartition
from kafka.structs import OffsetAndMetadata

from evenkeel.engine import wiring
from evenkeel.engine.adapters.kafka import KafkaClusterReader
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.replay import write_recording
from evenkeel.engine.config import ClusterSettings
from evenkeel.engine.datasets import ClusterSnapshot
from evenkeel.engine.errors import ClusterUnreachable, EvenkeelError
from evenkeel.engine.steps.snapshot import take_snapshot
from tests.helpers.certificates import Authority
from tests.helpers.dagbag import show_dags
from tests.helpers.searched import file_text, history_text
from tests.helpers.secured_broker import (
    NOBODY,
    NOBODY_PASSWORD,
    READER,
    READER_PASSWORD,
    Properties,
    SecuredBroker,
)
from tests.helpers.tokens import CLIENT_SECRET, token_endpoint, unsigned
from tests.stage.process import sweep, wait_until

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = [pytest.mark.kafka, pytest.mark.slow]

SNAPSHOT_ID = "prod-20260301T120000Z-000000"
KEY_PASSWORD = "a-recognisable-key-passw0rd"
DENIED = "GROUP_AUTHORIZATION_FAILED (grant this client DESCRIBE on the group)"
EVERYTHING = {"app", "hidden", "secret"}
AT_ONCE = 5.0
"""Seconds; what is tried again takes six."""
ROOT = Path(__file__).resolve().parents[3]

AIRFLOW = """
import json, sys
from airflow.cli.cli_parser import get_parser

for words in json.loads(sys.argv[1]):
    wanted = get_parser().parse_args(words)
    wanted.func(wanted)
"""
"""Several of Airflow's commands in one process, for each would be importing for seconds."""


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SecuredBroker]:
    """A secured broker with two topics, three idle groups, and a reader who may DESCRIBE some."""
    directory = tmp_path_factory.mktemp("secured")
    try:
        with SecuredBroker(directory / "broker", home=directory) as started:
            _fill(started)
            yield started
    finally:
        sweep(directory)


def _fill(broker: SecuredBroker) -> None:
    with broker.admin() as admin:
        topics = {"orders": 2, "private": 1}
        admin.create_topics(
            {name: {"num_partitions": n, "replication_factor": 1} for name, n in topics.items()}
        )
        wait_until(lambda: topics.keys() <= set(admin.list_topics()), 30, "the topics to appear")
        offsets = {TopicPartition("orders", p): OffsetAndMetadata(0, "", -1) for p in range(2)}
        for group in EVERYTHING:
            admin.alter_group_offsets(group, offsets)
    describe = AclOperation.DESCRIBE
    broker.grant(
        [
            (ResourceType.BROKER, "kafka-cluster", describe),
            (ResourceType.GROUP, "app", describe),
            (ResourceType.GROUP, "hidden", describe),
            *((ResourceType.GROUP, f"live-{kind}", describe) for kind in ("classic", "consumer")),
            (ResourceType.TOPIC, "orders", describe),
        ]
    )
    broker.grant(
        [(ResourceType.GROUP, "app", describe), (ResourceType.TOPIC, "orders", describe)],
        "User:CN=auditor",
    )
    login = broker.by_password("SCRAM-SHA-512")
    wait_until(lambda: len(groups(take(broker.address("login"), login))) == 3, 30, "the rules")


def reader(address: str, properties: Properties) -> KafkaClusterReader:
    """A reader of the cluster `prod`."""
    return KafkaClusterReader("prod", ClusterSettings(bootstrap=address, properties=properties))


def take(address: str, properties: Properties) -> ClusterSnapshot:
    """A snapshot of everything."""
    return reader(address, properties).take_snapshot(SNAPSHOT_ID)


def groups(snapshot: ClusterSnapshot) -> dict[str, str | None]:
    """Group -> error."""
    return {row["group_id"]: row["error"] for row in snapshot.tables["groups"].to_pylist()}


def refusal(address: str, properties: Properties, seconds: float = 10) -> str:
    """The one line of a refused connection, which comes within *seconds*."""
    started = time.monotonic()
    with pytest.raises(ClusterUnreachable) as caught:
        take(address, properties)
    assert time.monotonic() - started < seconds
    line = str(caught.value)
    assert line.startswith(f"cluster 'prod' at {address} ")
    assert "\n" not in line
    assert READER_PASSWORD not in line
    return line


def test_a_cluster_is_read_over_tls(broker: SecuredBroker) -> None:
    """The authority may be a file, a text, or nobody when nothing is verified."""
    address, pem = broker.address("tls"), broker.authority.ca.read_text()
    for how in (
        {"ssl.ca.location": str(broker.authority.ca)},
        {"ssl.ca.pem": pem},
        {"enable.ssl.certificate.verification": "False"},
    ):
        assert groups(take(address, {"security.protocol": "ssl", **how})).keys() == EVERYTHING


def test_a_broker_of_an_unknown_authority_is_refused(broker: SecuredBroker, tmp_path: Path) -> None:
    """Neither another authority nor this machine's list is good enough."""
    other = {"security.protocol": "SSL", "ssl.ca.location": str(Authority(tmp_path).ca)}
    for properties in (other, {"security.protocol": "SSL"}):
        line = refusal(broker.address("tls"), properties, AT_ONCE)
        assert "shows a certificate that is not trusted here" in line
        assert line.endswith(
            "Set ssl.ca.location or ssl.ca.pem to the certificate of the CA that signed it."
        )


def test_a_broker_of_another_name_is_refused(broker: SecuredBroker) -> None:
    """The name must be in the certificate, unless names are not asked for."""
    address = broker.address("tls", "localhost")
    line = refusal(address, broker.trusting(), AT_ONCE)
    assert "shows a certificate for another host" in line
    assert "localhost" in line
    assert "ssl.endpoint.identification.algorithm" in line
    unnamed = broker.trusting() | {"ssl.endpoint.identification.algorithm": "none"}
    assert groups(take(address, unnamed)).keys() == EVERYTHING


def test_protocol_and_port_that_do_not_fit_are_told(broker: SecuredBroker) -> None:
    """Each way round names what the port speaks, or what to set."""
    plain = refusal(broker.address("tls"), {})
    assert "speaks TLS, and security.protocol is PLAINTEXT" in plain
    assert plain.endswith("Set security.protocol to SSL.")
    wrapped = refusal(broker.bootstrap, broker.trusting())
    assert "does not speak TLS on this port, and security.protocol is SSL" in wrapped
    assert "Set security.protocol to PLAINTEXT" in wrapped
    login = broker.by_password("PLAIN")
    uncalled = refusal(broker.address("tls"), login)
    assert "it asks for none on this port" in uncalled
    assert "Set security.protocol to SSL" in uncalled
    missing = refusal(broker.address("login"), broker.trusting())
    assert "does not answer as Kafka over SSL" in missing
    assert "Check security.protocol" in missing


def test_a_client_certificate_is_shown_where_one_is_asked_for(broker: SecuredBroker) -> None:
    """Files, encrypted or not, and texts; the certificate's name is who has the rights."""
    certificate, key = broker.authority.issue("auditor")
    locked, locked_key = broker.authority.issue("locked", password=KEY_PASSWORD)
    address = broker.address("mutual")
    files = {"ssl.certificate.location": str(certificate), "ssl.key.location": str(key)}
    texts = {"ssl.certificate.pem": certificate.read_text(), "ssl.key.pem": key.read_text()}
    for how in (files, texts):
        assert groups(take(address, broker.trusting() | how)) == {"app": None}
    encrypted = {
        "ssl.certificate.location": str(locked),
        "ssl.key.location": str(locked_key),
        "ssl.key.password": KEY_PASSWORD,
    }
    assert groups(take(address, broker.trusting() | encrypted)) == {}


def test_without_a_trusted_client_certificate_the_fix_is_told(
    broker: SecuredBroker, tmp_path: Path
) -> None:
    """None at all, and one that another authority signed."""
    certificate, key = Authority(tmp_path).issue("stranger")
    stranger = {"ssl.certificate.location": str(certificate), "ssl.key.location": str(key)}
    for how in ({}, stranger):
        line = refusal(broker.address("mutual"), broker.trusting() | how, AT_ONCE)
        assert "asks for a client certificate that it trusts" in line
        assert "Set ssl.certificate.location and ssl.key.location" in line


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_password_logs_in(broker: SecuredBroker, mechanism: str) -> None:
    """Over TLS and without; a wrong password is refused at once, by a line that has no secret."""
    login = broker.by_password(mechanism)
    assert groups(take(broker.address("login"), login)).keys() == EVERYTHING
    bare = {name: value for name, value in login.items() if name.startswith("sasl.")}
    bare["security.protocol"] = "SASL_PLAINTEXT"
    assert groups(take(broker.address("bare"), bare)).keys() == EVERYTHING
    wrong = login | {"sasl.password": f"wrong-{READER_PASSWORD}"}
    line = refusal(broker.address("login"), wrong, AT_ONCE)
    assert "refused the login: SaslAuthenticationFailedError" in line
    assert "Check sasl.mechanism, sasl.username and sasl.password" in line


def test_a_token_logs_in(broker: SecuredBroker) -> None:
    """Its subject has the rights; an endpoint that refuses is named with the cause."""
    with token_endpoint(READER) as url:
        login = broker.by_token(url)
        assert groups(take(broker.address("login"), login)).keys() == EVERYTHING
        with pytest.raises(ClusterUnreachable) as caught:
            take(broker.address("login"), broker.by_token(url, "wrong"))
    line = str(caught.value)
    assert f"cluster 'prod' got no OAUTHBEARER token from {url} (HTTP 401, invalid_client)" in line


def test_describe_rights_are_enough_and_a_missing_one_is_told_per_group(
    broker: SecuredBroker,
) -> None:
    """The reader has DESCRIBE only, and not on one group: that group's row says so, all else is read."""
    snapshot = take(broker.address("login"), broker.by_password("SCRAM-SHA-512"))
    told = f"members: {DENIED}; committed offsets: {DENIED}"
    assert groups(snapshot) == {"app": None, "hidden": None, "secret": told}
    commits = snapshot.tables["commits"].to_pylist()
    assert sorted({(row["group_id"], row["committed_offset"]) for row in commits}) == [
        ("app", 0),
        ("hidden", 0),
    ]
    partitions = snapshot.tables["partitions"].to_pylist()
    assert [(row["topic"], row["end_offset"], row["error"]) for row in partitions] == [
        ("orders", 0, None)
    ] * 2


@pytest.mark.parametrize("kind", ["classic", "consumer"])
def test_a_topic_that_may_not_be_read_is_told_with_its_group(
    broker: SecuredBroker, kind: str
) -> None:
    """A live group reads a topic that this client may not DESCRIBE."""
    group = f"live-{kind}"
    consumer = Consumer(
        {"bootstrap.servers": broker.bootstrap, "group.id": group, "group.protocol": kind}
    )
    consumer.subscribe(["orders", "private"])
    try:
        wait_until(lambda: consumer.poll(0.1) or len(consumer.assignment()) == 3, 30, "the group")
        consumer.commit(offsets=[Pair("orders", 0, 0), Pair("private", 0, 0)], asynchronous=False)
        snapshot = take(broker.address("login"), broker.by_password("SCRAM-SHA-512"))
    finally:
        consumer.close()
        with broker.admin() as admin:
            admin.delete_groups([group])
    missing = {
        "classic": "topic private: TOPIC_AUTHORIZATION_FAILED (grant this client DESCRIBE on the topic)",
        "consumer": "members: TOPIC_AUTHORIZATION_FAILED (grant this client DESCRIBE on the topic)",
    }
    assert groups(snapshot)[group] == missing[kind]
    assert f"group {group}: {missing[kind]}" in snapshot.problems
    assert groups(snapshot)["app"] is None


def test_who_may_nothing_gets_an_empty_snapshot_and_doctor_says_what_to_grant(
    broker: SecuredBroker,
) -> None:
    """No crash: groups and topics are hidden from such a client, and doctor knows that they are."""
    login = broker.by_password("SCRAM-SHA-512", NOBODY, NOBODY_PASSWORD)
    assert groups(take(broker.address("login"), login)) == {}
    findings = {f.what: f for f in reader(broker.address("login"), login).ping().findings}
    fixes = {what: findings[what].fix for what in ("rights", "groups", "topics")}
    assert fixes == {
        "rights": "Grant this client DESCRIBE on the cluster.",
        "groups": "Grant this client DESCRIBE on the groups, or correct the filter `groups`.",
        "topics": "Grant this client DESCRIBE on the topics, or correct the filter `topics`.",
    }


def test_doctor_tells_whether_groups_are_hidden(broker: SecuredBroker) -> None:
    """The reader may DESCRIBE the cluster and misses a right to one group."""
    login = broker.by_password("SCRAM-SHA-512")
    findings = {f.what: f for f in reader(broker.address("login"), login).ping().findings}
    assert findings["rights"].ok
    assert findings["rights"].seen == "DESCRIBE on the cluster: no group is hidden"
    assert findings["groups"].seen.startswith("3 seen, 2 not readable: secret: members:")
    assert findings["topics"].ok


def test_no_secret_is_written_anywhere(
    broker: SecuredBroker,
    tmp_path: Path,
    database_url: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A snapshot kept in lake and history, failures, and the library's debug log: nothing tells one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENKEEL_LAKE", str(tmp_path / "lake"))
    certificate, key = broker.authority.issue("keeper", password=KEY_PASSWORD)
    own = {
        "ssl.certificate.pem": certificate.read_text(),
        "ssl.key.pem": key.read_text(),
        "ssl.key.password": KEY_PASSWORD,
    }
    printed: list[str] = []
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", database_url)
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="kafka")
    with token_endpoint(READER) as url:
        token = unsigned(READER).split(".")[1][:24]
        logins = {
            "plain": broker.by_password("PLAIN") | own,
            "scram": broker.by_password("SCRAM-SHA-256") | own,
            "token": broker.by_token(url) | own,
        }
        for name, login in logins.items():
            settings = wiring.settings(
                {"clusters": {name: {"bootstrap": broker.address("login"), "properties": login}}}
            )
            cluster = wiring.cluster(settings, name)
            history = wiring.history(settings)
            taken = take_snapshot(cluster, wiring.lake(settings), history, settings, name)
            recording = tmp_path / f"{name}.evenkeel"
            write_recording(recording, wiring.lake(settings), [taken])
            printed += [repr(settings), repr(cluster), repr(vars(cluster)), str(settings)]
            printed += _failures(broker, login, url, tmp_path)
            printed.append(_command("lag", name, broker, _wrong(login)))
        printed.append(_command("doctor", "scram", broker, logins["scram"]))
    out, err = capfd.readouterr()
    places = {"printed": "\n".join(printed), "log": caplog.text, "stdout": out, "stderr": err}
    places["history"] = history_text(database_url)
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    places |= {str(path): file_text(path) for path in files}
    assert "orders" in places[str(recording)], "what is packed is searched as well"
    assert "scram" in places["history"]
    assert "SaslHandshake" in caplog.text, "the library's debug log is part of what is searched"
    key_text = "".join(key.read_text().splitlines()[1:-1])[8:48]
    secrets = [READER_PASSWORD, CLIENT_SECRET, KEY_PASSWORD, key_text, token]
    secrets += [base64.b64encode(secret.encode()).decode()[:-4] for secret in secrets]
    told = {place for place, text in places.items() if any(secret in text for secret in secrets)}
    assert told == set()


def _failures(broker: SecuredBroker, login: Properties, url: str, folder: Path) -> list[str]:
    """What is said, traceback included, when each thing that can be wrong is wrong."""
    wrong = [
        {"ssl.ca.location": str(Authority(folder / "other").ca)},
        {"ssl.key.password": f"{KEY_PASSWORD}-wrong"},
        {"ssl.key.location": "also", "ssl.ca.pem": "neither"},
        {"sasl.pasword": READER_PASSWORD},
        {"sasl.mechanism": "GSSAPI"},
        {"security.protocol": "SSL"},
    ]
    if "sasl.password" in login:
        wrong.append({"sasl.password": f"{READER_PASSWORD}-wrong"})
        wrong.append({"sasl.username": "somebody-else"})
    else:
        wrong.append({"sasl.oauthbearer.client.secret": f"{CLIENT_SECRET}-wrong"})
        wrong.append({"sasl.oauthbearer.token.endpoint.url": url.replace("127.0.0.1", "[::1]")})
    told = []
    for change in wrong:
        with pytest.raises(EvenkeelError) as caught:
            reader(broker.address("login"), login | change).take_snapshot(SNAPSHOT_ID)
        problem = caught.value
        told += [str(problem), repr(problem), "".join(traceback.format_exception(problem))]
    return told


def _wrong(login: Properties) -> Properties:
    """The same with another secret that contains the right one."""
    secrets = [name for name in login if name.endswith((".secret", "sasl.password"))]
    return login | {name: f"{login[name]}-wrong" for name in secrets}


def _command(command: str, name: str, broker: SecuredBroker, login: Properties) -> str:
    """What a command prints of a cluster that the environment describes, tracebacks included."""
    described = {name: {"bootstrap": broker.address("login"), "properties": login}}
    environment = {"EVENKEEL_CLUSTERS": json.dumps(described), "EVENKEEL_DEBUG": "1"}
    done = subprocess.run(
        [
            sys.executable,
            "-c",
            "from evenkeel.engine.cli import main; main()",
            command,
            "--cluster",
            name,
        ],
        env=os.environ | environment | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert name in done.stdout + done.stderr, "it speaks of the cluster"
    return done.stdout + done.stderr


@dataclass(frozen=True)
class DagRun:
    """What a run of the DAG `snapshot_offsets` left behind."""

    log: str
    home: Path
    database_url: str

    @property
    def states(self) -> dict[str, str]:
        """Cluster -> state in which Airflow's task for it ended."""
        query = (
            "select rendered_map_index, state from task_instance where task_id = 'take_snapshot'"
        )
        with closing(sqlite3.connect(self.home / "airflow.db")) as session:
            return dict(session.execute(query).fetchall())

    def error(self, cluster: str) -> str:
        """What the history was told of a failed task; the same stands in the task's log."""
        query = "select distinct error from step_run where cluster = %s and outcome = 'failed'"
        with psycopg.connect(self.database_url) as session:
            [(error,)] = session.execute(query, [cluster]).fetchall()
        assert f"AirflowException: {error}\n" in self.log
        return str(error)


@pytest.fixture(scope="module")
def dag_run(
    broker: SecuredBroker, module_database_url: str, tmp_path_factory: pytest.TempPathFactory
) -> DagRun:
    """
    `airflow dags test` on four Kafka connections to the broker: two of Airflow's own database, of
    which one has a property that librdkafka does not know, and two of the environment, of which
    one has a wrong password.
    """
    home, elsewhere = tmp_path_factory.mktemp("airflow"), tmp_path_factory.mktemp("connections")
    login = {"bootstrap.servers": broker.address("login")} | broker.by_password("SCRAM-SHA-512")
    stored = {"eu": login, "typo": login | {"sasl.pasword": READER_PASSWORD}}
    given = {"us": login, "refused": _wrong(login)}
    file = elsewhere / "connections.json"
    file.write_text(json.dumps({f"evenkeel_{name}": _kafka(stored[name]) for name in stored}))
    environment = {
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__CORE__DAGS_FOLDER": str(show_dags(home / "dags")),
        "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
        "AIRFLOW__DATABASE__SQL_ALCHEMY_CONN": f"sqlite:///{home / 'airflow.db'}",
        "AIRFLOW__CORE__FERNET_KEY": Fernet.generate_key().decode(),
        # its masks would hide what we tell
        "AIRFLOW__CORE__HIDE_SENSITIVE_VAR_CONN_FIELDS": "False",
        "AIRFLOW_CONN_EVENKEEL_POSTGRES": module_database_url,
        "EVENKEEL_CLUSTERS": json.dumps({name: {} for name in stored | given}),
        "EVENKEEL_LAKE": str(home / "lake"),
        "EVENKEEL_SCHEDULE": "2m",  # the second try of a task then comes after six seconds
        "PYTHONPATH": str(ROOT),
    } | {f"AIRFLOW_CONN_EVENKEEL_{n.upper()}": json.dumps(_kafka(given[n])) for n in given}
    commands = [
        ["db", "migrate"],
        ["connections", "import", str(file)],
        ["dags", "test", "snapshot_offsets"],
    ]
    done = subprocess.run(
        [sys.executable, "-c", AIRFLOW, json.dumps(commands)],
        env=os.environ | environment,
        cwd=home,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=500,
        check=False,
    )
    assert "DagRun Finished" in done.stdout, done.stdout
    return DagRun(done.stdout, home, module_database_url)


def _kafka(properties: Properties) -> dict[str, object]:
    """A connection as Airflow writes it in JSON."""
    return {"conn_type": "kafka", "extra": properties}


@pytest.mark.airflow
@pytest.mark.timeout(600)
def test_a_dag_run_reads_the_cluster_of_an_airflow_connection(dag_run: DagRun) -> None:
    """Stored in Airflow or given by the environment: what the reader may see is in the lake."""
    assert dag_run.states == {
        "eu": "success",
        "us": "success",
        "typo": "failed",
        "refused": "failed",
    }
    lake = FileLake(dag_run.home / "lake")
    assert set(lake.clusters()) == {"eu", "us"}
    for name in ("eu", "us"):
        rows = lake.read("groups", lake.snapshots(name)).to_pylist()
        errors = {row["group_id"]: row["error"] for row in rows}
        assert (errors["app"], errors["hidden"]) == (None, None)
        assert DENIED in errors["secret"], "it was logged in, with the rights of the reader"


@pytest.mark.airflow
@pytest.mark.timeout(600)
def test_a_dag_run_says_what_is_wrong_with_an_airflow_connection(
    dag_run: DagRun, broker: SecuredBroker
) -> None:
    """The unknown property by its name; a refused login with the properties to look at."""
    assert dag_run.error("typo") == (
        "cluster 'typo': property sasl.pasword is not supported. Did you mean sasl.password?"
    )
    refused = dag_run.error("refused")
    where = f"cluster 'refused' at {broker.address('login')} refused the login: "
    assert refused.startswith(f"{where}SaslAuthenticationFailedError: ")
    assert refused.endswith(
        "Check sasl.mechanism, sasl.username and sasl.password of its connection."
    )


@pytest.mark.airflow
@pytest.mark.timeout(600)
def test_a_dag_run_writes_no_password(dag_run: DagRun) -> None:
    """Not into the log of its tasks, Airflow's files and database, the lake or the history."""
    places = {str(path): file_text(path) for path in dag_run.home.rglob("*") if path.is_file()}
    assert {Path(place).suffix for place in places} >= {".parquet", ".db"}
    places |= {"log": dag_run.log, "history": history_text(dag_run.database_url)}
    assert [place for place, text in places.items() if READER_PASSWORD in text] == []
