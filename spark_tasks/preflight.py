"""
Before any work: do a cluster's workers have our Python, our code and the lake?

    python -m evenkeel.spark_tasks.preflight

Every executor is asked by a process of a second (`probe.PROBE`) that the JVM starts as Spark starts its Python workers.
It speaks no protocol of Spark's, so a worker without Python answers as well as one with another Python. What is wrong
is one line that names the thing and the fix; without this it is found out a minute and a half later, by a traceback.
"""

from __future__ import annotations

import json
import os
import secrets
import sys
import threading
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from pyspark.sql import SparkSession

from evenkeel.engine.environment import Environment, this_environment
from evenkeel.engine.errors import ConfigError, EvenkeelError, LakeError
from evenkeel.engine.text import does, one_line, several
from evenkeel.spark_tasks import cluster, probe

PATIENCE = "EVENKEEL_SPARK_PATIENCE"
"""Environment variable: seconds that a cluster may take to give the first executor, and as many for it to answer."""

PATIENCE_SECONDS = 90.0

_SETTLED_SECONDS = 3.0
"""Executors come one after the other; when none came for so long, those that are there are asked."""

_ASK = 'cat > /dev/null; "$0" -c "$1" "$2" 2>&1 || echo "(exit code $?)"'

PACK = f"Make an archive with `evenkeel pack` and let {cluster.ARCHIVE} name it."
PACK_AGAIN = "Make the archive anew with `evenkeel pack`."


@dataclass(frozen=True)
class Answer:
    """
    What one executor said.

    Attributes:
        report: What the probe found, empty where no Python of ours could start.
        last_line: What was printed beside it, its last line.
    """

    report: dict[str, Any]
    last_line: str

    @property
    def host(self) -> str:
        """Where it runs, as far as it is known."""
        return str(self.report.get("host", "unknown host"))


@dataclass(frozen=True)
class ReadyCluster:
    """A cluster that can work for us: how many executors on how many hosts, and what they have in common."""

    executors: int
    hosts: int
    environment: Environment
    lake: str
    seconds: float

    def __str__(self) -> str:
        """One line for a log."""
        have = f"Python {self.environment.python}, evenkeel {self.environment.version} ({self.environment.source})"
        asked = f"{several(self.executors, 'executor')} on {several(self.hosts, 'host')}"
        return (
            f"{asked} have {have}; lake {self.lake} is read and written "
            f"by them ({self.seconds:.1f} s)"
        )


def preflight(spark: SparkSession, lake: str) -> ReadyCluster:
    """
    Ask every executor of a session.

    Args:
        lake: The lake's path or URI, as the settings have it.

    Raises:
        ConfigError: There is no executor, or one lacks Python or our code.
        LakeError: One cannot read or write the lake.
    """
    began, token = time.monotonic(), secrets.token_hex(6)
    patience = float(os.environ.get(PATIENCE) or PATIENCE_SECONDS)
    count = _executors(spark, patience)
    probe.leave(lake, token)
    try:
        answers = _answers(spark, count, lake, token, patience)
    finally:
        arrived = probe.collect(lake, token)
    problem = verdict(answers, arrived, lake, this_environment(), _python(spark))
    if problem is not None:
        raise problem
    hosts = {answer.host for answer in answers}
    return ReadyCluster(count, len(hosts), this_environment(), lake, time.monotonic() - began)


def verdict(
    answers: Sequence[Answer], arrived: Collection[str], lake: str, here: Environment, python: str
) -> EvenkeelError | None:
    """
    What is wrong with some workers, the cause before what follows from it; None where all is well.

    Args:
        answers: Of the executors.
        arrived: Names of the files that the driver found in the lake afterwards.
        lake: Its path or URI.
        here: What the driver has.
        python: The interpreter that the workers were to use.
    """
    for answer in answers:
        problem = _of_environment(answer, here, python)
        if problem is not None:
            return problem
    for answer in answers:
        problem = _of_lake(answer, arrived, lake)
        if problem is not None:
            return problem
    return None


