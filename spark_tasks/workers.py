"""
How workers are asked what they have, before any work (`probe.PROBE`); `preflight` judges what they say.

An executor of a cluster answers in a process that the JVM starts as Spark starts its Python workers: it speaks no
protocol of Spark's, so a worker without Python answers as well as one with another Python. Workers of a Spark Connect
server are asked by an ordinary query: what that fails with says what one lacks.
"""

from __future__ import annotations

import json
import os
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from evenkeel.engine.model.environment import python_version
from evenkeel.engine.model.errors import ConfigError
from evenkeel.engine.model.text import one_line
from evenkeel.spark_tasks import application, probe
from evenkeel.spark_tasks.spark_settings import Place, Server

PATIENCE = "EVENKEEL_SPARK_PATIENCE"
"""Environment variable: seconds that a cluster may take to give the first executor, and as many for it to answer."""

PATIENCE_SECONDS = 90.0

PYTHON = "spark.sql.execution.pyspark.python"
"""Spark's name for the interpreter of the workers of a server's session."""

_SETTLED_SECONDS = 3.0
"""Executors come one after the other; when none came for so long, those that are there are asked."""

_ASK = 'cat > /dev/null; "$0" -c "$1" "$2" 2>&1 || echo "(exit code $?)"'

_NOT_STARTED = re.compile(r'Cannot run program "([^"]+)".*?: (?:error=\d+, )?(.+)')
_NOT_PYTHON = re.compile(r"Error from python worker:\s*\n((?:[ \t]+\S.*\n)+)")
_OTHER_PYTHON = re.compile(r"in worker has different version: (\d+\.\d+) than")
_NOT_ANSWERED = re.compile(r'details = "(.*?)"$', re.MULTILINE)
_NO_MODULE = re.compile(r"ModuleNotFoundError: (.+)")


@dataclass(frozen=True)
class WorkerAnswer:
    """
    What one worker said.

    Attributes:
        report: What the probe found, empty where no Python of ours could start.
        last_line: What was printed beside it, its last line.
    """

    report: dict[str, Any]
    last_line: str

    @classmethod
    def of(cls, lines: Sequence[str]) -> WorkerAnswer:
        """Of the lines that the probe printed there."""
        mark = probe.MARK
        reports = [json.loads(line[len(mark) :]) for line in lines if line.startswith(mark)]
        others = [
            line.strip() for line in lines if line.strip() and not line.startswith("(exit code")
        ]
        return cls(reports[-1] if reports else {}, others[-1] if others else "it said nothing")

    @property
    def host(self) -> str:
        """Where it runs, as far as it is known."""
        return str(self.report.get("host", "unknown host"))


def await_executors(spark: SparkSession) -> int:
    """
    How many there are, once the first is there and no other comes for a while.

    Raises:
        ConfigError: There is none.
    """
    wait = patience()
    until, known, since = time.monotonic() + wait, 0, time.monotonic()
    while time.monotonic() < until and not application.stopped(spark):
        count = len(application.executors(spark))
        if count != known:
            known, since = count, time.monotonic()
        if known and time.monotonic() - since > _SETTLED_SECONDS:
            return known
        time.sleep(0.1)
    if known:
        return known
    master, number = spark.sparkContext.master, spark.sparkContext.applicationId
    raise ConfigError(
        f"{master} gave application {number} no executor within {wait:.0f} s.",
        fix="See the master's page: are there workers with free cores and memory? "
        f"{PATIENCE} says how long to wait.",
    )


def of_executors(
    where: Place, spark: SparkSession, count: int, question: str
) -> list[WorkerAnswer]:
    """
    The answers of at least as many tasks as there are executors, at most one for each free core.

    Raises:
        ConfigError: They cannot be asked.
    """
    context = spark.sparkContext
    # Spark hands out a round of tasks one executor after the other
    tasks = max(count, min(context.defaultParallelism, 4 * count))
    words = ["sh", "-c", _ASK, str(context.pythonExec), probe.PROBE, question]
    context_of_java: Any = context._jsc
    who = f"{where} (application {context.applicationId})"
    with _in_time(who, context.cancelAllJobs, fix="See the application's page on the master."):
        numbers = context_of_java.parallelize(list(range(tasks)), tasks)
        parts = numbers.pipe(words, where.for_workers).glom().collect()
    return [WorkerAnswer.of([str(line) for line in part]) for part in parts]


