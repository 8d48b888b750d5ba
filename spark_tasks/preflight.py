"""
Before any work: do a cluster's workers have our Python, our code and the lake?

    python -m evenkeel.spark_tasks.preflight

Every executor is asked by a process of a second (`probe.PROBE`) that the JVM starts as Spark starts its Python workers.
It speaks no protocol of Spark's, so a worker without Python answers as well as one with another Python. What is wrong
is one line that names the thing and the fix; without this it is found out a minute and a half later, by a traceback.
"""

from __future__ import annotations

import os
import sys
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from evenkeel.engine.errors import ConfigError, EvenkeelError
from evenkeel.engine.text import does, one_line, several
from evenkeel.spark_tasks import cluster, probe, readiness

_SETTLED_SECONDS = 3.0
"""Executors come one after the other; when none came for so long, those that are there are asked."""

_ASK = 'cat > /dev/null; "$0" -c "$1" "$2" 2>&1 || echo "(exit code $?)"'


def preflight(spark: SparkSession, lake: str) -> readiness.ReadyCluster:
    """
    Ask every executor of a session.

    Args:
        lake: The lake's path or URI, as the settings have it.

    Raises:
        ConfigError: There is no executor, or one lacks Python or our code.
        LakeError: One cannot read or write the lake.
    """
    wait = readiness.patience()
    count = _executors(spark, wait)
    return readiness.ready(
        lake,
        _python(spark),
        lambda words: _answers(spark, count, words, wait),
        workers=several(count, "executor"),
    )


def _executors(spark: SparkSession, patience: float) -> int:
    """How many there are, once the first is there and no other comes for a while."""
    until, known, since = time.monotonic() + patience, 0, time.monotonic()
    while time.monotonic() < until and not stopped(spark):
        count = len(executors(spark))
        if count != known:
            known, since = count, time.monotonic()
        if known and time.monotonic() - since > _SETTLED_SECONDS:
            return known
        time.sleep(0.1)
    if known:
        return known
    master, application = spark.sparkContext.master, spark.sparkContext.applicationId
    raise ConfigError(
        f"{master} gave application {application} no executor within {patience:.0f} s.",
        fix="See the master's page: are there workers with free cores and memory? "
        f"{readiness.PATIENCE} says how long to wait.",
    )


def _answers(
    spark: SparkSession, count: int, question: str, patience: float
) -> list[readiness.Answer]:
    """The answers of at least as many tasks as there are executors, at most one for each free core."""
    context = spark.sparkContext
    # Spark hands out a round of tasks one executor after the other
    tasks = max(count, min(context.defaultParallelism, 4 * count))
    words = ["sh", "-c", _ASK, _python(spark), probe.PROBE, question]
    context_of_java: Any = context._jsc
    with _in_time(spark, patience):
        numbers = context_of_java.parallelize(list(range(tasks)), tasks)
        told = numbers.pipe(words, cluster.for_workers(os.environ)).glom().collect()
        parts = [[str(line) for line in part] for part in told]
    return [readiness.answer(part) for part in parts]


@contextmanager
def _in_time(spark: SparkSession, patience: float) -> Iterator[None]:
    """
    Cancel what runs when it takes too long.

    Raises:
        ConfigError: It did, or Spark could not run it.
    """
    context = spark.sparkContext
    with readiness.cancelled_after(patience, context.cancelAllJobs) as late:
        try:
            yield
        except Exception as problem:
            why = (
                f"did not answer within {patience:.0f} s"
                if late.is_set()
                else readiness.cause(problem)
            )
            raise ConfigError(
                f"the workers of {context.master} cannot be asked (application {context.applicationId}): {why}.",
                fix="See the application's page on the master.",
            ) from problem


def _python(spark: SparkSession) -> str:
    return str(spark.sparkContext.pythonExec)


# What the cluster is and did


def stopped(spark: SparkSession) -> bool:
    """Whether the application has ended, of itself or by the master."""
    return bool(spark.sparkContext._jsc.sc().isStopped())


def executors(spark: SparkSession, *, ended: bool = False) -> list[Any]:
    """What Spark knows of each executor that is there; with *ended*, also of those that are gone."""
    store: Any = spark.sparkContext._jsc.sc().statusStore()
    known = store.executorList(not ended)
    every = [known.apply(place) for place in range(known.size())]
    return [one for one in every if one.id() != "driver"]


def identity(spark: SparkSession) -> str:
    """One line that says which application this is, and where to look at it."""
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
    """Say after a step, in one line, what the cluster did for it."""
    before = _work(spark)
    yield
    work = _work(spark) - before
    tasks = f"{several(work['tasks'], 'task')} on {several(len(executors(spark, ended=True)), 'executor')}"
    more = [f"{work['failed']:,} failed and were tried again"] * bool(work["failed"])
    more += [f"{does(work['lost'], 'executor', 'was', 'were')} lost or given back"] * bool(
        work["lost"]
    )
    print(f"the cluster did {'; '.join([tasks, *more])}", flush=True)


def _work(spark: SparkSession) -> Counter[str]:
    """Tasks, those that failed, and executors that are gone, since the application began."""
    work: Counter[str] = Counter()
    for executor in executors(spark, ended=True):
        work["tasks"] += executor.totalTasks()
        work["failed"] += executor.failedTasks()
        work["lost"] += not executor.isActive()
    return work


def main() -> int:
    """Try the configured cluster and lake; prints what was found, or in one line what is wrong."""
    from evenkeel.engine import wiring
    from evenkeel.spark_tasks.session import session

    try:
        settings = wiring.settings()
        wiring.lake(settings)
        with session("evenkeel preflight", settings.lake):
            pass
    except EvenkeelError as problem:
        print(one_line(problem), file=sys.stderr, flush=True)
        return problem.exit_code
    return 0


if __name__ == "__main__":
    sys.exit(main())
