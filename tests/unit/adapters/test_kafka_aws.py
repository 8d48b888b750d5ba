"""
AWS_MSK_IAM against a server on loopback that speaks just enough Kafka over TLS to check a signature.

What Amazon's brokers check is computed here anew from Amazon's description of it. No AWS service is
asked; without botocore, which evenkeel does not install, a double reads the environment as it does.
"""

from __future__ import annotations

import hashlib
import hmac
import importlib.util
import json
import logging
import os
import socketserver
import ssl
import struct
import sys
import threading
import time
import traceback
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any
from urllib.parse import quote

import pytest
from kafka.protocol.metadata import (
    ApiVersionsRequest,
    ApiVersionsResponse,
    MetadataRequest,
    MetadataResponse,
)
from kafka.protocol.sasl import (
    SaslAuthenticateRequest,
    SaslAuthenticateResponse,
    SaslHandshakeRequest,
    SaslHandshakeResponse,
)

from evenkeel.engine.adapters.kafka.connection import Connection
from evenkeel.engine.config import ClusterSettings
from evenkeel.engine.model.errors import ClusterUnreachable
from tests.helpers.certificates import Authority

pytestmark = pytest.mark.slow

KEY_ID, SECRET_KEY = "AKIDEXAMPLE", "wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEY"
SESSION_TOKEN = "FwoGZXIvYXdzEXAMPLE/token+with=signs"
REGION = "eu-central-1"
DENIED = "[1f0c8a2e]: Access denied"
SASL_AUTHENTICATION_FAILED = 58
FRACTIONS = ("wJalrXUtnFEMI", "FwoGZXIvYXdzEXAMPLE")
"""What is left of the secrets however they are quoted."""


def signature(told: dict[str, str], secret_key: str) -> str:
    """
    The signature that belongs to a login's other fields.

    From https://github.com/aws/aws-msk-iam-auth (README, "Details") and "Create a signed AWS API
    request" of the AWS documentation: a presigned GET of `/` on the broker's host.
    """
    credential = told["x-amz-credential"].partition("/")[2]
    query = {
        "Action": told["action"],
        "X-Amz-Algorithm": told["x-amz-algorithm"],
        "X-Amz-Credential": told["x-amz-credential"],
        "X-Amz-Date": told["x-amz-date"],
        "X-Amz-Expires": told["x-amz-expires"],
        "X-Amz-SignedHeaders": told["x-amz-signedheaders"],
    }
    if "x-amz-security-token" in told:
        query["X-Amz-Security-Token"] = told["x-amz-security-token"]
    coded = "&".join(f"{quote(k, safe='~')}={quote(v, safe='~')}" for k, v in sorted(query.items()))
    nothing = hashlib.sha256(b"").hexdigest()
    request = f"GET\n/\n{coded}\nhost:{told['host']}\n\nhost\n{nothing}"
    hashed = hashlib.sha256(request.encode()).hexdigest()
    key = f"AWS4{secret_key}".encode()
    for part in credential.split("/"):
        key = hmac.digest(key, part.encode(), "sha256")
    text = f"AWS4-HMAC-SHA256\n{told['x-amz-date']}\n{credential}\n{hashed}"
    return hmac.digest(key, text.encode(), "sha256").hex()


class Broker(socketserver.ThreadingTCPServer):
    """One that asks for AWS_MSK_IAM: it lets in whoever signs with the key it knows."""

    daemon_threads = True

    def __init__(self, context: ssl.SSLContext, secret_key: str = SECRET_KEY) -> None:
        super().__init__(("127.0.0.1", 0), _Conversation)
        self.secret_key = secret_key
        self.told: list[dict[str, str]] = []
        """The fields of every login that was tried."""
        self.asked_for: list[str] = []
        """The mechanisms of the handshakes."""
        self.socket = context.wrap_socket(
            self.socket, server_side=True, do_handshake_on_connect=False
        )

    @property
    def address(self) -> str:
        """By name: the name is what is signed, not the number it stands for."""
        return f"localhost:{self.server_address[1]}"

    def answer(self, request: Any) -> Any:
        """The response to a request."""
        if isinstance(request, ApiVersionsRequest):
            key = ApiVersionsResponse.ApiVersion
            known = {MetadataRequest: 9, ApiVersionsRequest: 4}
            known |= {SaslHandshakeRequest: 1, SaslAuthenticateRequest: 2}
            keys = [
                key(api_key=each.API_KEY, min_version=0, max_version=newest)
                for each, newest in known.items()
            ]
            return ApiVersionsResponse(error_code=0, api_keys=keys)
        if isinstance(request, SaslHandshakeRequest):
            self.asked_for.append(request.mechanism)
            return SaslHandshakeResponse(error_code=0, mechanisms=["AWS_MSK_IAM"])
        if isinstance(request, SaslAuthenticateRequest):
            return self._log_in(json.loads(request.auth_bytes))
        node = MetadataResponse.MetadataResponseBroker(
            node_id=1, host="localhost", port=self.server_address[1], rack=None
        )
        return MetadataResponse(brokers=[node], cluster_id="x", controller_id=1, topics=[])

    def _log_in(self, told: dict[str, str]) -> Any:
        self.told.append(told)
        if hmac.compare_digest(told["x-amz-signature"], signature(told, self.secret_key)):
            said = {"version": "2020_10_22", "request-id": "1f0c8a2e"}
            return SaslAuthenticateResponse(error_code=0, auth_bytes=json.dumps(said).encode())
        return SaslAuthenticateResponse(
            error_code=SASL_AUTHENTICATION_FAILED, error_message=DENIED, auth_bytes=b""
        )


