"""This machine, and the one that Spark's steps are sent to: interpreters and libraries."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from .check import FAIL, OK, WARN, Check

PYTHON = (3, 11)
JAVA = 17
PACKAGES = (
    "kafka-python",
    "pyarrow",
    "sqlalchemy",
    "psycopg",
    "slack-sdk",
    "pyspark",
    "apache-airflow",
)
_SPARK_SECONDS = 300


def python() -> Check:
    """The interpreter and the libraries that matter."""
    versions = f"Python {sys.version.split()[0]}; {', '.join(map(_version, PACKAGES))}"
    missing = [name for name in PACKAGES if not _installed(name)]
    if sys.version_info < PYTHON:
        return Check(name="python", outcome=FAIL, detail=versions, fix="Use Python 3.11 or newer.")
    if missing:
        fix = "Install evenkeel again, with its dependencies."
        return Check(name="python", outcome=FAIL, detail=versions, fix=fix)
    return Check(name="python", outcome=OK, detail=versions)


def _installed(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _version(package: str) -> str:
    return f"{package} {_installed(package) or 'missing'}"


def java() -> Check:
    """Java, which only the Spark steps need, and not where they are a Spark Connect server's."""
    if os.environ.get("EVENKEEL_SPARK_REMOTE"):
        detail = "not needed: Spark runs on the server of EVENKEEL_SPARK_REMOTE"
        return Check(name="java", outcome=OK, detail=detail)
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home, "bin", "java")) if home else "java"
    fix = f"Install Java {JAVA} or newer, or set JAVA_HOME; the scheduled runs need it, this command does not."
    if shutil.which(program) is None:
        return Check(name="java", outcome=WARN, detail=f"{program} is not there.", fix=fix)
    try:
        answer = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return Check(
            name="java", outcome=WARN, detail=f"{program} does not run: {problem}.", fix=fix
        )
    match = re.search(r'version "(?:1\.)?(\d+)[^"]*"', answer.stderr + answer.stdout)
    if match is None or int(match[1]) < JAVA:
        found = f"{program} is {match[0] if match else 'of an unknown version'}."
        return Check(name="java", outcome=WARN, detail=found, fix=fix)
    return Check(name="java", outcome=OK, detail=f"{match[0]} ({program})")


def spark() -> Check:
    """Spark, which only the scheduled runs need."""
    version = _installed("pyspark")
    if version is None:
        fix = "Install pyspark; the scheduled runs need it, this command does not."
        return Check(name="spark", outcome=WARN, detail="pyspark is not installed.", fix=fix)
    return Check(name="spark", outcome=OK, detail=f"pyspark {version}")


def spark_cluster() -> Iterator[Check]:
    """Whether the cluster or server that Spark's steps are sent to has our environment and the lake."""
    # its URL may hold a token
    remote = "the Spark Connect server" if os.environ.get("EVENKEEL_SPARK_REMOTE") else None
    master = remote or os.environ.get("EVENKEEL_SPARK_MASTER", "local")
    if master.startswith("local"):
        return
    words = [sys.executable, "-m", "evenkeel.spark_tasks.preflight"]
    try:
        answer = subprocess.run(words, capture_output=True, text=True, timeout=_SPARK_SECONDS)
    except subprocess.TimeoutExpired:
        detail = f"{master} did not answer within {_SPARK_SECONDS} s."
        fix = "See its page or log, or raise EVENKEEL_SPARK_PATIENCE."
        yield Check(name="spark cluster", outcome=FAIL, detail=detail, fix=fix)
        return
    lines = (answer.stderr if answer.returncode else answer.stdout).strip().splitlines()
    # what failed is the last line; what was found: which application, and what its workers have
    detail = " ".join(lines[-1:] if answer.returncode else lines[:2])
    yield Check(name="spark cluster", outcome=FAIL if answer.returncode else OK, detail=detail)
