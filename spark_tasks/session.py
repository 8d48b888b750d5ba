"""
Creates a Spark session: on this machine, on a cluster, or on a Spark Connect server (`spark_settings`).

Without further settings it is this machine, `local[*]`, with the Python that runs this. Everything that a cluster needs
beside our environment is Spark's own configuration (`spark-defaults.conf`, `SPARK_CONF_DIR`), which this module leaves
alone. docs/how-to/run-spark-on-a-cluster.md has the rest.
"""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyspark
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkException, PySparkRuntimeError
from pyspark.sql import SparkSession

import evenkeel
from evenkeel.engine import wiring
from evenkeel.engine.model.errors import ConfigError
from evenkeel.spark_tasks import application, memory, preflight, workers
from evenkeel.spark_tasks.spark_settings import CLASSES, PACKED_PYTHON, REMOTE, Place, Server

COMMON: Mapping[str, str] = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    # no metastore: nothing of ours is a table, and Hive costs seconds
    "spark.sql.catalogImplementation": "in-memory",
    # a row is a whole group with its past: a batch is bounded by size, not by rows
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
}

RETRIES = 5
"""Retries of a call to a server: about 15 seconds instead of Spark's ten minutes."""


def local_options(scratch: Path, java: Sequence[str] | None = None) -> dict[str, str]:
    """
    Additional options of a local session.

    Args:
        scratch: The folder of its files.
        java: Options of Java; by default those that use the archive of classes, if there is one.
    """
    if java is None:
        # one that does not fit is no news
        java = [f"-XX:SharedArchiveFile={CLASSES}", "-Xlog:cds*=off"] * CLASSES.exists()
    return {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": (scratch / "warehouse").as_uri(),
        # one small shuffle of names: compiling and re-planning it costs more than it saves
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        # a process that lives for seconds: the optimizing compiler and a concurrent collector cost
        # a third more processor time than they save
        "spark.driver.extraJavaOptions": " ".join(
            ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", f"-Djava.io.tmpdir={scratch}", *java)
        ),
    }


@contextmanager
def session(
    name: str, lake: str | None = None, *, java: Sequence[str] | None = None
) -> Iterator[SparkSession]:
    """
    A Spark session that is stopped at the end; its files are removed.

    Args:
        name: Name of the application.
        lake: Path or URI of the lake, by default the configured one; access of workers is checked first.
        java: As for `local_options`.

    Raises:
        ConfigError: There is no usable Java, or the cluster or server doesn't answer or cannot run evenkeel.
        LakeError: Workers cannot use the lake.
    """
    where = Place.named()
    preflight.before(where)
    with TemporaryDirectory(prefix="evenkeel-spark-", ignore_cleanup_errors=True) as folder:
        spark = (
            _started(where, name, Path(folder), java)
            if where.server is None
            else _joined(where, name)
        )
        lost = nullcontext() if where.server is None else _told_when_lost(where.server, spark)
        try:
            with lost:
                if not where.is_local:
                    _ask(where, spark, lake or wiring.settings().lake)
                yield spark
        finally:
            with suppress(Py4JError, OSError):  # of a Java that is gone
                spark.stop()


def _ask(where: Place, spark: Any, lake: str) -> None:
    """Log the application or session, and the environment of its workers."""
    if where.server is None:
        print(application.identity(spark), flush=True)
    else:
        preflight.check_version(where.server, spark.version)
        print(f"{workers.of_session(where.server, spark)}, Spark {spark.version}", flush=True)
        if where.archive is not None:
            spark.addArtifacts(f"{os.path.abspath(where.archive)}#environment", archive=True)
            spark.conf.set(workers.PYTHON, PACKED_PYTHON)
    print(preflight.ask(where, spark, lake), flush=True)


# On this machine, or from it


def _started(where: Place, name: str, scratch: Path, java: Sequence[str] | None) -> SparkSession:
    """A session with a Java process of its own."""
    options = COMMON | where.memory_options
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    if where.is_local:
        options |= local_options(scratch, java)
        _use_this_python()
    else:
        options |= where.archive_options
        if where.python is not None:
            os.environ["PYSPARK_PYTHON"] = where.python
    builder = SparkSession.builder.master(where.master).appName(name)
    for key, value in options.items():
        builder = builder.config(key, value)
    try:
        spark = builder.getOrCreate()
    except PySparkRuntimeError as problem:
        raise memory.not_started(where.memory or memory.USUAL) or preflight.JAVA from problem
    except Py4JError as problem:
        raise ConfigError(
            f"Spark does not start on {where}: {workers.cause(problem)}.",
            fix=f"See the lines above; driver and cluster must run the same Spark, here {pyspark.__version__}.",
        ) from problem
    if where.is_local:
        # by which chunks are cut; Spark's own is 200 on the smallest machine
        cores = spark.sparkContext.defaultParallelism
        spark.conf.set("spark.sql.shuffle.partitions", str(2 * cores))
    return spark


def _use_this_python() -> None:
    """Workers use this interpreter and this code, not another `python3` on the path."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # as imported, links kept: the folder that has `evenkeel` in it, of a checkout or of site-packages
    root = str(Path(evenkeel.__file__).parents[1])
    path = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and p != root]
    os.environ["PYTHONPATH"] = os.pathsep.join([root, *path])


def java_ended() -> int | None:
    """Exit code of Spark's Java process; None while it runs and before it starts."""
    java = getattr(SparkContext._gateway, "proc", None)
    with suppress(subprocess.TimeoutExpired):
        return None if java is None else int(java.wait(1))
    return None


# On a server


def _joined(where: Place, name: str) -> Any:
    """
    A session of a server that has answered; its UI shows jobs by *name*.

    It doesn't use `pyspark.sql.SparkSession`, which would turn every later session of this process into one of a
    server.
    """
    # else its library tells standard error of every try
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    from pyspark.sql.connect.client.retries import DefaultPolicy
    from pyspark.sql.connect.session import SparkSession as Session

    assert where.server is not None
    spark: Any = Session.builder.remote(where.server.url).create()
    spark.client.set_retry_policies([DefaultPolicy(max_retries=RETRIES)])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            _ = spark.version
    except PySparkException as problem:
        spark.release_session_on_close = False
        spark.stop()
        raise ConfigError(
            f"the Spark Connect server {where} refuses: {workers.cause(problem)}.",
            fix=f"Check {REMOTE}: the address of the Connect server, use_ssl and token.",
        ) from problem
    spark.addTag(name)
    return spark


@contextmanager
def _told_when_lost(server: Server, spark: Any) -> Iterator[None]:
    """Turn a lost server into a one-line error."""
    from pyspark.errors.exceptions.connect import SparkConnectGrpcException

    try:
        yield
    except SparkConnectGrpcException as problem:
        if not is_lost(problem):
            raise
        spark.release_session_on_close = False
        raise ConfigError(
            f"{workers.of_session(server, spark)} does not answer any more: {workers.cause(problem)}.",
            fix="Repeat the step when the server is available again.",
        ) from problem


def is_lost(problem: Any) -> bool:
    """Whether a server doesn't answer, or lost the session."""
    code = problem.getGrpcStatusCode()
    gone = (problem.getCondition() or "").startswith("INVALID_HANDLE")
    return gone or (code is not None and code.name == "UNAVAILABLE")