REQUESTS = (ApiVersionsRequest, SaslHandshakeRequest, SaslAuthenticateRequest, MetadataRequest)


class _Conversation(socketserver.StreamRequestHandler):
    """Frames of one connection; after a login is refused it is closed, as brokers do."""

    server: Broker

    def handle(self) -> None:
        kinds = {kind.API_KEY: kind for kind in REQUESTS}
        try:
            while head := self.rfile.read(4):
                body = self.rfile.read(struct.unpack(">i", head)[0])
                key, version = struct.unpack(">hh", body[:4])
                request = kinds[key].decode(body, version=version, header=True)
                response = self.server.answer(request)
                response.API_VERSION = version
                response.with_header(request.header.correlation_id)
                self.wfile.write(response.encode(header=True, framed=True))
                if getattr(response, "error_code", 0):
                    return
        except OSError:
            return  # they hung up


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    """Who signs the broker's certificate."""
    return Authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def broker(authority: Authority) -> Iterator[Broker]:
    """A broker that listens."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(*authority.issue("b-1"))
    with Broker(context) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
        thread.start()
        yield server
        server.shutdown()
        thread.join(5)


@pytest.fixture(autouse=True)
def machine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Temporary credentials in the environment and nowhere else, and something that finds them."""
    for name in [name for name in os.environ if name.startswith("AWS_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", KEY_ID)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET_KEY)
    monkeypatch.setenv("AWS_SESSION_TOKEN", SESSION_TOKEN)
    monkeypatch.setenv("AWS_DEFAULT_REGION", REGION)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("HOME", str(tmp_path))
    if importlib.util.find_spec("botocore") is None:
        package, module = ModuleType("botocore"), ModuleType("botocore.session")
        package.__spec__ = ModuleSpec("botocore", None)
        module.Session = _Session  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "botocore", package)
        monkeypatch.setitem(sys.modules, "botocore.session", module)


class _Session:
    """What kafka-python asks of botocore's session, for credentials in the environment."""

    def get_credentials(self) -> Any:
        if "AWS_ACCESS_KEY_ID" not in os.environ:
            return None
        keys = SimpleNamespace(
            access_key=os.environ["AWS_ACCESS_KEY_ID"],
            secret_key=os.environ["AWS_SECRET_ACCESS_KEY"],
            token=os.environ.get("AWS_SESSION_TOKEN"),
        )
        return SimpleNamespace(get_frozen_credentials=lambda: keys)

    def get_config_variable(self, name: str) -> str | None:
        return os.environ.get({"region": "AWS_DEFAULT_REGION"}[name])


def connection(broker: Broker, authority: Authority) -> Connection:
    """Ours, as a configured cluster opens it."""
    properties = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "AWS_MSK_IAM",
        "ssl.ca.location": str(authority.ca),
        "ssl.endpoint.identification.algorithm": "none",
    }
    return Connection("prod", ClusterSettings(bootstrap=broker.address, properties=properties))


def refusal(broker: Broker, authority: Authority) -> ClusterUnreachable:
    """The error of a connection that is not let in."""
    with pytest.raises(ClusterUnreachable) as caught:
        connection(broker, authority)
    assert str(caught.value).startswith(f"cluster 'prod' at {broker.address} ")
    return caught.value


