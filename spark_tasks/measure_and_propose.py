"""
The Spark application of the DAG: metrics of a snapshot, then its candidates.

    python -m evenkeel.spark_tasks.measure_and_propose --snapshot-id eu-20260102T030405Z-0a1b2c [--groups 'orders-*']

Results in the lake with the same configuration and code are reused, so a retry continues after the last completed step.
Metrics of superseded snapshots (`--also`) are computed last, within a time budget.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from datetime import timedelta
from itertools import dropwhile

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from evenkeel.engine import pipeline, wiring
from evenkeel.engine.config import Settings
from evenkeel.engine.model.text import printable
from evenkeel.engine.ports import Lake
from evenkeel.spark_tasks import compute_metrics, propose_candidates
from evenkeel.spark_tasks.job import Run, arguments_of, ended, opened

STEPS: Mapping[str, Run] = {"metrics": compute_metrics.run, "candidates": propose_candidates.run}
"""The steps in order, by the name of their results in the lake."""

ALSO = timedelta(minutes=3)
"""Time budget for superseded snapshots."""


def measure_and_propose(
    settings: Settings, snapshot_id: str, pattern: str = "*", also: Sequence[str] = ()
) -> None:
    """
    Write metrics and candidates of a snapshot to the lake, unless they exist.

    Args:
        settings: The configuration.
        snapshot_id: Id of the snapshot.
        pattern: Shell pattern of group ids.
        also: Superseded snapshots that also get metrics of all groups, if possible.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot.
    """
    lake = wiring.lake(settings)
    # report a missing snapshot before Spark starts
    lake.manifest("snapshot", snapshot_id)

    def is_made(rows: str) -> bool:
        made = pipeline.is_made(lake, settings, rows, snapshot_id, pattern)
        if made:
            _tell(f"{rows} of {snapshot_id} are in the lake, with the same configuration")
        return made

    # what follows from rows that are made anew is made anew
    left = list(dropwhile(is_made, STEPS))
    behind = [other for other in also if not pipeline.is_made(lake, settings, "metrics", other)]
    if not left and not behind:
        return
    with opened(f"evenkeel {snapshot_id}", settings.lake) as spark:
        for rows in left:
            _make(spark, lake, settings, rows, snapshot_id, pattern)
        pipeline.on_the_way(
            behind,
            lambda other: _make(spark, lake, settings, "metrics", other, "*"),
            ALSO,
            _tell,
            PySparkException,
        )


def _make(
    spark: SparkSession, lake: Lake, settings: Settings, rows: str, snapshot_id: str, pattern: str
) -> None:
    """Run the step with these results, and log its duration."""
    since = time.monotonic()
    STEPS[rows](spark, lake, settings, snapshot_id, pattern)
    _tell(f"{rows} of {snapshot_id}: {time.monotonic() - since:.1f} s")


def _tell(line: str) -> None:
    print(printable(line), flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the steps; returns 0, or the exit code of an error, which is printed in one line."""
    parser = arguments_of("measure_and_propose")
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="SNAPSHOT_ID",
        help="id of a superseded snapshot to measure afterwards, if possible (repeatable)",
    )
    asked = parser.parse_args(arguments)
    return ended(
        lambda settings: measure_and_propose(settings, asked.snapshot_id, asked.groups, asked.also)
    )


if __name__ == "__main__":
    sys.exit(main())
