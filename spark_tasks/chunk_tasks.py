"""
Chunks of groups as Spark tasks: each task reads its groups from the lake, computes in arrays, and writes its part.

The driver sends names of groups and receives counts, so it never holds rows, no row is converted to Java objects, and
memory grows with the size of a chunk. A repeated task writes the same part again; readers don't see unfinished parts.
"""

from __future__ import annotations

import gc
import os
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark import cloudpickle
from pyspark.sql import SparkSession

from evenkeel.engine.config import SECRET_KEYS, Settings
from evenkeel.engine.model.errors import EvenkeelError
from evenkeel.engine.model.garbage import collect_seldom
from evenkeel.engine.pipeline.compute_steps import Steps, Write, Written, run_steps
from evenkeel.engine.ports import Lake
from evenkeel.engine.snapshots.chunks import CHUNK, Chunk, cut
from evenkeel.spark_tasks.spark_settings import Place

PLAN = pa.schema({"turn": pa.int32(), "number": pa.int32(), "groups": pa.list_(pa.string())})
"""Schema of a chunk: its order, its place in the dataset, and its groups."""

RESULT = "made binary, problem binary"
"""Schema of a result: the pickled result of a chunk, or the error that stops the step."""

PER_TASK = 2
"""Chunks per parallel task, to balance the load."""

Make = Callable[[int, Sequence[str]], Any]
"""Computes a chunk: its number and its groups."""

Batches = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]
"""The function that Spark runs on the rows of a partition."""


def run_chunks(
    spark: SparkSession,
    lake: Lake,
    settings: Settings,
    steps: Steps,
    snapshot_id: str,
    pattern: str,
    smallest: int,
) -> None:
    """
    Compute the groups of a snapshot on Spark and write the tables of a step, or of both, to the lake.

    Args:
        spark: The session.
        lake: The lake; every worker opens it again.
        settings: The configuration.
        steps: A key of `pipeline.compute_steps.WORK`.
        snapshot_id: Id of the snapshot.
        pattern: Shell pattern of group ids; rows of other groups are kept.
        smallest: Smallest number of partitions and members for a chunk of its own.

    Raises:
        SnapshotNotFound: The lake doesn't have the snapshot, or the metrics that the step needs.
        EvenkeelError: An error of a worker that is not limited to a group.
    """

    def spread(sizes: Mapping[str, int], write: Write) -> list[Written]:
        return on_workers(spark, plan(spark, sizes, smallest), write)

    known = without_secrets(settings)
    run_steps(lake, known, steps, snapshot_id, pattern, spread, computed_by="spark")


def plan(spark: SparkSession, work: Mapping[str, int], smallest: int) -> list[Chunk]:
    """
    Split the groups of a snapshot into chunks for all tasks.

    Args:
        work: Work of each group, in listing order.
        smallest: As for `run_chunks`.
    """
    tasks = PER_TASK * int(spark.conf.get("spark.sql.shuffle.partitions") or 1)
    size = -(-sum(work.values()) // tasks)
    return cut(work, min(max(size, smallest), CHUNK))


class _Task:
    """The worker function for chunks."""

    def __init__(self, make: Make) -> None:
        self.make = make

    def __call__(self, batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        _settle()
        for batch in batches:
            for row in batch.to_pylist():
                made = problem = None
                try:
                    made = pickle.dumps(self.make(row["number"], row["groups"]))
                except EvenkeelError as error:
                    problem = pickle.dumps(error)
                finally:
                    gc.collect()
                yield pa.RecordBatch.from_pydict(
                    {"made": [made], "problem": [problem]},
                    schema=pa.schema({"made": pa.binary(), "problem": pa.binary()}),
                )


def _settle() -> None:
    """Every core has a worker of its own, so libraries use one thread."""
    pa.set_cpu_count(1)
    # Arrow's own pool gives memory back at once: getting it again was a third of what reading took
    pa.set_memory_pool(pa.system_memory_pool())
    collect_seldom()


def on_workers(spark: SparkSession, chunks: Sequence[Chunk], make: Make) -> list[Any]:
    """
    The results of all chunks; the largest ones start first.

    Args:
        make: Computes a chunk. It is pickled, so it must not contain secrets or large data.
    """
    if not chunks:
        return []
    turns = sorted(chunks, key=lambda chunk: (-chunk.work, chunk.number))
    rows = [
        {"turn": turn, "number": chunk.number, "groups": chunk.groups}
        for turn, chunk in enumerate(turns)
    ]
    frame = spark.createDataFrame(pa.Table.from_pylist(rows, PLAN))
    placed = frame.repartitionById(len(chunks), frame["turn"])
    results = placed.mapInArrow(carried(_Task(make), Place.named().for_workers), RESULT).toArrow()
    for problem in results["problem"].drop_null().to_pylist():
        raise pickle.loads(problem)
    return [pickle.loads(each) for each in results["made"].to_pylist()]


def carried(task: Batches, environ: Mapping[str, str]) -> Batches:
    """A task that sets the S3 environment of a worker before it opens the lake."""
    packed = cloudpickle.dumps(task)

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        os.environ.update(environ)
        yield from pickle.loads(packed)(batches)

    return work


def without_secrets(settings: Settings) -> Settings:
    """The part of the configuration that affects results, with the same version."""
    return settings.model_copy(
        update={"clusters": {}, "webhooks": {}} | dict.fromkeys(SECRET_KEYS, None)
    )
