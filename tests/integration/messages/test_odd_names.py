"""Names that Postgres refuses, on a real Postgres: they cost the other groups of the cluster nothing."""

from __future__ import annotations

import random
import string
from dataclasses import replace
from pathlib import Path

import pytest

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.config import ClusterSettings, Settings
from evenkeel.engine.model.facts import Fact, FactKind
from evenkeel.engine.pipeline import watch_groups
from tests.helpers.incidents import CLUSTER, at, course, posting, row
from tests.helpers.memory import MemoryNotifier
from tests.helpers.snapshots import group, make_snapshot, store, topic

pytest_plugins = ("tests.helpers.postgres_fixtures",)

pytestmark = pytest.mark.postgres

SETTINGS = Settings(clusters={"test": ClusterSettings(bootstrap="b:9092")})
LONG = "".join(random.Random(1).choices(string.ascii_letters, k=5000))
"""No key of a table holds it, however it is packed."""

GROUPS = ("orders\0app", LONG, "orders-app")


def test_ids_that_cannot_be_stored_cost_the_other_groups_nothing(
    tmp_path: Path, history: PostgresHistory
) -> None:
    """Two groups with such ids are passed over; an ordinary one is told, and alone remembered."""
    lake, slack = FileLake(tmp_path), MemoryNotifier()
    for number in range(6):
        end = 1000 * (number + 1)
        made = make_snapshot(
            number=number,
            topics=[topic("orders", end=end)],
            groups=[
                group(name, members=int(number < 3), committed={"orders": [min(end, 3000)]})
                for name in GROUPS
            ],
        )
        (newest,) = store(lake, made)
        watch_groups(lake, history, slack, SETTINGS, newest)
    (remembered,) = history.incident_watch("test").courses
    assert remembered.group_id == "orders-app"
    assert any("orders-app" in str(message.to_json()) for _, _, message in slack.sent)


def test_a_client_may_call_itself_anything(history: PostgresHistory) -> None:
    """What is said of it is stored with another sign in the place of the one that Postgres refuses."""
    seen = Fact(kind=FactKind.DIAGNOSIS, measure="behind", after=9.0, subjects=("a\0b",))
    (span,) = course().causes
    odd = course(causes=(replace(span, facts=(seen,)),))
    message = replace(posting().message, title="a\0b")
    told = [replace(posting(), message=message)]
    assert history.store_watch(CLUSTER, "s0", at(0), [odd], [row(odd, 0)], told, before=None)
    ((kept,),) = (each.causes for each in history.incident_watch(CLUSTER).courses)
    assert kept.facts[0].subjects == ("a\ufffdb",)
    (alert,) = history.pending_alerts()
    assert alert.message["title"] == "a\ufffdb"
