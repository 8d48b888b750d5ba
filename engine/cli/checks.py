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
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from .. import wiring
from ..config import Settings, Webhook, load
from ..messages.wording import words
from ..model.errors import ConfigError, EvenkeelError, HistoryError, LakeError
from ..model.extras import install, missing
from ..model.text import listed
from . import demo, sources
from .database import database, secret_url

P = ParamSpec("P")

OK, WARN, FAIL = "OK", "WARN", "FAIL"
PYTHON = (3, 11)
JAVA = 17
PACKAGES = ("kafka-python", "numpy")
EXTRA_PACKAGES = ("pyarrow", "sqlalchemy", "psycopg", "slack-sdk", "pyspark", "apache-airflow")
_SPARK_SECONDS = 300

NEAR = 0.75
"""So alike are two names of which one may be meant for the other."""

NEEDED = ("groups", "topics")
"""What a cluster must let us see; without racks, or with a broker down, there is still something to say."""


@dataclass(frozen=True, slots=True)
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
    yield from variables()
    if settings is None:
        return
    yield from clusters(settings, bootstrap, cluster)
    yield lake(settings)
    yield from spark_cluster()
    yield history()
    yield slack(settings)
    yield from pagers(settings)


def tried(name: str) -> Callable[[Callable[P, Check]], Callable[P, Check]]:
    """A check of that name whose failure is an answer, too."""

    def decorate(check: Callable[P, Check]) -> Callable[P, Check]:
        @wraps(check)
        def run(*args: P.args, **kwargs: P.kwargs) -> Check:
            try:
                return check(*args, **kwargs)
            except EvenkeelError as problem:
                return failed(name, problem)
            except Exception as problem:  # noqa: BLE001 one broken check must not hide the others
                if lacking := missing(problem):
                    return replace(failed(name, lacking), outcome=WARN)
                found = f"unexpected {type(problem).__name__}: {str(problem).splitlines()[:1]}"
                return Check(name, FAIL, found, "Run with EVENKEEL_DEBUG=1 for more.")

        return run

    return decorate


def failed(name: str, problem: EvenkeelError) -> Check:
    """What could not be done, and the fix that its error has."""
    return Check(name, FAIL, problem.message, problem.fix)


def python() -> Check:
    """The interpreter and the libraries that matter."""
    found = {name: _installed(name) for name in (*PACKAGES, *EXTRA_PACKAGES)}
    named = ", ".join(f"{name} {version or 'missing'}" for name, version in found.items())
    versions = f"Python {sys.version.split()[0]}; {named}"
    if sys.version_info < PYTHON:
        return Check("python", FAIL, versions, "Use Python 3.11 or newer.")
    if None in [found[name] for name in PACKAGES]:
        return Check("python", FAIL, versions, "Install evenkeel again, with its dependencies.")
    return Check("python", OK, versions)


