"""
`python -m tests.benchmarks.report [--database] [--groups N] [--snapshots K] [--out FILE]`: how long a report takes.

A seeded fleet of 13 snapshots (`tests/helpers/fleet`) is gone through as `evenkeel report` does it, which judges every
snapshot and replays every strategy; then the page is made of these values. With `--database` they come from a history
in Postgres of K snapshots (288), which is made first. Exit status 1 when the page of 1,000 groups, with the history's
answers if it is made of these, takes longer than 10 s, or is larger than 5 MB.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from evenkeel.engine import pipeline
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.memory import MemoryHistory
from evenkeel.engine.adapters.postgres import PostgresHistory, PostgresReports
from evenkeel.engine.config import Settings
from evenkeel.engine.model.tables import INT64, Numbers, repeated
from evenkeel.engine.ports import Lake
from evenkeel.engine.report import FleetReport, render
from evenkeel.engine.report.from_history import SNAPSHOTS, stored_report
from evenkeel.engine.report.report import report
from evenkeel.engine.snapshots import new_snapshot_id, split_snapshot_id
from tests.helpers.cookbook_history import work
from tests.helpers.fleet import Shape, make_fleet, write_fleet
from tests.stage.postgres import throw_away_history

ASKED_SECONDS, ASKED_BYTES = 10.0, 5_000_000
EVERY = timedelta(minutes=5)


def gathered(groups: int, snapshots: int) -> FleetReport:
    """The values of a fleet's report."""
    with TemporaryDirectory() as folder:
        lake = FileLake(Path(folder) / "lake")
        write_fleet(lake, make_fleet(Shape(groups=groups)))
        now = datetime.now(UTC)
        return report(
            lake, MemoryHistory(), Settings(), Shape().cluster, now, "a made fleet", limit=snapshots
        )


@contextmanager
def made_history(groups: int, snapshots: int) -> Iterator[PostgresReports]:
    """
    A history of so many snapshots, for as long as this lasts.

    The newest snapshot of a made fleet goes through all steps of the pipeline. Those before it are what the history
    keeps of them for long: the same groups with other lags, stored as the steps store them.
    """
    with TemporaryDirectory() as folder, throw_away_history() as url:
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
        lags = Numbers(rng.integers(0, 1_000_000, len(rows)), INT64)
        changed = rows.replaced(snapshot_id=repeated(taken, len(rows)), total_lag=lags)
        history.store_metrics(taken, {**known, "group_metrics": changed})


def _from_lake(groups: int, snapshots: int | None) -> tuple[str, float]:
    """The page, and the seconds of processor time that it took once its values were there."""
    began = time.process_time()
    fleet = gathered(groups, snapshots or 13)
    known = time.process_time()
    page = render(fleet)
    seconds = time.process_time() - known
    sys.stdout.write(
        f"{len(fleet.groups):,} groups, {len(fleet.taken_at)} snapshots: judged and replayed in"
        f" {known - began:.1f} s of processor time, page made in {seconds:.2f} s"
    )
    return page, seconds


def _from_database(groups: int, snapshots: int | None) -> tuple[str, float]:
    """The page, and the seconds that it took, with what the history was asked."""
    count = snapshots or SNAPSHOTS
    with made_history(groups, count) as history:
        began, spent = time.perf_counter(), time.process_time()
        fleet = stored_report(history, Shape().cluster, snapshots=count)
        waited, worked = time.perf_counter() - began, time.process_time() - spent
    began = time.process_time()
    page = render(fleet)
    seconds = time.process_time() - began
    sys.stdout.write(
        f"{len(fleet.groups):,} groups, {len(fleet.taken_at)} snapshots: read from the history in {waited:.2f} s"
        f" ({worked:.2f} s of processor time here), page made in {seconds:.2f} s"
    )
    return page, waited + seconds


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure; 1 when more is needed than is asked."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.report")
    parser.add_argument("--groups", type=int, default=1000)
    parser.add_argument("--snapshots", type=int, help="13, from a database 288")
    parser.add_argument("--database", action="store_true", help="from a history in Postgres")
    parser.add_argument("--out", type=Path, help="where the page goes, to be looked at")
    options = parser.parse_args(arguments)
    measure = _from_database if options.database else _from_lake
    page, seconds = measure(options.groups, options.snapshots)
    size = len(page.encode())
    sys.stdout.write(f", {size / 1e6:.2f} MB\n")
    if options.out is not None:
        options.out.write_text(page, encoding="utf-8")
    return int(seconds > ASKED_SECONDS or size > ASKED_BYTES)


if __name__ == "__main__":
    sys.exit(main())
