"""
Runs `probe.PROBE` on workers; `preflight` evaluates the results.

An executor of a cluster runs the probe in a process that the JVM starts like a Python worker, without Spark's protocol.
So a worker without Python, or with another version, also gives a result. Workers of a Spark Connect server run it in an
ordinary query, whose error shows the problem.
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
"""Environment variable: maximum seconds to wait for the first executor, and for its answer."""

PATIENCE_SECONDS = 90.0

PYTHON = "spark.sql.execution.pyspark.python"
"""Spark setting for the interpreter of the workers of a server."""

_SETTLED_SECONDS = 3.0
"""Seconds without a new executor after which the available ones are checked."""

_ASK = 'cat > /dev/null; "$0" -c "$1" "$2" 2>&1 || echo "(exit code $?)"'

_NOT_STARTED = re.compile(r'Cannot run program "([^"]+)".*?: (?:error=\d+, )?(.+)')
_NOT_PYTHON = re.compile(r"Error from python worker:\s*\n((?:[ \t]+\S.*\n)+)")
_OTHER_PYTHON = re.compile(r"in worker has different version: (\d+\.\d+) than")
_NOT_ANSWERED = re.compile(r'details = "(.*?)"$', re.MULTILINE)
_NO_MODULE = re.compile(r"ModuleNotFoundError: (.+)")


@dataclass(frozen=True)
class WorkerAnswer:
    """
    The answer of a worker.

    Attributes:
        report: Result of the probe, empty if Python could not start.
        last_line: Last line of other output.
    """

    report: dict[str, Any]
    last_line: str

    @classmethod
    def of(cls, lines: Sequence[str]) -> WorkerAnswer:
        """Parse the output of a probe."""
        mark = probe.MARK
        reports = [json.loads(line[len(mark) :]) for line in lines if line.startswith(mark)]
        others = [
            line.strip() for line in lines if line.strip() and not line.startswith("(exit code")
        ]
        return cls(reports[-1] if reports else {}, others[-1] if others else "no output")

    @property
    def host(self) -> str:
        """The host of the worker, if known."""
        return str(self.report.get("host", "unknown host"))


def await_executors(spark: SparkSession) -> int:
    """
    The number of executors, after the first one started and no other followed for some time.

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
        f"{master} started no executor for application {number} within {wait:.0f} s.",
        fix="Check the UI of the master for workers with free cores and memory. "
        f"{PATIENCE} sets the timeout.",
    )


def of_executors(
    where: Place, spark: SparkSession, count: int, question: str
) -> list[WorkerAnswer]:
    """
    The answers of at least as many tasks as executors, at most one per free core.

    Raises:
        ConfigError: The probe cannot run.
    """
    context = spark.sparkContext
    # Spark hands out a round of tasks one executor after the other
    tasks = max(count, min(context.defaultParallelism, 4 * count))
    words = ["sh", "-c", _ASK, str(context.pythonExec), probe.PROBE, question]
    context_of_java: Any = context._jsc
    who = f"{where} (application {context.applicationId})"
    with _in_time(who, context.cancelAllJobs, fix="See the page of the application on the master."):
        numbers = context_of_java.parallelize(list(range(tasks)), tasks)
        parts = numbers.pipe(words, where.for_workers).glom().collect()
    return [WorkerAnswer.of([str(line) for line in part]) for part in parts]


def of_server(where: Place, spark: Any, question: str) -> list[WorkerAnswer]:
    """
    The answers of all parallel workers of a server; an error of the query also counts as an answer.

    Raises:
        ConfigError: The probe cannot run, for an unknown reason.
    """
    assert where.server is not None
    # as many partitions as the server has cores
    query = spark.range(10_000).mapInArrow(
        asking(probe.PROBE, question, where.for_workers), "said string"
    )
    fix = f"See the log of the server; {PATIENCE} sets the timeout."
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
    """The server and the session."""
    return f"Spark Connect server {server}, session {spark.session_id}"


def asking(code: str, words: str, environ: Mapping[str, str]) -> Callable[..., Any]:
    """
    The function that runs a probe on a worker; it needs no code of evenkeel there.

    Args:
        code: Code for `python -c`.
        words: Its argument.
        environ: Variables that are added to the environment of the worker.
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
    """The answer of a worker that Spark could not start."""
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
    """Maximum seconds to wait for workers, and for their answers."""
    return float(os.environ.get(PATIENCE) or PATIENCE_SECONDS)


@contextmanager
def _in_time(who: str, cancel: Callable[[], object], fix: str) -> Iterator[threading.Event]:
    """
    Cancel a query after a timeout; the event is set then.

    Raises:
        ConfigError: The query timed out or failed.
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
    """The error as one line, from the JVM, the server or the connection."""
    details = _NOT_ANSWERED.search(str(problem))
    if details is not None:
        return details[1].rstrip(".")
    thrown: Any = getattr(problem, "java_exception", None)
    text = str(problem)
    with suppress(Exception):
        text = str(thrown.getMessage())
    return one_line(text.strip().split("\n")[0]).rstrip(".")
