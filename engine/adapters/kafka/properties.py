"""librdkafka property names, as in Airflow's Kafka connections -> kafka-python's arguments."""

from __future__ import annotations

import difflib
import importlib.util
from collections.abc import Mapping
from typing import Any

from ...model.errors import ConfigError
from . import oauth, tls

_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")

_BY_PASSWORD = frozenset({"sasl.username", "sasl.password"})

_LOGINS: Mapping[str, tuple[frozenset[str], frozenset[str]]] = {
    "PLAIN": (_BY_PASSWORD, frozenset()),
    "SCRAM-SHA-256": (_BY_PASSWORD, frozenset()),
    "SCRAM-SHA-512": (_BY_PASSWORD, frozenset()),
    "OAUTHBEARER": (oauth.NEEDED, oauth.OPTIONAL),
    "AWS_MSK_IAM": (frozenset(), frozenset()),
    "GSSAPI": (frozenset(), frozenset({"sasl.kerberos.service.name"})),
}
"""SASL mechanism -> properties it needs, and those it may have beside."""

_PACKAGES = {
    "AWS_MSK_IAM": ("botocore", "it finds credentials and region as every AWS client does"),
    "GSSAPI": ("gssapi", "it finds the ticket as every Kerberos client does"),
}
"""SASL mechanism -> the package it needs beside evenkeel's own, and what that does."""

_MECHANISM = ("sasl.mechanism", "sasl.mechanisms")

_NAMES = {
    "sasl.username": "sasl_plain_username",
    "sasl.password": "sasl_plain_password",
    "sasl.kerberos.service.name": "sasl_kerberos_service_name",
    "client.id": "client_id",
}
"""Properties that are handed on as they are."""

_SUPPORTED = frozenset(
    {"security.protocol", *_MECHANISM, *_NAMES, *tls.NAMES, *oauth.NEEDED, *oauth.OPTIONAL}
)

_WITHOUT_MEANING = frozenset(
    {"bootstrap.servers", "group.id", "auto.offset.reset", "enable.auto.commit"}
)
"""What a connection often holds beside, and a reader that joins no group passes over."""

_INSTEAD = {
    "sasl.jaas.config": "Write sasl.username and sasl.password instead.",
    "ssl.keystore.location": "Convert it to PEM for ssl.certificate.location and ssl.key.location.",
    "ssl.truststore.location": "Convert it to PEM for ssl.ca.location.",
    "sasl.oauthbearer.config": "Write sasl.oauthbearer.method = oidc and its properties instead.",
    "oauth_cb": "Write sasl.oauthbearer.method = oidc and its properties, or for Amazon MSK "
    "sasl.mechanism = AWS_MSK_IAM.",
}
"""Properties that are often met and not supported, with what to write."""


class Secret(str):
    """A text for the client library that does not show when arguments are printed."""

    def __repr__(self) -> str:
        return "'***'"


def client_arguments(properties: Mapping[str, str], where: str) -> dict[str, Any]:
    """
    Translate the properties. Nothing is connected to; certificates are read.

    Args:
        properties: librdkafka names and values, secrets among them.
        where: Whose properties they are, for the error.

    Returns:
        Arguments of kafka-python: `ssl_context` when the protocol has TLS,
        `sasl_oauth_token_provider` (an `oauth.TokenProvider`) for OAUTHBEARER.

    Raises:
        ConfigError: A property is not supported, missing, without effect, or has a value that
            cannot be; secrets are never shown.
    """
    wanted = {name: value for name, value in properties.items() if name not in _WITHOUT_MEANING}
    _refuse_unknown(wanted, where)
    protocol = _protocol(wanted, where)
    arguments: dict[str, Any] = {
        _NAMES[name]: Secret(value) if "password" in name else value
        for name, value in wanted.items()
        if name in _NAMES
    }
    if "security.protocol" in wanted:
        arguments["security_protocol"] = protocol
    if protocol in ("SSL", "SASL_SSL"):
        arguments["ssl_context"] = tls.context(wanted, where)
    if protocol in ("SASL_PLAINTEXT", "SASL_SSL"):
        arguments |= _login(wanted, protocol, where)
    return arguments


