"""What views and named queries show, held against what is said of their columns."""

from __future__ import annotations

import re

import psycopg
import pytest
from sqlalchemy.dialects import postgresql

from evenkeel import sql
from evenkeel.engine.cli.views.columns import head
from evenkeel.engine.model.columns import ColumnSpec
from evenkeel.engine.records import columns_of_query, columns_of_view
from evenkeel.engine.records.tables import type_of

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

CATALOG = """
    SELECT attname, format_type(atttypid, atttypmod)
    FROM pg_attribute WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped"""


def type_in_sql(spec: ColumnSpec) -> str:
    """The type that a column is declared with."""
    return type_of(spec).compile(dialect=postgresql.dialect()).lower()


@pytest.mark.parametrize("view", sql.views())
def test_every_column_of_a_view_is_declared(module_database_url: str, view: str) -> None:
    """With the type that Postgres gives it; and what its file says is a column of its own is one."""
    with psycopg.connect(module_database_url) as connection:
        found = dict(connection.execute(CATALOG.encode(), (view,)).fetchall())
    declared = columns_of_view(view)
    assert found == {name: type_in_sql(declared[name]) for name in found}
    assert {each.name for each in sql.columns(sql.views()[view]).own} <= found.keys()


@pytest.mark.parametrize("query", sql.queries())
def test_every_column_of_a_query_is_declared(module_database_url: str, query: str) -> None:
    """With the type that Postgres gives it, and no two of a query under one head."""
    (code,) = sql.queries()[query].parts
    asked = re.sub(r"(?<![:\w]):\w+", "NULL", code.rstrip().removesuffix(";"))
    with psycopg.connect(module_database_url) as connection:
        connection.execute(f"CREATE TEMPORARY VIEW answer AS {asked}".encode())
        found = dict(connection.execute(CATALOG.encode(), ("answer",)).fetchall())
    declared = columns_of_query(query)
    assert found == {name: type_in_sql(declared[name]) for name in found}
    assert {each.name for each in sql.columns(sql.queries()[query].text).own} <= found.keys()
    assert len({head(declared[name]) for name in found}) == len(found)
