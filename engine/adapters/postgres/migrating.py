"""
The runner of the migrations: plain SQL files, one transaction each, remembered with their hash.

Why not Alembic: there are no ORM models to compare with, and Airflow's own Alembic stays undisturbed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
from psycopg import errors
from psycopg.sql import SQL, Identifier, Literal
from sqlalchemy import Connection

from evenkeel import sql
from evenkeel.engine.adapters.postgres.connecting import engine_for, place, translated
from evenkeel.engine.adapters.postgres.patience import take_time
from evenkeel.engine.adapters.postgres.reader import READER, let_read
from evenkeel.engine.adapters.postgres.running import execute
from evenkeel.engine.columns import columns_of
from evenkeel.engine.errors import HistoryError
from evenkeel.engine.records import VIEWS

_NO_READER = (
    "there is no role {reader} yet, and this user may not create it: nobody can be let read and no more."
    " An administrator can create it (CREATE ROLE {reader} NOLOGIN); then migrate again."
)

OLDEST_SERVER = 15
"""Major version of Postgres below which `NULLS NOT DISTINCT` does not exist."""


def pending(url: str) -> list[str]:
    """
    Names of the migrations that are still to be applied, in order.

    Raises:
        HistoryUnreachable: The server did not answer.
        HistoryError: An applied migration was changed or is unknown here.
    """
    engine = engine_for(url)
    with translated(engine.url), engine.begin() as connection:
        return [migration.name for migration in _pending(connection)]


def migrate(
    url: str, *, reader: str = READER, tell: Callable[[str], object] = lambda line: None
) -> list[str]:
    """
    Apply what is pending, one transaction each, then bring the views up to date, and let the role *reader* ask.

    Two that run at the same time wait for each other. A migration that fails leaves those before it applied. Where the
    role is missing and may not be made, *tell* hears of it in a line.

    Returns:
        Names of the migrations that were applied.

    Raises:
        HistoryUnreachable: The server did not answer.
        HistoryError: A migration failed, or an applied one was changed or is unknown here, or the server is too old.
    """
    engine = engine_for(url)
    applied: list[str] = []
    while True:
        with translated(engine.url), engine.begin() as connection:
            take_time(connection)
            execute(connection, "wait_for_lock", key="evenkeel migrate")
            _check_server(connection)
            waiting = _pending(connection)
            if not waiting:
                _refresh_views(connection)
                if not let_read(_driver(connection), (*sql.views(), *sql.asked_tables()), reader):
                    tell(_NO_READER.format(reader=reader))
                return applied
            migration = waiting[0]
            _script(connection, migration.text)
            execute(connection, "record_migration", name=migration.name, sha256=migration.sha256)
        applied.append(migration.name)


def _pending(connection: Connection) -> list[sql.Migration]:
    if not execute(connection, "has_schema")[0]["migrated"]:
        return list(sql.migrations())
    applied = {row["name"]: row["sha256"] for row in execute(connection, "applied_migrations")}
    known = {migration.name: migration for migration in sql.migrations()}
    where = place(connection.engine.url)
    if unknown := sorted(applied.keys() - known.keys()):
        raise HistoryError(
            f"the history ({where}) has migrations that are unknown here: {', '.join(unknown)}.",
            fix="Install the newer evenkeel that applied them.",
        )
    if changed := [name for name in sorted(applied) if known[name].sha256 != applied[name]]:
        raise HistoryError(
            f"migration {', '.join(changed)} was changed after it was applied to the history ({where}).",
            fix="Restore the file, and write the change as a new migration.",
        )
    return [migration for name, migration in known.items() if name not in applied]


def _refresh_views(connection: Connection) -> None:
    """
    Make the views what their files say.

    Replacing keeps the grants on a view and other people's views on top of it; only a view whose columns
    changed in place has to go first.
    """
    views = sql.views()
    try:
        with connection.begin_nested():
            for definition in views.values():
                _script(connection, definition)
    except errors.InvalidTableDefinition:
        for name in reversed(tuple(views)):
            _script(connection, f"DROP VIEW IF EXISTS {name}")
        for definition in views.values():
            _script(connection, definition)
    for name, definition in views.items():
        _explain(connection, name, definition)


def _explain(connection: Connection, view: str, definition: str) -> None:
    """Comment on a view, with what the head of its file says, and on its columns, as their record does."""
    head = definition[: definition.index("CREATE ")]
    summary = " ".join(line.removeprefix("--").strip() for line in head.splitlines())
    name, driver = Identifier(view), _driver(connection)
    driver.execute(SQL("COMMENT ON VIEW {} IS {}").format(name, Literal(summary)))
    for spec in columns_of(VIEWS[view]):
        if spec.meaning.table is None:
            column = SQL(".").join((name, Identifier(spec.name)))
            text = Literal(spec.meaning.comment)
            driver.execute(SQL("COMMENT ON COLUMN {} IS {}").format(column, text))


def _check_server(connection: Connection) -> None:
    driver = _driver(connection)
    major = driver.info.server_version // 10_000
    if major < OLDEST_SERVER:
        raise HistoryError(
            f"the history ({place(connection.engine.url)}) is on Postgres {major}.",
            fix=f"Use Postgres {OLDEST_SERVER} or newer.",
        )


def _script(connection: Connection, script: str) -> None:
    """Run a file as it is: without parameters a driver sends any number of statements at once."""
    _driver(connection).execute(script.encode())


def _driver(connection: Connection) -> psycopg.Connection[Any]:
    driver: Any = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    return driver
