"""
A history of a day of some groups for the benchmark of reports, in a Postgres that is thrown away.

The newest snapshot of a made fleet goes through all steps of the pipeline. Those before it are what the history keeps
of them for long: the same groups with other lags, five minutes apart, stored as the steps store them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pyarrow as pa

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.postgres import PostgresHistory, PostgresReports, migrate
from evenkeel.engine.config import Settings
from evenkeel.engine.ports import Lake
from evenkeel.engine.report import FleetReport
from evenkeel.engine.report.from_history import stored_report
from evenkeel.engine.snapshots import new_snapshot_id, split_snapshot_id
from tests.helpers.cookbook_history import work
from tests.helpers.fleet import Shape, make_fleet, write_fleet
from tests.stage.postgres import throw_away_postgres

NAME = "evenkeel_test_report"
EVERY = timedelta(minutes=5)


@contextmanager
def made_history(groups: int, snapshots: int) -> Iterator[PostgresReports]:
    """A history of so many snapshots, for as long as this lasts."""
    with TemporaryDirectory() as folder, throw_away_postgres() as server:
        server.create_database(NAME, NAME)
        url = server.url(NAME, NAME)
        migrate(url)
        lake, history = FileLake(Path(folder) / "lake"), PostgresHistory(url)
        newest = write_fleet(lake, make_fleet(Shape(groups=groups)))[-1]
        _earlier(lake, history, newest, snapshots - 1)
        work(lake, history, Settings(), newest)
        yield PostgresReports(url)


def _earlier(lake: Lake, history: PostgresHistory, newest: str, count: int) -> None:
    manifest = lake.manifest("snapshot", newest)
    cluster, at = split_snapshot_id(newest)
    tables = pipeline.compute_metrics(lake, Settings(), newest)
    rows = tables["group_metrics"]
    known = {name: table.slice(0, 0) for name, table in tables.items()}
    rng = np.random.default_rng(0)
    for number in range(count, 0, -1):
        taken_at = at - number * EVERY
        taken = new_snapshot_id(cluster, taken_at)
        moments = {name: taken_at.isoformat() for name in ("started_at", "finished_at")}
        history.store_snapshot(
            replace(manifest, snapshot_id=taken, facts={**manifest.facts, **moments})
        )
        ids = pa.array([taken] * rows.num_rows, rows["snapshot_id"].type)
        lags = pa.array(rng.integers(0, 1_000_000, rows.num_rows), rows["total_lag"].type)
        changed = rows
        for name, column in (("snapshot_id", ids), ("total_lag", lags)):
            place = changed.schema.get_field_index(name)
            changed = changed.set_column(place, changed.schema.field(place), column)
        history.store_metrics(taken, {**known, "group_metrics": changed})


def from_history(groups: int, snapshots: int) -> tuple[FleetReport, float, float]:
    """The values of a report of such a history, and the seconds and those of this process's processor that it took."""
    with made_history(groups, snapshots) as history:
        began, worked = time.perf_counter(), time.process_time()
        fleet = stored_report(history, Shape().cluster, snapshots=snapshots)
        return fleet, time.perf_counter() - began, time.process_time() - worked
