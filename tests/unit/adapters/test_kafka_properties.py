"""librdkafka's property names: what they become, and what is said of those that cannot be."""

from __future__ import annotations

import os
import ssl
from pathlib import Path

import pytest

from evenkeel.engine.adapters.kafka import KafkaClusterReader
from evenkeel.engine.adapters.kafka import properties as properties_module
from evenkeel.engine.adapters.kafka.oauth import TokenProvider
from evenkeel.engine.adapters.kafka.properties import client_arguments
from evenkeel.engine.config import ClusterSettings
from evenkeel.engine.model.errors import ConfigError
from tests.helpers.certificates import Authority

LOGIN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "PLAIN",
    "sasl.username": "reader",
    "sasl.password": "hunter2",
}
TOKEN = {
    "security.protocol": "SASL_PLAINTEXT",
    "sasl.mechanism": "OAUTHBEARER",
    "sasl.oauthbearer.method": "oidc",
    "sasl.oauthbearer.token.endpoint.url": "https://login.example/token",
    "sasl.oauthbearer.client.id": "evenkeel",
    "sasl.oauthbearer.client.secret": "hunter2",
}


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """An authority with a folder of its own."""
    return Authority(tmp_path_factory.mktemp("authority"))


def tls(**properties: str) -> dict[str, str]:
    """Properties of TLS; `_` for `.` in their names."""
    named = {name.replace("_", "."): value for name, value in properties.items()}
    return {"security.protocol": "SSL", **named}


def context(properties: dict[str, str]) -> ssl.SSLContext:
    """The context they become."""
    found = client_arguments(properties, "cluster 'prod'")["ssl_context"]
    assert isinstance(found, ssl.SSLContext)
    return found


def problem(properties: dict[str, str]) -> str:
    """The one line that refuses them, without a secret."""
    with pytest.raises(ConfigError) as caught:
        KafkaClusterReader("prod", ClusterSettings(bootstrap="b:9092", properties=properties))
    line = str(caught.value)
    assert line.startswith("cluster 'prod': ")
    assert "\n" not in line
    assert "hunter2" not in line
    return line


def test_a_login_is_translated() -> None:
    """librdkafka names become kafka-python's, in capitals; what a reader has no use for is left out."""
    translated = client_arguments(
        {
            "security.protocol": "sasl_plaintext",
            "sasl.mechanisms": "scram-sha-512",
            "sasl.username": "team=a,reader",
            "sasl.password": "hunter2",
            "client.id": "evenkeel",
            "bootstrap.servers": "elsewhere:9092",
            "group.id": "unused",
        },
        "cluster 'prod'",
    )
    assert translated == {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "SCRAM-SHA-512",
        "sasl_plain_username": "team=3Da=2Creader",
        "sasl_plain_password": "hunter2",
        "client_id": "evenkeel",
    }
    assert "hunter2" not in repr(translated)


def test_nothing_said_is_plaintext() -> None:
    """The library's default stays its own."""
    assert client_arguments({}, "x") == {}


def test_a_name_of_plain_is_sent_as_it_is() -> None:
    """Only SCRAM has its own way to write commas."""
    arguments = client_arguments(LOGIN | {"sasl.username": "a=b"}, "x")
    assert arguments["sasl_plain_username"] == "a=b"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        (
            {"sasl.pasword": "hunter2"},
            "property sasl.pasword is not supported. Did you mean sasl.password?",
        ),
        (
            {"linger.ms": "5"},
            "property linger.ms is not supported. Leave it out; supported are client.id, ",
        ),
        ({"sasl.jaas.config": "hunter2"}, "Write sasl.username and sasl.password instead."),
        ({"security.protocol": "TLS"}, "security.protocol is 'TLS'. Use one of PLAINTEXT, SSL, "),
        (
            {"sasl.mechanism": "DIGEST"},
            "sasl.mechanism is 'DIGEST'. Use one of PLAIN, SCRAM-SHA-256, ",
        ),
        (
            {"sasl.mechanisms": "SCRAM-SHA-256"},
            "needs sasl.mechanism, and two different ones are given",
        ),
        (
            {"security.protocol": "PLAINTEXT"},
            "would have no effect with security.protocol PLAINTEXT. Set",
        ),
        (
            {"ssl.ca.pem": "x"},
            "ssl.ca.pem would have no effect with security.protocol SASL_PLAINTEXT",
        ),
        ({"sasl.password": ""}, "SASL PLAIN needs sasl.password. Add it"),
        ({"sasl.kerberos.service.name": "k"}, "would have no effect with sasl.mechanism PLAIN"),
        ({"sasl.mechanism": "OAUTHBEARER"}, "SASL OAUTHBEARER needs sasl.oauthbearer.client.id, "),
        (
            {"sasl.mechanism": "AWS_MSK_IAM"},
            "AWS_MSK_IAM works over TLS only. Set security.protocol to SASL_SSL",
        ),
    ],
)
def test_what_cannot_be_is_named(change: dict[str, str], told: str) -> None:
    """Unknown, missing, contradicting or without effect: each is an error with its fix."""
    assert told in problem(LOGIN | change)


def test_a_login_without_a_mechanism_is_told() -> None:
    """The library knows no default, and fails in words of its own."""
    assert "needs sasl.mechanism, and it is missing" in problem({"security.protocol": "SASL_SSL"})


