"""The database's tables and views, held against the records they store and show."""

from __future__ import annotations

import enum
import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from datetime import datetime
from typing import Any

import psycopg
import pytest

from evenkeel import sql
from evenkeel.engine.cli.views.columns import head
from evenkeel.engine.columns import ColumnSpec, columns_of
from evenkeel.engine.records import ANSWERS, TABLES, VIEWS, columns_of_query

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

OF_THE_DATABASE = {
    "advice": {"since", "until", "repeats"},
    "partition_worst": {"place"},
    "silence": {"cluster_regex", "groups_regex"},
}
"""Columns that the database adds to what a record says."""

CATALOG = """
    SELECT attname, format_type(atttypid, atttypmod) AS type, attnotnull, col_description(attrelid, attnum) AS comment
    FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"""

TYPES = {
    str: "text",
    float: "double precision",
    bool: "boolean",
    datetime: "timestamp with time zone",
    Mapping: "jsonb",
}


def type_of(spec: ColumnSpec) -> str:
    """The type of a column in Postgres."""
    if spec.kind is tuple:
        return f"{TYPES[spec.item]}[]" if spec.item in TYPES else "jsonb"
    if spec.kind is int:
        return "integer" if spec.bits == 32 else "bigint"
    if is_dataclass(spec.kind):
        return "jsonb"
    return TYPES[str if issubclass(spec.kind, enum.Enum) else spec.kind]


def declared(record: type) -> dict[str, dict[str, Any]]:
    """What a record says of its columns."""
    return {
        spec.name: {
            "type": type_of(spec),
            "attnotnull": spec.meaning.generated or not spec.nullable,
            "comment": spec.meaning.comment,
        }
        for spec in columns_of(record)
        if spec.meaning.table is None
    }


def stored(url: str, relation: str) -> dict[str, dict[str, Any]]:
    """What the database says of the columns of a table or view."""
    with psycopg.connect(url, row_factory=psycopg.rows.dict_row) as connection:
        rows = connection.execute(CATALOG.encode(), (relation,)).fetchall()
    return {row.pop("attname"): row for row in rows}


@pytest.mark.parametrize("table", TABLES)
def test_a_table_has_the_columns_of_its_record(database_url: str, table: str) -> None:
    """Names, types, what may be null and what the comments say: a column that a record gains must be migrated."""
    found = stored(database_url, table)
    expected = declared(TABLES[table])
    assert found.keys() - expected.keys() == OF_THE_DATABASE.get(table, set())
    assert {name: found.get(name) for name in expected} == expected


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_has_the_columns_of_its_record(database_url: str, view: str) -> None:
    """Names, types and comments; whether a column of a view may be null, the database does not say."""
    found = stored(database_url, view)
    assert found == {
        name: {**column, "attnotnull": False} for name, column in declared(VIEWS[view]).items()
    }


def test_every_table_and_view_has_a_record(database_url: str) -> None:
    """Nothing is stored or shown that no record speaks of, but for the book of migrations."""
    question = """
        SELECT relname, obj_description(oid) FROM pg_class
        WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v')"""
    with psycopg.connect(database_url) as connection:
        found = dict(connection.execute(question.encode()).fetchall())
    assert found.keys() - {*TABLES, *VIEWS} == {"schema_migrations"}
    assert all(found.values())
    assert found["latest_advice"].startswith("One row per group of the newest advised snapshot")


@pytest.mark.parametrize("query", ANSWERS)
def test_every_column_of_a_query_is_declared(database_url: str, query: str) -> None:
    """With the type that Postgres gives it, and no two of a query under one head."""
    (code,) = sql.queries()[query].parts
    asked = re.sub(r"(?<![:\w]):\w+", "NULL", code.rstrip().removesuffix(";"))
    with psycopg.connect(database_url) as connection:
        connection.execute(f"CREATE TEMPORARY VIEW answer AS {asked}".encode())
        rows = connection.execute(CATALOG.encode(), ("answer",)).fetchall()
    found = {row[0]: row[1] for row in rows}
    declared = columns_of_query(query)
    assert found == {name: type_of(declared[name]) for name in found}
    assert len({head(declared[name]) for name in found}) == len(found)
