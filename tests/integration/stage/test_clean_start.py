"""A demo forgets what an earlier one kept of its own cluster, and nothing of a cluster of the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenkeel.engine import pipeline, wiring
from evenkeel.engine.adapters.postgres import PostgresHistory
from evenkeel.engine.config import Settings
from evenkeel.engine.ports import ALL
from tests.helpers.snapshots import group, make_snapshot, store, topic
from tests.stage.clean_start import forget_history, forget_snapshots

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

CLUSTERS = ("demo", "prod")


def test_a_demo_starts_without_the_groups_of_an_earlier_one(
    database_url: str, tmp_path: Path
) -> None:
    """Neither its snapshots nor its incidents are left, so none of its groups is reported as deleted."""
    settings, history = Settings(lake=str(tmp_path)), PostgresHistory(database_url)
    lake = wiring.lake(settings)
    for cluster in CLUSTERS:
        topics, groups = [topic("orders", 4)], [group("orders-app", members=2)]
        snapshot = make_snapshot(cluster=cluster, topics=topics, groups=groups)
        store(lake, snapshot)
        taken = snapshot.snapshot_id
        history.store_snapshot(lake.manifest("snapshot", taken), settings.version)
        pipeline.record_metrics(lake, taken, pipeline.compute_metrics(lake, settings, taken))
        history.store_watch(cluster, taken, snapshot.finished_at, [], [], [], before=None)

    forget_snapshots(tmp_path, "demo")
    forget_history(database_url, "demo")

    left = wiring.lake(settings)
    assert [len(left.snapshots(cluster, limit=ALL)) for cluster in CLUSTERS] == [0, 1]
    assert [history.incident_watch(cluster).at is None for cluster in CLUSTERS] == [True, False]
    assert {row["cluster"] for row in history.query("snapshot_health")} == {"prod"}
