"""
The step `compute_metrics` on Spark: metrics per group, member and partition.

    python -m evenkeel.spark_tasks.compute_metrics --snapshot-id eu-20260102T030405Z-0a1b2c [--groups 'orders-*']

The numbers come from `evenkeel.engine.steps.measure_group`, the function of the plain step; a test keeps the two equal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col, explode
from pyspark.sql.pandas.types import from_arrow_schema

from evenkeel.engine.config import Settings
from evenkeel.engine.datasets import METRICS
from evenkeel.engine.ports import Lake
from evenkeel.engine.steps import measure_group, record_metrics
from evenkeel.spark_tasks.group_rows import packed_rows
from evenkeel.spark_tasks.inputs import Reading, as_dataset, open_past, spark_schema
from evenkeel.spark_tasks.job import run_job

MEASURED = pa.schema(
    {name: pa.list_(pa.struct(list(spark_schema(schema)))) for name, schema in METRICS.items()}
)
"""One row per group: its rows of each metrics dataset."""

Measure = Callable[..., dict[str, list[dict[str, object]]]]


def measure(rows: DataFrame, reading: Reading, step: Measure = measure_group) -> DataFrame:
    """
    Measure every group.

    Args:
        rows: `group_rows.group_rows`.
        reading: What the workers need beside them.
        step: `evenkeel.engine.steps.measure_group`, or a stand-in with its signature.

    Returns:
        Columns of `MEASURED`.
    """

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for found in reading.groups(batch):
                measured = step(reading.settings, found.group, found.earlier, found.withheld)
                yield pa.RecordBatch.from_pylist([measured], schema=MEASURED)

    return rows.mapInArrow(work, from_arrow_schema(MEASURED)).select(*MEASURED.names)


def dataset(measured: DataFrame, name: str) -> DataFrame:
    """The rows of one metrics dataset, with exactly its columns."""
    rows = measured.select(explode(name).alias("row"))
    return rows.select(*(col(f"row.{column}") for column in METRICS[name].names))


def metric_tables(
    spark: SparkSession, lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> dict[str, pa.Table]:
    """
    The metrics of a snapshot: the tables of `datasets.METRICS`, equal to those of `steps.compute_metrics`.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot.
    """
    inputs = open_past(spark, lake, settings, snapshot_id, pattern)
    rows = packed_rows(spark, inputs.tables, inputs.costs)
    # three datasets come out of one measurement
    measured = measure(rows, inputs.reading).persist()
    try:
        return {
            name: as_dataset(dataset(measured, name), schema, list(inputs.costs))
            for name, schema in METRICS.items()
        }
    finally:
        measured.unpersist()


def _run(
    spark: SparkSession,
    lake: Lake,
    settings: Settings,
    snapshot_id: str,
    pattern: str,
) -> None:
    tables = metric_tables(spark, lake, settings, snapshot_id, pattern)
    record_metrics(lake, snapshot_id, tables, pattern)


def main(arguments: list[str] | None = None) -> int:
    """Run the step; 0, or the exit code of the error, which is said in one line."""
    return run_job("compute_metrics", _run, arguments)


if __name__ == "__main__":
    sys.exit(main())