@pytest.mark.parametrize(
    ("mechanism", "package"), [("AWS_MSK_IAM", "botocore"), ("GSSAPI", "gssapi")]
)
def test_a_package_that_is_missing_is_named(
    monkeypatch: pytest.MonkeyPatch, mechanism: str, package: str
) -> None:
    """It is told before anything is connected to, and not when the package is there."""
    properties = {"security.protocol": "SASL_SSL", "sasl.mechanism": mechanism}
    monkeypatch.setattr(properties_module.importlib.util, "find_spec", lambda name: None)
    assert f"{mechanism} needs the Python package {package}" in problem(properties)
    monkeypatch.setattr(properties_module.importlib.util, "find_spec", lambda name: name == package)
    assert client_arguments(properties, "x")["sasl_mechanism"] == mechanism


def test_brokers_are_checked_unless_said_not_to(authority: Authority) -> None:
    """Certificate and name by default; names or all can be left out."""
    ca = str(authority.ca)
    checked = context(tls(ssl_ca_location=ca))
    assert (checked.verify_mode, checked.check_hostname) == (ssl.CERT_REQUIRED, True)
    assert checked.minimum_version == ssl.TLSVersion.TLSv1_2
    assert [each["subject"] for each in checked.get_ca_certs()] == [((("commonName", "test CA"),),)]
    unnamed = context(tls(ssl_ca_location=ca, ssl_endpoint_identification_algorithm="none"))
    assert (unnamed.verify_mode, unnamed.check_hostname) == (ssl.CERT_REQUIRED, False)
    nothing = context(tls(enable_ssl_certificate_verification="False"))
    assert (nothing.verify_mode, nothing.check_hostname) == (ssl.CERT_NONE, False)


def test_an_authority_may_be_a_text_or_a_folder(authority: Authority) -> None:
    """As librdkafka takes them."""
    assert len(context(tls(ssl_ca_pem=authority.ca.read_text())).get_ca_certs()) == 1
    context(tls(ssl_ca_location=str(authority.folder)))


def test_keys_as_texts_leave_no_file(
    authority: Authority, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In memory where there is that, else in a file that is gone at once."""
    certificate, key = authority.issue("texts")
    given = tls(ssl_certificate_pem=certificate.read_text(), ssl_key_pem=key.read_text())
    context(given)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.delattr(os, "memfd_create", raising=False)
    context(given)
    assert list(tmp_path.iterdir()) == []


def test_an_encrypted_key_needs_its_password(authority: Authority) -> None:
    """Right it loads; wrong or missing it is an error, and nobody is asked on the terminal."""
    certificate, key = authority.issue("locked", password="hunter2")
    files = tls(ssl_certificate_location=str(certificate), ssl_key_location=str(key))
    context(files | {"ssl.key.password": "hunter2"})
    assert "ssl.key.password is wrong" in problem(files | {"ssl.key.password": "hunter3"})
    assert "ssl.key.password is missing" in problem(files)


def test_what_is_wrong_with_certificates_is_told(authority: Authority, tmp_path: Path) -> None:
    """Before anything is connected to, with the property's name, and never the text of a key."""
    certificate, key = authority.issue("one")
    _, other = authority.issue("other")
    empty = tmp_path / "empty.pem"
    empty.touch()
    mine = str(certificate)
    pem = key.read_text()
    cases = {
        f"ssl.ca.location names {tmp_path}/gone, which cannot be read": tls(
            ssl_ca_location=f"{tmp_path}/gone"
        ),
        f"ssl.ca.location ({empty}) holds no PEM certificate": tls(ssl_ca_location=str(empty)),
        "ssl.ca.pem holds no PEM certificate": tls(ssl_ca_pem="hunter2"),
        "ssl.ca.location and ssl.ca.pem are both given": tls(ssl_ca_location="a", ssl_ca_pem="b"),
        "a key is given without a certificate": tls(ssl_key_pem=pem),
        "do not belong together": tls(ssl_certificate_location=mine, ssl_key_location=str(other)),
        "ssl.certificate.location names": tls(ssl_certificate_location=f"{tmp_path}/gone"),
        "ssl.certificate.pem and ssl.key.pem cannot be used": tls(
            ssl_certificate_pem="x", ssl_key_pem=pem
        ),
        "Use https or none.": tls(ssl_endpoint_identification_algorithm="ldap"),
        "Use true or false.": tls(enable_ssl_certificate_verification="maybe"),
        "Convert it to PEM for ssl.certificate.location": tls(ssl_keystore_location="a.p12"),
    }
    for told, properties in cases.items():
        line = problem(properties)
        assert told in line
        assert pem.splitlines()[1] not in line


def test_a_token_login_becomes_a_provider() -> None:
    """It asks nobody yet, and shows no secret."""
    provider = client_arguments(TOKEN, "x")["sasl_oauth_token_provider"]
    assert isinstance(provider, TokenProvider)
    assert repr(provider) == "TokenProvider(https://login.example/token)"


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"sasl.oauthbearer.method": "default"}, "sasl.oauthbearer.method is 'default'. Use oidc."),
        ({"sasl.oauthbearer.token.endpoint.url": "file:///x"}, "is no plain http(s) address"),
        (
            {"sasl.oauthbearer.token.endpoint.url": "https://u:hunter2@h/"},
            "is no plain http(s) address",
        ),
        ({"sasl.oauthbearer.extensions": "logicalCluster"}, "is not key=value,key=value"),
        ({"sasl.oauthbearer.config": "hunter2"}, "Write sasl.oauthbearer.method = oidc"),
        ({"https.ca.location": "/nowhere/ca.pem"}, "https.ca.location names /nowhere/ca.pem"),
        (
            {"sasl.username": "reader"},
            "sasl.username would have no effect with sasl.mechanism OAUTHBEARER",
        ),
    ],
)
def test_what_a_token_login_cannot_be_is_named(change: dict[str, str], told: str) -> None:
    """Values and companions that make no sense."""
    assert told in problem(TOKEN | change)
