"""
A long-lived Spark Connect server, which both steps use instead of starting Spark: no Java on this machine.

`EVENKEEL_SPARK_REMOTE=sc://host:port` names it. A step is a session of its own there, released at the end. What is on
the server's side (Java, memory, the workers' Python) is its owner's; before any work its workers are asked for what a
step needs, by an ordinary query. The URL may hold a token: nothing but host and port is ever said of it.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pyspark
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from evenkeel.engine.environment import python_version
from evenkeel.engine.errors import ConfigError
from evenkeel.spark_tasks import cluster, probe, readiness
from evenkeel.spark_tasks.cluster import ARCHIVE, MASTER
from evenkeel.spark_tasks.readiness import Answer

REMOTE = "EVENKEEL_SPARK_REMOTE"
"""Environment variable that names a Spark Connect server."""

PYTHON = "spark.sql.execution.pyspark.python"
"""Spark's name for the interpreter of a session's workers."""

RETRIES = 5
"""How often a call is repeated that the server does not answer: for a quarter of a minute, where Spark's own is ten."""

PACK = (
    "Start the server with the Python of an archive of `evenkeel pack` as its PYSPARK_PYTHON, "
    f"or let {ARCHIVE} name the archive."
)

_FORM = re.compile(
    r"sc://(\[[^\]]+\]|[^\s/:;@?#\[\]]+)(?::(\d{1,5}))?(?:/(?:;[^\s;=?#]+=[^\s;=?#]*)*)?"
)
_NOT_STARTED = re.compile(r'Cannot run program "([^"]+)".*?: (?:error=\d+, )?(.+)')
_NOT_PYTHON = re.compile(r"Error from python worker:\s*\n((?:[ \t]+\S.*\n)+)")
_OTHER_PYTHON = re.compile(r"in worker has different version: (\d+\.\d+) than")
_NOT_ANSWERED = re.compile(r'details = "(.*?)"$', re.MULTILINE)
_NO_MODULE = re.compile(r"ModuleNotFoundError: (.+)")


@dataclass(frozen=True)
class Server:
    """A Spark Connect server; as text it is the part of its URL that is no secret."""

    url: str = field(repr=False)
    host: str
    port: int

    def __str__(self) -> str:
        """Without the URL's parameters, which may hold a token."""
        return f"sc://{self.host}:{self.port}"


def server(environ: Mapping[str, str]) -> Server | None:
    """
    The server that is named, None where none is.

    Raises:
        ConfigError: It is no URL of a server, or a master is named beside it.
    """
    url = environ.get(REMOTE)
    if not url:
        return None
    if environ.get(MASTER):
        raise ConfigError(
            f"{REMOTE} and {MASTER} are both set.",
            fix="Unset one: Spark runs either on a Connect server or on a master.",
        )
    parts = _FORM.fullmatch(url)
    if parts is None or int(parts[2] or 0) > 65535:
        raise ConfigError(
            f"{REMOTE} is no URL of a Spark Connect server.",
            fix="Use sc://host:port, or sc://host:port/;use_ssl=true;token=... (in values, = is written %3D).",
        )
    return Server(url, parts[1], int(parts[2] or 15002))


def for_workers(environ: Mapping[str, str]) -> dict[str, str]:
    """
    What travels with a task: no credentials.

    A server writes all of a query into its log that it has not heard the end of when the session ends.
    """
    return cluster.for_workers(environ, credentials=server(environ) is None)


@contextmanager
def session(of: Server, name: str, lake: str) -> Iterator[SparkSession]:
    """
    A session of a server that can work for us, released at the end.

    Args:
        of: The server.
        name: By which its pages show what the session runs.
        lake: Where it reads and writes.

    Raises:
        ConfigError: The server does not answer, is of another version, lacks something, or is lost in between.
        LakeError: Its workers cannot use the lake.
    """
    # else its library tells standard error of every try
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    from pyspark.errors.exceptions.connect import SparkConnectGrpcException

    problem = cluster.unreachable(of.host.strip("[]"), of.port)
    if problem is not None:
        raise ConfigError(
            f"no Spark Connect server answers at {of} ({problem}).",
            fix=f"Start it, or correct {REMOTE}.",
        )
    spark: Any = _connected(of)
    try:
        check_version(of, spark.version)
        spark.addTag(name)
        print(f"{_of_session(of, spark)}, Spark {spark.version}", flush=True)
        _send_archive(spark)
        print(ask_workers(of, spark, lake), flush=True)
        yield spark
    except SparkConnectGrpcException as problem:
        if not is_lost(problem):
            raise
        spark.release_session_on_close = False
        raise ConfigError(
            f"{_of_session(of, spark)} is lost: {cause(problem)}.",
            fix="Repeat the step once the server is there again.",
        ) from problem
    finally:
        spark.stop()


