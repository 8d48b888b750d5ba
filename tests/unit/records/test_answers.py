"""What is declared of the columns of named queries."""

from __future__ import annotations

import pytest

from evenkeel import sql
from evenkeel.engine.cli.views.columns import head
from evenkeel.engine.columns import columns_of
from evenkeel.engine.records import ANSWERS, TABLES, VIEWS, columns_of_query


def test_every_query_has_its_records():
    """A new one says where its columns are declared, and none is forgotten when its query goes."""
    assert ANSWERS.keys() == sql.queries().keys()


@pytest.mark.parametrize("name", ANSWERS)
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


@pytest.mark.parametrize("record", [*TABLES.values(), *VIEWS.values()])
def test_two_columns_of_a_record_have_two_heads(record):
    """Nobody mistakes one for the other."""
    heads = [head(spec) for spec in columns_of(record)]
    assert sorted({one for one in heads if heads.count(one) > 1}) == []
