"""What is configured, and whether it answers: clusters, lake and history."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path

from ... import wiring
from ...config import Settings, load
from ...messages.wording import words
from ...model.errors import ConfigError, EvenkeelError
from .. import demo, sources
from ..database import database, secret_url
from .check import FAIL, OK, WARN, Check, checked, failed

NEAR = 0.75
"""So alike are two names of which one may be meant for the other."""

NEEDED = ("groups", "topics")
"""What a cluster must let us see; without racks, or with a broker down, there is still something to say."""


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
    return settings, Check(name="configuration", outcome=OK, detail=found)


def variables() -> Iterator[Check]:
    """Variables of the environment that nobody reads, and that are nearly called as a key of the configuration is."""
    keys = [name.upper() for name in Settings.model_fields]
    for name in sorted(os.environ):
        key = name.removeprefix("EVENKEEL_")
        if key == name or key in keys:
            continue
        if near := get_close_matches(key, keys, 1, NEAR):
            fix = f"Call it EVENKEEL_{near[0]} if that is meant."
            yield Check(name="environment", outcome=WARN, detail=f"nobody reads {name}.", fix=fix)


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
        yield replace(failed("kafka", problem), cluster=name)
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
    return checked("lake", lambda: _lake(settings))


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
        return replace(failed("history", problem), outcome=WARN)
    return checked("history", lambda: _history(secret_url(settings), where))


def _history(url: str, where: str) -> Check:
    from ...adapters import postgres

    waiting = list(postgres.pending(url))
    if waiting:
        found = f"{where}: {len(waiting):,} migrations are not applied ({', '.join(waiting)})."
        return Check(
            name="history", outcome=FAIL, detail=found, fix="Run `evenkeel admin migrate`."
        )
    return Check(name="history", outcome=OK, detail=f"{where}; schema is this version's")
