"""
Where Spark runs, and what it is given: by environment variables and by Spark's defaults file.

It runs on this machine, on a cluster that `EVENKEEL_SPARK_MASTER` names, or on a Spark Connect server that
`EVENKEEL_SPARK_REMOTE` names. Credentials are never among the options of a session, because options end up on command
lines and in Spark's pages: Python workers get them with their task. The URL of a server may hold a token: nothing but
host and port is ever said of it.
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
"""Environment variable that names another master than this machine."""

REMOTE = "EVENKEEL_SPARK_REMOTE"
"""Environment variable that names a Spark Connect server."""

ARCHIVE = "EVENKEEL_SPARK_ARCHIVE"
"""Environment variable that names the archive of `evenkeel admin pack`: a path here, or a URI that Spark reads."""

PACKED_PYTHON = "./environment/bin/python"
"""The interpreter in that archive, as seen from an executor."""

CREDENTIALS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
"""What opens S3."""

AWS = (
    *CREDENTIALS,
    "AWS_REGION",
    "AWS_DEFAULT_REGION",
    "AWS_ENDPOINT_URL",
    "AWS_ENDPOINT_URL_S3",
)
"""What workers need of the environment to reach S3, where it is set here."""

_FORM = re.compile(
    r"sc://(\[[^\]]+\]|[^\s/:;@?#\[\]]+)(?::(\d{1,5}))?(?:/(?:;[^\s;=?#]+=[^\s;=?#]*)*)?"
)


@dataclass(frozen=True)
class Server:
    """A Spark Connect server; as text it is the part of its URL that is no secret."""

    url: str = field(repr=False)
    host: str
    port: int

    def __str__(self) -> str:
        """Without the URL's parameters, which may hold a token."""
        return f"sc://{self.host}:{self.port}"


@dataclass(frozen=True)
class Place:
    """
    Where Spark runs.

    Attributes:
        server: The Spark Connect server, if it is one.
        master: Else the master.
        environ: The environment variables.
    """

    server: Server | None
    master: str
    environ: Mapping[str, str] = field(repr=False)

    @classmethod
    def named(cls, environ: Mapping[str, str] = os.environ) -> Place:
        """
        What the environment names.

        Raises:
            ConfigError: It names no URL of a server, or a master beside it.
        """
        return cls(_server(environ), environ.get(MASTER, "local[*]"), environ)

    def __str__(self) -> str:
        """As people know it."""
        return str(self.server or self.master)

    @property
    def is_local(self) -> bool:
        """Whether this machine does all of the work."""
        return self.server is None and self.master.startswith("local")

    @property
    def is_cluster(self) -> bool:
        """Whether the work is that of an application of ours on other machines."""
        return self.server is None and not self.is_local

    @property
    def archive(self) -> str | None:
        """The archive of the workers' environment, where one is named."""
        return self.environ.get(ARCHIVE) or None

    @property
    def archive_options(self) -> dict[str, str]:
        """The environment of a cluster's workers, where an archive of it is named."""
        if self.archive is None:
            return {}
        # Spark takes a path without a scheme for one of its default file system
        uri = self.archive if "://" in self.archive else Path(self.archive).absolute().as_uri()
        return {"spark.archives": f"{uri}#environment"}

    @property
    def python(self) -> str | None:
        """The interpreter that a cluster's workers shall use, where somebody says which: the archive's first."""
        if self.archive is not None:
            return PACKED_PYTHON
        return self.defaults.get("spark.pyspark.python") or self.environ.get("PYSPARK_PYTHON")

    @property
    def for_workers(self) -> dict[str, str]:
        """
        The environment variables that travel with a task: how to reach S3.

        To a server without credentials: it writes all of a query into its log that it has not heard the end of when
        the session ends.
        """
        names = (name for name in AWS if self.server is None or name not in CREDENTIALS)
        return {name: self.environ[name] for name in names if self.environ.get(name)}

    @property
    def memory(self) -> str | None:
        """What Spark's Java on this machine is given, as Spark writes it; None where it is on a server."""
        if self.server is not None:
            return None
        return (self.memory_options | self.defaults).get(memory.DRIVER, memory.USUAL)

    @property
    def memory_options(self) -> dict[str, str]:
        """The same as an option, where the user has said nothing of it and it is not Spark's own."""
        if not self.is_local:
            return {}
        return memory.driver_options(self.defaults, memory.machine_bytes())

    @cached_property
    def defaults(self) -> Mapping[str, str]:
        """What `spark-defaults.conf` says, and beside it what `PYSPARK_SUBMIT_ARGS` says of memory."""
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
            f"{REMOTE} is no URL of a Spark Connect server.",
            fix="Use sc://host:port, or sc://host:port/;use_ssl=true;token=... (in values, = is written %3D).",
        )
    return Server(url, parts[1], int(parts[2] or 15002))


def _defaults(environ: Mapping[str, str]) -> dict[str, str]:
    """Of the file in SPARK_CONF_DIR, else of SPARK_HOME; nothing where there is none."""
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
