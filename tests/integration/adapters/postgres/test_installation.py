"""Two installations on one history by mistake: the first that writes has it, the other writes nothing."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from threading import Barrier
from typing import Any

import psycopg
import pytest
from typer.testing import CliRunner

from evenkeel.engine.adapters.lake import FileLake
from evenkeel.engine.adapters.postgres import PostgresHistory, check, migrate
from evenkeel.engine.cli import app
from evenkeel.engine.config import ClusterSettings, Settings
from evenkeel.engine.model.errors import HistoryError, LakeError
from evenkeel.engine.model.moments import utc_now
from evenkeel.engine.pipeline import Turn, take_scheduled_snapshot, take_turn
from evenkeel.engine.records import Outcome, StepRun
from tests.helpers.memory import MemoryCluster
from tests.helpers.searched import history_text
from tests.helpers.snapshots import group, make_snapshot, topic
from tests.stage.process import wait_until

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

WAITING = "SELECT count(*) FROM pg_locks INNER JOIN pg_stat_activity USING (pid) WHERE NOT granted AND datname = %s"


def writing(url: str, lake: FileLake) -> PostgresHistory:
    """The history, as a task of the installation with that lake has it."""
    return PostgresHistory(url, lambda: lake)


def taken(url: str, lake: FileLake, cluster: str = "demo", run: str = "scheduled__1") -> str:
    """A snapshot that an installation takes by its schedule."""
    reading = MemoryCluster(make_snapshot(topics=[topic("orders", 1)], groups=[group("app")]))
    return take_scheduled_snapshot(
        lambda _: reading,
        lake,
        writing(url, lake),
        Settings(clusters={cluster: ClusterSettings(bootstrap="broker:9092")}),
        cluster,
        run=run,
        since=0.0,
        limit=None,
    )


def note(url: str, lake: FileLake) -> None:
    """Record that a step ran, as each task does at its end."""
    at = utc_now()
    run = StepRun(cluster=None, step="watch", started_at=at, finished_at=at, outcome=Outcome.OK)
    writing(url, lake).record_step(run)


def owner(url: str) -> tuple[Any, ...] | None:
    """Id and lake of the installation that has the history."""
    with psycopg.connect(url) as session:
        return session.execute("SELECT installation_id, lake FROM installation").fetchone()


@pytest.mark.parametrize("cluster", ["demo", "other"])
def test_a_second_installation_is_refused_and_writes_nothing(
    database_url: str, tmp_path: Path, cluster: str
) -> None:
    """Whatever its clusters are called: it keeps its snapshots in its lake, and the error names the first one."""
    one, two = FileLake(tmp_path / "one"), FileLake(tmp_path / "two")
    first = taken(database_url, one)
    before = history_text(database_url)
    turn = Turn(snapshot_id=f"{cluster}-{first[-23:]}", run_id="asset_triggered__1")
    tries: list[Callable[[], object]] = [
        lambda: taken(database_url, two, cluster),
        lambda: take_turn(two, writing(database_url, two), Settings(), turn, lambda one: True),
        lambda: writing(database_url, two).pending_alerts(),
        lambda: note(database_url, two),
        lambda: check(database_url, two),
    ]
    for attempt in tries:
        with pytest.raises(HistoryError, match=f"another installation.*{one.path}.* since"):
            attempt()
    assert history_text(database_url) == before
    assert (len(two.snapshots(cluster)), two.identity()) == (1, None)
    check(database_url, one)
    assert taken(database_url, one) == first


def test_one_installation_has_many_tasks_and_a_lake_that_may_move(
    database_url: str, empty_database: str, tmp_path: Path
) -> None:
    """Its tasks write from anywhere; the lake takes the id along, also to a database that was lost and made again."""
    note(database_url, FileLake(tmp_path / "lake"))
    before = owner(database_url)
    assert before is not None
    moved = (tmp_path / "lake").rename(tmp_path / "elsewhere")
    migrate(empty_database)
    for url in (database_url, database_url, empty_database):
        note(url, FileLake(moved))
        assert owner(url) == (before[0], str(moved))


class Slow(FileLake):
    """A lake that gets its id when another claim of the database waits."""

    def __init__(self, path: Path, url: str) -> None:
        super().__init__(path)
        self.url = url

    def identify(self, identity: str) -> None:
        """Wait for it."""
        with psycopg.connect(self.url, autocommit=True) as session:

            def waits() -> bool:
                found = session.execute(WAITING, [session.info.dbname]).fetchone()
                return found is not None and found[0] > 0

            wait_until(waits, 30, "another claim to wait")
        super().identify(identity)


@pytest.mark.parametrize(("folders", "refused"), [(("one", "two"), 1), (("one", "one"), 0)])
def test_of_two_first_writes_at_once_one_claims(
    database_url: str, tmp_path: Path, folders: tuple[str, str], refused: int
) -> None:
    """Two lakes: one is refused and gets no id; two tasks of one installation: both write, with one id."""
    lakes = [Slow(tmp_path / folder, database_url) for folder in folders]
    begin = Barrier(len(lakes))

    def write(lake: FileLake) -> bool:
        begin.wait()
        with suppress(HistoryError):
            note(database_url, lake)
            return True
        return False

    with ThreadPoolExecutor() as pool:
        done = [*pool.map(write, lakes)]
    assert done.count(False) == refused
    claimed = owner(database_url)
    assert claimed is not None
    for wrote, lake in zip(done, lakes, strict=True):
        assert lake.identity() == (claimed[0] if wrote else None)


def test_a_released_history_belongs_to_the_next_installation_that_writes(
    database_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`evenkeel admin migrate --release` says from whom, a dry run releases nothing, and then the first is refused."""
    monkeypatch.setenv("EVENKEEL_DATABASE_URL", database_url)
    one, two = FileLake(tmp_path / "one"), FileLake(tmp_path / "two")

    def release(*more: str) -> str:
        return CliRunner().invoke(app, ["admin", "migrate", "--release", *more]).stdout

    of_one = f"release it from the installation with lake {one.path}"
    assert "nothing to release" in release()
    note(database_url, one)
    assert f"would {of_one}" in release("--dry-run")
    with pytest.raises(HistoryError, match="admin migrate --release"):
        note(database_url, two)
    assert of_one.replace("release ", "released ") in release()
    note(database_url, two)
    with pytest.raises(HistoryError, match=str(two.path)):
        note(database_url, one)


def test_the_pipeline_is_watched_while_the_lake_is_down(database_url: str, tmp_path: Path) -> None:
    """A lake that cannot be read claims nothing, and what the history is told without it goes on."""
    (tmp_path / "lake").mkdir()
    (tmp_path / "lake" / "_installation").mkdir()
    lake = FileLake(tmp_path / "lake")
    with pytest.raises(LakeError):
        lake.identity()
    note(database_url, lake)
    assert owner(database_url) is None
    assert "watch" in history_text(database_url)


def test_a_lake_whose_mount_is_away_is_not_another_one(database_url: str, tmp_path: Path) -> None:
    """While the folder of the lake is not mounted its installation still writes the history."""
    (tmp_path / "mount").mkdir()
    lake = FileLake(tmp_path / "mount" / "lake")
    note(database_url, lake)
    claimed = owner(database_url)
    (tmp_path / "mount").rename(tmp_path / "away")

    note(database_url, lake)

    assert history_text(database_url).count("watch") == 2
    assert owner(database_url) == claimed
