"""Settings from Airflow connections, which override the file and are overridden by the environment."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowNotFoundException
from pydantic import SecretStr

from evenkeel.dags import navigation
from evenkeel.engine import wiring
from evenkeel.engine.config import ADDRESS, SECRET_KEYS, Settings, cluster_names, webhook_names
from evenkeel.engine.model.errors import ConfigError


def settings() -> Settings:
    """
    The configuration: the file, overridden by Airflow connections, overridden by the environment.

    An invalid connection affects its own cluster only; the settings of that cluster raise the error.

    Raises:
        ConfigError: A key of the file or the environment is wrong.
    """
    found = wiring.settings(*from_connections(_connection, cluster_names(), webhook_names()))
    pages = {name: getattr(found, name) or of_airflow() for name, of_airflow in _PAGES.items()}
    return found.model_copy(update=pages)


_PAGES = {"report_url": navigation.report_url, "runbook_url": navigation.runbook_url}
"""Pages that Airflow serves, unless the configuration has another address."""


def _connection(name: str) -> Connection | None:
    try:
        return Connection.get(name)
    except AirflowNotFoundException:
        return None


def bare_settings() -> Settings:
    """
    Settings for notifications if the configuration cannot be read: Slack token or webhook, channel, and URL of the
    pages.

    They come from the environment, otherwise from the connection `evenkeel_slack`. Channel and pages may also come from
    a line of the file, even if the rest of it is invalid. The default of the pages is Airflow.
    """
    values: dict[str, Any] = {}
    with suppress(OSError, UnicodeDecodeError):
        text = Path(os.environ.get("EVENKEEL_CONFIG") or "evenkeel.toml").read_text(
            encoding="utf-8"
        )
        values |= dict(_LINE.findall(text)[::-1])  # the first of each
    # an Airflow that cannot be asked must not keep the environment from being heard
    with suppress(Exception):
        slack = _connection("evenkeel_slack")
        values |= _slack(slack) if slack else {}
    for key in ("slack_token", "slack_webhook_url", "slack_base_url", *_NAMED):
        if given := os.environ.get(f"EVENKEEL_{key.upper()}"):
            values[key] = given
    for name, of_airflow in _PAGES.items():
        if not re.fullmatch(ADDRESS, values.get(name, "")):
            values[name] = of_airflow()
    hidden = {key: SecretStr(values[key]) for key in SECRET_KEYS & values.keys()}
    return Settings.model_construct(**values | hidden)


_NAMED = ("slack_channel", *_PAGES)
_LINE = re.compile(rf"""^({"|".join(_NAMED)})\s*=\s*["']([^"'\n]+)["']""", re.MULTILINE)
"""A line of the file that sets one of them."""


def from_connections(
    find: Callable[[str], Connection | None], clusters: list[str], webhooks: Sequence[str] = ()
) -> tuple[dict[str, Any], dict[str, str]]:
    """
    Settings from the connections `evenkeel_postgres`, `evenkeel_slack`, `evenkeel_heartbeat`, `evenkeel_<cluster>` and
    `evenkeel_webhook_<name>`.

    Args:
        find: Returns the connection with a name, None if there is none.
        clusters: Names of the configured clusters.
        webhooks: Names of the configured webhooks.

    Returns:
        The values, and the clusters with an invalid connection: name -> error.
    """
    values: dict[str, Any] = {}
    if postgres := find("evenkeel_postgres"):
        values["database_url"] = _database_url(postgres)
    if slack := find("evenkeel_slack"):
        values |= _slack(slack)
    if heartbeat := find("evenkeel_heartbeat"):
        values |= {"heartbeat_url": _address(heartbeat)}
    pagers = {
        name: _webhook(connection)
        for name in webhooks
        if (connection := find(f"evenkeel_webhook_{name}"))
    }
    if pagers:
        values["webhooks"] = pagers
    kafka, refused = {}, {}
    for name in clusters:
        if found := find(f"evenkeel_{name}"):
            try:
                kafka[name] = _kafka(found)
            except ConfigError as problem:
                refused[name] = f"connection evenkeel_{name}: {problem}"
    return values | ({"clusters": kafka} if kafka else {}), refused


def _database_url(connection: Connection) -> str:
    login = quote(connection.login or "", safe="")
    if connection.password:
        login += ":" + quote(connection.password, safe="")
    options = {k: v for k, v in connection.extra_dejson.items() if isinstance(v, str | int)}
    host, port = connection.host or "", f":{connection.port}" if connection.port else ""
    if host.startswith("/"):  # the folder of a Unix socket cannot stand where a host name does
        options |= {"host": host} | ({"port": connection.port} if connection.port else {})
        host, port = "", ""
    query = f"?{urlencode(options)}" if options else ""
    return f"postgresql://{login}@{host}{port}/{connection.schema or ''}{query}"


def _slack(connection: Connection) -> dict[str, Any]:
    extra = connection.extra_dejson
    secret = connection.password or ""
    values = {
        "slack_webhook_url" if _is_address(secret) else "slack_token": secret,
        "slack_base_url": extra.get("base_url"),
        "slack_channel": extra.get("channel"),
    }
    return {key: value for key, value in values.items() if value}


def _webhook(connection: Connection) -> dict[str, Any]:
    """The password is the key, unless it is a URL or belongs to a login."""
    secret = connection.password or ""
    is_key = not connection.login and not _is_address(secret)
    values = {"url": _address(connection), "key": secret if is_key else None}
    return {key: value for key, value in values.items() if value}


def _address(connection: Connection) -> str | None:
    """The URL from the password, which Airflow hides, or from schema, host and port."""
    secret, host = connection.password or "", connection.host or ""
    if _is_address(secret) or not host:
        return secret if _is_address(secret) else None
    scheme, _, rest = host.rpartition("://")
    login = ""
    if connection.login:
        login = f"{quote(connection.login, safe='')}:{quote(secret, safe='')}@"
    place, slash, path = rest.partition("/")
    port = f":{connection.port}" if connection.port else ""
    return f"{scheme or connection.schema or 'http'}://{login}{place}{port}{slash}{path}"


def _is_address(text: str) -> bool:
    return text.startswith(("http://", "https://"))


def _kafka(connection: Connection) -> dict[str, Any]:
    extra = connection.extra_dejson
    if not isinstance(extra, dict):
        raise ConfigError(
            f"its extra is a {type(extra).__name__}, not a JSON object.",
            fix="Write properties and their values into it.",
        )
    properties = {key: _text(key, value) for key, value in extra.items() if value is not None}
    bootstrap = properties.pop("bootstrap.servers", None)
    return {"properties": properties} | ({"bootstrap": bootstrap} if bootstrap else {})


def _text(name: str, value: Any) -> str:
    """A property in the form of librdkafka."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str | int | float):
        return str(value)
    raise ConfigError(
        f"property {name} of a Kafka connection is a {type(value).__name__}, not text.",
        fix="Write plain values into the connection's extra.",
    )


def environment(settings: Settings) -> dict[str, str]:
    """
    Environment variables from connections for a program that a task starts.

    Secrets of Kafka and Slack are not included, because such a program uses neither.
    """
    addresses = {name: {"bootstrap": each.bootstrap} for name, each in settings.clusters.items()}
    found = {"EVENKEEL_CLUSTERS": json.dumps(addresses)}
    if settings.database_url is not None:
        found["EVENKEEL_DATABASE_URL"] = settings.database_url.get_secret_value()
    return found
