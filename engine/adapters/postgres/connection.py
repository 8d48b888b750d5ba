"""One way to the server, and one place where its errors become ours. No message ever holds a password."""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg import errors
from sqlalchemy import URL, Engine, NullPool, create_engine, event, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from ...model.environment import DOING
from ...model.errors import ConfigError, EvenkeelError, HistoryError, HistoryUnreachable, InputError
from .timeouts import CONNECT_SECONDS, TCP, PatientConnection

_MIGRATE = "Run `evenkeel admin migrate`."
_NOT_MIGRATED = (errors.UndefinedTable, errors.UndefinedColumn, errors.InvalidSchemaName)
_UNREACHABLE_CLASSES = ("08", "57P")
"""SQLSTATE classes of a connection that failed and of a server that is going down or coming up."""


def engine_for(url: str) -> Engine:
    """
    An engine that connects anew for every transaction, always through psycopg 3.

    Without a pool nothing is stale after a restart of the server and nothing is shared by a fork.

    A server that does not answer times out (`timeouts`); the URL may set libpq's own `connect_timeout`.

    Args:
        url: `postgresql://` (or `postgres://`, or with any driver) `user:password@host:port/database`; a socket folder
            goes in as `?host=/folder`.

    Raises:
        ConfigError: It is not such a URL.
    """
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        parsed = None  # the error quotes the URL, and with it the password
    if parsed is None or parsed.drivername.split("+")[0] not in ("postgresql", "postgres"):
        raise ConfigError(
            "the URL of the history database is not one of Postgres.",
            fix="Write EVENKEEL_DATABASE_URL as postgresql://user:password@host:5432/evenkeel.",
        )
    defaults = {
        "connect_timeout": str(CONNECT_SECONDS),
        "fallback_application_name": application_name(),
        **TCP,
    }
    query = {**defaults, **parsed.query}
    engine = create_engine(
        parsed.set(drivername="postgresql+psycopg", query=query), poolclass=NullPool
    )
    event.listen(engine, "do_connect", _connected)
    return engine


def application_name() -> str:
    """What this process is called on the server: its verb or step, id and machine, in the 63 bytes there are."""
    doing = f" {DOING.get()}" if DOING.get() else ""
    return f"evenkeel{doing}, pid {os.getpid()} on {socket.gethostname()}"[:63]


def _connected(_dialect: Any, _record: Any, args: Any, options: Any) -> PatientConnection:
    return PatientConnection.connect(*args, **options)


def place(url: URL) -> str:
    """
    Which database where, without user and password.

    >>> from sqlalchemy import make_url
    >>> place(make_url("postgresql://me:secret@db.example:5432/evenkeel"))
    'database evenkeel at db.example:5432'
    >>> place(make_url("postgresql://me@/evenkeel?host=/run/postgresql"))
    'database evenkeel at /run/postgresql'
    """
    named = url.query.get("host", ())
    host = url.host or (named if isinstance(named, str) else ",".join(named)) or "the local socket"
    port = f":{url.port}" if url.port else ""
    return f"database {url.database or url.username} at {host}{port}"


@contextmanager
def translated(url: URL, doing: str | None = None) -> Iterator[None]:
    """
    Raise the errors of SQLAlchemy and psycopg as ours, with the driver's as the cause.

    Args:
        url: Where the server is.
        doing: Name of a query whose arguments a user gave: what the server cannot read is then an InputError.
    """
    try:
        yield
    except DBAPIError as problem:
        cause = problem.orig if isinstance(problem.orig, psycopg.Error) else problem
        raise _ours(cause, url, doing) from cause
    except psycopg.Error as problem:
        raise _ours(problem, url, doing) from problem


def _ours(problem: BaseException, url: URL, doing: str | None) -> EvenkeelError:
    where, message = place(url), _first_line(problem, url)
    if isinstance(problem, _NOT_MIGRATED):
        return HistoryError(
            f"the history database ({where}) is not migrated: {message}.", fix=_MIGRATE
        )
    if isinstance(problem, errors.InsufficientPrivilege):
        return HistoryError(
            f"the history database ({where}) refuses: {message}.",
            fix="Connect as the role that owns the database, see sql/database.sql.",
        )
    if doing is not None and isinstance(problem, psycopg.DataError):
        return InputError(f"{doing}: {message}.", fix=f"See the parameters of {doing}.")
    if isinstance(problem, psycopg.OperationalError) and _lost(problem):
        return _unreachable(where, message)
    return HistoryError(
        f"the history database ({where}) could not do it: {message}.",
        fix="See the server's log; nothing of this step was stored.",
    )


def _lost(problem: psycopg.Error) -> bool:
    """Whether the server, or its answer, did not come; what took too long it ends itself."""
    state = problem.sqlstate
    return (
        isinstance(problem, errors.QueryCanceled)
        or not state
        or state.startswith(_UNREACHABLE_CLASSES)
    )


def _unreachable(where: str, message: str) -> HistoryUnreachable:
    fix = "Start the server, or correct EVENKEEL_DATABASE_URL (connection evenkeel_postgres)."
    if "authentication failed" in message or "no password" in message:
        fix = "Correct user and password in EVENKEEL_DATABASE_URL (connection evenkeel_postgres)."
    elif "does not exist" in message:
        fix = "Create role and database as in sql/database.sql, then run `evenkeel admin migrate`."
    elif "canceling statement" in message:
        fix = "See in pg_stat_activity what held it up, and try again."
    elif "permission denied" in message:
        fix = "Connect as the role that owns the database, see sql/database.sql."
    return HistoryUnreachable(f"the history database ({where}) did not answer: {message}.", fix=fix)


def _first_line(problem: BaseException, url: URL) -> str:
    lines = str(problem).strip().splitlines() or [type(problem).__name__]
    said = lines[0].removeprefix("connection is bad: ").strip().rstrip(".")
    password = str(url.password) if url.password else ""
    return said.replace(password, "***") if password else said
