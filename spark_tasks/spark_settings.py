"""
Settings of Spark, from environment variables and Spark's defaults file.

Spark runs on this machine, on the cluster of `EVENKEEL_SPARK_MASTER`, or on the Spark Connect server of
`EVENKEEL_SPARK_REMOTE`. Credentials are never options of a session, because options are visible on command lines and in
Spark's UI; Python workers get them with their task. Of the URL of a server, which may contain a token, only host and
port are shown.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path

from evenkeel.engine.model.errors import ConfigError
from evenkeel.spark_tasks import memory

MASTER = "EVENKEEL_SPARK_MASTER"
"""Environment variable with the URL of a Spark master."""

REMOTE = "EVENKEEL_SPARK_REMOTE"
"""Environment variable with the URL of a Spark Connect server."""

ARCHIVE = "EVENKEEL_SPARK_ARCHIVE"
"""Environment variable with the archive of `evenkeel admin pack`: a local path, or a URI that Spark reads."""

PACKED_PYTHON = "./environment/bin/python"
"""The interpreter in that archive, as seen from an executor."""

CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
"""Environment variables with S3 credentials."""

AWS = (
    *CREDENTIALS,
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
)
"""Environment variables that workers need for S3."""

CLASSES = Path(__file__).with_name("__pycache__") / "spark.jsa"
"""The archive of Java classes that `shared_classes` creates."""

_FORM = re.compile(
    r"sc://(\[[^\]]+\]|[^\s/:;@?#\[\]]+)(?::(\d{1,5}))?(?:/(?:;[^\s;=?#]+=[^\s;=?#]*)*)?"
)


@dataclass(frozen=True)
class Server:
    """A Spark Connect server; its text is the URL without secrets."""

    url: str = field(repr=False)
    host: str
    port: int

    def __str__(self) -> str:
        """The URL without its parameters, which may contain a token."""
        return f"sc://{self.host}:{self.port}"


@dataclass(frozen=True)
class Place:
    """
    The place where Spark runs.

    Attributes:
        server: The Spark Connect server, if there is one.
        master: Otherwise the master.
        environ: The environment variables.
    """

    server: Server | None
    master: str
    environ: Mapping[str, str] = field(repr=False)

    @classmethod
    def named(cls, environ: Mapping[str, str] = os.environ) -> Place:
        """
        The place that the environment configures.

        Raises:
            ConfigError: The URL of the server is invalid, or a master is set as well.
        """
        return cls(_server(environ), environ.get(MASTER) or "local[*]", environ)

    def __str__(self) -> str:
        """The name for messages."""
        return str(self.server or self.master)

    @property
    def is_local(self) -> bool:
        """Whether all work runs on this machine."""
        return self.server is None and self.master.startswith("local")

    @property
    def is_cluster(self) -> bool:
        """Whether the work runs in an application on other machines."""
        return self.server is None and not self.is_local

    @property
    def archive(self) -> str | None:
        """The archive of the workers' environment, if one is configured."""
        return self.environ.get(ARCHIVE) or None

    @property
    def archive_options(self) -> dict[str, str]:
        """The environment of the workers of a cluster, if an archive is configured."""
        if self.archive is None:
            return {}
        # Spark takes a path without a scheme for one of its default file system
        uri = self.archive if "://" in self.archive else Path(self.archive).absolute().as_uri()
        return {"spark.archives": f"{uri}#environment"}

    @property
    def python(self) -> str | None:
        """The configured interpreter of the workers of a cluster; that of the archive comes first."""
        if self.archive is not None:
            return PACKED_PYTHON
        return self.defaults.get("spark.pyspark.python") or self.environ.get("PYSPARK_PYTHON")

    @property
    def for_workers(self) -> dict[str, str]:
        """
        The environment variables for S3 that are sent with a task.

        Credentials are not sent to a server, because it may log queries.
        """
        names = (name for name in AWS if self.server is None or name not in CREDENTIALS)
        return {name: self.environ[name] for name in names if self.environ.get(name)}

    @property
    def memory(self) -> str | None:
        """The memory of Spark's Java process on this machine; None for a server."""
        if self.server is not None:
            return None
        return (self.memory_options | self.defaults).get(memory.DRIVER, memory.USUAL)

    @property
    def memory_options(self) -> dict[str, str]:
        """The same as an option; empty if the user configured it, or if it is Spark's default."""
        if not self.is_local:
            return {}
        return memory.driver_options(self.defaults, memory.machine_bytes())

    @cached_property
    def defaults(self) -> Mapping[str, str]:
        """The settings of `spark-defaults.conf`, and the memory in `PYSPARK_SUBMIT_ARGS`."""
        words = self.environ.get("PYSPARK_SUBMIT_ARGS", "").replace("=", " ").split()
        told = dict(pairwise(words))
        given = told.get("--driver-memory") or told.get(memory.DRIVER)
        return _defaults(self.environ) | ({memory.DRIVER: given} if given else {})


def _server(environ: Mapping[str, str]) -> Server | None:
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
            f"{REMOTE} is not a URL of a Spark Connect server.",
            fix="Use sc://host:port, or sc://host:port/;use_ssl=true;token=... (in values, = is written %3D).",
        )
    return Server(url, parts[1], int(parts[2] or 15002))


def _defaults(environ: Mapping[str, str]) -> dict[str, str]:
    """The defaults file in SPARK_CONF_DIR, otherwise in SPARK_HOME; empty if there is none."""
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