def _of_environment(answer: Answer, here: Environment, python: str) -> ConfigError | None:
    """What of interpreter and code one lacks."""
    report, worker = answer.report, f"a Spark worker ({answer.host})"
    if not report:
        return ConfigError(
            f"Spark's workers cannot start Python as {python}: {answer.last_line}.".replace(
                "..", "."
            ),
            fix=PACK,
        )
    if report["python"] != here.python:
        return ConfigError(
            f"{worker} runs Python {report['python']}, this process {here.python}; they must be the same.",
            fix=f"Install Python {here.python} there, or run this with {report['python']}, and pack again.",
        )
    if "missing" in report:
        return ConfigError(f"{worker} lacks a module: {report['missing']}.", fix=PACK)
    if report["source"] != here.source:
        return ConfigError(
            f"{worker} has another evenkeel, {report['version']} ({report['source']}), than this process, "
            f"{here.version} ({here.source}).",
            fix=PACK_AGAIN,
        )
    return None


def _of_lake(answer: Answer, arrived: Collection[str], lake: str) -> LakeError | None:
    """What of the lake one cannot reach."""
    tried, worker = answer.report["lake"], f"a Spark worker ({answer.host})"
    fix = "Name a lake that workers and this process share: a mounted path, or s3://."
    if "read_problem" in tried:
        why = tried["read_problem"]
        return LakeError(f"{worker} cannot read lake {lake} as this process does: {why}.", fix=fix)
    if "write_problem" in tried:
        return LakeError(f"{worker} cannot write lake {lake}: {tried['write_problem']}.", fix=fix)
    if tried["wrote"] not in arrived:
        return LakeError(f"what {worker} writes to lake {lake} is not seen here.", fix=fix)
    return None


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
        fix=f"See the master's page: are there workers with free cores and memory? {PATIENCE} says how long to wait.",
    )


def _answers(
    spark: SparkSession, count: int, lake: str, token: str, patience: float
) -> list[Answer]:
    """The answers of at least as many tasks as there are executors, at most one for each free core."""
    context = spark.sparkContext
    # Spark hands out a round of tasks one executor after the other
    tasks = max(count, min(context.defaultParallelism, 4 * count))
    asked = json.dumps(
        {"python": this_environment().python, "lake": _absolute(lake), "token": token}
    )
    words = ["sh", "-c", _ASK, _python(spark), probe.PROBE, asked]
    context_of_java: Any = context._jsc
    with _in_time(spark, patience):
        numbers = context_of_java.parallelize(list(range(tasks)), tasks)
        told = numbers.pipe(words, dict(context.environment)).glom().collect()
        parts = [[str(line) for line in part] for part in told]
    return [_answer(part) for part in parts]


def _absolute(lake: str) -> str:
    """A path that means the same in another folder."""
    return lake if "://" in lake else os.path.abspath(lake)


def _answer(lines: Sequence[str]) -> Answer:
    told = [json.loads(line[len(probe.MARK) :]) for line in lines if line.startswith(probe.MARK)]
    said = [line.strip() for line in lines if line.strip() and not line.startswith("(exit code")]
    return Answer(told[-1] if told else {}, said[-1] if said else "it said nothing")


@contextmanager
def _in_time(spark: SparkSession, patience: float) -> Iterator[None]:
    """
    Cancel what runs when it takes too long.

    Raises:
        ConfigError: It did, or Spark could not run it.
    """
    context, late = spark.sparkContext, threading.Event()

    def cancel() -> None:
        late.set()
        context.cancelAllJobs()

    timer = threading.Timer(patience, cancel)
    timer.start()
    try:
        yield
    except Exception as problem:
        why = f"did not answer within {patience:.0f} s" if late.is_set() else cause(problem)
        raise ConfigError(
            f"the workers of {context.master} cannot be asked (application {context.applicationId}): {why}.",
            fix="See the application's page on the master.",
        ) from problem
    finally:
        timer.cancel()


def cause(problem: Exception) -> str:
    """The line of a JVM's failure that says what happened."""
    thrown: Any = getattr(problem, "java_exception", None)
    text = str(problem)
    with suppress(Exception):
        text = str(thrown.getMessage())
    return one_line(text.split("\n")[0]).rstrip(".")


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


def work(spark: SparkSession) -> str:
    """One line that says what the cluster did."""
    every = executors(spark, ended=True)
    tasks, failed = sum(one.totalTasks() for one in every), sum(one.failedTasks() for one in every)
    lost = sum(not one.isActive() for one in every)
    said = f"{several(tasks, 'task')} on {several(len(every), 'executor')}"
    more = [f"{failed:,} failed and were tried again"] * bool(failed)
    more += [f"{does(lost, 'executor', 'was', 'were')} lost or given back"] * bool(lost)
    return f"the cluster did {'; '.join([said, *more])}"


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