def of_server(where: Place, spark: Any, question: str) -> list[WorkerAnswer]:
    """
    What a server's workers say, as many as can work at once; what they cannot even be asked for is an answer, too.

    Raises:
        ConfigError: They cannot be asked, and it does not say why.
    """
    assert where.server is not None
    # as many partitions as the server has cores
    query = spark.range(10_000).mapInArrow(
        asking(probe.PROBE, question, where.for_workers), "said string"
    )
    fix = f"See the server's log; {PATIENCE} says how long to wait."
    with _in_time(of_session(where.server, spark), spark.interruptAll, fix=fix) as late:
        try:
            texts = query.toArrow()["said"].to_pylist()
        except PySparkException as problem:
            known = None if late.is_set() else _answer_of(where.server, str(problem))
            if known is None:
                raise
            return [known]
    return [WorkerAnswer.of(text.splitlines()) for text in texts]


def of_session(server: Server, spark: Any) -> str:
    """Which session of which server it is."""
    return f"Spark Connect server {server}, session {spark.session_id}"


def asking(code: str, words: str, environ: Mapping[str, str]) -> Callable[..., Any]:
    """
    What runs a probe on a worker; it is sent whole, so it needs nothing of ours there.

    Args:
        code: For `python -c`.
        words: Its argument.
        environ: Laid over the worker's environment.
    """

    def ask(batches: Iterator[Any]) -> Iterator[Any]:
        import os
        import subprocess
        import sys

        import pyarrow as pa

        for _ in batches:
            pass
        done = subprocess.run(
            [sys.executable, "-c", code, words],
            env={**os.environ, **environ},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        yield pa.RecordBatch.from_pydict({"said": [done.stdout]})

    return ask


def _answer_of(server: Server, problem: str) -> WorkerAnswer | None:
    """What a worker that Spark could not use would have said."""
    if no_program := _NOT_STARTED.search(problem):
        return WorkerAnswer({}, f"{no_program[1]}: {no_program[2].strip()}")
    if no_python := _NOT_PYTHON.search(problem):
        return WorkerAnswer({}, no_python[1].strip().splitlines()[-1].strip())
    known = {"host": str(server), "python": python_version()}
    if other := _OTHER_PYTHON.search(problem):
        return WorkerAnswer(known | {"python": other[1]}, "")
    if lacking := _NO_MODULE.search(problem):
        return WorkerAnswer(known | {"missing": lacking[1].strip()}, "")
    return None


def patience() -> float:
    """Seconds that workers may take to come, and as many to answer."""
    return float(os.environ.get(PATIENCE) or PATIENCE_SECONDS)


@contextmanager
def _in_time(who: str, cancel: Callable[[], object], fix: str) -> Iterator[threading.Event]:
    """
    Cancel a question that takes too long; the event says that it did.

    Raises:
        ConfigError: It did, or Spark could not put it.
    """
    late, wait = threading.Event(), patience()

    def end() -> None:
        late.set()
        cancel()

    timer = threading.Timer(wait, end)
    timer.start()
    try:
        yield late
    except Exception as problem:
        why = f"did not answer within {wait:.0f} s" if late.is_set() else cause(problem)
        raise ConfigError(f"the workers of {who} cannot be asked: {why}.", fix=fix) from problem
    finally:
        timer.cancel()


def cause(problem: Exception) -> str:
    """What happened, as one line of the JVM's, of the server's, or of the way to it."""
    details = _NOT_ANSWERED.search(str(problem))
    if details is not None:
        return details[1].rstrip(".")
    thrown: Any = getattr(problem, "java_exception", None)
    text = str(problem)
    with suppress(Exception):
        text = str(thrown.getMessage())
    return one_line(text.strip().split("\n")[0]).rstrip(".")
