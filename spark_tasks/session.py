"""
Where Spark runs, and how a session is made.

Without further settings Spark runs inside this process's machine, `local[*]`, with the Python that runs this. A real
cluster is named by `EVENKEEL_SPARK_MASTER` (`spark://host:7077`, `yarn`, `k8s://...`), the environment of its workers
by `EVENKEEL_SPARK_ARCHIVE` (`evenkeel pack`); everything else a cluster needs is Spark's own configuration
(`spark-defaults.conf`, `SPARK_CONF_DIR`), which this module leaves alone. `EVENKEEL_SPARK_REMOTE` names a Spark Connect
server instead, see `remote`. `README.md` says it all.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pyspark
from py4j.protocol import Py4JError
from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

import evenkeel
from evenkeel.engine import wiring
from evenkeel.engine.errors import ConfigError
from evenkeel.spark_tasks import cluster, memory, preflight, readiness, remote
from evenkeel.spark_tasks.cluster import MASTER

JAVA = ConfigError("Spark needs Java 17 or newer.", fix="Install one, or let JAVA_HOME name it.")

COMMON: Mapping[str, str] = {
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.sql.session.timeZone": "UTC",
    # no metastore: nothing of ours is a table, and Hive costs seconds
    "spark.sql.catalogImplementation": "in-memory",
    # a row is a whole group with its past: a batch is bounded by size, not by rows
    "spark.sql.execution.arrow.maxBytesPerBatch": str(64 << 20),
}


def local_options(scratch: Path, cores: int) -> dict[str, str]:
    """What a session on this machine gets beside `COMMON`; *scratch* takes all its files."""
    return {
        "spark.ui.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": (scratch / "warehouse").as_uri(),
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.default.parallelism": str(2 * cores),
        # one small shuffle of names: compiling and re-planning it costs more than it saves
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
        "spark.sql.adaptive.enabled": "false",
        # a process that lives for seconds: the optimising compiler and a concurrent collector cost
        # a third more processor time than they save
        "spark.driver.extraJavaOptions": " ".join(
            ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", f"-Djava.io.tmpdir={scratch}")
        ),
    }


@contextmanager
def session(name: str, lake: str | None = None) -> Iterator[SparkSession]:
    """
    A Spark session that is stopped at the end, its files removed; of a Spark Connect server where one is named.

    Args:
        name: The application's name, as Spark's own tools show it.
        lake: Where it reads and writes, else where the settings say; workers of a cluster or a server are asked
            first whether they can.

    Raises:
        ConfigError: There is no usable Java, or the cluster or server does not answer or lacks something.
        LakeError: Its workers cannot use the lake.
    """
    server = remote.server(os.environ)
    if server is None:
        with _started(name, lake) as spark:
            yield spark
    else:
        with remote.session(server, name, lake or wiring.settings().lake) as spark:
            yield spark


@contextmanager
def _started(name: str, lake: str | None) -> Iterator[SparkSession]:
    """A session whose Java is of this process."""
    where = master()
    with TemporaryDirectory(prefix="evenkeel-spark-", ignore_cleanup_errors=True) as folder:
        known = cluster.defaults(os.environ)
        options = dict(COMMON)
        memory.check(_memory(known))
        if cluster.is_local(where):
            options |= local_options(Path(folder), _cores(where))
            options |= memory.driver_options(_set_by_user(known), memory.machine_bytes())
            _use_this_python()
        else:
            cluster.check_master(where)
            options |= cluster.archive_options(os.environ)
            _use_their_python(known)
        spark = _start(where, name, options)
        try:
            if not cluster.is_local(where):
                _ask_cluster(spark, lake or wiring.settings().lake)
            yield spark
        finally:
            with suppress(Py4JError, OSError):  # of a Java that is gone
                spark.stop()


def master() -> str:
    """Where Spark runs."""
    return os.environ.get(MASTER, "local[*]")


def on_cluster() -> bool:
    """Whether Spark runs on a cluster whose application is ours: neither this machine nor a server."""
    return remote.server(os.environ) is None and not cluster.is_local(master())


def given_memory() -> str | None:
    """What Spark's Java on this machine is given, as Spark writes it; None where it is on a server."""
    if remote.server(os.environ) is not None:
        return None
    return _memory(cluster.defaults(os.environ))


def _memory(known: Mapping[str, str]) -> str:
    said = _set_by_user(known)
    if cluster.is_local(master()):
        said |= memory.driver_options(said, memory.machine_bytes())
    return said.get(memory.DRIVER, memory.USUAL)


def java_ended() -> int | None:
    """The code by which Spark's Java has ended; None while it runs, and before it does."""
    java = getattr(SparkContext._gateway, "proc", None)
    with suppress(subprocess.TimeoutExpired):
        return None if java is None else int(java.wait(1))
    return None


def _set_by_user(known: Mapping[str, str]) -> dict[str, str]:
    """The defaults, and beside them what `PYSPARK_SUBMIT_ARGS` says of memory."""
    words = os.environ.get("PYSPARK_SUBMIT_ARGS", "").replace("=", " ").split()
    said = dict(pairwise(words))
    found = said.get("--driver-memory") or said.get(memory.DRIVER)
    return dict(known) | ({memory.DRIVER: found} if found else {})


def _ask_cluster(spark: SparkSession, lake: str) -> None:
    """Which application a cluster's session is, and what its workers have, is said."""
    print(preflight.identity(spark), flush=True)
    print(preflight.preflight(spark, lake), flush=True)


def _cores(master: str) -> int:
    """Of `local`, `local[4]` and `local[*]`."""
    number = master.removeprefix("local").strip("[]").partition(",")[0]
    if number == "*":
        return (
            len(os.sched_getaffinity(0))
            if hasattr(os, "sched_getaffinity")
            else os.cpu_count() or 1
        )
    return int(number) if number.isdigit() else 1


def _use_this_python() -> None:
    """Workers are this interpreter with this code; another `python3` on the path lacks both."""
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    # as imported, links kept: the folder that has `evenkeel` in it, of a checkout or of site-packages
    root = str(Path(evenkeel.__file__).parents[1])
    path = [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p and p != root]
    os.environ["PYTHONPATH"] = os.pathsep.join([root, *path])


def _use_their_python(known: Mapping[str, str]) -> None:
    """Workers are the interpreter that the archive or the configuration names; the driver is this one."""
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    python = cluster.python_of_workers(os.environ, known)
    if python is not None:
        os.environ["PYSPARK_PYTHON"] = python


def _start(master: str, name: str, options: Mapping[str, str]) -> SparkSession:
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        raise JAVA
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in options.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as problem:
        raise memory.not_started(_memory(cluster.defaults(os.environ))) or JAVA from problem
    except Py4JError as problem:
        raise ConfigError(
            f"Spark does not start on {master}: {readiness.cause(problem)}.",
            fix=f"See the lines above; driver and cluster must run the same Spark, here {pyspark.__version__}.",
        ) from problem