@pytest.mark.parametrize("token", [SESSION_TOKEN, None])
def test_a_login_is_signed_as_amazon_describes(
    broker: Broker, authority: Authority, monkeypatch: pytest.MonkeyPatch, token: str | None
) -> None:
    """The broker computes the same signature from the fields; temporary credentials or lasting ones."""
    if token is None:
        monkeypatch.delenv("AWS_SESSION_TOKEN")
    with connection(broker, authority) as ours:
        assert ours.brokers == {1: ("localhost", broker.server_address[1])}
    assert broker.asked_for[0] == "AWS_MSK_IAM"
    told = broker.told[0]
    signed_at = time.strptime(told["x-amz-date"], "%Y%m%dT%H%M%SZ")
    day = time.strftime("%Y%m%d", signed_at)
    expected = {
        "version": "2020_10_22",
        "host": "localhost",
        "user-agent": "kafka-python",
        "action": "kafka-cluster:Connect",
        "x-amz-algorithm": "AWS4-HMAC-SHA256",
        "x-amz-credential": f"{KEY_ID}/{day}/{REGION}/kafka-cluster/aws4_request",
        "x-amz-signedheaders": "host",
        "x-amz-expires": "900",
    }
    if token is not None:
        expected["x-amz-security-token"] = token
    computed = {"x-amz-date": told["x-amz-date"], "x-amz-signature": signature(told, SECRET_KEY)}
    assert told == expected | computed


def test_another_key_is_refused_and_the_fix_is_told(broker: Broker, authority: Authority) -> None:
    """At once and once: what the broker said, and where to look."""
    broker.secret_key = "of somebody else"
    line = str(refusal(broker, authority))
    assert line.endswith(
        f" refused the login: SaslAuthenticationFailedError: {DENIED}. "
        "Check AWS credentials and region here, and kafka-cluster:Connect in IAM."
    )
    assert len(broker.told) == 1


@pytest.mark.parametrize(
    ("missing", "cause"),
    [("AWS_ACCESS_KEY_ID", "no AWS credentials are found"), ("AWS_DEFAULT_REGION", "region")],
)
def test_what_a_login_misses_here_is_told(
    broker: Broker,
    authority: Authority,
    monkeypatch: pytest.MonkeyPatch,
    missing: str,
    cause: str,
) -> None:
    """Without credentials or region nothing is sent, and the error says what to set."""
    monkeypatch.delenv(missing)
    line = str(refusal(broker, authority))
    assert "asks for a login that cannot be made here: " in line
    assert cause in line
    assert line.endswith(
        "Set AWS credentials and AWS_DEFAULT_REGION here, as for every AWS client."
    )
    assert broker.told == []


def test_neither_secret_key_nor_session_token_is_shown(
    broker: Broker, authority: Authority, caplog: pytest.LogCaptureFixture
) -> None:
    """Not by the library's debug log, nor by objects and errors, let in or refused."""
    caplog.set_level(logging.DEBUG)
    caplog.set_level(logging.DEBUG, logger="kafka")
    with connection(broker, authority) as ours:
        shown = [repr(ours), repr(vars(ours)), repr(vars(ours._manager))]
    broker.secret_key = "of somebody else"
    problem = refusal(broker, authority)
    shown += [str(problem), repr(problem), *traceback.format_exception(problem)]
    assert "SaslHandshake" in caplog.text, "the library's debug log is part of what is searched"
    assert [login["x-amz-security-token"] for login in broker.told][:2] == [SESSION_TOKEN] * 2
    text = "\n".join([*shown, caplog.text])
    assert [fraction for fraction in FRACTIONS if fraction in text] == []


def test_a_broker_may_answer_at_length_once_it_has_checked_the_login(
    broker: Broker, authority: Authority, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Until then an answer is short, whatever length it says it has."""
    monkeypatch.setattr("evenkeel.engine.adapters.kafka.connection._LARGEST_GREETING", 1000)
    node = MetadataResponse.MetadataResponseBroker(
        node_id=1, host="localhost", port=broker.server_address[1], rack="r" * 5000
    )
    metadata = MetadataResponse(brokers=[node], cluster_id="x", controller_id=1, topics=[])
    answer = broker.answer
    monkeypatch.setattr(
        broker,
        "answer",
        lambda asked: metadata if isinstance(asked, MetadataRequest) else answer(asked),
    )
    with connection(broker, authority) as opened:
        assert list(opened.brokers) == [1]
