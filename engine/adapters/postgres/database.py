"""A database of the history: its connections, its transactions, and the statements run in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Delete, Insert, Update
from sqlalchemy.engine.interfaces import IsolationLevel
from sqlalchemy.exc import DBAPIError

from ...model.errors import HistoryError
from .connection import engine_for, place, translated
from .statements import Rows, execute, write
from .timeouts import limit, take_time


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldSnapshot:
    """
    A snapshot that a transaction holds.

    Attributes:
        cluster: Its cluster.
        started_at: When its reading began.
        advised: Whether it has its advice.
    """

    cluster: str
    started_at: datetime
    advised: bool


class Database:
    """
    A Postgres database with the history's schema.

    Every use raises HistoryUnreachable when the server does not answer, and HistoryError when it is not migrated.
    """

    def __init__(self, url: str) -> None:
        """
        Args:
            url: See `connecting.engine_for`. Nothing is connected yet.

        Raises:
            ConfigError: It is not a URL of Postgres.
        """
        self._engine = engine_for(url)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({place(self._engine.url)})"

    def _execute(self, statement: str, /, **parameters: Any) -> Rows:
        """Run a statement of `sql/statements` in a transaction of its own; the rows of its last part."""
        with self._transaction() as connection:
            return execute(connection, statement, **parameters)

    def _write(self, clause: Insert | Update | Delete, values: Any = None) -> Rows:
        """A plain insert, update or delete in a transaction of its own; the rows that it returns."""
        with self._transaction() as connection:
            return write(connection, clause, values)

    def _session(self) -> AbstractContextManager[Connection]:
        """A connection outside any transaction."""
        return self._connection("AUTOCOMMIT")

    def _idle_transaction(self) -> AbstractContextManager[Connection]:
        """A transaction that keeps nothing; between its statements it does not hold back the server's vacuum."""
        return self._connection("READ COMMITTED")

    @contextmanager
    def _connection(self, isolation: IsolationLevel) -> Iterator[Connection]:
        """A connection whose loss, once it is there, is no error of what it is held for."""
        with translated(self._engine.url):
            connection = self._engine.connect().execution_options(isolation_level=isolation)
        try:
            yield connection
        finally:
            with suppress(DBAPIError):
                connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """A transaction of statements that handle little."""
        with translated(self._engine.url), self._engine.begin() as connection:
            limit(connection)
            yield connection

    @contextmanager
    def _long_transaction(self) -> Iterator[Connection]:
        """A transaction that may take its time."""
        with translated(self._engine.url), self._engine.begin() as connection:
            take_time(connection)
            yield connection

    @contextmanager
    def _writing(self, snapshot_id: str) -> Iterator[tuple[Connection, HeldSnapshot]]:
        """A transaction that holds a snapshot of the history, and what that is."""
        with self._long_transaction() as connection:
            rows = execute(connection, "lock_snapshot", snapshot_id=snapshot_id)
            if not rows:
                raise HistoryError(
                    f"the history ({place(self._engine.url)}) has no snapshot {snapshot_id}.",
                    fix="Run `validate_snapshot` for it again, which stores it from the lake.",
                )
            yield connection, HeldSnapshot(**rows[0])
