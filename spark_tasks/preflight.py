"""
Checks of Spark before work starts. An error is one line with the cause and the fix.

    python -m evenkeel.spark_tasks.preflight

Before a session: does the master or server answer, do the archive and Java exist, is there enough memory? Before any
work: do the workers have the same Python, the same code and access to the lake?
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import socket
import sys
import time
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import pyspark

from evenkeel.engine.model.environment import Environment, this_environment
from evenkeel.engine.model.errors import ConfigError, EvenkeelError, LakeError
from evenkeel.engine.model.text import one_line, several
from evenkeel.spark_tasks import memory, probe, workers
from evenkeel.spark_tasks.spark_settings import ARCHIVE, MASTER, REMOTE, Place, Server
from evenkeel.spark_tasks.workers import WorkerAnswer

JAVA = ConfigError("Spark needs Java 17 or newer.", fix="Install it, or set JAVA_HOME to it.")

PACK = f"Create an archive with `evenkeel admin pack` and set {ARCHIVE} to its path."
PACK_FOR_SERVER = (
    "Start the server with PYSPARK_PYTHON set to the Python of an archive of `evenkeel admin pack`, "
    f"or set {ARCHIVE} to the path of the archive."
)
PACK_AGAIN = "Create the archive again with `evenkeel admin pack`."


# Before a session is made


def before(where: Place) -> None:
    """
    Check that a session can be created.

    Raises:
        ConfigError: It cannot.
    """
    if where.server is not None:
        _check_server(where.server)
    else:
        memory.check(where.memory or memory.USUAL)
        if where.is_cluster:
            check_master(where.master)
    if not where.is_local:
        check_archive(where)
    if where.server is None and not (os.environ.get("JAVA_HOME") or shutil.which("java")):
        raise JAVA


def _check_server(server: Server) -> None:
    problem = _unreachable(server.host.strip("[]"), server.port)
    if problem is not None:
        raise ConfigError(
            f"no Spark Connect server answers at {server} ({problem}).",
            fix=f"Start it, or correct {REMOTE}.",
        )


def check_master(master: str) -> None:
    """
    Check that a Spark master answers.

    Args:
        master: `spark://host:port[,host:port]`, `k8s://...`, `yarn` ...

    Raises:
        ConfigError: It doesn't answer.
    """
    if master == "yarn":
        if not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
            raise ConfigError(
                "Spark cannot find YARN.",
                fix="Set HADOOP_CONF_DIR to the folder of its configuration.",
            )
        return
    refused = []
    for host, port in _addresses(master):
        problem = _unreachable(host, port)
        if problem is None:
            return
        refused.append(f"{host}:{port}: {problem}")
    raise ConfigError(
        f"no Spark master answers at {master} ({'; '.join(refused)}).",
        fix=f"Start it, or correct {MASTER}.",
    )


def _addresses(master: str) -> list[tuple[str, int]]:
    """Addresses of a master."""
    match = re.fullmatch(r"(spark|k8s)://(?:https?://)?([^/]+)/?.*", master)
    if match is None:
        raise ConfigError(
            f"{MASTER} is {master!r}, which is not a Spark master.",
            fix="Use spark://host:7077, yarn, k8s://https://host:port or local[*].",
        )
    addresses = []
    for address in match[2].split(","):
        host, _, port = address.rpartition(":")
        if host and port.isdigit():
            addresses.append((host.strip("[]"), int(port)))
        else:
            addresses.append((address, 443 if match[1] == "k8s" else 7077))
    return addresses


def _unreachable(host: str, port: int) -> str | None:
    """The error of a connection to a port, with a timeout of five seconds; None on success."""
    try:
        socket.create_connection((host, port), 5).close()
    except OSError as problem:
        return problem.strerror or str(problem)
    return None


def check_archive(where: Place) -> None:
    """
    Check the archive of the workers' environment, if one is configured.

    Raises:
        ConfigError: It cannot be used.
    """
    if where.archive is None:
        return
    if "://" in where.archive:
        if where.server is not None:
            raise ConfigError(
                f"{ARCHIVE} is a URI, but a Spark Connect server needs a file of this machine.",
                fix="Set it to a file, or unpack the archive on the machines of the server's workers.",
            )
    elif not Path(where.archive).is_file():
        raise ConfigError(
            f"{ARCHIVE} is {where.archive}, which does not exist.",
            fix="Create it with `evenkeel admin pack`.",
        )


# Before any work


def check_version(server: Server, theirs: str) -> None:
    """
    Raises:
        ConfigError: The server has another minor version of Spark.
    """
    ours = pyspark.__version__
    if _minor(theirs) != _minor(ours):
        raise ConfigError(
            f"the Spark Connect server {server} runs Spark {theirs}, this process {ours}; "
            "both need the same minor version.",
            fix=f"Start a server of Spark {_minor(ours)}.",
        )


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def ask(where: Place, spark: Any, lake: str) -> str:
    """
    Check every executor of a cluster, or all parallel workers of a server.

    Args:
        where: The cluster or the server.
        spark: A session there.
        lake: Path or URI of the configured lake.

    Returns:
        One line for the log: number of workers and hosts, and their versions.

    Raises:
        ConfigError: There is no worker, or one has no usable Python or code.
        LakeError: A worker cannot read or write the lake.
    """
    began, token, here = time.monotonic(), secrets.token_hex(6), this_environment()
    executors = workers.await_executors(spark) if where.server is None else 0
    # a path that means the same in another folder
    place = lake if "://" in lake else os.path.abspath(lake)
    question = json.dumps({"python": here.python, "lake": place, "token": token})
    probe.leave(lake, token)
    try:
        if where.server is None:
            answers = workers.of_executors(where, spark, executors, question)
            who, python, pack = several(executors, "executor"), spark.sparkContext.pythonExec, PACK
        else:
            answers = workers.of_server(where, spark, question)
            who, pack = several(len(answers), "task"), PACK_FOR_SERVER
            python = spark.conf.get(workers.PYTHON, "") or "the server's PYSPARK_PYTHON says"
    finally:
        arrived = probe.collect(lake, token)
    problem = verdict(answers, arrived, lake, here, python, pack)
    if problem is not None:
        raise problem
    hosts = several(len({answer.host for answer in answers}), "host")
    have = f"Python {here.python}, evenkeel {here.version} ({here.source})"
    seconds = time.monotonic() - began
    return (
        f"{who} on {hosts} have {have}; lake {lake} is read and written by them ({seconds:.1f} s)"
    )


def verdict(
    answers: Sequence[WorkerAnswer],
    arrived: Collection[str],
    lake: str,
    here: Environment,
    python: str,
    pack: str = PACK,
) -> EvenkeelError | None:
    """
    The first problem of the workers, in order of cause; None without a problem.

    Args:
        answers: Reports of the workers.
        arrived: Names of the files that the driver found in the lake afterwards.
        lake: Path or URI of the lake.
        here: Environment of the driver.
        python: Expected interpreter of the workers.
        pack: The fix for a worker without the environment.
    """
    problems = [_of_environment(answer, here, python, pack) for answer in answers]
    if not any(problems):
        problems = [_of_lake(answer, arrived, lake) for answer in answers]
    return next(filter(None, problems), None)


def _of_environment(
    answer: WorkerAnswer, here: Environment, python: str, pack: str
) -> EvenkeelError | None:
    """A missing interpreter or missing code of a worker."""
    report, worker = answer.report, f"a Spark worker ({answer.host})"
    if not report:
        said = answer.last_line.rstrip(".")
        return ConfigError(f"Spark's workers cannot start Python as {python}: {said}.", fix=pack)
    if report["python"] != here.python:
        return ConfigError(
            f"{worker} runs Python {report['python']}, this process {here.python}; both need the same version.",
            fix=f"Install Python {here.python} there, or run this with {report['python']}, and pack again.",
        )
    if "missing" in report:
        return ConfigError(f"{worker} lacks a module: {report['missing']}.", fix=pack)
    if report["source"] != here.source:
        return ConfigError(
            f"{worker} runs evenkeel {report['version']} ({report['source']}), this process "
            f"{here.version} ({here.source}).",
            fix=PACK_AGAIN,
        )
    return None


def _of_lake(answer: WorkerAnswer, arrived: Collection[str], lake: str) -> EvenkeelError | None:
    """An inaccessible lake of a worker."""
    tried, worker = answer.report["lake"], f"a Spark worker ({answer.host})"
    fix = "Set lake to a path that this process and the workers share, such as a mounted folder or s3://."
    if "read_problem" in tried:
        why = tried["read_problem"]
        return LakeError(f"{worker} cannot read lake {lake} as this process does: {why}.", fix=fix)
    if "write_problem" in tried:
        return LakeError(f"{worker} cannot write lake {lake}: {tried['write_problem']}.", fix=fix)
    if tried["wrote"] not in arrived:
        return LakeError(
            f"files that {worker} writes to lake {lake} are not visible here.", fix=fix
        )
    return None


def main() -> int:
    """Check the configured cluster and lake; prints the result, or the error in one line."""
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
