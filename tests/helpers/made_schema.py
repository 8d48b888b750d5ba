"""The schema as people read it: `sql/schema.sql`, made from the records by `python -m tests.helpers.made_tables`."""

from __future__ import annotations

from collections.abc import Iterator

from sqlalchemy import Table
from sqlalchemy.dialects import postgresql
from sqlalchemy.schema import (
    CreateIndex,
    CreateTable,
    DDLElement,
    SetColumnComment,
    SetTableComment,
)

from evenkeel.engine.records.tables import METADATA

HEAD = """\
-- Tables of the history database, generated from the records (`python -m tests.helpers.made_tables`).
-- `evenkeel admin migrate` runs the files in migrations/. Functions are in functions.sql, views in views/. Requires
-- Postgres 15 or newer.
--
-- Unknown values are null, never 0 or -1. Times are timestamptz. Lag and lost records are in offsets, rates in offsets
-- per second, shares are fractions of 1. Infinity in a double precision column means "never".
-- Deleting a snapshot deletes the rows that belong to it.
"""

_DIALECT = postgresql.dialect()


def schema() -> str:
    """Every table with its indices and comments, each after those that it refers to."""
    tables = METADATA.tables.values()
    return "\n\n".join((HEAD, *("\n".join(_statements(table)) for table in tables))) + "\n"


def _statements(table: Table) -> Iterator[str]:
    yield _sql(CreateTable(table)) + "\n"
    indices = sorted(table.indexes, key=lambda index: str(index.name))
    yield from (_sql(CreateIndex(index)) for index in indices)
    if indices:
        yield ""
    yield _sql(SetTableComment(table))
    yield from (_sql(SetColumnComment(column)) for column in table.columns)


def _sql(element: DDLElement) -> str:
    lines = str(element.compile(dialect=_DIALECT)).strip().expandtabs(4).splitlines()
    return "\n".join(line.rstrip() for line in lines) + ";"