def _refuse_unknown(wanted: Mapping[str, str], where: str) -> None:
    unknown = sorted(wanted.keys() - _SUPPORTED)
    if not unknown:
        return
    first = unknown[0]
    near = difflib.get_close_matches(first, sorted(_SUPPORTED), 1, 0.8)
    fix = f"Leave it out; supported are {', '.join(sorted(_SUPPORTED))}."
    if first in _INSTEAD:
        fix = _INSTEAD[first]
    elif near:
        fix = f"Did you mean {near[0]}?"
    raise ConfigError(f"{where}: property {', '.join(unknown)} is not supported.", fix=fix)


def _protocol(wanted: Mapping[str, str], where: str) -> str:
    """The protocol; properties it makes no use of are refused, for their writer meant another."""
    protocol = _one_of(_PROTOCOLS, "security.protocol", wanted, where) or "PLAINTEXT"
    without_effect = [
        name
        for name in sorted(wanted)
        if (name.startswith(("sasl.", "https.")) and "SASL" not in protocol)
        or (name in tls.NAMES and "SSL" not in protocol)
    ]
    if without_effect:
        better = "SASL_SSL" if any(n.startswith("sasl.") for n in wanted) else "SSL"
        raise ConfigError(
            f"{where}: {', '.join(without_effect)} would have no effect with security.protocol "
            f"{protocol}.",
            fix=f"Set security.protocol, for example to {better}, or leave them out.",
        )
    return protocol


def _login(wanted: Mapping[str, str], protocol: str, where: str) -> dict[str, Any]:
    """The arguments of a SASL login."""
    mechanism = _mechanism(wanted, protocol, where)
    needed, optional = _LOGINS[mechanism]
    missing = sorted(name for name in needed if not wanted.get(name))
    if missing:
        raise ConfigError(
            f"{where}: SASL {mechanism} needs {', '.join(missing)}.",
            fix="Add it to the cluster's connection.",
        )
    of_login = {name for name in wanted if name.startswith(("sasl.", "https."))}
    beside = sorted(of_login - needed - optional - set(_MECHANISM))
    if beside:
        raise ConfigError(
            f"{where}: {', '.join(beside)} would have no effect with sasl.mechanism {mechanism}.",
            fix="Leave it out, or correct sasl.mechanism.",
        )
    package, purpose = _PACKAGES.get(mechanism, (None, ""))
    if package and importlib.util.find_spec(package) is None:
        raise ConfigError(
            f"{where}: sasl.mechanism {mechanism} needs the Python package {package}, which is "
            "not installed.",
            fix=f"Install {package} beside evenkeel; {purpose}.",
        )
    arguments: dict[str, Any] = {"sasl_mechanism": mechanism}
    if mechanism == "OAUTHBEARER":
        arguments["sasl_oauth_token_provider"] = oauth.TokenProvider(wanted, where)
    if mechanism.startswith("SCRAM"):
        # RFC 5802, section 5.1: comma and equals sign end a name; the library sends it as it is
        escaped = wanted["sasl.username"].replace("=", "=3D").replace(",", "=2C")
        arguments["sasl_plain_username"] = escaped
    return arguments


def _mechanism(wanted: Mapping[str, str], protocol: str, where: str) -> str:
    choices = tuple(_LOGINS)
    given = [_one_of(choices, name, wanted, where) for name in _MECHANISM if name in wanted]
    if len(set(given)) != 1 or given[0] is None:
        seen = "two different ones are given" if given else "it is missing"
        raise ConfigError(
            f"{where}: security.protocol {protocol} needs sasl.mechanism, and {seen}.",
            fix=f"Set it to one of {', '.join(choices)}.",
        )
    if given[0] == "AWS_MSK_IAM" and protocol != "SASL_SSL":
        raise ConfigError(
            f"{where}: sasl.mechanism AWS_MSK_IAM works over TLS only.",
            fix="Set security.protocol to SASL_SSL.",
        )
    return given[0]


def _one_of(
    choices: tuple[str, ...], name: str, wanted: Mapping[str, str], where: str
) -> str | None:
    if name not in wanted:
        return None
    value = wanted[name].upper()
    if value not in choices:
        raise ConfigError(
            f"{where}: {name} is {wanted[name]!r}.", fix=f"Use one of {', '.join(choices)}."
        )
    return value
