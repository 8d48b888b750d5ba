"""
Write the migration that brings the database to the records: `python -m tests.helpers.new_migration "rackless members"`.

Alembic compares a throw-away Postgres that has all migrations with the tables that follow from the records. It sees
tables, columns, types, defaults, comments, keys, references and indices; not a CHECK, nor the WHERE of an index: a test
finds those, and they are written by hand, as is what becomes of rows that are there. The schema for readers is written
anew with it.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from alembic import command

from evenkeel import sql
from evenkeel.engine.adapters.postgres.connection import engine_for
from evenkeel.engine.adapters.postgres.migration import configuration
from evenkeel.engine.records.tables import METADATA
from tests.helpers import made_tables
from tests.stage.postgres import throw_away_postgres


def new_migration(message: str) -> Path | None:
    """Write it; None where nothing differs."""
    versions = sorted((sql.MIGRATIONS / "versions").glob("*.py"))
    number = f"{len(versions) + 1:04}"
    with (
        throw_away_postgres() as server,
        engine_for(server.database("evenkeel")).begin() as connection,
    ):
        if versions:
            command.upgrade(configuration(connection), "head")
        given = {"metadata": METADATA, "process_revision_directives": _unless_empty}
        command.revision(
            configuration(connection, **given), message, autogenerate=True, rev_id=number
        )
    return next((sql.MIGRATIONS / "versions").glob(f"{number}_*.py"), None)


def _unless_empty(_context: Any, _revision: Any, directives: list[Any]) -> None:
    if directives[0].upgrade_ops.is_empty():
        directives.clear()


def main(arguments: Sequence[str]) -> int:
    """Write a migration and the schema; 1 where the records need none."""
    written = new_migration(" ".join(arguments))
    if written is None:
        print("The database has what the records say.")
        return 1
    made_tables.main()
    print(written)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
