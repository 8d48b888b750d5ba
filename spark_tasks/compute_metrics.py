"""
The step `compute_metrics` on Spark: metrics per group, member and partition.

    python -m evenkeel.spark_tasks.compute_metrics --snapshot-id eu-20260102T030405Z-0a1b2c [--groups 'orders-*']

Local mode uses the same function, `evenkeel.engine.pipeline.measure_chunk`, with equal results.
"""

from __future__ import annotations

import sys

from pyspark.sql import SparkSession

from evenkeel.engine.config import Settings
from evenkeel.engine.pipeline import lookback_of, made_by, measure_chunk
from evenkeel.engine.ports import Lake, Manifest
from evenkeel.spark_tasks.chunk_tasks import run_chunks, without_secrets
from evenkeel.spark_tasks.job import run_job

SMALLEST = 5_000
"""Smallest number of partitions and members per task; they take about a tenth of a second."""


def run(
    spark: SparkSession, lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> Manifest:
    """
    Write the metrics of a snapshot to the lake, equal to those of `pipeline.compute_metrics`.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot.
    """
    lookback, known = lookback_of(lake, settings, snapshot_id), without_secrets(settings)
    return run_chunks(
        spark,
        lake,
        "metrics",
        snapshot_id,
        lambda names: measure_chunk(lake, known, lookback, names),
        pattern=pattern,
        smallest=SMALLEST,
        facts=made_by(settings, pattern),
    )


def main(arguments: list[str] | None = None) -> int:
    """Run the step; returns 0, or the exit code of an error, which is printed in one line."""
    return run_job("compute_metrics", run, arguments)


if __name__ == "__main__":
    sys.exit(main())
