"""Security against a real broker: TLS, certificates, logins, rights, secrets that stay secret."""

from __future__ import annotations

import base64
import json
import logging
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer
from confluent_kafka import TopicPartition as Pair
from kafka.admin import KafkaAdminClient

from evenkeel.engine import wiring
from evenkeel.engine.adapters.kafka import connection
from evenkeel.engine.adapters.recording import write_recording
from evenkeel.engine.model.errors import ClusterUnreachable, EvenkeelError
from evenkeel.engine.pipeline.snapshot import take_snapshot
from tests.helpers.certificates import OVER, Authority
from tests.helpers.facts import said
from tests.helpers.kafka_stage import close
from tests.helpers.searched import file_text, history_text
from tests.helpers.secured_broker import (
    NOBODY,
    NOBODY_PASSWORD,
    READER,
    READER_PASSWORD,
    Properties,
    SecuredBroker,
)
from tests.helpers.secured_fixtures import (
    DENIED,
    EVERYTHING,
    SNAPSHOT_ID,
    groups,
    reader,
    take,
    with_wrong_secret,
)
from tests.helpers.tokens import CLIENT_SECRET, token_endpoint, unsigned
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.postgres_fixtures", "tests.helpers.secured_fixtures")
pytestmark = [pytest.mark.kafka, pytest.mark.slow]

KEY_PASSWORD = "a-recognizable-key-passw0rd"
ROOT = Path(__file__).resolve().parents[3]


def refusal(address: str, properties: Properties, *, at_once: bool = False) -> str:
    """The one line of a refused connection; *at_once*: nothing was tried a second time."""
    tried = []
    build = connection._Manager._build_transport

    def counted(*arguments: Any, **options: Any) -> Any:
        tried.append(arguments)
        return build(*arguments, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection._Manager, "_build_transport", counted)
        with pytest.raises(ClusterUnreachable) as caught:
            take(address, properties)
    assert not at_once or len(tried) == 1
    line = str(caught.value)
    assert line.startswith(f"cluster 'prod' at {address} ")
    assert "\n" not in line
    assert READER_PASSWORD not in line
    return line


def test_a_cluster_is_read_over_tls(secured_broker: SecuredBroker) -> None:
    """The authority may be a file, a text, or nobody when nothing is verified."""
    address, pem = secured_broker.address("tls"), secured_broker.authority.ca.read_text()
    for how in (
        {"ssl.ca.location": str(secured_broker.authority.ca)},
        {"ssl.ca.pem": pem},
        {"enable.ssl.certificate.verification": "False"},
    ):
        assert groups(take(address, {"security.protocol": "ssl", **how})).keys() == EVERYTHING


def test_a_broker_of_an_unknown_authority_is_refused(
    secured_broker: SecuredBroker, tmp_path: Path
) -> None:
    """Neither another authority nor this machine's list is good enough."""
    other = {"security.protocol": "SSL", "ssl.ca.location": str(Authority(tmp_path).ca)}
    for properties in (other, {"security.protocol": "SSL"}):
        line = refusal(secured_broker.address("tls"), properties, at_once=True)
        assert "shows a certificate that is not trusted here" in line
        assert line.endswith(
            "Set ssl.ca.location or ssl.ca.pem to the certificate of the CA that signed it."
        )


def test_a_broker_of_another_name_is_refused(secured_broker: SecuredBroker) -> None:
    """The name must be in the certificate, unless names are not asked for."""
    address = secured_broker.address("tls", "localhost")
    line = refusal(address, secured_broker.trusting(), at_once=True)
    assert "shows a certificate for another host" in line
    assert "localhost" in line
    assert "ssl.endpoint.identification.algorithm" in line
    unnamed = secured_broker.trusting() | {"ssl.endpoint.identification.algorithm": "none"}
    assert groups(take(address, unnamed)).keys() == EVERYTHING


def test_protocol_and_port_that_do_not_fit_are_told(secured_broker: SecuredBroker) -> None:
    """Each way round names what the port speaks, or what to set."""
    plain = refusal(secured_broker.address("tls"), {})
    assert "speaks TLS, and security.protocol is PLAINTEXT" in plain
    assert plain.endswith("Set security.protocol to SSL.")
    wrapped = refusal(secured_broker.bootstrap, secured_broker.trusting())
    assert "does not speak TLS on this port, and security.protocol is SSL" in wrapped
    assert "Set security.protocol to PLAINTEXT" in wrapped
    login = secured_broker.by_password("PLAIN")
    uncalled = refusal(secured_broker.address("tls"), login)
    assert "it asks for none on this port" in uncalled
    assert "Set security.protocol to SSL" in uncalled
    missing = refusal(secured_broker.address("login"), secured_broker.trusting())
    assert "does not answer as Kafka over SSL" in missing
    assert "Check security.protocol" in missing


