"""A server that says nothing is not waited for without end: at the door, in a statement, or standing still."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

import psycopg
import pytest
from sqlalchemy import Connection

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.adapters.postgres import timeouts as limits
from evenkeel.engine.adapters.postgres.database import Database
from evenkeel.engine.adapters.postgres.timeouts import PatientConnection
from evenkeel.engine.model.deadline import within
from evenkeel.engine.model.errors import HistoryUnreachable

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

LONGEST = 60
"""Seconds after which a call that should have been given up has hung."""

SMALL: dict[str, Callable[[PostgresHistory], object]] = {
    "an outbox": lambda history: history.pending_alerts(),
    "a lock": lambda history: history.lock("a").__enter__(),
}
"""What the callback of a failed task asks, and what has a connection of its own."""


def given_up(call: Callable[[], object]) -> HistoryUnreachable:
    """What a call raises; one that hangs fails the test and is left behind."""
    with pytest.raises(HistoryUnreachable) as caught:
        within(LONGEST, call)
    return caught.value


@contextmanager
def mute_server() -> Iterator[int]:
    """A port where connections are taken and nobody ever says a word."""
    with socket.create_server(("127.0.0.1", 0), backlog=20) as server:
        yield server.getsockname()[1]


@pytest.mark.parametrize("ask", SMALL.values(), ids=SMALL)
def test_a_server_that_takes_connections_and_says_nothing_is_given_up(
    ask: Callable[[PostgresHistory], object],
) -> None:
    """Whether something is asked of it or a lock is wanted."""
    with mute_server() as port:
        url = f"postgresql://me:hush@127.0.0.1:{port}/evenkeel?connect_timeout=2&sslmode=disable"
        problem = given_up(lambda: ask(PostgresHistory(url)))
    assert "timeout" in str(problem)
    assert "hush" not in str(problem)


def test_a_statement_that_waits_for_another_session_is_given_up(
    history: PostgresHistory, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The server ends it itself; once the other is done all is well."""
    with psycopg.connect(database_url) as other, monkeypatch.context() as patch:
        patch.setattr(limits, "STATEMENT_SECONDS", 1)
        other.execute("LOCK TABLE alert IN ACCESS EXCLUSIVE MODE")
        problem = given_up(history.pending_alerts)
        assert "statement timeout" in str(problem)
        assert "pg_stat_activity" in str(problem)
    assert history.pending_alerts() == []


def test_a_server_that_stands_still_in_the_middle_is_given_up(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its connection is open and its machine answers, the server ends nothing: only who waits can tell."""
    monkeypatch.setattr(PatientConnection, "patience", 1.0)
    problem = given_up(lambda: _sleep(Database(database_url)._transaction, 60))
    assert "did not answer" in str(problem)
    assert "statement timeout" not in str(problem)


def test_what_handles_much_may_take_its_time(
    database_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither the server nor who waits for it gives it up."""
    monkeypatch.setattr(limits, "STATEMENT_SECONDS", 2)
    monkeypatch.setattr(PatientConnection, "patience", 2.0)
    database = Database(database_url)
    _sleep(database._long_transaction, 3)


def _sleep(transaction: Callable[[], AbstractContextManager[Connection]], seconds: float) -> None:
    with transaction() as connection:
        connection.exec_driver_sql(f"SELECT pg_sleep({seconds})")
