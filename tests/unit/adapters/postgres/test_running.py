"""Arguments of named statements, checked before any server is asked."""

from __future__ import annotations

import pytest

from evenkeel import sql
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.adapters.postgres.statements import find
from evenkeel.engine.model.errors import InputError

NOWHERE = PostgresHistory("postgresql://nobody@127.0.0.1:1/nothing")


def test_an_unknown_query_lists_the_known_ones() -> None:
    """Asking for a query that does not exist tells which do."""
    with pytest.raises(InputError, match=r"no query 'lags'.*lag_history.*worst_partitions"):
        NOWHERE.query("lags")


def test_an_unknown_statement_lists_the_known_ones() -> None:
    """The same holds for internal statements; a query is not one."""
    with pytest.raises(InputError, match=r"no statement 'groups'.*roll_up"):
        find("statement", sql.statements(), "groups")


def test_a_missing_parameter_is_named_with_all_the_others() -> None:
    """What must be given and is not is named, and what else could be given."""
    with pytest.raises(
        InputError,
        match=r"lag_history needs group\..*cluster \(default null\).*hours \(default 24\)",
    ):
        NOWHERE.query("lag_history")


def test_a_parameter_that_does_not_exist_is_named() -> None:
    """A misspelt parameter is not ignored."""
    with pytest.raises(InputError, match=r"groups has no clutser\."):
        NOWHERE.query("groups", clutser="demo")
