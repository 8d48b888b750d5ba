"""What `evenkeel doctor` tries, one function per thing; none of them raises."""

from __future__ import annotations

import importlib.metadata
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from evenkeel.engine import wiring
from evenkeel.engine.cli import demo, sources
from evenkeel.engine.cli.database import database, secret_url
from evenkeel.engine.config import Settings, load
from evenkeel.engine.errors import ConfigError, EvenkeelError
from evenkeel.engine.wording import words

OK, WARN, FAIL = "OK", "WARN", "FAIL"

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

NEEDED = ("groups", "topics")
"""What a cluster must let us see; without racks, or with a broker down, there is still something to say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """What was tried (of which cluster), how it went (`OK`, `WARN`, `FAIL`), what there is to say, and the remedy."""

    name: str
    outcome: str
    detail: str
    fix: str | None = None
    cluster: str | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON-able values."""
        content = asdict(self)
        return {"found" if name == "detail" else name: value for name, value in content.items()}


def every(bootstrap: str | None, cluster: str | None) -> Iterator[Check]:
    """
    All checks, each as soon as it is done.

    Args:
        bootstrap: A cluster to try instead of the configured ones.
        cluster: Only this one of the configured clusters.

    Raises:
        InputError: The options are wrong.
    """
    yield python()
    yield java()
    yield spark()
    settings, checked = configuration()
    yield checked
    if settings is None:
        return
    yield from clusters(settings, bootstrap, cluster)
    yield lake(settings)
    yield from spark_cluster()
    yield history()
    yield slack(settings)


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


def configuration() -> tuple[Settings | None, Check]:
    """The settings, None when they are not valid."""
    try:
        of_demo = demo.config_file()
        settings = wiring.settings() if of_demo is None else load(of_demo)
    except ConfigError as problem:
        return None, _failed("configuration", problem)
    file = os.environ.get("EVENKEEL_CONFIG") or "evenkeel.toml"
    where = file if Path(file).is_file() else "no evenkeel.toml, defaults and environment"
    where = where if of_demo is None else f"{of_demo} (the demo's)"
    found = f"{where}; {len(settings.clusters):,} clusters, {len(settings.rules):,} rules, version {settings.version}"
    return settings, Check(name="configuration", outcome=OK, detail=found)


def clusters(settings: Settings, bootstrap: str | None, cluster: str | None) -> Iterator[Check]:
    """Each cluster that is asked about: connection, versions, rights and racks."""
    names = list(settings.clusters)
    if bootstrap is not None or cluster is not None:
        settings, name = sources.live(settings, bootstrap, cluster)
        names = [name]
    if not names:
        fix = "Add [clusters.NAME] with bootstrap to evenkeel.toml, or give --bootstrap HOST:PORT."
        yield Check(name="kafka", outcome=WARN, detail="no cluster is configured.", fix=fix)
    for name in names:
        yield from _cluster(settings, name)


def _cluster(settings: Settings, name: str) -> Iterator[Check]:
    try:
        health = wiring.cluster(settings, name).ping()
    except EvenkeelError as problem:
        yield replace(_failed("kafka", problem), cluster=name)
        return
    found = f"{settings.clusters[name].bootstrap}, cluster id {health.kafka_cluster_id}"
    yield Check(name="kafka", outcome=OK, detail=found, cluster=name)
    for finding in health.findings:
        wrong = FAIL if finding.what in NEEDED else WARN
        outcome = OK if finding.ok else wrong
        first = f"; {words(finding.problem)}" if finding.problem else ""
        seen = f"{finding.seen}{first}"
        yield Check(name=finding.what, outcome=outcome, detail=seen, fix=finding.fix, cluster=name)


def lake(settings: Settings) -> Check:
    """Whether the lake can be read, and where it is a local folder, written."""
    return _checked("lake", lambda: _lake(settings))


def _lake(settings: Settings) -> Check:
    opened = wiring.lake(settings)
    known = opened.clusters()
    held = f"{settings.lake}; snapshots of {', '.join(known) or 'no cluster yet'}"
    if "://" in settings.lake:
        return Check(name="lake", outcome=OK, detail=f"{held}; writing was not tried")
    folder = Path(settings.lake).absolute()
    existing = next(place for place in (folder, *folder.parents) if place.is_dir())
    fix = f"Give user id {os.getuid()} the right to write there, or set lake (EVENKEEL_LAKE) to another folder."
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as problem:
        found = f"{existing} cannot be written: {problem.strerror}."
        return Check(name="lake", outcome=FAIL, detail=found, fix=fix)
    return Check(name="lake", outcome=OK, detail=f"{held}; writable")


def history() -> Check:
    """Whether the history, or the demo's where none is configured, answers and has this version's schema."""
    try:
        settings, where = database()
    except ConfigError as problem:
        return replace(_failed("history", problem), outcome=WARN)
    return _checked("history", lambda: _history(secret_url(settings), where))


def _history(url: str, where: str) -> Check:
    from evenkeel.engine.adapters import postgres

    waiting = list(postgres.pending(url))
    if waiting:
        found = f"{where}: {len(waiting):,} migrations are not applied ({', '.join(waiting)})."
        return Check(name="history", outcome=FAIL, detail=found, fix="Run `evenkeel migrate`.")
    return Check(name="history", outcome=OK, detail=f"{where}; schema is this version's")


def slack(settings: Settings) -> Check:
    """Whether Slack takes the token."""
    if settings.slack_token is None:
        fix = "Set EVENKEEL_SLACK_TOKEN, or the Airflow connection evenkeel_slack; until then alerts go to the log."
        return Check(name="slack", outcome=WARN, detail="no token is configured.", fix=fix)
    return _checked("slack", lambda: _slack(settings))


def _slack(settings: Settings) -> Check:
    from evenkeel.engine.adapters.slack.check import who_am_i

    assert settings.slack_token is not None
    channel = settings.slack_channel
    who = who_am_i(settings.slack_token.get_secret_value(), settings.slack_base_url, channel)
    return Check(name="slack", outcome=OK, detail=f"{who}; default channel {channel}")


def _checked(name: str, check: Callable[[], Check]) -> Check:
    """The check's answer; a failure of it is one too."""
    try:
        return check()
    except EvenkeelError as problem:
        return _failed(name, problem)
    except Exception as problem:  # noqa: BLE001 one broken check must not hide the others
        found = f"unexpected {type(problem).__name__}: {str(problem).splitlines()[:1]}"
        return Check(
            name=name, outcome=FAIL, detail=found, fix="Run with EVENKEEL_DEBUG=1 for more."
        )


def _failed(name: str, problem: EvenkeelError) -> Check:
    return Check(name=name, outcome=FAIL, detail=problem.message, fix=problem.fix)
