"""
The Spark application of the DAG: metrics of a snapshot, then its candidates.

    python -m evenkeel.spark_tasks.measure_and_propose --snapshot-id eu-20260102T030405Z-0a1b2c [--groups 'orders-*']

Results in the lake with the same configuration and code are reused. If both are missing, they are made in one pass.
Metrics of superseded snapshots (`--also`) are computed last, within a time budget.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from evenkeel.engine import pipeline, wiring
from evenkeel.engine.config import Settings
from evenkeel.engine.model.text import printable
from evenkeel.engine.pipeline.compute_steps import BOTH, CANDIDATES, METRICS, Steps
from evenkeel.engine.ports import Lake
from evenkeel.spark_tasks import compute_metrics, propose_candidates
from evenkeel.spark_tasks.chunk_tasks import run_chunks
from evenkeel.spark_tasks.job import Run, arguments_of, ended, opened


def run(
    spark: SparkSession, lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> None:
    """
    Write metrics and candidates of a snapshot to the lake in one pass.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot.
    """
    smallest = propose_candidates.SMALLEST
    run_chunks(spark, lake, settings, BOTH, snapshot_id, pattern, smallest)


RUNS: Mapping[Steps, Run] = {
    METRICS: compute_metrics.run,
    CANDIDATES: propose_candidates.run,
    BOTH: run,
}
"""What Spark can make in one pass."""


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

    @contextmanager
    def started() -> Iterator[pipeline.Compute]:
        with opened(f"evenkeel {snapshot_id}", settings.lake) as spark:
            yield lambda steps, one, groups: RUNS[steps](spark, lake, settings, one, groups)

    pipeline.compute(
        lake, settings, snapshot_id, pattern, also, started(), _tell, failures=PySparkException
    )


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
