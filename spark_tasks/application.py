"""Information about an application on a Spark cluster: id, executors and completed work."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from evenkeel.engine.model.text import does, several


def stopped(spark: SparkSession) -> bool:
    """Whether the application has ended, by itself or by the master."""
    return bool(spark.sparkContext._jsc.sc().isStopped())


def executors(spark: SparkSession, *, ended: bool = False) -> list[Any]:
    """Spark's information about each active executor; with *ended*, also about removed ones."""
    store: Any = spark.sparkContext._jsc.sc().statusStore()
    known = store.executorList(not ended)
    every = [known.apply(place) for place in range(known.size())]
    return [one for one in every if one.id() != "driver"]


def identity(spark: SparkSession) -> str:
    """One line with the id and the URL of the application."""
    context = spark.sparkContext
    headline = (
        f"Spark application {context.applicationId} on {context.master}, Spark {context.version}"
    )
    history = context.getConf().get("spark.yarn.historyServer.address")
    links = [
        context.uiWebUrl,
        f"{history.rstrip('/')}/history/{context.applicationId}" if history else None,
    ]
    return ", ".join([headline, *(f"see {link}" for link in links if link)])


@contextmanager
def telling(spark: SparkSession) -> Iterator[None]:
    """Log one line about the work of the cluster."""
    before = _work(spark)
    yield
    work = _work(spark) - before
    tasks = f"{several(work['tasks'], 'task')} on {several(len(executors(spark, ended=True)), 'executor')}"
    more = [f"{work['failed']:,} failed and were tried again"] * bool(work["failed"])
    more += [f"{does(work['lost'], 'executor', 'was', 'were')} lost or given back"] * bool(
        work["lost"]
    )
    print(f"the cluster completed {'; '.join([tasks, *more])}", flush=True)


def _work(spark: SparkSession) -> Counter[str]:
    """Numbers of tasks, failed tasks and removed executors since the start of the application."""
    work: Counter[str] = Counter()
    for executor in executors(spark, ended=True):
        work["tasks"] += executor.totalTasks()
        work["failed"] += executor.failedTasks()
        work["lost"] += not executor.isActive()
    return work
