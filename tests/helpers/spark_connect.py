"""A Spark Connect server on this machine, a process from the jars in pyspark, which asks for a token."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.helpers.spark_cluster import HOME
from tests.stage.process import Process, find_java, free_ports, spawn, stop, wait_until

TOKEN = "evenkeel-test-token"
OPTIONS = {
    "spark.master": "local[2]",
    "spark.driver.memory": "600m",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.sql.catalogImplementation": "in-memory",
    "spark.sql.shuffle.partitions": "4",
    "spark.connect.authenticate.token": TOKEN,
    "spark.ui.enabled": "false",
    # of an event that took more than a second Spark logs every property, the token among them
    "spark.scheduler.listenerbus.logSlowEvent": "false",
}
"""As in a file that only the server's owner reads: no option is on its command line."""


@dataclass(frozen=True)
class ConnectServer:
    """A running server."""

    port: int
    process: Process

    @property
    def address(self) -> str:
        """Without the token."""
        return f"sc://localhost:{self.port}"

    @property
    def url(self) -> str:
        """With it."""
        return f"{self.address}/;token={TOKEN}"

    @property
    def log(self) -> str:
        """What it has said so far."""
        return self.process.log_path.read_text(errors="replace")


@contextmanager
def connect_server(folder: Path, environ: Mapping[str, str]) -> Iterator[ConnectServer]:
    """
    A server, ended at the end.

    Args:
        folder: Takes everything that it writes.
        environ: What of the environment it has; its workers run our Python.
    """
    (port,), conf = free_ports(1), folder / "conf"
    conf.mkdir(parents=True)
    options = OPTIONS | {
        "spark.connect.grpc.binding.port": str(port),
        "spark.local.dir": str(folder / "scratch"),
        "spark.driver.defaultJavaOptions": f"-Djava.io.tmpdir={folder}",
    }
    text = "".join(f"{name} {value}\n" for name, value in options.items())
    (conf / "spark-defaults.conf").write_text(text)
    java, _ = find_java()
    words = ["--class", "org.apache.spark.sql.connect.service.SparkConnectServer", "spark-internal"]
    environment = {
        **{name: "" for name in os.environ if name.startswith(("AWS_", "EVENKEEL_"))},
        "SPARK_HOME": str(HOME),
        "SPARK_CONF_DIR": str(conf),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "JAVA_HOME": str(java.resolve().parents[1]),
        "PYSPARK_PYTHON": sys.executable,
        "PYTHONPATH": "",
        **environ,
    }
    process = spawn(
        [str(HOME / "bin" / "spark-submit"), *words],
        environment,
        folder / "server.log",
        "Spark Connect server",
    )
    server = ConnectServer(port, process)
    try:
        wait_until(
            lambda: "Spark Connect server started at" in server.log,
            300,
            "the Spark Connect server",
            process=process,
            interval=0.2,
        )
        yield server
    finally:
        stop(process)
