"""
What a run of the DAG has Spark do, in one application: the metrics of a snapshot, then its candidates.

    python -m evenkeel.spark_tasks.measure_and_propose --snapshot-id eu-20260102T030405Z-0a1b2c [--groups 'orders-*']

What the lake has already, made by the same configuration and the same code, is not made again: so a retry goes on
behind the step that was done. The metrics of superseded snapshots (`--also`) come last, while there is time.
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
from evenkeel.engine.ports import Lake
from evenkeel.spark_tasks import compute_metrics, propose_candidates
from evenkeel.spark_tasks.job import Run, arguments_of, ended, opened

STEPS: Mapping[str, Run] = {"metrics": compute_metrics.run, "candidates": propose_candidates.run}
"""In their order: what a step leaves in the lake, and the step."""

ALSO = timedelta(minutes=3)
"""How long superseded snapshots are worked on beside the one that is advised on."""


def measure_and_propose(
    settings: Settings, snapshot_id: str, pattern: str = "*", also: Sequence[str] = ()
) -> None:
    """
    Leave metrics and candidates of a snapshot in the lake, as far as they are not there.

    Args:
        settings: The configuration.
        snapshot_id: Whose.
        pattern: Shell pattern of group ids.
        also: Overtaken snapshots that get their metrics as well, of all groups, if they can.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot.
    """
    lake = wiring.lake(settings)
    # a snapshot that is not there is said before Spark's seconds are spent
    lake.manifest("snapshot", snapshot_id)

    def is_made(rows: str) -> bool:
        made = pipeline.is_made(lake, settings, rows, snapshot_id, pattern)
        if made:
            _tell(f"the lake has the {rows} of {snapshot_id}, made by this configuration")
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
    """Run the step that leaves these rows, and say how long it took."""
    since = time.monotonic()
    STEPS[rows](spark, lake, settings, snapshot_id, pattern)
    _tell(f"{rows} of {snapshot_id}: {time.monotonic() - since:.1f} s")


def _tell(line: str) -> None:
    print(line, flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the steps; 0, or the exit code of the error, which is said in one line."""
    parser = arguments_of("measure_and_propose")
    parser.add_argument(
        "--also",
        action="append",
        default=[],
        metavar="SNAPSHOT_ID",
        help="a superseded snapshot to measure as well, after the other, if it can be; may be repeated",
    )
    asked = parser.parse_args(arguments)
    return ended(
        lambda settings: measure_and_propose(settings, asked.snapshot_id, asked.groups, asked.also)
    )


if __name__ == "__main__":
    sys.exit(main())
