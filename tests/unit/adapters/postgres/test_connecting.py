"""URLs of the history, and what may be said of them."""

from __future__ import annotations

import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.adapters.postgres.connection import engine_for
from evenkeel.engine.adapters.postgres.patience import CONNECT_SECONDS
from evenkeel.engine.model.errors import ConfigError


@pytest.mark.parametrize(
    "scheme", ["postgresql", "postgres", "postgresql+psycopg", "postgresql+psycopg2"]
)
def test_any_postgres_url_goes_through_psycopg_3(scheme: str) -> None:
    """Whatever driver a URL names, ours is psycopg 3, and it does not wait long for a server."""
    engine = engine_for(f"{scheme}://me:secret@db.example:6000/evenkeel")
    assert (engine.dialect.name, engine.dialect.driver) == ("postgresql", "psycopg")
    _, options = engine.dialect.create_connect_args(engine.url)
    assert options["host"] == "db.example"
    assert options["connect_timeout"] == str(CONNECT_SECONDS)
    assert options["tcp_user_timeout"] == "60000"
    assert options["keepalives_idle"] == "30"


def test_a_url_may_name_a_socket_folder_and_its_own_timeout() -> None:
    """What the URL itself says stays."""
    engine = engine_for("postgresql://me@/evenkeel?host=/run/pg&connect_timeout=60")
    _, options = engine.dialect.create_connect_args(engine.url)
    assert (options["host"], options["dbname"], options["connect_timeout"]) == (
        "/run/pg",
        "evenkeel",
        "60",
    )


@pytest.mark.parametrize(
    "url", ["mysql://me:secret@h/d", "secret", "postgresql://me:secret@h:port/d", ""]
)
def test_another_url_is_refused_without_being_quoted(url: str) -> None:
    """A URL that is none of Postgres is a configuration error that does not repeat it."""
    with pytest.raises(ConfigError) as caught:
        engine_for(url)
    assert "secret" not in f"{caught.value} {caught.value.__cause__} {caught.value.__context__}"
    assert "postgresql://" in str(caught.value)


def test_a_history_shows_no_password() -> None:
    """The history's repr names the database, not how to get in."""
    shown = repr(PostgresHistory("postgresql://me:secret@db.example/evenkeel"))
    assert shown == "PostgresHistory(database evenkeel at db.example)"
