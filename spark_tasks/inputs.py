"""
What a Spark step reads: the lake's files as DataFrames, and the small things every worker needs.

Rows travel as DataFrames. Settings, brokers, times and what validation withheld are small and the same for all groups;
they travel as one pickled value. Secrets stay on the driver.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from evenkeel.engine.config import Settings
from evenkeel.engine.datasets import METRICS, ClusterTables, assemble
from evenkeel.engine.model import GroupSnapshot
from evenkeel.engine.ports import Lake
from evenkeel.engine.steps import GroupWithPast, distrusted, withheld_groups
from evenkeel.engine.steps.measured import MeasuredGroup, measured_group
from evenkeel.engine.steps.reading import lookback_ids, taken_at
from evenkeel.spark_tasks.group_rows import SCHEMAS
from evenkeel.spark_tasks.packing import costs_of

NESTED = ("groups", "members", "commits", "partitions")
"""The datasets of a snapshot whose rows a group's row carries, each as an array of structs."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Reading:
    """
    What a worker needs beside its rows.

    Attributes:
        settings: The configuration without secrets and addresses.
        snapshot_ids: The snapshot and the earlier ones it looks back on, newest first.
        taken_at: When each was taken.
        brokers: Each one's rows of `brokers`.
        withheld: Groups whose data cannot be trusted, and why.
        distrusted: (snapshot id, group) of the past that cannot be trusted either.
    """

    settings: Settings
    snapshot_ids: tuple[str, ...]
    taken_at: Mapping[str, datetime]
    brokers: Mapping[str, pa.Table]
    withheld: Mapping[str, str]
    distrusted: frozenset[tuple[str, str]] = frozenset()

    def groups(self, rows: pa.RecordBatch) -> Iterator[GroupWithPast]:
        """The groups of a batch of `group_rows.group_rows`."""
        for index in range(len(rows)):
            tables = {name: _table(rows[name][index], name) for name in NESTED}
            past = {s: list(self._groups_at(s, tables)) for s in self.snapshot_ids}
            earlier = tuple(
                g
                for s in self.snapshot_ids[1:]
                for g in past[s]
                if (s, g.group) not in self.distrusted
            )
            for group in past[self.snapshot_ids[0]]:
                why = self.withheld.get(group.group)
                yield GroupWithPast(group=group, earlier=earlier, withheld=why)

    def measured(self, rows: pa.RecordBatch) -> Iterator[MeasuredGroup]:
        """The groups of a batch of `group_rows.group_rows`, each with the metrics of its newest snapshot."""
        for index in range(len(rows)):
            tables = {name: _table(rows[name][index], name) for name in (*NESTED, *METRICS)}
            for group in self._groups_at(self.snapshot_ids[0], tables):
                own = {name: tables[name] for name in METRICS}
                yield measured_group(group, own, self.withheld.get(group.group))

    def _groups_at(
        self, snapshot_id: str, tables: Mapping[str, pa.Table]
    ) -> Iterator[GroupSnapshot]:
        """The group as one snapshot saw it; nothing where that snapshot did not."""
        own = {
            name: tables[name].filter(pc.equal(tables[name]["snapshot_id"], snapshot_id))
            for name in NESTED
        }
        if not len(own["groups"]):
            return
        cluster = ClusterTables(own["partitions"], self.brokers[snapshot_id])
        for header in own["groups"].to_pylist():
            rule = self.settings.rule(header["cluster"], header["group_id"])
            yield assemble(
                header,
                own["members"],
                own["commits"],
                cluster,
                self.taken_at[snapshot_id],
                read_committed=rule.isolation == "read_committed",
            )


def _table(rows: pa.ListScalar, name: str) -> pa.Table:
    """A row's array of structs as the table it came from: Spark's microseconds are milliseconds again."""
    if rows.values is None:
        return SCHEMAS[name].empty_table()
    return pa.Table.from_struct_array(rows.values).cast(SCHEMAS[name])


@dataclass(frozen=True, kw_only=True, eq=False)
class Inputs:
    """What a step starts from: frames by dataset, the groups wanted with their cost, the workers' value."""

    tables: Mapping[str, DataFrame]
    costs: Mapping[str, int]
    reading: Reading


def open_past(
    spark: SparkSession, lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> Inputs:
    """
    Find what the lake holds of a snapshot and its past.

    Args:
        pattern: Shell pattern of group ids.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot.
    """
    ids = lookback_ids(lake, settings, snapshot_id)
    return _inputs(spark, lake, settings, ids, NESTED, pattern)


def open_measured(
    spark: SparkSession, lake: Lake, settings: Settings, snapshot_id: str, pattern: str = "*"
) -> Inputs:
    """
    Find what the lake holds of a snapshot and its metrics.

    Args:
        pattern: Shell pattern of group ids.

    Raises:
        SnapshotNotFound: The lake does not hold the snapshot, or not its metrics.
    """
    return _inputs(spark, lake, settings, [snapshot_id], (*NESTED, *METRICS), pattern)


def _inputs(
    spark: SparkSession,
    lake: Lake,
    settings: Settings,
    ids: list[str],
    datasets: Sequence[str],
    pattern: str,
) -> Inputs:
    """*ids* are the snapshots that are read, newest first."""
    snapshot_id = ids[0]
    names = lake.read("groups", [snapshot_id])["group_id"].to_pylist()
    newest = {name: lake.read(name, [snapshot_id]) for name in ("members", "commits", "partitions")}
    return Inputs(
        tables={name: _frame(spark, lake, ids, name) for name in datasets},
        costs=costs_of([n for n in names if fnmatch.fnmatchcase(n, pattern)], newest),
        reading=Reading(
            settings=without_secrets(settings),
            snapshot_ids=tuple(ids),
            taken_at={one: taken_at(lake, one) for one in ids},
            brokers={one: lake.read("brokers", [one]) for one in ids},
            withheld=dict(withheld_groups(lake, snapshot_id)),
            distrusted=distrusted(lake, ids[1:]),
        ),
    )


def without_secrets(settings: Settings) -> Settings:
    """The part of the configuration that shapes results; its version is the same."""
    return settings.model_copy(update={"clusters": {}, "slack_token": None, "database_url": None})


def _frame(spark: SparkSession, lake: Lake, ids: list[str], dataset: str) -> DataFrame:
    """The rows of some snapshots, their columns as the dataset has them; the file of a day holds others, too."""
    schema = SCHEMAS[dataset]
    rows = spark.read.schema(from_arrow_schema(schema)).parquet(*lake.files(dataset, ids))
    return rows.where(rows["snapshot_id"].isin(ids)).select(*schema.names)


def spark_type(kind: pa.DataType) -> pa.DataType:
    """The Arrow type Spark has for a dataset's column: all its times are in microseconds."""
    return pa.timestamp("us", tz="UTC") if pa.types.is_timestamp(kind) else kind


def spark_schema(schema: pa.Schema) -> pa.Schema:
    """A dataset's schema in Spark's Arrow types."""
    return pa.schema([(field.name, spark_type(field.type)) for field in schema])


def as_dataset(frame: DataFrame, schema: pa.Schema, order: list[str]) -> pa.Table:
    """
    Collect a frame as a table of exactly this schema.

    Args:
        order: Group ids in the order in which their rows shall come; rows of a group stay as they are.
    """
    table: Any = frame.toArrow().cast(schema)
    place = pc.index_in(table["group_id"], value_set=pa.array(order, pa.string()))
    return table.take(pc.sort_indices(place)).combine_chunks()
