"""The file of the configuration, as plain values, and what must not stand in it."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ..model.errors import ConfigError

SECRET_KEYS = frozenset({"database_url", "slack_token", "slack_webhook_url", "heartbeat_url"})
"""Top-level keys the file must not hold."""

SECRET_WEBHOOK_KEYS = frozenset({"url", "key"})
"""Keys of a webhook that the file must not hold."""

SECRET_PROPERTIES = ("password", "secret", "sasl.jaas", "ssl.key.pem", "oauthbearer.config")
"""Parts of librdkafka property names whose values are secrets."""


def cluster_names(path: str | Path | None = None) -> list[str]:
    """
    The names of the clusters that file and environment speak of, sorted; nothing else is validated yet.

    Whoever has connections (Airflow) must know for which names to look before there are settings.

    Raises:
        ConfigError: The file cannot be read.
    """
    return _names("clusters", path)


def webhook_names(path: str | Path | None = None) -> list[str]:
    """
    The names of the webhooks that file and environment speak of, as `cluster_names`.

    Raises:
        ConfigError: The file cannot be read.
    """
    return _names("webhooks", path)


def _names(key: str, path: str | Path | None) -> list[str]:
    file = config_file(path)
    named = read(file).get(key, {}) if file else {}
    try:
        more = json.loads(os.environ.get(f"EVENKEEL_{key.upper()}") or "{}")
    except ValueError:
        more = {}  # `load` says what is wrong with it
    return sorted({name for each in (named, more) if isinstance(each, dict) for name in each})


def from_environment(names: Iterable[str]) -> dict[str, Any]:
    """What the environment says of some keys at the top: JSON where it is that, else text."""
    variables = {name.upper(): value for name, value in os.environ.items()}
    given = {name: variables.get(f"EVENKEEL_{name.upper()}") for name in names}
    return {name: _parsed(value) for name, value in given.items() if value}


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def config_file(path: str | Path | None) -> Path | None:
    """
    The file, named or found; None where there is none.

    Raises:
        ConfigError: The one that is named is not there.
    """
    named = path or os.environ.get("EVENKEEL_CONFIG")
    if named:
        file = Path(named)
        if not file.is_file():
            raise ConfigError(
                f"no configuration file {file}.",
                fix="Set EVENKEEL_CONFIG to an existing evenkeel.toml.",
            )
        return file
    default = Path("evenkeel.toml")
    return default if default.is_file() else None


def read(file: Path) -> dict[str, Any]:
    """
    What it holds.

    Raises:
        ConfigError: It is no TOML, or holds a secret.
    """
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as problem:
        raise ConfigError(
            f"{file} cannot be read: {problem}.", fix="Correct the TOML; text stands in quotes."
        ) from problem
    if secrets := _secrets(content):
        variables = dict.fromkeys(f"EVENKEEL_{key.split('.')[0].upper()}" for key in secrets)
        raise ConfigError(
            f"{file} holds a secret ({', '.join(secrets)}).",
            fix=f"Move it to an Airflow connection or an EVENKEEL_ environment variable: {', '.join(variables)}.",
        )
    return content


def _secrets(content: Mapping[str, Any]) -> list[str]:
    """The keys of a file that must not stand in it."""
    properties = [
        f"clusters.{name}.properties.{key}"
        for name, cluster in table(content, "clusters").items()
        for key in table(cluster, "properties")
        if is_secret(key)
    ]
    webhooks = table(content, "webhooks")
    pagers = [
        f"webhooks.{name}.{key}"
        for name in webhooks
        for key in sorted(SECRET_WEBHOOK_KEYS & table(webhooks, name).keys())
    ]
    return sorted(SECRET_KEYS & content.keys()) + properties + pagers


def table(content: Any, key: str) -> Mapping[str, Any]:
    """The table under a key; an empty one where something else stands, which validation names."""
    found = content.get(key) if isinstance(content, dict) else None
    return found if isinstance(found, dict) else {}


def is_secret(key: str) -> bool:
    """Whether a librdkafka property of this name holds a secret."""
    return any(part in key for part in SECRET_PROPERTIES)