def _installed(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def java() -> Check:
    """Java, which only the Spark steps need, and not where they are a Spark Connect server's."""
    if os.environ.get("EVENKEEL_SPARK_REMOTE"):
        detail = "not needed: Spark runs on the server of EVENKEEL_SPARK_REMOTE"
        return Check("java", OK, detail)
    home = os.environ.get("JAVA_HOME")
    program = str(Path(home, "bin", "java")) if home else "java"
    fix = f"Install Java {JAVA} or newer, or set JAVA_HOME; runs above spark_above need it."
    if shutil.which(program) is None:
        return Check("java", WARN, f"{program} is not there.", fix)
    try:
        answer = subprocess.run([program, "-version"], capture_output=True, text=True, timeout=20)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return Check("java", WARN, f"{program} does not run: {problem}.", fix)
    match = re.search(r'version "(?:1\.)?(\d+)[^"]*"', answer.stderr + answer.stdout)
    if match is None or int(match[1]) < JAVA:
        found = f"{program} is {match[0] if match else 'of an unknown version'}."
        return Check("java", WARN, found, fix)
    return Check("java", OK, f"{match[0]} ({program})")


def spark() -> Check:
    """Spark, which only the scheduled runs need."""
    version = _installed("pyspark")
    if version is None:
        fix = f"Run `{install('pipeline')}`; the scheduled runs need it, this command does not."
        return Check("spark", WARN, "pyspark is not installed.", fix)
    return Check("spark", OK, f"pyspark {version}")


def spark_cluster() -> Iterator[Check]:
    """Whether the cluster or server that Spark's steps are sent to has our environment and the lake."""
    # its URL may hold a token
    remote = "the Spark Connect server" if os.environ.get("EVENKEEL_SPARK_REMOTE") else None
    master = remote or os.environ.get("EVENKEEL_SPARK_MASTER") or "local"
    if master.startswith("local"):
        return
    words = [sys.executable, "-m", "evenkeel.spark_tasks.preflight"]
    try:
        answer = subprocess.run(words, capture_output=True, text=True, timeout=_SPARK_SECONDS)
    except subprocess.TimeoutExpired:
        detail = f"{master} did not answer within {_SPARK_SECONDS} s."
        fix = "See its page or log, or raise EVENKEEL_SPARK_PATIENCE."
        yield Check("spark cluster", FAIL, detail, fix)
        return
    lines = (answer.stderr if answer.returncode else answer.stdout).strip().splitlines()
    # what failed is the last line; what was found: which application, and what its workers have
    detail = " ".join(lines[-1:] if answer.returncode else lines[:2])
    yield Check("spark cluster", FAIL if answer.returncode else OK, detail)


def configuration() -> tuple[Settings | None, Check]:
    """The settings, None when they are not valid."""
    try:
        of_demo = demo.config_file()
        settings = wiring.settings() if of_demo is None else load(of_demo)
    except ConfigError as problem:
        return None, failed("configuration", problem)
    file = os.environ.get("EVENKEEL_CONFIG") or "evenkeel.toml"
    where = file if Path(file).is_file() else "no evenkeel.toml, defaults and environment"
    where = where if of_demo is None else f"{of_demo} (the demo's)"
    found = f"{where}; {len(settings.clusters):,} clusters, {len(settings.rules):,} rules, version {settings.version}"
    return settings, Check("configuration", OK, found)


def variables() -> Iterator[Check]:
    """Variables of the environment that are no setting, but nearly have the name of one."""
    keys = [name.upper() for name in Settings.model_fields]
    for name in sorted(os.environ):
        key = name.removeprefix("EVENKEEL_")
        if key == name or key in keys:
            continue
        if near := get_close_matches(key, keys, 1, NEAR):
            fix = f"Call it EVENKEEL_{near[0]} if that is meant."
            yield Check("environment", WARN, f"{name} is not a setting.", fix)


def clusters(settings: Settings, bootstrap: str | None, cluster: str | None) -> Iterator[Check]:
    """Each cluster that is asked about: connection, versions, rights and racks."""
    names = list(settings.clusters)
    if bootstrap is not None or cluster is not None:
        settings, name = sources.live(settings, bootstrap, cluster)
        names = [name]
    if not names:
        fix = "Add [clusters.NAME] with bootstrap to evenkeel.toml, or give --bootstrap HOST:PORT."
        yield Check("kafka", WARN, "no cluster is configured.", fix)
    for name in names:
        try:
            health = wiring.cluster(settings, name).ping()
        except EvenkeelError as problem:
            yield replace(failed("kafka", problem), cluster=name)
            continue
        found = f"{settings.clusters[name].bootstrap}, cluster id {health.kafka_cluster_id}"
        yield Check("kafka", OK, found, cluster=name)
        for finding in health.findings:
            wrong = FAIL if finding.what in NEEDED else WARN
            first = f"; {words(finding.problem)}" if finding.problem else ""
            outcome, seen = OK if finding.ok else wrong, f"{finding.seen}{first}"
            yield Check(finding.what, outcome, seen, finding.fix, cluster=name)


@tried("lake")
def lake(settings: Settings) -> Check:
    """Whether the lake can be read, and where it is a local folder, written."""
    opened = wiring.lake(settings)
    known = opened.clusters()
    held = f"{settings.lake}; snapshots of {', '.join(known) or 'no cluster yet'}"
    if "://" in settings.lake:
        return Check("lake", OK, f"{held}; writing was not tried")
    folder = Path(settings.lake).absolute()
    existing = next(place for place in (folder, *folder.parents) if place.is_dir())
    fix = f"Give user id {os.getuid()} the right to write there, or set lake (EVENKEEL_LAKE) to another folder."
    try:
        with tempfile.TemporaryFile(dir=existing):
            pass
    except OSError as problem:
        found = f"{existing} cannot be written: {problem.strerror}."
        return Check("lake", FAIL, found, fix)
    return Check("lake", OK, f"{held}; writable")


@tried("history")
def history() -> Check:
    """Whether the history, or the demo's where none is configured, answers and has this version's schema."""
    try:
        settings, where = database()
    except ConfigError as problem:
        return replace(failed("history", problem), outcome=WARN)
    from ..adapters import postgres
    from ..adapters.lake import FileLake

    waiting = list(postgres.pending(secret_url(settings)))
    if waiting:
        found = f"{where}: {len(waiting):,} migrations are not applied ({', '.join(waiting)})."
        return Check("history", FAIL, found, "Run `evenkeel admin migrate`.")
    # people may ask from where the lake is not
    with suppress(LakeError):
        try:
            postgres.check(secret_url(settings), FileLake(settings.lake))
        except HistoryError as problem:
            return replace(failed("history", problem), outcome=WARN)
    return Check("history", OK, f"{where}; schema is this version's")


@tried("slack")
def slack(settings: Settings) -> Check:
    """Whether Slack takes the token, or has the incoming webhook."""
    if settings.slack_token is not None:
        from ..adapters.slack.check import who_am_i

        channel = settings.slack_channel
        who = who_am_i(settings.slack_token.get_secret_value(), settings.slack_base_url, channel)
        return Check("slack", OK, f"{who}; default channel {channel}")
    if settings.slack_webhook_url is None:
        fix = (
            "Set EVENKEEL_SLACK_TOKEN (without a bot EVENKEEL_SLACK_WEBHOOK_URL), or the Airflow connection "
            "evenkeel_slack; until then alerts go to the log."
        )
        return Check("slack", WARN, "no token is configured.", fix)
    from ..adapters.slack import SlackWebhook

    webhook = SlackWebhook(settings.slack_webhook_url.get_secret_value())
    webhook.check()
    detail = (
        f"an incoming webhook at {webhook.host}; it neither threads nor changes messages, and may double one after a "
        "failure"
    )
    unheard = sorted({rule.channel for rule in settings.rules if rule.channel})
    if unheard:
        fix = "All goes to the webhook's own channel; a bot's token reaches others."
        return Check("slack", WARN, f"{detail}; rules name {listed(unheard)}.", fix)
    return Check("slack", OK, detail)


def pagers(settings: Settings) -> Iterator[Check]:
    """Each webhook that pages, and the heartbeat, as far as they can be asked without paging anybody."""
    for name, webhook in sorted(settings.webhooks.items()):
        yield _webhook(name, webhook)
    yield _heartbeat(settings)


@tried("webhook")
def _webhook(name: str, webhook: Webhook) -> Check:
    from ..adapters.webhook.check import lacking, who_answers
    from ..adapters.webhook.notifier import secret_fix

    if missing := lacking(webhook):
        return Check("webhook", WARN, f"{name}: no {missing} is configured.", secret_fix(name))
    return Check("webhook", OK, f"{name}: {who_answers(name, webhook)}")


@tried("heartbeat")
def _heartbeat(settings: Settings) -> Check:
    if settings.heartbeat_url is None:
        fix = "Set EVENKEEL_HEARTBEAT_URL, or the Airflow connection evenkeel_heartbeat."
        detail = "none is configured: no other system notices when evenkeel stops."
        return Check("heartbeat", WARN, detail, fix)
    from ..adapters.webhook.check import host_of_heartbeat

    return Check("heartbeat", OK, host_of_heartbeat(settings.heartbeat_url.get_secret_value()))
