"""
Spark standalone on this machine: a master and two workers as processes, from the jars in pyspark.

The workers know nothing of this checkout: their `python3` is the bare interpreter that our environment was made with.
What the driver needs of them is in `environment`, for a step that is started as the DAG starts it.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pyspark

from tests.stage.process import Process, find_java, free_ports, spawn, stop, wait_until

HOME = Path(pyspark.__file__).parent
DEFAULTS = """\
spark.driver.host 127.0.0.1
spark.driver.bindAddress 127.0.0.1
spark.driver.memory 600m
spark.driver.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
spark.executor.memory 600m
spark.executor.extraJavaOptions -XX:TieredStopAtLevel=1 -XX:+UseSerialGC
spark.sql.shuffle.partitions 4
spark.ui.enabled false
spark.eventLog.enabled true
spark.eventLog.rolling.enabled false
spark.eventLog.compress false
spark.eventLog.dir file://{events}
spark.local.dir {scratch}
"""
_FROM_HERE = ("PYTHONPATH", "PYSPARK_PYTHON", "VIRTUAL_ENV")


@dataclass
class StandaloneCluster:
    """
    A running master with its workers.

    Attributes:
        folder: Everything that its processes write.
        url: The master's.
        page: Address of the master's page.
        workers: Those that run, by their order.
        started: How many were started; no two share a folder, for each removes what it does not know.
    """

    folder: Path
    url: str
    page: str
    workers: list[Process] = field(default_factory=list)
    started: int = 0

    @property
    def environment(self) -> dict[str, str]:
        """The variables that send a step of ours there."""
        return {
            "EVENKEEL_SPARK_MASTER": self.url,
            "SPARK_CONF_DIR": str(self.folder / "conf"),
            "SPARK_LOCAL_IP": "127.0.0.1",
        }

    def start_worker(self) -> Process:
        """Another worker of one core."""
        self.started += 1
        name = f"worker-{self.started}"
        words = ["--host", "127.0.0.1", "--cores", "1", "--memory", "1g", "--webui-port", "0"]
        words += ["--work-dir", str(self.folder / name), self.url]
        worker = self._spawn("worker.Worker", words, name)
        self.workers.append(worker)
        return worker

    def _spawn(self, kind: str, words: list[str], name: str) -> Process:
        argv = [str(HOME / "bin" / "spark-class"), f"org.apache.spark.deploy.{kind}", *words]
        java, _ = find_java()
        environment = {
            "SPARK_HOME": str(HOME),
            "SPARK_CONF_DIR": str(self.folder / "bare"),
            "SPARK_LOCAL_IP": "127.0.0.1",
            "SPARK_DAEMON_MEMORY": "200m",
            "SPARK_DAEMON_JAVA_OPTS": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
            # an application leaves its unpacked archive, a third of a gigabyte for each executor
            "SPARK_WORKER_OPTS": "-Dspark.worker.cleanup.enabled=true "
            "-Dspark.worker.cleanup.interval=20 -Dspark.worker.cleanup.appDataTtl=1",
            "SPARK_LOCAL_DIRS": str(self.folder / "scratch"),
            "JAVA_HOME": str(java.resolve().parents[1]),
            "PATH": f"{self.folder / 'bin'}:/usr/bin:/bin",
            **dict.fromkeys(_FROM_HERE, ""),
            **{name: "" for name in os.environ if name.startswith(("AWS_", "EVENKEEL_"))},
        }
        return spawn(argv, environment, self.folder / f"{name}.log", name)

    def state(self) -> dict[str, Any]:
        """What the master says of itself; empty while it does not."""
        with suppress(OSError, ValueError), urllib.request.urlopen(f"{self.page}/json/") as answer:
            return dict(json.load(answer))
        return {}

    def applications(self) -> set[str]:
        """Ids of all that the master has seen."""
        state = wait_until(self.state, 120, "the Spark master's page", interval=0.2)
        return {each["id"] for each in (*state["activeapps"], *state["completedapps"])}

    def await_workers(self, count: int) -> None:
        """Wait until so many are alive."""

        def alive() -> bool:
            workers = self.state().get("workers", ())
            return sum(each["state"] == "ALIVE" for each in workers) == count

        wait_until(alive, 120, f"{count} Spark workers", interval=0.2)

    def executor_at_work(self) -> Process | None:
        """A worker whose executor has Python for tasks of ours at this moment."""
        for worker in self.workers:
            with suppress(psutil.NoSuchProcess):
                below = psutil.Process(worker.pid).children(recursive=True)
                if any("pyspark.daemon" in " ".join(_words(each)) for each in below):
                    return worker
        return None

    def kill(self, worker: Process) -> None:
        """End a worker and all that runs below it, as a machine does that loses its power."""
        every = [psutil.Process(worker.pid)]
        every += every[0].children(recursive=True)
        for each in every:
            with suppress(psutil.NoSuchProcess):
                each.send_signal(signal.SIGKILL)
        self.workers.remove(worker)

    def events(self, application: str) -> list[dict[str, Any]]:
        """Spark's own record of an application that has ended."""
        log = self.folder / "events" / application
        return [json.loads(line) for line in log.read_text().splitlines()]

    def run(self, module: str, *words: str, **more: str) -> subprocess.CompletedProcess[str]:
        """Run a module of ours as a driver of this cluster, to its end."""
        return subprocess.run(
            [sys.executable, "-m", module, *words],
            env=self.driver_environment(more),
            capture_output=True,
            text=True,
            check=False,
        )

    def run_code(
        self, code: str, *words: str | Path, **more: str
    ) -> subprocess.CompletedProcess[str]:
        """Run a piece of code likewise; the last word is the folder that it runs in."""
        return subprocess.run(
            [sys.executable, "-c", code, *map(str, words[:-1])],
            cwd=words[-1],
            env=self.driver_environment(more),
            capture_output=True,
            text=True,
            check=False,
        )

    def start(self, module: str, *words: str, **more: str) -> subprocess.Popen[str]:
        """The same, without waiting for its end."""
        return subprocess.Popen(
            [sys.executable, "-m", module, *words],
            env=self.driver_environment(more),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def driver_environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """Of this process, without what the test run sets for others."""
        kept = {
            k: v
            for k, v in os.environ.items()
            if not k.startswith(("AWS_", "EVENKEEL_", "PYSPARK_"))
        }
        return {**kept, **self.environment, **more}


@contextmanager
def standalone_cluster(folder: Path, workers: int = 2) -> Iterator[StandaloneCluster]:
    """
    A master and its workers, ended at the end.

    Args:
        folder: Takes everything they write.
        workers: How many.
    """
    for name in ("conf", "bare", "bin", "events", "scratch"):
        (folder / name).mkdir(parents=True)
    options = DEFAULTS.format(events=folder / "events", scratch=folder / "scratch")
    (folder / "conf" / "spark-defaults.conf").write_text(options)
    (folder / "bin" / "python3").symlink_to(getattr(sys, "_base_executable", sys.executable))
    port, page = free_ports(2)
    cluster = StandaloneCluster(folder, f"spark://127.0.0.1:{port}", f"http://127.0.0.1:{page}")
    words = ["--host", "127.0.0.1", "--port", str(port), "--webui-port", str(page)]
    master = cluster._spawn("master.Master", words, "master")
    try:
        wait_until(lambda: cluster.state(), 120, "the Spark master", process=master, interval=0.2)
        for _ in range(workers):
            cluster.start_worker()
        cluster.await_workers(workers)
        yield cluster
    finally:
        for each in (*cluster.workers, master):
            stop(each)
        # pytest keeps the folders of three runs
        for place in (*folder.glob("worker-*"), folder / "scratch"):
            if place.is_dir():
                shutil.rmtree(place, ignore_errors=True)


def _words(process: psutil.Process) -> list[str]:
    with suppress(psutil.NoSuchProcess):
        return list(process.cmdline())
    return []
