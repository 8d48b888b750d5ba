"""Names that strangers chose cost nobody else the history."""

from __future__ import annotations

import random
import string
from typing import Any

import psycopg
import pytest

from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.adapters.recording import Recording
from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline.pipeline import run_pipeline
from tests.helpers.snapshots import group, make_snapshot, member, store, topic

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

# what cannot be compressed: Postgres would make a key of it
LONG = "".join(random.Random(1).choices(string.ascii_letters, k=9000))


@pytest.mark.parametrize(
    "odd",
    [
        group(LONG, members=2, lag={"orders": 5}),
        group("odd", members=[member("m", ["orders"], {"orders": [0]}, client_id=LONG)]),
    ],
    ids=["group", "client"],
)
def test_a_name_that_fits_no_key_costs_the_others_nothing(database_url: str, odd: Any) -> None:
    """All that can be kept of the snapshot is kept."""
    lake = Recording()
    good = group("good", members=2, lag={"orders": 5})
    ids = store(lake, make_snapshot(topics=[topic("orders", 2)], groups=[odd, good]))
    run_pipeline(lake, PostgresHistory(database_url), Settings(), ids[0])
    with psycopg.connect(database_url) as connection:
        question = "SELECT total_lag FROM group_metrics WHERE group_id = 'good'"
        assert connection.execute(question).fetchall() == [(10,)]
