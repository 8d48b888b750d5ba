"""What of the history is checked before any server is asked: URLs, and arguments of named statements."""

from __future__ import annotations

import os
import socket

import pytest

from evenkeel import sql
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.adapters.postgres.connection import application_name, engine_for
from evenkeel.engine.adapters.postgres.statements import find
from evenkeel.engine.adapters.postgres.timeouts import CONNECT_SECONDS
from evenkeel.engine.model.environment import DOING
from evenkeel.engine.model.errors import ConfigError, InputError


def test_a_session_is_named_after_what_it_is_for() -> None:
    """Step or verb, process, machine, as long as Postgres keeps it; a URL has its own way."""
    token = DOING.set("take_snapshot")
    named = application_name()
    DOING.set("")
    assert named.startswith(f"evenkeel take_snapshot, pid {os.getpid()} on ")
    assert len(named) <= 63
    assert socket.gethostname().startswith(named.rpartition(" on ")[2])
    assert "evenkeel, pid" in application_name()
    engine = engine_for("postgresql://me@db/evenkeel?application_name=ours")
    _, options = engine.dialect.create_connect_args(engine.url)
    assert options["application_name"] == "ours"
    assert options["fallback_application_name"] == application_name()
    DOING.reset(token)


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


NOWHERE = PostgresHistory("postgresql://nobody@127.0.0.1:1/nothing")


def test_an_unknown_query_lists_the_known_ones() -> None:
    """Asking for a query that does not exist tells which do."""
    with pytest.raises(InputError, match=r"no query 'lags'.*lag_history.*worst_partitions"):
        NOWHERE.query("lags")


def test_an_unknown_statement_lists_the_known_ones() -> None:
    """The same holds for internal statements; a query is not one."""
    with pytest.raises(InputError, match=r"no statement 'groups'.*roll_up"):
        find("statement", sql.statements(), "groups")


def test_a_missing_parameter_is_named_with_all_the_others() -> None:
    """What must be given and is not is named, and what else could be given."""
    with pytest.raises(
        InputError,
        match=r"lag_history needs group\..*cluster \(default null\).*hours \(default 24\)",
    ):
        NOWHERE.query("lag_history")


def test_a_parameter_that_does_not_exist_is_named() -> None:
    """A misspelt parameter is not ignored."""
    with pytest.raises(InputError, match=r"groups has no clutser\."):
        NOWHERE.query("groups", clutser="demo")
