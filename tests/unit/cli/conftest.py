"""The command line in a folder of its own, a recording of one cluster, and a cluster that replays it."""

from __future__ import annotations

import copy
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from evenkeel.engine import wiring
from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.recording import RecordedCluster, Recording, write_recording
from evenkeel.engine.cli import app
from evenkeel.engine.model.cluster_snapshot import ClusterSnapshot
from evenkeel.engine.model.facts import finding
from tests.helpers.snapshots import group, make_snapshot, member, store, topic

Run = Callable[..., Result]

URL = "postgresql://keel:hunter2@db.example.com:5433/history"
"""The address of a history database, with a password."""

DATA = Path(__file__).parents[2] / "data"
RECORDED = DATA / "cluster-recording.evenkeel"
"""Fourteen groups of a real cluster, each of another kind; whoever reads it is slow."""


def _command(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    for name in filter(re.compile("EVENKEEL_[A-Z_]+").fullmatch, list(os.environ)):
        monkeypatch.delenv(name)
    monkeypatch.chdir(folder)
    monkeypatch.setattr("evenkeel.engine.assignors._included", {})

    def invoke(*arguments: str | Path, **more: Any) -> Result:
        return CliRunner().invoke(app, [str(a) for a in arguments], **more)

    return invoke


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command in an empty folder, without any setting of the environment."""
    return _command(tmp_path, monkeypatch)


@pytest.fixture(scope="session")
def told(tmp_path_factory: pytest.TempPathFactory) -> Run:
    """What a command that only reads tells there; it is run once, however many tests look at it."""
    folder = tmp_path_factory.mktemp("told")

    @cache
    def invoke(*arguments: str | Path) -> Result:
        with pytest.MonkeyPatch.context() as patch:
            return _command(folder, patch)(*arguments)

    return invoke


def objects(result: Result, code: int = 0) -> list[dict[str, Any]]:
    """Standard output as JSON lines, of a command that ends with this exit code."""
    assert result.exit_code == code, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


def changed(case: dict[str, Any], path: Sequence[str | int], value: Any) -> dict[str, Any]:
    """A case with one field replaced, or taken away when the value is `...`."""
    at = changed = copy.deepcopy(case)
    for step in path[:-1]:
        at = at[step] if isinstance(step, int) else at.setdefault(step, {})
    if value is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return changed


def words_of(text: str) -> str:
    """What is said, whatever width it was broken to."""
    return " ".join(text.split())


def lacking(text: str, told: str) -> str | None:
    """The first of what stands between ` … ` in *told* that a text does not say in this order; None where all is."""
    text, place = words_of(text), 0
    for mark in words_of(told).split(" … "):
        place = text.find(mark, place)
        if place < 0:
            return mark
    return None


def snapshot(number: int) -> ClusterSnapshot:
    """
    One of a series, of seven groups.

    `uneven`: a switch pays in every snapshot; `fine`; `never` committed; `empty` with one commit missing;
    `locked` could not be read; `moving` rebalances; and one with a name that is not for terminals.
    """
    return make_snapshot(
        number=number,
        cluster="prod",
        topics=[topic("orders", 6, end=1000 + 6000 * number), topic("pay", 4, end=500)],
        groups=[
            group(
                "uneven",
                members=[
                    member("app-1", ["orders"], {"orders": range(5)}, rack="rack-a"),
                    member("app-2", ["orders"], {"orders": [5]}, rack="rack-b"),
                ],
                committed={"orders": [500 + 6000 * number] * 6},
            ),
            group("fine", members=2, lag={"pay": 0}),
            group("never", members=2, topics=["pay"]),
            group("empty", committed={"pay": [490, 500, None, 500]}),
            group("locked", error="not authorized: DESCRIBE"),
            group("moving", members=2, lag={"pay": 5}, state="PreparingRebalance"),
            group("bad\x1b[31m[red]name", members=1, lag={"pay": 5}),
        ],
        problems=[finding("group_unread", ["locked"], quote="not authorized: DESCRIBE")],
    )


@pytest.fixture
def checked(run: Run) -> Callable[..., dict[str, dict[str, Any]]]:
    """What `evenkeel doctor` says, by the names of its checks; the last of each."""

    def check(*arguments: str, code: int = 0) -> dict[str, dict[str, Any]]:
        return {row["name"]: row for row in objects(run("doctor", *arguments, "--json"), code)}

    return check


@pytest.fixture(scope="session")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A lake folder of four snapshots."""
    folder = tmp_path_factory.mktemp("cli") / "lake"
    store(FileLake(folder), *map(snapshot, range(4)))
    return folder


@pytest.fixture(scope="session")
def recording(lake: Path) -> Path:
    """The same as a recording."""
    file = lake.with_name("cluster.recording")
    opened = FileLake(lake)
    write_recording(file, opened, opened.snapshots("prod", limit=9))
    return file


@pytest.fixture
def kept(tmp_path: Path) -> Callable[..., Path]:
    """Keep snapshots in a lake folder beside the command, `lake` or another; the folder."""

    def keep(*snapshots: ClusterSnapshot, name: str = "lake") -> Path:
        store(FileLake(tmp_path / name), *snapshots)
        return tmp_path / name

    return keep


class FakeCluster(RecordedCluster):
    """Yields the recorded snapshots, and remembers that it was closed."""

    closed = False

    def close(self) -> None:
        """Remember it."""
        self.closed = True


@pytest.fixture
def kafka(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """
    Every live cluster is the recorded one, and no time passes between snapshots but the clock's.

    The mapping says what was asked for: `settings`, `name`, `cluster`, `slept`.
    """
    held = Recording()
    ids = store(held, *map(snapshot, range(4)))
    asked: dict[str, Any] = {"slept": []}

    def cluster(settings: Any, name: str) -> FakeCluster:
        asked.update(settings=settings, name=name, cluster=FakeCluster(held, ids))
        return asked["cluster"]

    clock = iter(datetime(2026, 3, 2, tzinfo=UTC) + timedelta(minutes=n) for n in range(99))
    monkeypatch.setattr(wiring, "cluster", cluster)
    monkeypatch.setattr("evenkeel.engine.pipeline.snapshot.utc_now", lambda: next(clock))
    # the command line's own clock: other threads of the process sleep as they do
    its_clock = SimpleNamespace(monotonic=time.monotonic, sleep=asked["slept"].append)
    monkeypatch.setattr("evenkeel.engine.cli.sources.time", its_clock)
    return asked


@pytest.fixture
def history(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A history that answers every query with what it was asked, and two rows of all kinds."""

    class Fake:
        rows = (
            {
                "group_id": "a",
                "largest_member_lag": 1234567,
                "cross_rack_share": 0.25,
                "drain_seconds": 300.0,
                "is_live": True,
                "taken_at": datetime(2026, 3, 1, tzinfo=UTC),
                "proof": None,
                "findings": ["x"],
            },
            {
                "group_id": "b",
                "largest_member_lag": None,
                "cross_rack_share": None,
                "drain_seconds": float("inf"),
                "is_live": False,
                "taken_at": None,
                "proof": "exact",
                "findings": [],
            },
        )

        def query(self, name, **parameters):
            asked.append((name, parameters))
            return list(self.rows)

    asked: list = []
    fake = Fake()
    fake.asked = asked

    def build(settings):
        fake.url = settings.database_url.get_secret_value()
        return fake

    monkeypatch.setattr(wiring, "history", build)
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", URL)
    return fake
