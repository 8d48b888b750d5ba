"""
What is said to the server: named statements of `sql`, their arguments checked, and plain writes to the records' tables.

Rows come back as dictionaries.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from psycopg.types.json import Jsonb
from sqlalchemy import Connection, Delete, Insert, Update, text

from evenkeel import sql
from evenkeel.sql import Statement

from ...model.errors import InputError
from .copy import INSTEAD, NUL

Rows = list[dict[str, Any]]


def find(kind: str, known: Mapping[str, Statement], name: str) -> Statement:
    """
    Raises:
        InputError: There is none of that name; the known ones are listed.
    """
    if name not in known:
        raise InputError(
            f"there is no {kind} {name!r}.", fix=f"Choose one of: {', '.join(sorted(known))}."
        )
    return known[name]


def arguments(statement: Statement, given: Mapping[str, Any]) -> dict[str, Any]:
    """
    A value for every parameter of a statement: the given one, else its default.

    Raises:
        InputError: One is missing, or one is given that the statement does not have.
    """
    known = {p.name: p for p in statement.parameters}
    missing = [p.name for p in known.values() if p.required and p.name not in given]
    unknown = [name for name in given if name not in known]
    if missing or unknown:
        wrong = f"needs {', '.join(missing)}" if missing else f"has no {', '.join(unknown)}"
        listed = ", ".join(
            p.name if p.required else f"{p.name} (default {p.default or 'null'})"
            for p in known.values()
        )
        raise InputError(
            f"{statement.name} {wrong}.", fix=f"Its parameters are: {listed or 'none'}."
        )
    return {name: _adapted(given.get(name, p.default)) for name, p in known.items()}


def run(connection: Connection, statement: Statement, values: Mapping[str, Any]) -> Rows:
    """Execute the parts of a statement; the rows of the last one, none if it returns none."""
    rows: Rows = []
    for part in statement.parts:
        clause = text(part)
        named = {name: values[name] for name in clause.compile().params}
        result = connection.execute(clause, named)
        rows = [_row(r._asdict()) for r in result] if result.returns_rows else []
    return rows


def execute(connection: Connection, name: str, /, **parameters: Any) -> Rows:
    """Run a statement of `sql/statements` inside a transaction that is under way."""
    statement = find("statement", sql.statements(), name)
    return run(connection, statement, arguments(statement, parameters))


def write(
    connection: Connection,
    clause: Insert | Update | Delete,
    values: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
) -> Rows:
    """
    A plain insert, update or delete; the rows that it returns.

    Args:
        connection: The transaction that is under way.
        clause: What to do, to a table of `records.tables`.
        values: By column, what to write; a list of them for as many rows. Postgres stores no NUL.
    """
    result = connection.execute(clause, _storable(values) if values else None)
    return [_row(r._asdict()) for r in result] if result.returns_rows else []


def jsonb(value: Any) -> Jsonb:
    """A JSON-able value as Postgres takes it, which stores no NUL."""
    return Jsonb(value, dumps=_dumped)


def _dumped(value: Any) -> str:
    text = json.dumps(value)
    # a backslash before that word looks the same: such a value is gone through for nothing
    return json.dumps(_storable(value)) if r"\u0000" in text else text


def _storable(value: Any) -> Any:
    """The value without NUL in its texts."""
    if isinstance(value, str):
        return value.replace(NUL, INSTEAD)
    if isinstance(value, Mapping):
        return {_storable(name): _storable(each) for name, each in value.items()}
    return [_storable(each) for each in value] if isinstance(value, list | tuple) else value


def _adapted(value: Any) -> Any:
    """Mappings, and lists of them, as JSON; texts, and lists of them, without NUL."""
    listed = isinstance(value, list | tuple) and value and isinstance(value[0], Mapping)
    if listed or isinstance(value, Mapping):
        return jsonb(value)
    return _storable(value) if isinstance(value, str | list) else value


def _row(row: Mapping[str, Any]) -> dict[str, Any]:
    """A row whose moments are UTC, whatever the server's time zone."""
    return {
        name: value.astimezone(UTC) if isinstance(value, datetime) and value.tzinfo else value
        for name, value in row.items()
    }
