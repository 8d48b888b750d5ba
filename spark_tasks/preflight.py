"""
What must hold for Spark to work for us: what is wrong is one line that names the thing and the fix.

    python -m evenkeel.spark_tasks.preflight

Before a session is made: does somebody answer, is there an archive, a Java, enough memory? Before any work: do the
workers of a cluster or a server have our Python, our code and the lake? Without this it is found out a minute and a
half later, by a traceback.
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

JAVA = ConfigError("Spark needs Java 17 or newer.", fix="Install one, or let JAVA_HOME name it.")

PACK = f"Make an archive with `evenkeel admin pack` and let {ARCHIVE} name it."
PACK_FOR_SERVER = (
    "Start the server with the Python of an archive of `evenkeel admin pack` as its PYSPARK_PYTHON, "
    f"or let {ARCHIVE} name the archive."
)
PACK_AGAIN = "Make the archive anew with `evenkeel admin pack`."


# Before a session is made


def before(where: Place) -> None:
    """
    See whether a session can be made there, before a JVM spends a minute on it.

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
    See whether somebody answers where the master should be.

    Args:
        master: `spark://host:port[,host:port]`, `k8s://...`, `yarn` ...

    Raises:
        ConfigError: Nobody does.
    """
    if master == "yarn":
        if not (os.environ.get("HADOOP_CONF_DIR") or os.environ.get("YARN_CONF_DIR")):
            raise ConfigError(
                "Spark cannot find YARN.",
                fix="Let HADOOP_CONF_DIR name the folder of its configuration.",
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
    """Where a master listens."""
    match = re.fullmatch(r"(spark|k8s)://(?:https?://)?([^/]+)/?.*", master)
    if match is None:
        raise ConfigError(
            f"{MASTER} is {master!r}, which is no Spark master.",
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
    """What the system says of a port where nobody answers for five seconds; None where somebody does."""
    try:
        socket.create_connection((host, port), 5).close()
    except OSError as problem:
        return problem.strerror or str(problem)
    return None


def check_archive(where: Place) -> None:
    """
    See whether the archive of the workers' environment is one that can be handed out, if one is named.

    Raises:
        ConfigError: It is not.
    """
    if where.archive is None:
        return
    if "://" in where.archive:
        if where.server is not None:
            raise ConfigError(
                f"{ARCHIVE} is a URI, and a Spark Connect server is sent a file of this machine.",
                fix="Name a file, or unpack the archive where the server's workers run.",
            )
    elif not Path(where.archive).is_file():
        raise ConfigError(
            f"{ARCHIVE} names {where.archive}, which is not there.",
            fix="Make it with `evenkeel admin pack`.",
        )


# Before any work


def check_version(server: Server, theirs: str) -> None:
    """
    Raises:
        ConfigError: The server's Spark is of another minor version than ours.
    """
    ours = pyspark.__version__
    if _minor(theirs) != _minor(ours):
        raise ConfigError(
            f"the Spark Connect server {server} runs Spark {theirs}, this process {ours}; "
            "they must be of the same minor version.",
            fix=f"Start a server of Spark {_minor(ours)}.",
        )


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def ask(where: Place, spark: Any, lake: str) -> str:
    """
    Ask every executor of a cluster, or as many workers of a server as can work at once.

    Args:
        where: The cluster or the server.
        spark: A session there.
        lake: The lake's path or URI, as the settings have it.

    Returns:
        One line for a log: who was asked on how many hosts, and what they have in common.

    Raises:
        ConfigError: There is none, or one lacks Python or our code.
        LakeError: One cannot read or write the lake.
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
    What is wrong with some workers, the cause before what follows from it; None where all is well.

    Args:
        answers: Of the workers.
        arrived: Names of the files that the driver found in the lake afterwards.
        lake: Its path or URI.
        here: What the driver has.
        python: The interpreter that the workers were to use.
        pack: The fix where one lacks our environment.
    """
    problems = [_of_environment(answer, here, python, pack) for answer in answers]
    if not any(problems):
        problems = [_of_lake(answer, arrived, lake) for answer in answers]
    return next(filter(None, problems), None)


def _of_environment(
    answer: WorkerAnswer, here: Environment, python: str, pack: str
) -> EvenkeelError | None:
    """What of interpreter and code one lacks."""
    report, worker = answer.report, f"a Spark worker ({answer.host})"
    if not report:
        said = answer.last_line.rstrip(".")
        return ConfigError(f"Spark's workers cannot start Python as {python}: {said}.", fix=pack)
    if report["python"] != here.python:
        return ConfigError(
            f"{worker} runs Python {report['python']}, this process {here.python}; they must be the same.",
            fix=f"Install Python {here.python} there, or run this with {report['python']}, and pack again.",
        )
    if "missing" in report:
        return ConfigError(f"{worker} lacks a module: {report['missing']}.", fix=pack)
    if report["source"] != here.source:
        return ConfigError(
            f"{worker} has another evenkeel, {report['version']} ({report['source']}), than this process, "
            f"{here.version} ({here.source}).",
            fix=PACK_AGAIN,
        )
    return None


def _of_lake(answer: WorkerAnswer, arrived: Collection[str], lake: str) -> EvenkeelError | None:
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
