"""
The step `propose_candidates` on Spark: every strategy replayed on every group.

    python -m evenkeel.spark_tasks.propose_candidates --snapshot-id eu-20260102T030405Z-0a1b2c [--groups 'orders-*']

The rows come from `evenkeel.engine.steps.propose_group`, the function of the plain step; a test keeps the two equal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from evenkeel.engine.config import Settings
from evenkeel.engine.datasets import CANDIDATES
from evenkeel.engine.ports import Lake
from evenkeel.engine.steps import propose_group, record_candidates
from evenkeel.spark_tasks.group_rows import packed_rows
from evenkeel.spark_tasks.inputs import Reading, as_dataset, open_measured, spark_schema
from evenkeel.spark_tasks.job import run_job

PROPOSED = spark_schema(CANDIDATES["candidates"])
"""One row per group and strategy."""

Propose = Callable[..., list[dict[str, object]]]


def propose(rows: DataFrame, reading: Reading, step: Propose = propose_group) -> DataFrame:
    """
    Replay every strategy on every group.

    Args:
        rows: `group_rows.group_rows`.
        reading: What the workers need beside them.
        step: `evenkeel.engine.steps.propose_group`, or a stand-in with its signature.

    Returns:
        Columns of `datasets.CANDIDATES`.
    """

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for found in reading.measured(batch):
                proposed = step(reading.settings, found)
                yield pa.RecordBatch.from_pylist(proposed, schema=PROPOSED)

    return rows.mapInArrow(work, from_arrow_schema(PROPOSED)).select(*PROPOSED.names)


def candidate_tables(
    spark: SparkSession, lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> dict[str, pa.Table]:
    """
    The candidates of a snapshot, equal to those of `steps.propose_candidates`.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot, or not its metrics.
    """
    inputs = open_measured(spark, lake, settings, snapshot_id, pattern)
    rows = packed_rows(spark, inputs.tables, inputs.costs)
    candidates = propose(rows, inputs.reading)
    schema = CANDIDATES["candidates"]
    return {"candidates": as_dataset(candidates, schema, list(inputs.costs))}


def _run(
    spark: SparkSession,
    lake: Lake,
    settings: Settings,
    snapshot_id: str,
    pattern: str,
) -> None:
    tables = candidate_tables(spark, lake, settings, snapshot_id, pattern)
    record_candidates(lake, snapshot_id, tables, pattern)


def main(arguments: list[str] | None = None) -> int:
    """Run the step; 0, or the exit code of the error, which is said in one line."""
    return run_job("propose_candidates", _run, arguments)


if __name__ == "__main__":
    sys.exit(main())
