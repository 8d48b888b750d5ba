"""
The step `compute_metrics` on Spark: metrics per group, member and partition.

    python -m evenkeel.spark_tasks.compute_metrics --snapshot-id eu-20260102T030405Z-0a1b2c [--groups 'orders-*']

Local mode uses the same function, `evenkeel.engine.pipeline.measure_chunk`, with equal results.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline.compute_steps import METRICS
from evenkeel.engine.ports import Lake
from evenkeel.spark_tasks.chunk_tasks import run_chunks
from evenkeel.spark_tasks.job import run_job

SMALLEST = 5_000
"""Smallest number of partitions and members per task; they take about a tenth of a second."""


def run(
    spark: SparkSession, lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> None:
    """
    Write the metrics of a snapshot to the lake, equal to those of `pipeline.compute_metrics`.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot.
    """
    run_chunks(spark, lake, settings, METRICS, snapshot_id, pattern, SMALLEST)


def main(arguments: list[str] | None = None) -> int:
    """Run the step; returns 0, or the exit code of an error, which is printed in one line."""
    return run_job("compute_metrics", run, arguments)


if __name__ == "__main__":
    sys.exit(main())
