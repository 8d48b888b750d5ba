"""
What a Spark cluster gets of us beside its own configuration: the environment of its workers and the way to the lake.

Functions of the environment variables and of Spark's defaults file; `session` applies them. Credentials are never among
the options, because options end up on command lines and in Spark's pages: Python workers get them with their task.
"""

from __future__ import annotations

import os
import re
import socket
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from evenkeel.engine.errors import ConfigError

MASTER = "EVENKEEL_SPARK_MASTER"
"""Environment variable that names another master than this machine."""

ARCHIVE = "EVENKEEL_SPARK_ARCHIVE"
"""Environment variable that names the archive of `evenkeel pack`: a path here, or a URI that Spark reads."""

PACKED_PYTHON = "./environment/bin/python"
"""The interpreter in that archive, as seen from an executor."""

AWS = (
    "AWS_ACCESS_KEY_ID",
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
)
"""What workers need of the environment to reach S3, where it is set here."""


CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
"""Those of them that open S3."""


def is_local(master: str) -> bool:
    """Whether this machine does all of the work."""
    return master.startswith("local")


def check_master(master: str, patience: float = 5) -> None:
    """
    See whether somebody answers where the master should be, before a JVM spends a minute on it.

    Args:
        master: `spark://host:port[,host:port]`, `k8s://...`, `yarn` ...
        patience: How long an address may take to answer, in seconds.

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
    addresses, refused = _addresses(master), []
    for host, port in addresses:
        problem = unreachable(host, port, patience)
        if problem is None:
            return
        refused.append(f"{host}:{port}: {problem}")
    if addresses:
        raise ConfigError(
            f"no Spark master answers at {master} ({'; '.join(refused)}).",
            fix=f"Start it, or correct {MASTER}.",
        )


def unreachable(host: str, port: int, patience: float = 5) -> str | None:
    """What the system says of a port where nobody answers; None where somebody does."""
    try:
        socket.create_connection((host, port), patience).close()
    except OSError as problem:
        return problem.strerror or str(problem)
    return None


def _addresses(master: str) -> list[tuple[str, int]]:
    """Where a master listens, as far as its URL says."""
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


def archive(environ: Mapping[str, str]) -> str | None:
    """
    The archive of the workers' environment, a path or a URI; None where none is named.

    Raises:
        ConfigError: The file is not there.
    """
    place = environ.get(ARCHIVE)
    if not place:
        return None
    if "://" not in place and not Path(place).is_file():
        raise ConfigError(
            f"{ARCHIVE} names {place}, which is not there.", fix="Make it with `evenkeel pack`."
        )
    return place


def archive_options(environ: Mapping[str, str]) -> dict[str, str]:
    """
    The environment of the workers, where an archive of it is named.

    Raises:
        ConfigError: The file is not there.
    """
    place = archive(environ)
    if place is None:
        return {}
    uri = place if "://" in place else Path(place).absolute().as_uri()
    return {"spark.archives": f"{uri}#environment"}


def defaults(environ: Mapping[str, str]) -> dict[str, str]:
    """What `spark-defaults.conf` says: that of SPARK_CONF_DIR, else of SPARK_HOME; empty when there is none."""
    home = environ.get("SPARK_HOME")
    folder = environ.get("SPARK_CONF_DIR") or (f"{home}/conf" if home else None)
    properties = {}
    if folder is not None:
        with suppress(OSError):
            for line in Path(folder, "spark-defaults.conf").read_text().splitlines():
                words = re.match(r"\s*([^#!\s=:][^\s=:]*)\s*[\s=:]\s*(.*?)\s*$", line)
                if words:
                    properties[words[1]] = words[2]
    return properties


def python_of_workers(environ: Mapping[str, str], defaults: Mapping[str, str]) -> str | None:
    """The interpreter that workers shall use, where somebody says which: the archive's before any other."""
    if environ.get(ARCHIVE):
        return PACKED_PYTHON
    return defaults.get("spark.pyspark.python") or environ.get("PYSPARK_PYTHON")


def for_workers(environ: Mapping[str, str], *, credentials: bool = True) -> dict[str, str]:
    """The environment variables that travel with a task: how to reach S3, with or without credentials."""
    names = AWS if credentials else [name for name in AWS if name not in CREDENTIALS]
    return {name: environ[name] for name in names if environ.get(name)}