def test_a_client_certificate_is_shown_where_one_is_asked_for(
    secured_broker: SecuredBroker,
) -> None:
    """Files, encrypted or not, and texts; the certificate's name is who has the rights."""
    certificate, key = secured_broker.authority.issue("auditor")
    locked, locked_key = secured_broker.authority.issue("locked", password=KEY_PASSWORD)
    address = secured_broker.address("mutual")
    files = {"ssl.certificate.location": str(certificate), "ssl.key.location": str(key)}
    texts = {"ssl.certificate.pem": certificate.read_text(), "ssl.key.pem": key.read_text()}
    for how in (files, texts):
        assert groups(take(address, secured_broker.trusting() | how)) == {"app": None}
    encrypted = {
        "ssl.certificate.location": str(locked),
        "ssl.key.location": str(locked_key),
        "ssl.key.password": KEY_PASSWORD,
    }
    assert groups(take(address, secured_broker.trusting() | encrypted)) == {}


def test_without_a_trusted_client_certificate_the_fix_is_told(
    secured_broker: SecuredBroker, tmp_path: Path
) -> None:
    """None at all, one that another authority signed, and one that expired."""
    certificate, key = Authority(tmp_path).issue("stranger")
    stranger = {"ssl.certificate.location": str(certificate), "ssl.key.location": str(key)}
    for how in ({}, stranger):
        line = refusal(
            secured_broker.address("mutual"), secured_broker.trusting() | how, at_once=True
        )
        assert "asks for a client certificate that it trusts" in line
        assert "Set ssl.certificate.location and ssl.key.location" in line
    certificate, key = secured_broker.authority.issue("late", days=OVER)
    late = {"ssl.certificate.location": str(certificate), "ssl.key.location": str(key)}
    line = refusal(secured_broker.address("mutual"), secured_broker.trusting() | late)
    assert "refuses the client certificate, which expired on 20" in line
    assert line.endswith(
        "Renew the certificate of ssl.certificate.location or ssl.certificate.pem."
    )


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_a_password_logs_in(secured_broker: SecuredBroker, mechanism: str) -> None:
    """Over TLS and without; a wrong password is refused at once, by a line that has no secret."""
    login = secured_broker.by_password(mechanism)
    assert groups(take(secured_broker.address("login"), login)).keys() == EVERYTHING
    bare = {name: value for name, value in login.items() if name.startswith("sasl.")}
    bare["security.protocol"] = "SASL_PLAINTEXT"
    assert groups(take(secured_broker.address("bare"), bare)).keys() == EVERYTHING
    wrong = login | {"sasl.password": f"wrong-{READER_PASSWORD}"}
    line = refusal(secured_broker.address("login"), wrong, at_once=True)
    assert "refused the login: SaslAuthenticationFailedError" in line
    assert "Check sasl.mechanism, sasl.username and sasl.password" in line


def test_a_token_logs_in(secured_broker: SecuredBroker) -> None:
    """Its subject has the rights; an endpoint that refuses is named with the cause."""
    with token_endpoint(READER) as url:
        login = secured_broker.by_token(url)
        assert groups(take(secured_broker.address("login"), login)).keys() == EVERYTHING
        with pytest.raises(ClusterUnreachable) as caught:
            take(secured_broker.address("login"), secured_broker.by_token(url, "wrong"))
    line = str(caught.value)
    assert f"cluster 'prod' got no OAUTHBEARER token from {url} (HTTP 401, invalid_client)" in line


def test_describe_rights_are_enough_and_a_missing_one_is_told_per_group(
    secured_broker: SecuredBroker,
) -> None:
    """The reader has DESCRIBE only, and not on one group: that group's row says so, all else is read."""
    snapshot = take(secured_broker.address("login"), secured_broker.by_password("SCRAM-SHA-512"))
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
    secured_broker: SecuredBroker, kind: str
) -> None:
    """A live group reads a topic that this client may not DESCRIBE."""
    group = f"live-{kind}"
    consumer = Consumer(
        {"bootstrap.servers": secured_broker.bootstrap, "group.id": group, "group.protocol": kind}
    )
    consumer.subscribe(["orders", "private"])
    try:
        wait_until(lambda: consumer.poll(0.1) or len(consumer.assignment()) == 3, 120, "the group")
        consumer.commit(offsets=[Pair("orders", 0, 0), Pair("private", 0, 0)], asynchronous=False)
        snapshot = take(
            secured_broker.address("login"), secured_broker.by_password("SCRAM-SHA-512")
        )
    finally:
        close(consumer)
        with secured_broker.admin() as admin:
            wait_until(lambda: _gone(admin, group), 120, "the group to be gone", interval=0.2)
    missing = {
        "classic": "topic private: TOPIC_AUTHORIZATION_FAILED (grant this client DESCRIBE on the topic)",
        "consumer": "members: TOPIC_AUTHORIZATION_FAILED (grant this client DESCRIBE on the topic)",
    }
    assert groups(snapshot)[group] == missing[kind]
    assert f"group {group}: {missing[kind]}" in said(snapshot.problems)
    assert groups(snapshot)["app"] is None


