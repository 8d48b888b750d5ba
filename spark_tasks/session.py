"""
Where Spark runs, and how a session is made.

Without further settings Spark runs inside this process's machine, `local[*]`, with the Python that runs this. A real
cluster is named by `EVENKEEL_SPARK_MASTER` (`spark://host:7077`, `yarn`, `k8s://...`); everything else a cluster needs
is Spark's own configuration (`spark-defaults.conf`, `SPARK_CONF_DIR`), which this module leaves alone.

A cluster's workers need the same environment, because the strategies run in them. Pack it once per release and name
it in `spark-defaults.conf`; Spark unpacks it beside every executor:

    python -m venv packed && packed/bin/pip install evenkeel venv-pack
    packed/bin/venv-pack -p packed -o evenkeel-environment.tar.gz

    spark.archives        s3a://bucket/evenkeel-environment.tar.gz#environment
    spark.pyspark.python  ./environment/bin/python

The lake must then be a path that driver and executors share. Results come back to the driver, which alone writes.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.errors import PySparkRuntimeError
from pyspark.sql import SparkSession

import evenkeel
from evenkeel.engine.errors import ConfigError

MASTER = "EVENKEEL_SPARK_MASTER"
"""Environment variable that names another master than this machine."""

JAVA = ConfigError("Spark needs Java 17 or newer.", fix="Install one, or let JAVA_HOME name it.")

COMMON: Mapping[str, str] = {
    "spark.ui.enabled": "false",
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
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": (scratch / "warehouse").as_uri(),
        "spark.sql.shuffle.partitions": str(2 * cores),
        "spark.default.parallelism": str(2 * cores),
        # a process that lives for seconds: the optimising compiler and a concurrent collector cost
        # a third more processor time than they save
        "spark.driver.extraJavaOptions": " ".join(
            ("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", f"-Djava.io.tmpdir={scratch}")
        ),
    }


@contextmanager
def session(name: str) -> Iterator[SparkSession]:
    """
    A Spark session that is stopped at the end, its files removed.

    Args:
        name: The application's name, as Spark's own tools show it.

    Raises:
        ConfigError: There is no usable Java.
    """
    master = os.environ.get(MASTER, "local[*]")
    with TemporaryDirectory(prefix="evenkeel-spark-", ignore_cleanup_errors=True) as folder:
        options = dict(COMMON)
        if master.startswith("local"):
            options |= local_options(Path(folder), _cores(master))
            _use_this_python()
        spark = _start(master, name, options)
        try:
            yield spark
        finally:
            spark.stop()


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


def _start(master: str, name: str, options: Mapping[str, str]) -> SparkSession:
    if not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        raise JAVA
    builder = SparkSession.builder.master(master).appName(name)
    for key, value in options.items():
        builder = builder.config(key, value)
    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as problem:
        raise JAVA from problem
