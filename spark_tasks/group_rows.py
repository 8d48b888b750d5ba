"""
From the lake's tables to one row per group: itself and its past, or itself and its metrics, nested.

The row holds the group's rows of some datasets as arrays of structs, of every snapshot that is read; the struct's
`snapshot_id` tells them apart. `partitions` are those of the topics the group concerns itself with: subscribed,
owned, aimed at or committed, and the changelogs of a Kafka Streams application. Such a row is all a worker needs to
judge the group.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce
from operator import or_

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import (
    array,
    broadcast,
    coalesce,
    col,
    collect_list,
    concat,
    desc,
    explode,
    flatten,
    lit,
    struct,
)

from evenkeel.engine.datasets import CHANGELOG, METRICS, SNAPSHOT
from evenkeel.engine.model import APPLICATIONS
from evenkeel.spark_tasks.packing import pack

SCHEMAS = {**SNAPSHOT, **METRICS}
"""The datasets that a group's row can carry."""

PLAN = pa.schema({"group_id": pa.string(), "cost": pa.int64(), "bucket": pa.int32()})
"""One row per group wanted: its estimated work, and the task it goes to."""


def packed_rows(
    spark: SparkSession, tables: Mapping[str, DataFrame], costs: Mapping[str, int]
) -> DataFrame:
    """
    `group_rows` of the groups with a cost, each in the task it is packed into, the heaviest first.

    There are as many tasks as Spark would make of any shuffle, at most one per group.
    """
    tasks = max(1, min(int(spark.conf.get("spark.sql.shuffle.partitions") or 1), len(costs)))
    packed = pack(costs, tasks)
    rows = [{"group_id": n, "cost": c, "bucket": packed[n]} for n, c in costs.items()]
    plan = spark.createDataFrame(pa.Table.from_pylist(rows, PLAN))
    return spread(group_rows(tables, plan), tasks)


def group_rows(tables: Mapping[str, DataFrame], plan: DataFrame) -> DataFrame:
    """
    One row per group of the plan.

    Args:
        tables: `groups`, `members`, `commits`, `partitions` of a snapshot and its earlier ones, or of one with its
            metrics.
        plan: Rows of `PLAN`.
    """
    plan = broadcast(plan)
    own = {
        name: frame.join(plan.select("group_id"), "group_id", "left_semi")
        for name, frame in tables.items()
        if name != "partitions"
    }
    topics = topics_of(own["members"], own["commits"])
    stores = stores_of(own["groups"], tables["partitions"])
    topics = broadcast(topics.union(stores).distinct())
    own["partitions"] = tables["partitions"].join(topics, ["snapshot_id", "topic"], "inner")
    tagged = [_tagged(frame, name) for name, frame in own.items()]
    # one shuffle instead of one per dataset
    every = reduce(lambda a, b: a.unionByName(b, allowMissingColumns=True), tagged)
    rows = every.join(plan, "group_id", "inner").groupBy(*PLAN.names)
    return rows.agg(*(collect_list(name).alias(name) for name in own)).select(*PLAN.names, *own)


def _tagged(frame: DataFrame, name: str) -> DataFrame:
    """(group_id, <name>): each row as a struct with the dataset's columns."""
    return frame.select("group_id", struct(*SCHEMAS[name].names).alias(name))


def spread(rows: DataFrame, tasks: int) -> DataFrame:
    """The rows of `group_rows`, each in the task of its bucket, the heaviest first."""
    placed = rows.repartitionById(tasks, col("bucket"))
    return placed.sortWithinPartitions(desc("cost"), "group_id")


def topics_of(members: DataFrame, commits: DataFrame) -> DataFrame:
    """(snapshot_id, group_id, topic): the topics each group concerns itself with."""
    lists = [
        coalesce(col(name), array().cast("array<string>"))
        for name in ("subscription", "assigned_topics", "target_topics")
    ]
    named = members.select(
        "snapshot_id", "group_id", explode(flatten(array(*lists))).alias("topic")
    )
    committed = commits.select("snapshot_id", "group_id", "topic")
    return named.union(committed).distinct().select("snapshot_id", "group_id", "topic")


def stores_of(groups: DataFrame, partitions: DataFrame) -> DataFrame:
    """(snapshot_id, group_id, topic): the changelogs of Kafka Streams applications, by name (`is_store_of`)."""
    application = reduce(
        or_,
        [
            (col("group_type") == kind.value) & (lit(wire is None) | (col("assignor") == lit(wire)))
            for kind, wire in APPLICATIONS.items()
        ],
    )
    applications = broadcast(groups.filter(application).select("snapshot_id", "group_id"))
    changelogs = partitions.select("snapshot_id", "topic").filter(col("topic").endswith(CHANGELOG))
    named = changelogs.distinct().join(applications, "snapshot_id", "inner")
    own = col("topic").startswith(concat(col("group_id"), lit("-")))
    return named.filter(own).select("snapshot_id", "group_id", "topic")
