"""A database of the history: its connections, its transactions, and the statements run in them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Connection, Delete, Insert, Update, delete
from sqlalchemy.exc import DBAPIError

from ...model.errors import HistoryError
from ...ports import Home
from ...records.tables import HELD_LOCK
from .connection import engine_for, place, translated
from .installation import claim
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """
    The session that holds a lock.

    Attributes:
        application: What it calls itself (`application_name`); None when it is gone.
        pid: Process id of its server process.
        role: Its role.
        since: When its transaction began; None when the server does not show it to this role.
        is_ours: Whether it is the session that asked.
    """

    application: str | None
    pid: int
    role: str | None
    since: datetime | None
    is_ours: bool = False

    def __str__(self) -> str:
        """Its name, role, server process and start."""
        since = f", since {self.since:%Y-%m-%d %H:%M:%S} UTC" if self.since else ""
        name = self.application or "a session"
        return f"{name} (role {self.role}, server process {self.pid}{since})"


class Database:
    """
    A Postgres database with the history's schema.

    Every use raises HistoryUnreachable when the server does not answer, and HistoryError when it is not migrated.
    """

    def __init__(self, url: str, home: Callable[[], Home] | None = None) -> None:
        """
        Args:
            url: See `connection.engine_for`. Nothing is connected yet.
            home: Opens the lake of the installation, which claims the database before the first transaction; None for
                people, who ask and silence from anywhere.

        Raises:
            ConfigError: It is not a URL of Postgres.
        """
        self._engine = engine_for(url)
        self._unclaimed = home

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

    @contextmanager
    def _hold(self, name: str) -> Iterator[Holder]:
        """
        Take the lock of a name, if nobody holds it, and keep it while this lasts; the holder.

        A row of `held_lock` names the holder's transaction, which is open on a connection of its own: it ends with the
        process at the latest. It writes nothing before, so it holds back no vacuum. Only a role that may write
        `held_lock` can hold a lock; anybody could hold an advisory lock.
        """
        with self._idle_connection() as connection:
            with translated(self._engine.url):
                (own,) = execute(connection, "own_transaction")
                execute(connection, "idle_long")
            rows: Rows = []
            while not rows:
                with self._transaction() as short:
                    rows = execute(short, "take_lock", name=name, **own)
            try:
                yield Holder(**rows[0])
            finally:
                # of a process or connection that is gone the next holder deletes the row
                own_row = HELD_LOCK.c.name == name, HELD_LOCK.c.pid == own["pid"]
                with suppress(DBAPIError):
                    write(connection, delete(HELD_LOCK).where(*own_row))
                    connection.commit()

    @contextmanager
    def _idle_connection(self) -> Iterator[Connection]:
        """A connection whose loss, once it is there, is no error of what it is held for."""
        with translated(self._engine.url):
            connection = self._engine.connect().execution_options(isolation_level="READ COMMITTED")
        try:
            yield connection
        finally:
            with suppress(DBAPIError):
                connection.close()

    def _claim(self) -> None:
        if self._unclaimed is not None:
            claim(self._engine, self._unclaimed)
            self._unclaimed = None

    @contextmanager
    def _transaction(self) -> Iterator[Connection]:
        """A transaction of statements that handle little."""
        self._claim()
        with translated(self._engine.url), self._engine.begin() as connection:
            limit(connection)
            yield connection

    @contextmanager
    def _long_transaction(self) -> Iterator[Connection]:
        """A transaction that may take its time."""
        self._claim()
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
                    f"the history database ({place(self._engine.url)}) has no snapshot {snapshot_id}.",
                    fix="Run `validate_snapshot` for it again, which stores it from the lake.",
                )
            yield connection, HeldSnapshot(**rows[0])
