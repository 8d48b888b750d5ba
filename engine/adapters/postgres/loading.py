"""Arrow tables into temporary tables through COPY; the statements then move them where they belong."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Sequence
from typing import Any

import psycopg
import pyarrow as pa
import pyarrow.compute as pc
from psycopg.sql import SQL, Identifier
from pyarrow import csv
from sqlalchemy import Connection

CHUNK_ROWS = 100_000

_CREATE = SQL("CREATE TEMPORARY TABLE {staged} (LIKE {target}) ON COMMIT DROP")
_COPY = SQL("COPY {staged} ({columns}) FROM STDIN (FORMAT csv)")
_NUL_IN_JSON = re.compile(r"(?<!\\)((?:\\\\)*)\\u0000")


def stage(connection: Connection, dataset: str, table: pa.Table, target: str) -> None:
    """
    Copy a dataset into `staged_<dataset>`, which has the columns of *target* and lives until the transaction ends.

    Columns that the dataset lacks are null.
    """
    staged = Identifier(f"staged_{dataset}")
    driver: Any = connection.connection.driver_connection
    assert isinstance(driver, psycopg.Connection)
    columns = SQL(", ").join(map(Identifier, table.schema.names))
    with driver.cursor() as cursor:
        cursor.execute(_CREATE.format(staged=staged, target=Identifier(target)))
        with cursor.copy(_COPY.format(staged=staged, columns=columns)) as copy:
            for start in range(0, len(table), CHUNK_ROWS):
                copy.write(as_csv(table.slice(start, CHUNK_ROWS)))


def as_csv(table: pa.Table) -> bytes:
    """
    Rows as Postgres reads them: null is nothing, an empty text is `""`, lists and structs are literals.

    >>> as_csv(pa.table({"a": ["x", "", None], "b": [["y,"], [], None]})).decode().splitlines()
    ['"x","{""y,""}"', '"","{}"', ',']
    """
    flat = pa.table({name: _flat(table[name]) for name in table.schema.names})
    sink = io.BytesIO()
    csv.write_csv(flat, sink, csv.WriteOptions(include_header=False, quoting_style="needed"))
    return sink.getvalue()


def as_json(rows: Sequence[Any]) -> str:
    """Rows as JSON that Postgres takes; moments as ISO text."""
    return _NUL_IN_JSON.sub(r"\1\\ufffd", json.dumps(rows, default=str))


def _flat(column: Any) -> Any:
    """A column of plain values: a list of texts as an array literal, a list of structs as JSON."""
    kind = column.type
    if pa.types.is_list(kind):
        literal = as_json if pa.types.is_struct(kind.value_type) else _array
        texts = [None if v is None else literal(v) for v in column.to_pylist()]
        column = pa.chunked_array([pa.array(texts, pa.string())])
    if pa.types.is_string(column.type):
        # a client may call itself anything, but Postgres stores no NUL
        return pc.replace_substring(column, "\x00", "\ufffd")
    return column


def _array(texts: Sequence[str | None]) -> str:
    quoted = (
        "NULL" if t is None else '"' + t.replace("\\", "\\\\").replace('"', '\\"') + '"'
        for t in texts
    )
    return "{" + ",".join(quoted) + "}"