def _gone(admin: KafkaAdminClient, group: str) -> bool:
    """Whether a group is deleted; one whose member is still leaving is refused."""
    admin.delete_groups([group])
    return group not in {each["group_id"] for each in admin.list_groups()}


def test_who_may_nothing_gets_an_empty_snapshot_and_doctor_says_what_to_grant(
    secured_broker: SecuredBroker,
) -> None:
    """No crash: groups and topics are hidden from such a client, and doctor knows that they are."""
    login = secured_broker.by_password("SCRAM-SHA-512", NOBODY, NOBODY_PASSWORD)
    assert groups(take(secured_broker.address("login"), login)) == {}
    findings = {f.what: f for f in reader(secured_broker.address("login"), login).ping().findings}
    fixes = {what: findings[what].fix for what in ("rights", "groups", "topics")}
    assert fixes == {
        "rights": "Grant this client DESCRIBE on the cluster.",
        "groups": "Grant this client DESCRIBE on the groups, or correct the filter `groups`.",
        "topics": "Grant this client DESCRIBE on the topics, or correct the filter `topics`.",
    }


def test_doctor_tells_whether_groups_are_hidden(secured_broker: SecuredBroker) -> None:
    """The reader may DESCRIBE the cluster and misses a right to one group; over TLS a date is told, too."""
    login = secured_broker.by_password("SCRAM-SHA-512")
    findings = {f.what: f for f in reader(secured_broker.address("login"), login).ping().findings}
    assert findings["rights"].ok
    assert findings["rights"].seen == "DESCRIBE on the cluster: no group is hidden"
    assert findings["groups"].seen == "3 seen, 2 not readable"
    assert said([findings["groups"].problem])[0].startswith("group secret: members:")
    assert findings["topics"].ok
    assert findings["certificates"].ok
    assert findings["certificates"].seen.startswith("the first to expire is CN=")


def test_no_secret_is_written_anywhere(
    secured_broker: SecuredBroker,
    tmp_path: Path,
    database_url: str,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A snapshot kept in lake and history, failures, and the library's debug log: nothing tells one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("EVENKEEL_LAKE", str(tmp_path / "lake"))
    certificate, key = secured_broker.authority.issue("keeper", password=KEY_PASSWORD)
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
            "plain": secured_broker.by_password("PLAIN") | own,
            "scram": secured_broker.by_password("SCRAM-SHA-256") | own,
            "token": secured_broker.by_token(url) | own,
        }
        for name, login in logins.items():
            settings = wiring.settings(
                {
                    "clusters": {
                        name: {"bootstrap": secured_broker.address("login"), "properties": login}
                    }
                }
            )
            cluster = wiring.cluster(settings, name)
            history = wiring.history(settings)
            taken = take_snapshot(cluster, wiring.lake(settings), history, settings, name)
            recording = tmp_path / f"{name}.evenkeel"
            write_recording(recording, wiring.lake(settings), [taken])
            printed += [repr(settings), repr(cluster), repr(vars(cluster)), str(settings)]
            printed += _failures(secured_broker, login, url, tmp_path)
            printed.append(_command("lag", name, secured_broker, with_wrong_secret(login)))
        printed.append(_command("doctor", "scram", secured_broker, logins["scram"]))
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


def _failures(
    secured_broker: SecuredBroker, login: Properties, url: str, folder: Path
) -> list[str]:
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
            reader(secured_broker.address("login"), login | change).take_snapshot(SNAPSHOT_ID)
        problem = caught.value
        told += [str(problem), repr(problem), "".join(traceback.format_exception(problem))]
    return told


def _command(command: str, name: str, secured_broker: SecuredBroker, login: Properties) -> str:
    """What a command prints of a cluster that the environment describes, tracebacks included."""
    described = {name: {"bootstrap": secured_broker.address("login"), "properties": login}}
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
        timeout=300,
        check=False,
    )
    assert name in done.stdout + done.stderr, "it speaks of the cluster"
    return done.stdout + done.stderr
