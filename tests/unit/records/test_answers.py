"""What is declared of the columns of tables, views and named queries."""

from __future__ import annotations

import pytest

from evenkeel import sql
from evenkeel.engine.cli.views.columns import head
from evenkeel.engine.model.columns import columns_of
from evenkeel.engine.records import TABLES, columns_of_query


@pytest.mark.parametrize("name", sql.queries())
def test_what_null_depends_on_is_declared_beside_it(name):
    """A rule about a column that no row has would never hold."""
    declared = columns_of_query(name)
    rules = [
        where
        for spec in declared.values()
        for where in (*spec.meaning.none_where, *spec.missing_where)
    ]
    beside = {"members", "total_lag", "largest_member_lag"}
    assert {where.other for where in rules} - beside <= declared.keys()


@pytest.mark.parametrize("name", [*sql.queries(), *sql.views()])
def test_a_file_says_of_which_columns_it_shows_what_they_mean(name):
    """Where its columns are declared is a table or a view, and each line of its own columns is read."""
    text = sql.queries()[name].text if name in sql.queries() else sql.views()[name]
    columns = sql.columns(text)
    assert columns.sources or columns.own
    assert set(columns.sources) <= TABLES.keys() | sql.views().keys()
    lines = text.partition("olumns:\n")[2].splitlines()
    listed = next((n for n, line in enumerate(lines) if not line.startswith("--   ")), 0)
    assert len(columns.own) == listed


@pytest.mark.parametrize("record", TABLES.values())
def test_two_columns_of_a_record_have_two_heads(record):
    """Nobody mistakes one for the other."""
    heads = [head(spec) for spec in columns_of(record)]
    assert sorted({one for one in heads if heads.count(one) > 1}) == []
