"""
The history brought up to date: Alembic's migrations, then functions, views, comments and who may read.

All of it is one transaction: a migration that fails leaves the history as it was. Alembic is imported when it is at
work; whoever only asks the history does not wait for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event, Lock, Thread
from typing import TYPE_CHECKING, Any

import psycopg
from psycopg import errors
from psycopg.sql import SQL, Identifier, Literal
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError, SQLAlchemyError

from evenkeel import sql

from ...model.errors import HistoryError
from ...records import TABLES, columns_of_view
from .connection import engine_for, place, translated
from .database import Holder
from .reader import READER, let_read
from .statements import execute
from .timeouts import take_time

if TYPE_CHECKING:
    from alembic.config import Config

_NO_READER = (
    "there is no role {reader} yet, and this user may not create it: read-only access cannot be granted."
    " An administrator can create it (CREATE ROLE {reader} NOLOGIN); then migrate again."
)

_ONE_AT_A_TIME = Lock()
"""Alembic keeps what is at work in its modules: two threads that migrate two databases would mix them up."""

LOCK_SECONDS = 30
"""So long a migration waits for a table or view: less than a statement may take that waits behind it."""

_TURN = b"""
    CREATE TABLE IF NOT EXISTS alembic_version (
        version_num varchar(32) NOT NULL, CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
    );
    LOCK TABLE alembic_version IN EXCLUSIVE MODE"""
"""Alembic's own table, which whoever may only read cannot lock."""

OLDEST_SERVER = 15
"""Major version of Postgres below which `NULLS NOT DISTINCT` does not exist."""


def pending(url: str) -> list[str]:
    """
    Names of the migrations that are still to be applied, in order.

    Raises:
        HistoryUnreachable: The server did not answer.
        HistoryError: One was applied that is unknown here.
    """
    engine = engine_for(url)
    with translated(engine.url), engine.begin() as connection:
        return _pending(connection)


def migrate(
    url: str, *, reader: str = READER, tell: Callable[[str], object] = lambda line: None
) -> list[str]:
    """
    Apply what is pending, then bring functions and views up to date, and let the role *reader* ask.

    Tables are made in the schema that is first in `search_path`, which the URL may say (`options`). Two that run at the
    same time wait for each other; *tell* hears for whom. Where the role is missing and may not be made, *tell* hears of
    it, too, in a line.

    Returns:
        Names of the migrations that were applied.

    Raises:
        HistoryUnreachable: The server did not answer.
        HistoryError: A migration failed, or one was applied that is unknown here, or the server is too old, or another
            session keeps a table or view for longer than `timeouts.LOCK_SECONDS`.
    """
    engine = engine_for(url)
    with translated(engine.url), engine.begin() as connection:
        take_time(connection)
        with _blockers(connection) as blockers:
            return _migrate(connection, blockers, reader, tell)


def _migrate(
    connection: Connection, blockers: list[Holder], reader: str, tell: Callable[[str], object]
) -> list[str]:
    where = place(connection.engine.url)
    major = _driver(connection).info.server_version // 10_000
    if major < OLDEST_SERVER:
        raise HistoryError(
            f"the history database ({where}) is on Postgres {major}.",
            fix=f"Use Postgres {OLDEST_SERVER} or newer.",
        )
    _take_turn(connection, blockers, tell)
    waiting = _pending(connection)
    try:
        if waiting:
            from alembic import command

            with _ONE_AT_A_TIME:
                command.upgrade(configuration(connection), "head")
        _script(connection, sql.functions())
        _refresh_views(connection)
    except (errors.LockNotAvailable, OperationalError) as problem:
        if not isinstance(getattr(problem, "orig", problem), errors.LockNotAvailable):
            raise
        raise HistoryError(
            f"the history database ({where}) is not migrated: {_named(blockers)} did not let go of a table or view"
            f" within {LOCK_SECONDS} s.",
            fix="End that transaction, then run `evenkeel admin migrate` again; nothing was changed.",
        ) from problem
    ours = (*sql.views(), *TABLES)
    readable = [name for name in ours if name in {*sql.views()} | sql.read_by_people()]
    if not let_read(_driver(connection), readable, ours, reader):
        tell(_NO_READER.format(reader=reader))
    return waiting


