"""Everything that was written, as text, for tests that look for what must not be there."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

import psycopg
import pyarrow.parquet as pq


def file_text(path: Path) -> str:
    """A file as it is; Parquet's rows and metadata are unpacked, and so are a recording's parts."""
    return _text(path.read_bytes())


def _text(content: bytes) -> str:
    text = content.decode("latin-1")
    if content.startswith(b"PAR1"):
        table = pq.read_table(io.BytesIO(content))
        return f"{text}{table.schema.metadata}{table.to_pylist()}"
    if content.startswith(b"PK"):
        with zipfile.ZipFile(io.BytesIO(content)) as parts:
            return text + "".join(_text(parts.read(name)) for name in parts.namelist())
    return text


def history_text(database_url: str) -> str:
    """Every row of every table of a history."""
    with psycopg.connect(database_url) as session:
        tables = session.execute(
            "select table_name from information_schema.tables"
            " where table_schema = 'public' and table_type = 'BASE TABLE'"
        ).fetchall()
        rows = [session.execute(f'select t::text from "{name}" t').fetchall() for (name,) in tables]
    assert any(len(found) for found in rows), "the history has rows"
    return str(rows)
