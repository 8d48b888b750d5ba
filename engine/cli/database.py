"""Which history database a verb means: the configured one, or that of a demo in this folder."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from ..model.errors import ConfigError
from . import demo

if TYPE_CHECKING:
    from ..config import Settings


def database() -> tuple[Settings, str]:
    """
    The settings with a database in them, and what to call that database.

    Raises:
        ConfigError: Neither a database is configured nor a demo's is there.
    """
    from pydantic import SecretStr

    from .. import wiring

    settings = wiring.settings()
    if settings.database_url is not None:
        where = place(settings.database_url.get_secret_value())
        return settings, f"{where} (EVENKEEL_DATABASE_URL)"
    state = demo.state()
    if state is None:
        raise ConfigError(
            "no history database is configured, and there is no demo here.",
            fix="Set EVENKEEL_DATABASE_URL, or start one with `make demo`.",
        )
    url = str(state["database_url"])
    own = settings.model_copy(update={"database_url": SecretStr(url)})
    return own, f"{place(url)} (the demo's)"


def secret_url(settings: Settings) -> str:
    """The database's address, password included."""
    assert settings.database_url is not None
    return settings.database_url.get_secret_value()


UNREADABLE = "an address that cannot be read"
"""Said in place of one that is malformed: any part of it may be the password."""


def place(url: str) -> str:
    """
    A database's name and server, without what is secret in its address.

    >>> place("postgresql://app:hunter2@db.example.com:5433/history")
    'history on db.example.com:5433 as app'
    >>> place("postgresql://app@/history?host=/run/pg&password=hunter2")
    'history on /run/pg as app'
    """
    try:
        parts = urlsplit(url)
        asked = parse_qs(parts.query)
        server = parts.hostname or asked.get("host", ["localhost"])[0]
        port = f":{parts.port}" if parts.port else ""
        user = parts.username or asked.get("user", [None])[0]
    except ValueError:
        return UNREADABLE
    # an @ behind the server is a password with a character in it that ought to be quoted
    if not parts.scheme or "://" not in url or "@" in f"{parts.path}{parts.query}{parts.fragment}":
        return UNREADABLE
    return f"{parts.path.strip('/') or '(default)'} on {server}{port}" + (
        f" as {user}" if user else ""
    )
