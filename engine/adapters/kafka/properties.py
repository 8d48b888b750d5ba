"""librdkafka property names, as in Airflow's Kafka connections -> kafka-python's arguments."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

from engine.errors import ConfigError

_PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")
_MECHANISMS = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI")

_NAMES = {
    "security.protocol": "security_protocol",
    "sasl.mechanism": "sasl_mechanism",
    "sasl.mechanisms": "sasl_mechanism",
    "sasl.username": "sasl_plain_username",
    "sasl.password": "sasl_plain_password",
    "sasl.kerberos.service.name": "sasl_kerberos_service_name",
    "ssl.ca.location": "ssl_cafile",
    "ssl.certificate.location": "ssl_certfile",
    "ssl.key.location": "ssl_keyfile",
    "ssl.key.password": "ssl_password",
    "ssl.endpoint.identification.algorithm": "ssl_check_hostname",
    "client.id": "client_id",
}

_WITHOUT_MEANING = frozenset(
    {"bootstrap.servers", "group.id", "auto.offset.reset", "enable.auto.commit"}
)
"""What a connection often holds beside, and a reader that joins no group passes over."""


def client_arguments(properties: Mapping[str, str], where: str) -> dict[str, Any]:
    """
    Translate the properties.

    Args:
        properties: librdkafka names and values, secrets among them.
        where: Whose properties they are, for the error.

    Raises:
        ConfigError: A property is not supported or has a value Kafka does not know; secrets are
            never shown.
    """
    wanted = {name: value for name, value in properties.items() if name not in _WITHOUT_MEANING}
    unknown = sorted(wanted.keys() - _NAMES.keys())
    if unknown:
        raise ConfigError(
            f"{where}: property {', '.join(unknown)} is not supported.",
            fix=f"Leave it out; supported are {', '.join(sorted(_NAMES))}.",
        )
    return {_NAMES[name]: _value(name, value, where) for name, value in wanted.items()}


def _value(name: str, value: str, where: str) -> Any:
    check = _CHECKS.get(name)
    return check(name, value, where) if check else value


def _one_of(choices: tuple[str, ...]) -> Callable[[str, str, str], str]:
    def check(name: str, value: str, where: str) -> str:
        if value.upper() not in choices:
            raise ConfigError(
                f"{where}: {name} is {value!r}.", fix=f"Use one of {', '.join(choices)}."
            )
        return value.upper()

    return check


def _hostname_check(name: str, value: str, where: str) -> bool:
    return value not in ("", "none")


def _file(name: str, value: str, where: str) -> str:
    if not os.access(value, os.R_OK):
        raise ConfigError(
            f"{where}: {name} names {value}, which cannot be read.", fix="Correct it."
        )
    return value


_CHECKS: Mapping[str, Callable[[str, str, str], Any]] = {
    "security.protocol": _one_of(_PROTOCOLS),
    "sasl.mechanism": _one_of(_MECHANISMS),
    "sasl.mechanisms": _one_of(_MECHANISMS),
    "ssl.endpoint.identification.algorithm": _hostname_check,
    "ssl.ca.location": _file,
    "ssl.certificate.location": _file,
    "ssl.key.location": _file,
}