def _take_turn(
    connection: Connection, blockers: list[Holder], tell: Callable[[str], object]
) -> None:
    """Wait for another migration of this schema, however long it takes: *tell* hears who runs it."""
    driver = _driver(connection)
    driver.execute(f"SET LOCAL lock_timeout = '{LOCK_SECONDS}s'".encode())
    while True:
        try:
            with driver.transaction():
                driver.execute(_TURN)
            return
        except (errors.UniqueViolation, errors.DuplicateObject, errors.DuplicateTable):
            pass  # another has created the table meanwhile
        except errors.LockNotAvailable:
            tell(f"waiting for another migration: {_named(blockers)}")


@contextmanager
def _blockers(connection: Connection) -> Iterator[list[Holder]]:
    """The sessions that this one waited for when it last waited, asked meanwhile on other connections."""
    (own,) = execute(connection, "own_transaction")
    over, found = Event(), list[Holder]()

    def ask() -> None:
        while not over.wait(LOCK_SECONDS / 10):
            with suppress(SQLAlchemyError), connection.engine.begin() as other:
                rows = execute(other, "blocking_sessions", pid=own["pid"])
                found[:] = [Holder(**row) for row in rows] or found

    Thread(target=ask, daemon=True).start()
    try:
        yield found
    finally:
        over.set()


def _named(sessions: Sequence[Holder]) -> str:
    return "; ".join(map(str, sessions)) or "another session"


def configuration(connection: Connection, **given: Any) -> Config:
    """What Alembic is told: where the migrations are, and what `env.py` gets: a connection, and *given*."""
    from alembic.config import Config

    config = Config()
    config.set_main_option("script_location", str(sql.MIGRATIONS).replace("%", "%%"))
    config.attributes.update(connection=connection, **given)
    return config


def _pending(connection: Connection) -> list[str]:
    from alembic.runtime.migration import MigrationContext
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory.from_config(configuration(connection))
    known = {each.revision: each.path for each in scripts.walk_revisions()}
    applied = MigrationContext.configure(connection).get_current_heads()
    if unknown := sorted(set(applied) - known.keys()):
        raise HistoryError(
            f"the history database ({place(connection.engine.url)}) has unknown migrations: {', '.join(unknown)}.",
            fix="Install the newer evenkeel that applied them.",
        )
    done = {each.revision for each in scripts.iterate_revisions(applied, "base")}
    return [Path(path).stem for name, path in reversed(known.items()) if name not in done]


def _refresh_views(connection: Connection) -> None:
    """
    Make the views what their files say.

    Replacing keeps the grants on a view and other people's views on top of it; only a view whose columns
    changed in place has to go first. One that is as its file says stays, so nobody who reads it holds this up.
    """
    views = sql.views()
    try:
        with connection.begin_nested():
            for name, definition in views.items():
                if _differs(_driver(connection), name, definition):
                    _script(connection, definition)
    except errors.InvalidTableDefinition:
        for name in reversed(tuple(views)):
            _script(connection, f"DROP VIEW IF EXISTS {name}")
        for definition in views.values():
            _script(connection, definition)
    for name, definition in views.items():
        _explain(_driver(connection), name, sql.head(definition))


def _differs(driver: psycopg.Connection[Any], name: str, definition: str) -> bool:
    """Whether a view is missing or differs from its file, as the server prints both."""
    other = f"{name}_as_its_file"
    with driver.transaction(force_rollback=True):
        driver.execute(definition.replace(f" VIEW {name} AS", f" VIEW {other} AS", 1).encode())
        printed = "SELECT pg_get_viewdef(to_regclass(%s)), pg_get_viewdef(to_regclass(%s))"
        row = driver.execute(printed, [name, other]).fetchone()
    return row is None or row[0] != row[1]


def _explain(driver: psycopg.Connection[Any], view: str, summary: str) -> None:
    """Comment on a view, with what its file begins with, and on its columns, as they are declared."""
    name, declared = Identifier(view), columns_of_view(view)
    driver.execute(SQL("COMMENT ON VIEW {} IS {}").format(name, Literal(summary)))
    shown = driver.execute(SQL("SELECT * FROM {} LIMIT 0").format(name)).description or ()
    for each in shown:
        column = SQL(".").join((name, Identifier(each.name)))
        text = Literal(declared[each.name].meaning.comment)
        driver.execute(SQL("COMMENT ON COLUMN {} IS {}").format(column, text))


def _script(connection: Connection, script: str) -> None:
    """Run a file as it is: without parameters a driver sends any number of statements at once."""
    _driver(connection).execute(script.encode())


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    driver: Any = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver
