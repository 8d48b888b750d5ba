"""
The step `propose_candidates` on Spark: every strategy replayed on every group.

    python -m evenkeel.spark_tasks.propose_candidates --snapshot-id eu-20260102T030405Z-0a1b2c [--groups 'orders-*']

The rows come from `evenkeel.engine.pipeline.propose_chunk`, the function of the plain step; a test keeps the two equal.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline import made_by, propose_chunk, withheld_groups
from evenkeel.engine.ports import Lake, Manifest
from evenkeel.spark_tasks.chunk_tasks import run_chunks, without_secrets
from evenkeel.spark_tasks.job import run_job

SMALLEST = 2_000
"""Partitions and members below which a chunk is not worth a task: another Python worker takes as long to begin."""


def run(
    spark: SparkSession, lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> Manifest:
    """
    Leave the candidates of a snapshot in the lake, equal to those of `pipeline.propose_candidates`.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot, or not its metrics.
    """
    lake.manifest("metrics", snapshot_id)  # said before any work
    withheld, known = dict(withheld_groups(lake, snapshot_id)), without_secrets(settings)
    return run_chunks(
        spark,
        lake,
        "candidates",
        snapshot_id,
        lambda names: propose_chunk(lake, known, snapshot_id, names, withheld),
        pattern=pattern,
        smallest=SMALLEST,
        facts=made_by(settings, pattern),
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the step; 0, or the exit code of the error, which is said in one line."""
    return run_job("propose_candidates", run, arguments)


if __name__ == "__main__":
    sys.exit(main())
