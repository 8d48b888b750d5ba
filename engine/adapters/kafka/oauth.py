"""
Tokens for SASL OAUTHBEARER by the client credentials grant (RFC 6749, section 4.4).

That is what librdkafka calls `sasl.oauthbearer.method = oidc`.
"""

from __future__ import annotations

import base64
import json
import ssl
import time
import urllib.request
from collections.abc import Mapping
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urlencode, urlsplit

import kafka.errors as kafka_errors
from kafka.net.sasl.oauth import AbstractTokenProvider

from ...model.deadline import within
from ...model.errors import ClusterUnreachable, ConfigError
from ...model.no_redirects import without_redirects
from ...model.text import one_line

_PREFIX = "sasl.oauthbearer."
NEEDED = frozenset(
    _PREFIX + name for name in ("method", "token.endpoint.url", "client.id", "client.secret")
)
OPTIONAL = frozenset({_PREFIX + "scope", _PREFIX + "extensions", "https.ca.location"})

_SECONDS = 10.0
"""How long the token endpoint may take."""
_LIFETIME_SECONDS = 60.0
"""How long a token is used again when the endpoint does not tell."""
_USED_SHARE = 0.8
"""The share of its lifetime after which a new one is asked for."""
_LARGEST_ANSWER = 1_000_000


class TokenProvider(AbstractTokenProvider):  # type: ignore[misc]
    """Asks the token endpoint when a token is needed, and uses it again while it lasts."""

    def __init__(self, properties: Mapping[str, str], where: str) -> None:
        """
        Args:
            properties: librdkafka names and values; all of `NEEDED` are there.
            where: Whose properties they are, for errors.

        Raises:
            ConfigError: The method is another one, or a value cannot be.
        """
        super().__init__()
        self._where = where
        method = properties[_PREFIX + "method"].lower()
        if method != "oidc":
            raise ConfigError(f"{where}: {_PREFIX}method is {method!r}.", fix="Use oidc.")
        self._url = properties[_PREFIX + "token.endpoint.url"]
        url = urlsplit(self._url)
        if url.scheme not in ("http", "https") or not url.hostname or url.username:
            raise ConfigError(
                f"{where}: {_PREFIX}token.endpoint.url is no plain http(s) address.",
                fix="Write for example https://login.example/oauth2/token.",
            )
        self._address = f"{url.scheme}://{url.netloc}{url.path}"
        self._client = properties[_PREFIX + "client.id"]
        self._secret = properties[_PREFIX + "client.secret"]
        self._scope = properties.get(_PREFIX + "scope")
        self._extensions = _pairs(properties.get(_PREFIX + "extensions", ""), where)
        self._trust = _context(properties.get("https.ca.location"), where)
        self._token, self._until = "", 0.0

    def __repr__(self) -> str:
        return f"TokenProvider({self._address})"

    def extensions(self) -> dict[str, str]:
        """Names and values that go to the broker with the token."""
        return self._extensions

    def token(self) -> str:
        """
        A token that is valid now, for kafka-python.

        Raises:
            SaslAuthenticationFailedError: There is none; the text is that of `fetch`.
        """
        try:
            return self.fetch()
        except ClusterUnreachable as problem:
            raise kafka_errors.SaslAuthenticationFailedError(problem.message) from problem

    def fetch(self) -> str:
        """
        A token that is valid now.

        Raises:
            ClusterUnreachable: The token endpoint cannot be reached, refuses, or answers something
                else; with the cause, without the secret.
        """
        if time.monotonic() >= self._until:
            answer = self._ask()
            token, seconds = answer.get("access_token"), answer.get("expires_in")
            if not isinstance(token, str) or not (token.isascii() and token.isprintable()):
                raise self._failed("the answer has no access_token")
            if not isinstance(seconds, int | float) or isinstance(seconds, bool):
                seconds = _LIFETIME_SECONDS
            self._token, self._until = token, time.monotonic() + seconds * _USED_SHARE
        return self._token

    def _ask(self) -> dict[str, Any]:
        form = {"grant_type": "client_credentials"} | (
            {"scope": self._scope} if self._scope else {}
        )
        login = base64.b64encode(f"{self._client}:{self._secret}".encode()).decode()
        request = urllib.request.Request(
            self._url,
            urlencode(form).encode(),
            {"Authorization": f"Basic {login}", "Accept": "application/json"},
        )
        opener = without_redirects(self._trust)

        def call() -> bytes:
            with opener.open(request, timeout=_SECONDS) as response:
                said: bytes = response.read(_LARGEST_ANSWER)
                return said

        try:
            answer = json.loads(within(_SECONDS, call))
        except HTTPError as problem:
            raise self._failed(f"HTTP {problem.code}{self._words(problem)}") from None
        except URLError as problem:
            reason = problem.reason
            cause = getattr(reason, "verify_message", None) or getattr(reason, "strerror", None)
            raise self._failed(str(cause or reason)) from None
        except OSError as problem:
            raise self._failed(problem.strerror or str(problem)) from None
        except (ValueError, RecursionError):
            raise self._failed("the answer is no JSON") from None
        if not isinstance(answer, dict):
            raise self._failed("the answer is no JSON object")
        return answer

    def _words(self, problem: HTTPError) -> str:
        """What the endpoint says of its refusal, in one short line, should it repeat the secret without it."""
        try:
            said_so = within(_SECONDS, lambda: problem.read(_LARGEST_ANSWER))
            answer = json.loads(said_so)
            said = [answer.get("error"), answer.get("error_description")]
        except (OSError, ValueError, AttributeError, RecursionError):
            return ""
        words = ": ".join(one_line(text) for text in said if isinstance(text, str))
        words = "".join(c for c in words.replace(self._secret, "***") if c.isprintable())
        return f", {words[:300]}" if words else ""

    def _failed(self, cause: str) -> ClusterUnreachable:
        return ClusterUnreachable(
            f"{self._where} got no OAUTHBEARER token from {self._address} ({cause}).",
            fix=f"Check {_PREFIX}token.endpoint.url, client.id, client.secret and scope of its "
            "connection.",
        )


def _pairs(text: str, where: str) -> dict[str, str]:
    """Extensions as librdkafka writes them, `key=value,key=value`."""
    pairs = [pair.strip().partition("=") for pair in text.split(",") if pair.strip()]
    if any(not key.isalpha() or not value for key, _, value in pairs):
        raise ConfigError(
            f"{where}: {_PREFIX}extensions is not key=value,key=value.",
            fix="Names of extensions are letters only.",
        )
    return {key: value for key, _, value in pairs}


def _context(ca: str | None, where: str) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(cafile=ca)
    except OSError:
        raise ConfigError(
            f"{where}: https.ca.location names {ca}, which cannot be read as PEM.",
            fix="Give the certificate of the CA that signed the token endpoint's.",
        ) from None
