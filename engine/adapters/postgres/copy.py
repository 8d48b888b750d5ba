"""Arrow tables into tables of the database through COPY."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from psycopg.sql import SQL, Identifier
from sqlalchemy import Connection

from .texts import as_text

CHUNK_VALUES = 200_000
"""Rows and listed values that are made text at a time: memory grows with it, not with the table."""

_COPY = SQL("COPY {target} ({columns}) FROM STDIN")


def load(connection: Connection, table: pa.Table, target: str) -> None:
    """Add the rows of a table to that of the database; columns that it lacks get their default."""
    driver: Any = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    columns = SQL(", ").join(map(Identifier, table.schema.names))
    command = _COPY.format(target=Identifier(target), columns=columns)
    with driver.cursor() as cursor, cursor.copy(command) as copy:
        for piece in pieces(table, CHUNK_VALUES):
            copy.write(as_text(piece))


def pieces(table: pa.Table, most: int) -> Iterator[pa.Table]:
    """
    A table in parts of about so many rows and listed values; a row with more is a part of its own.

    >>> [len(part) for part in pieces(pa.table({"a": [[1], [1, 2, 3, 4], None, []]}), 3)]
    [1, 2, 1]
    """
    size = np.ones(len(table), np.int64)
    for column in table.columns:
        if pa.types.is_list(column.type):
            size += pc.fill_null(pc.list_value_length(column), 0).to_numpy()
    part = np.cumsum(size) // most
    ends = [*(np.flatnonzero(np.diff(part)) + 1).tolist(), len(table)] if len(table) else []
    start = 0
    for end in ends:
        yield table.slice(start, end - start)
        start = end
