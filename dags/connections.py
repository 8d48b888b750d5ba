"""Settings from Airflow's connections: the file below them, the environment above."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any
from urllib.parse import quote, urlencode

from airflow.sdk import Connection
from airflow.sdk.exceptions import AirflowNotFoundException

from evenkeel.engine import wiring
from evenkeel.engine.config import Settings, cluster_names
from evenkeel.engine.errors import ConfigError


def settings() -> Settings:
    """
    The configuration, with what the Airflow connections say laid over the file, and the environment
    over both.

    A connection that makes no sense holds up its own cluster only: asked for it, the settings say why.

    Raises:
        ConfigError: A key of the file or the environment is wrong.
    """
    return wiring.settings(*from_connections(_connection, cluster_names()))


def _connection(name: str) -> Connection | None:
    try:
        return Connection.get(name)
    except AirflowNotFoundException:
        return None


def from_connections(
    find: Callable[[str], Connection | None], clusters: list[str]
) -> tuple[dict[str, Any], dict[str, str]]:
    """
    Values for the settings, from `evenkeel_postgres`, `evenkeel_slack` and one `evenkeel_<cluster>`
    each.

    Args:
        find: The connection of a name, None when there is none.
        clusters: Names of the configured clusters.

    Returns:
        The values, and the clusters whose connection makes no sense: name -> what is wrong with it.
    """
    values: dict[str, Any] = {}
    if postgres := find("evenkeel_postgres"):
        values["database_url"] = _database_url(postgres)
    if slack := find("evenkeel_slack"):
        values |= _slack(slack)
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
    values = {
        "slack_token": connection.password,
        "slack_base_url": extra.get("base_url"),
        "slack_channel": extra.get("channel"),
    }
    return {key: value for key, value in values.items() if value}


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
    """A property as librdkafka writes it."""
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
    What a program started by a task needs of the connections, as environment variables.

    Kafka's secrets and Slack's token are not among them: such a program talks to neither.
    """
    addresses = {name: {"bootstrap": each.bootstrap} for name, each in settings.clusters.items()}
    found = {"EVENKEEL_CLUSTERS": json.dumps(addresses)}
    if settings.database_url is not None:
        found["EVENKEEL_DATABASE_URL"] = settings.database_url.get_secret_value()
    return found
