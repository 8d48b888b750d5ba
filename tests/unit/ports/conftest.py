"""The history in both its forms, the fake in memory and a real Postgres: what is tested here, both promise."""

from __future__ import annotations

import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.ports import History
from tests.helpers.memory import MemoryHistory


@pytest.fixture(params=["memory", pytest.param("postgres", marks=pytest.mark.postgres)])
def history(request: pytest.FixtureRequest) -> History:
    """An empty history, once of each form."""
    if request.param == "memory":
        return MemoryHistory()
    return PostgresHistory(request.getfixturevalue("database_url"))