def is_lost(problem: Any) -> bool:
    """Whether a server no longer answers, or no longer knows the session."""
    code = problem.getGrpcStatusCode()
    gone = (problem.getCondition() or "").startswith("INVALID_HANDLE")
    return gone or (code is not None and code.name == "UNAVAILABLE")


def _of_session(of: Server, spark: Any) -> str:
    return f"Spark Connect server {of}, session {spark.session_id}"


def _connected(of: Server) -> Any:
    """
    A session whose server has answered.

    Not by `pyspark.sql.SparkSession`, which would make every later session of this process one of a server.
    """
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession as Session

    spark: Any = Session.builder.remote(of.url).create()
    spark.client.set_retry_policies([DefaultPolicy(max_retries=RETRIES)])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _ = spark.version
    except PySparkException as problem:
        spark.release_session_on_close = False
        spark.stop()
        raise ConfigError(
            f"the Spark Connect server {of} refuses: {cause(problem)}.",
            fix=f"Correct {REMOTE}: is it a Connect server, and are use_ssl and token as it wants them?",
        ) from problem
    return spark


def check_version(of: Server, theirs: str) -> None:
    """
    Raises:
        ConfigError: The server's Spark is of another minor version than ours.
    """
    ours = pyspark.__version__
    if _minor(theirs) != _minor(ours):
        raise ConfigError(
            f"the Spark Connect server {of} runs Spark {theirs}, this process {ours}; "
            "they must be of the same minor version.",
            fix=f"Start a server of Spark {_minor(ours)}.",
        )


def cause(problem: PySparkException) -> str:
    """What happened, as one line of the server's, or of the way to it."""
    details = _NOT_ANSWERED.search(str(problem))
    return readiness.cause(problem) if details is None else details[1].rstrip(".")


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _send_archive(spark: Any) -> None:
    """Give the session's workers the environment of the archive, where one is named."""
    archive = cluster.archive(os.environ)
    if archive is None:
        return
    if "://" in archive:
        raise ConfigError(
            f"{ARCHIVE} is a URI, and a Spark Connect server is sent a file of this machine.",
            fix="Name a file, or unpack the archive where the server's workers run.",
        )
    spark.addArtifacts(f"{os.path.abspath(archive)}#environment", archive=True)
    spark.conf.set(PYTHON, cluster.PACKED_PYTHON)


def ask_workers(of: Server, spark: Any, lake: str) -> readiness.ReadyCluster:
    """
    Ask the server's workers, as many as can work at once, as `preflight.preflight` asks those of a cluster.

    Raises:
        ConfigError: One lacks Python or our code, or none answers.
        LakeError: One cannot read or write the lake.
    """
    python = spark.conf.get(PYTHON, "") or "the server's PYSPARK_PYTHON says"
    return readiness.ready(lake, python, lambda words: _answers(of, spark, words), pack=PACK)


def _answers(of: Server, spark: Any, words: str) -> list[Answer]:
    """What they say; that they cannot even be asked is an answer, where it says what is wrong."""
    patience = readiness.patience()
    # as many partitions as the server has cores
    question = spark.range(10_000).mapInArrow(
        asking(probe.PROBE, words, for_workers(os.environ)), "said string"
    )
    with readiness.cancelled_after(patience, spark.interruptAll) as late:
        try:
            lines = question.toArrow()["said"].to_pylist()
        except PySparkException as problem:
            known = None if late.is_set() else _answer_of(of, str(problem))
            if known is not None:
                return [known]
            why = f"did not answer within {patience:.0f} s" if late.is_set() else cause(problem)
            raise ConfigError(
                f"the workers of {_of_session(of, spark)} cannot be asked: {why}.",
                fix=f"See the server's log; {readiness.PATIENCE} says how long to wait.",
            ) from problem
    return [readiness.answer(each.splitlines()) for each in lines]


def _answer_of(of: Server, problem: str) -> Answer | None:
    """What a worker that Spark could not use would have said."""
    if no_program := _NOT_STARTED.search(problem):
        return Answer({}, f"{no_program[1]}: {no_program[2].strip()}")
    if no_python := _NOT_PYTHON.search(problem):
        return Answer({}, no_python[1].strip().splitlines()[-1].strip())
    known = {"host": str(of), "python": python_version()}
    if other := _OTHER_PYTHON.search(problem):
        return Answer(known | {"python": other[1]}, "")
    if lacking := _NO_MODULE.search(problem):
        return Answer(known | {"missing": lacking[1].strip()}, "")
    return None


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
