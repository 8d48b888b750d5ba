"""A history that is down, not migrated or not ours: one line each, and never a password."""

from __future__ import annotations

import time
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import psycopg
import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory, migrate, pending
from evenkeel.engine.model.errors import HistoryError, HistoryUnreachable
from tests.helpers.history_rows import fill, manifest
from tests.stage.postgres import EmbeddedPostgres
from tests.stage.postgres_access import PostgresServer
from tests.stage.process import free_ports

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres


def text_of(problem: BaseException | None) -> str:
    """All that an error and its causes say."""
    words = ""
    while problem is not None:
        words += f"{problem} {problem!r} "
        problem = problem.__cause__ or problem.__context__
    return words


@pytest.mark.parametrize(
    "ask", [migrate, pending, lambda url: PostgresHistory(url).query("groups")]
)
def test_a_server_that_is_down_is_named_with_a_fix(ask: Callable[[str], object]) -> None:
    """Host, port and database are said, the password is not, not even by a cause."""
    (port,) = free_ports(1)
    with pytest.raises(HistoryUnreachable) as caught:
        ask(f"postgresql://me:hush-hush@127.0.0.1:{port}/evenkeel")
    assert f"database evenkeel at 127.0.0.1:{port}" in str(caught.value)
    assert "Connection refused" in str(caught.value)
    assert "EVENKEEL_DATABASE_URL" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "hush-hush" not in text_of(caught.value)


def test_a_server_that_went_away_is_unreachable_for_every_method(tmp_path: Path) -> None:
    """A history whose server stops in between says so, and works again once the server is back."""
    with EmbeddedPostgres(tmp_path / "pg") as server:
        url = server.database("evenkeel")
        migrate(url)
        history = PostgresHistory(url)
        fill(history)
        server.stop()
        for call in (
            lambda: history.store_snapshot(manifest(1)),
            lambda: history.query("groups"),
            lambda: history.snapshots_without_advice(timedelta()),
            lambda: history.lock("a").__enter__(),
        ):
            with pytest.raises(HistoryUnreachable, match="did not answer"):
                call()
        server.start()
        assert len(history.query("groups")) == 2


def test_a_server_that_stops_in_the_middle_is_unreachable(tmp_path: Path) -> None:
    """A connection that breaks while a lock is held does not hide that the work under it was done."""
    with EmbeddedPostgres(tmp_path / "pg") as server:
        url = server.database("evenkeel")
        migrate(url)
        history = PostgresHistory(url)
        done = []
        with history.lock("a"):
            server.stop()
            with pytest.raises(HistoryUnreachable):
                history.query("groups")
            done.append("the work")
        assert done


def test_a_database_that_was_never_migrated_says_how(empty_database: str) -> None:
    """Reading and writing both tell to migrate."""
    history = PostgresHistory(empty_database)
    for call in (lambda: history.query("groups"), lambda: history.store_snapshot(manifest())):
        with pytest.raises(HistoryError, match=r"is not migrated.*Run `evenkeel admin migrate`"):
            call()


def test_a_database_or_role_that_does_not_exist_says_how(
    postgres_server: PostgresServer, database_url: str
) -> None:
    """What is missing is named, and the file that makes it."""
    role = psycopg.conninfo.conninfo_to_dict(database_url)["user"]
    missing = PostgresHistory(postgres_server.url("evenkeel_test_missing", str(role)))
    with pytest.raises(HistoryUnreachable, match=r"evenkeel_test_missing.*sql/database\.sql"):
        missing.query("groups")


def test_another_role_can_neither_connect_nor_read(
    postgres_server: PostgresServer, database_url: str
) -> None:
    """The history and Airflow have a role each, and neither gets into the other's database."""
    name = str(psycopg.conninfo.conninfo_to_dict(database_url)["dbname"])
    other = "evenkeel_test_airflow"
    postgres_server.create_database(other, other)
    try:
        assert pending(postgres_server.url(other, other))
        with pytest.raises(HistoryError, match=r"permission denied.*role that owns the database"):
            PostgresHistory(postgres_server.url(name, other)).query("groups")
        owner = str(psycopg.conninfo.conninfo_to_dict(database_url)["user"])
        with pytest.raises(HistoryError, match="permission denied"):
            PostgresHistory(postgres_server.url(other, owner)).query("groups")
    finally:
        postgres_server.drop_database(other)
        postgres_server.drop_role(other)


def test_a_query_cannot_write(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever stands in a query's file, it runs in a transaction that reads only."""
    from evenkeel import sql

    writing = sql.statements()["expire"]
    monkeypatch.setattr(sql, "queries", lambda: {"expire": writing})
    with pytest.raises(HistoryError, match="read-only transaction"):
        PostgresHistory(database_url).query("expire", before=time.strftime("%Y-%m-%d"), most=1)


def test_moments_are_utc_whatever_the_server_says(
    make_database: Callable[..., str], history: PostgresHistory, database_url: str
) -> None:
    """A server in another time zone changes no moment."""
    fill(history)
    far = PostgresHistory(f"{database_url}&options=-c%20timezone%3DAsia/Tokyo")
    (moment,) = {row["taken_at"] for row in far.query("groups")}
    assert moment.utcoffset().total_seconds() == 0
    assert moment == history.query("groups")[0]["taken_at"]
