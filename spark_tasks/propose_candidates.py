"""
The step `propose_candidates` on Spark: every strategy, simulated for every group.

    python -m evenkeel.spark_tasks.propose_candidates --snapshot-id eu-20260102T030405Z-0a1b2c [--groups 'orders-*']

Local mode uses the same function, `evenkeel.engine.pipeline.propose_chunk`, with equal results.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline.compute_steps import CANDIDATES
from evenkeel.engine.ports import Lake
from evenkeel.spark_tasks.chunk_tasks import run_chunks
from evenkeel.spark_tasks.job import run_job

SMALLEST = 2_000
"""Smallest number of partitions and members per task; starting a Python worker takes as long."""


def run(
    spark: SparkSession, lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> None:
    """
    Write the candidates of a snapshot to the lake, equal to those of `pipeline.propose_candidates`.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot or its metrics.
    """
    run_chunks(spark, lake, settings, CANDIDATES, snapshot_id, pattern, SMALLEST)


def main(arguments: list[str] | None = None) -> int:
    """Run the step; returns 0, or the exit code of an error, which is printed in one line."""
    return run_job("propose_candidates", run, arguments)


if __name__ == "__main__":
    sys.exit(main())
