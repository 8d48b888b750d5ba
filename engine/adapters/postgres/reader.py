"""The role of those who only ask: it reads the views and what the named queries read, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import psycopg
from psycopg import errors
from psycopg.sql import SQL, Identifier

READER = "evenkeel_reader"
"""Its name: one for all databases of a server, without login, to be granted to people and programs."""


def let_read(
    driver: psycopg.Connection[Any], names: Iterable[str], ours: Iterable[str], reader: str
) -> bool:
    """
    Make the role where it is missing, and let it read views (these run with the rights of who owns them) and tables.

    Of what is *ours* it may do nothing else, whatever an earlier version granted.

    Returns:
        False when there is no such role and this user may not make it.
    """
    if not _exists(driver, reader) and not _made(driver, reader):
        return False
    role, database = Identifier(reader), Identifier(driver.info.dbname)
    first = driver.execute("SELECT current_schema()").fetchone()  # of `search_path`
    schema = Identifier(str(first[0]) if first and first[0] else "public")
    # of two schemas that are migrated at once one would fail to grant what is granted already
    question = "SELECT has_database_privilege(%s, current_database(), 'CONNECT')"
    is_let_in = driver.execute(question, [reader]).fetchone() == (True,)
    connect = SQL("GRANT CONNECT ON DATABASE {} TO {}").format(database, role)
    usage = SQL("GRANT USAGE ON SCHEMA {} TO {}").format(schema, role)
    for grant in (usage,) if is_let_in else (connect, usage):
        # whoever owns the views need not own the database: then its owner grants this
        _tried(driver, grant, errors.InsufficientPrivilege)
    for name in ours:
        driver.execute(SQL("REVOKE ALL ON {} FROM {}").format(Identifier(name), role))
    for name in names:
        driver.execute(SQL("GRANT SELECT ON {} TO {}").format(Identifier(name), role))
    return True


def _exists(driver: psycopg.Connection[Any], reader: str) -> bool:
    question = "SELECT FROM pg_roles WHERE rolname = %s"
    return driver.execute(question, [reader]).rowcount == 1


def _made(driver: psycopg.Connection[Any], reader: str) -> bool:
    """Whether the role is there now, by us or by a migration of another database at the same moment."""
    create = SQL("CREATE ROLE {} NOLOGIN").format(Identifier(reader))
    at_once = (errors.DuplicateObject, errors.UniqueViolation)
    return _tried(driver, create, errors.InsufficientPrivilege, *at_once) or _exists(driver, reader)


def _tried(driver: psycopg.Connection[Any], command: Any, *failures: type[Exception]) -> bool:
    """Whether a command succeeded; of one that fails like this the transaction keeps nothing."""
    try:
        with driver.transaction():
            driver.execute(command)
    except failures:
        return False
    return True
