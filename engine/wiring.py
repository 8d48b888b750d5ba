"""
Settings -> real adapters: the only place that builds them.

Client libraries are imported where an adapter is built, so that a command that needs no Kafka does not load it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .config import Settings, load
from .model.errors import ConfigError, InputError
from .ports import History, Lake, Notifier, ReportHistory

if TYPE_CHECKING:
    from .adapters.kafka import KafkaClusterReader
    from .adapters.memory import MemoryHistory
    from .adapters.postgres import PostgresShelf
    from .adapters.webhook import Heartbeat


def settings(
    connections: Mapping[str, Any] | None = None, refused: Mapping[str, str] | None = None
) -> Settings:
    """
    The validated configuration: environment over connections over file.

    Args:
        connections: Values from Airflow connections.
        refused: Clusters whose connection makes no sense, and why.

    Raises:
        ConfigError: A key is wrong.
    """
    return load(connections=connections, refused=refused)


def cluster(settings: Settings, name: str) -> KafkaClusterReader:
    """
    A reader of a configured cluster.

    Raises:
        ConfigError: It is not configured, its connection makes no sense, or a property is not supported.
    """
    from .adapters.kafka import KafkaClusterReader

    def rack_for(group: str, client_id: str, host: str) -> str | None:
        return settings.rule(name, group).rack_of(client_id, host)

    return KafkaClusterReader(name, settings.cluster(name), rack_for)


def lake(settings: Settings) -> Lake:
    """The configured lake."""
    from .adapters.lake import FileLake

    return FileLake(settings.lake)


def recorded(place: str | Path, configured: Settings | None = None) -> Lake:
    """
    A recording, or the folder or URI of a lake, to read from.

    Args:
        place: Where it is.
        configured: Settings whose lake is meant by `lake`, where nothing else has that name.

    Raises:
        InputError: It is neither.
    """
    if "://" in str(place):
        from .adapters.lake import FileLake

        return FileLake(str(place))
    if configured and str(place) == "lake" and not Path(place).exists():
        return lake(configured)
    if not Path(place).is_dir():
        from .adapters.recording import open_recording

        return open_recording(place)
    from .adapters.lake import FileLake

    file_lake = FileLake.around(place)
    if file_lake is None:
        raise InputError(
            f"{place} is a folder, but no lake.",
            fix="Name a lake folder, or a file of `evenkeel snapshot record`.",
        )
    return file_lake


def scratch() -> Lake:
    """A lake in memory, gone with the process."""
    from .adapters.recording import Recording

    return Recording()


def history(settings: Settings) -> History:
    """
    The configured history.

    Raises:
        ConfigError: No database is configured.
    """
    from .adapters.postgres import PostgresHistory

    return PostgresHistory(_database_url(settings))


def pipeline_history(settings: Settings) -> History:
    """
    The same for the pipeline: it refuses to be used if another installation's pipeline writes it.

    Raises:
        ConfigError: No database is configured.
    """
    from .adapters.lake import FileLake
    from .adapters.postgres import PostgresHistory

    return PostgresHistory(_database_url(settings), lambda: FileLake(settings.lake))


def shelf(settings: Settings, rules: str) -> PostgresShelf:
    """
    The history of past days judged again, in the schema of some rules beside the configured history.

    Raises:
        ConfigError: No database is configured.
    """
    from .adapters.postgres import PostgresShelf

    return PostgresShelf(_database_url(settings), rules)


def scratch_history() -> MemoryHistory:
    """A history in memory, gone with the process."""
    from .adapters.memory import MemoryHistory

    return MemoryHistory()


def report_history(settings: Settings) -> ReportHistory:
    """
    What the configured history has for reports.

    Raises:
        ConfigError: No database is configured.
    """
    from .adapters.postgres import PostgresReports

    return PostgresReports(_database_url(settings))


def _database_url(settings: Settings) -> str:
    if settings.database_url is None:
        raise ConfigError(
            "no history database is configured.",
            fix="Set EVENKEEL_DATABASE_URL, or the Airflow connection evenkeel_postgres.",
        )
    return settings.database_url.get_secret_value()


def notifier(settings: Settings) -> Notifier:
    """Slack when a token or an incoming webhook is configured, else the log, which says so; beside it, who is paged."""
    people = _people(settings)
    if not settings.webhooks:
        return people
    from .adapters.channels import ChannelNotifier
    from .adapters.webhook import WebhookNotifier

    pagers = {name: WebhookNotifier(name, each) for name, each in settings.webhooks.items()}
    return ChannelNotifier(people, pagers)


def _people(settings: Settings) -> Notifier:
    if settings.slack_token is not None:
        from .adapters.slack import SlackNotifier

        return SlackNotifier(settings.slack_token.get_secret_value(), settings.slack_base_url)
    if settings.slack_webhook_url is not None:
        from .adapters.slack import SlackWebhook

        return SlackWebhook(settings.slack_webhook_url.get_secret_value())
    from .adapters.log import LogNotifier

    return LogNotifier()


def heartbeat(settings: Settings) -> Heartbeat | None:
    """What is called after each good run; None where nothing is configured."""
    if settings.heartbeat_url is None:
        return None
    from .adapters.webhook import Heartbeat

    return Heartbeat(settings.heartbeat_url.get_secret_value())
