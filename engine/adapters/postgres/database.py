"""A database of the history: its connections, its transactions, and the statements run in them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from evenkeel.engine.adapters.postgres.connecting import engine_for, place, translated
from evenkeel.engine.adapters.postgres.running import Rows, execute
from evenkeel.engine.errors import HistoryError


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

    @contextmanager
    def _session(self) -> Iterator[Connection]:
        """A connection outside any transaction: a long one would hold back the server's vacuum."""
        with translated(self._engine.url):
            connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        try:
            yield connection
        finally:
            with suppress(DBAPIError):
                connection.close()

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        with translated(self._engine.url), self._engine.begin() as connection:
            yield connection

    @contextmanager
    def _writing(self, snapshot_id: str) -> Iterator[tuple[Connection, bool]]:
        """A transaction that holds a snapshot of the history, and whether that has its advice."""
        with self._transaction() as connection:
            rows = execute(connection, "lock_snapshot", snapshot_id=snapshot_id)
            if not rows:
                raise HistoryError(
                    f"the history ({place(self._engine.url)}) has no snapshot {snapshot_id}.",
                    fix="Run `validate_snapshot` for it again, which stores it from the lake.",
                )
            yield connection, rows[0]["advised"]
