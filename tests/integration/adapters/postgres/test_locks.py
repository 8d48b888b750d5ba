"""Who may only read holds up nobody: not by a lock it guesses, nor by one it sees, nor by what it reads without end."""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

import psycopg
import pytest

from evenkeel import sql
from evenkeel.engine.adapters.postgres import (
    PostgresHistory,
    PostgresShelf,
    migrate,
    migration,
    pending,
)
from evenkeel.engine.adapters.postgres import timeouts as limits
from evenkeel.engine.model.deadline import within
from evenkeel.engine.model.environment import DOING
from evenkeel.engine.model.errors import ClusterBusy, HistoryError
from evenkeel.engine.model.message import AlertMessage, MessageKind, Severity
from evenkeel.engine.ports import Posting
from tests.helpers.history_rows import FIRST, fill
from tests.stage.postgres_access import PostgresServer

pytest_plugins = ("tests.helpers.postgres_fixtures",)
pytestmark = pytest.mark.postgres

LONGEST = 30
"""Seconds after which something has hung."""

RULES = "rules_c0ffee_1_0"
MODES = ("ACCESS SHARE", "ROW SHARE", "ROW EXCLUSIVE", "SHARE UPDATE EXCLUSIVE")
MODES = (*MODES, "SHARE", "SHARE ROW EXCLUSIVE", "EXCLUSIVE", "ACCESS EXCLUSIVE")
ROWS = ("UPDATE", "NO KEY UPDATE", "SHARE", "KEY SHARE")

GUESSED = (
    *("evenkeel migrate", "take_snapshot of demo", "backfill of demo"),
    *(f"deliver {schema} {number}" for schema in ("public", RULES) for number in range(9)),
)
"""Names from which keys of advisory locks were once made."""

RELATIONS = """
    SELECT format('%I.%I', nspname, relname) FROM pg_class
    INNER JOIN pg_namespace ON pg_namespace.oid = relnamespace
    WHERE relkind IN ('r', 'p', 'v') AND (nspname = 'public' OR starts_with(nspname, 'rules_'))"""

SHOWN = """
    SELECT DISTINCT (classid::bigint << 32) | objid::bigint FROM pg_locks
    WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


def keep(reader: psycopg.Connection[Any]) -> set[str]:
    """Take every lock that this role gets, and keep it in the open transaction; which those are."""
    kept = set()

    def tried(command: str) -> None:
        with suppress(psycopg.Error), reader.transaction():
            reader.execute(command.encode())
            kept.add(command)

    reader.execute("SELECT pg_advisory_xact_lock(hashtext('group_sample'))")
    for name in GUESSED:
        reader.execute("SELECT pg_advisory_lock(hashtextextended(%s, 0))", [name])
    names = [row[0] for row in reader.execute(RELATIONS.encode())]
    for name in names:
        for mode in MODES:
            tried(f"LOCK TABLE {name} IN {mode} MODE NOWAIT")
        for strength in ROWS:
            tried(f"SELECT FROM {name} FOR {strength} NOWAIT")
        tried(f"SELECT FROM {name}")
    for call in ("make_sample_day('2026-03-09 12:00:00+00')", "pack_sample_day('2026-03-01')"):
        tried(f"SELECT {call}")
    return kept


@contextmanager
def hoarding(url: str) -> Iterator[set[str]]:
    """While this lasts a role keeps what it gets."""
    with psycopg.connect(url) as reader:
        yield keep(reader)
        reader.rollback()


def read_only(url: str) -> str:
    """Name of the role of a URL."""
    return str(psycopg.conninfo.conninfo_to_dict(url)["user"])


def snapshot(history: PostgresHistory) -> None:
    """Take the lock, and store what the steps store, of a day of which there is no table yet."""
    with history.lock("take_snapshot of demo"):
        fill(history, 8 * 24 * 60)


def deliver(history: PostgresHistory) -> None:
    """Attempt what waits."""
    (waiting,) = history.pending_alerts()
    with history.attempt_alert(waiting, timedelta(minutes=5)) as is_ours:
        assert is_ours
        history.mark_alert_failed(waiting, "not now")


def maintain(history: PostgresHistory) -> None:
    """Hours are made, days packed, all that is old goes, and with it a schema of other rules."""
    later = FIRST + timedelta(days=60)
    for day in history.days_to_roll_up(later):
        history.roll_up(day, kept=FIRST, before=later)
    history.pack_samples(later)
    history.expire_rollups(hours=later, days=later)
    history.expire_candidates(samples=later, hours=later, days=later)
    assert history.expire(later)


@pytest.fixture
def stocked(history: PostgresHistory, database_url: str, reader_url: str) -> PostgresHistory:
    """A history with rows of everything, an alert that waits, and a schema of other rules."""
    fill(history)
    told = AlertMessage(
        kind=MessageKind.ADVICE, severity=Severity.INFO, at=FIRST, title="t", summary="s"
    )
    history.enqueue_alert(Posting(key="a", channel="#kafka", message=told), cluster="demo")
    shelf = PostgresShelf(database_url, RULES, reader=read_only(reader_url))
    shelf.make("")
    fill(shelf)
    return history


@pytest.mark.parametrize("step", ["snapshot", "deliver", "maintain", "migrate", "backfill"])
def test_a_reader_that_keeps_every_lock_it_gets_holds_up_no_step(
    step: str,
    stocked: PostgresHistory,
    database_url: str,
    reader_url: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By guessed keys, by tables, by rows, by functions: no step waits for it or says busy."""
    monkeypatch.setattr(limits, "STATEMENT_SECONDS", 5)
    shelf = PostgresShelf(database_url, RULES, reader=read_only(reader_url))

    def backfill() -> None:
        with shelf.lock("backfill of demo"):
            shelf.make("")
            fill(shelf, 8 * 24 * 60)

    steps: dict[str, Callable[[], object]] = {
        "snapshot": lambda: snapshot(stocked),
        "deliver": lambda: deliver(stocked),
        "maintain": lambda: maintain(stocked),
        "migrate": lambda: migrate(database_url, reader=read_only(reader_url)),
        "backfill": backfill,
    }
    with hoarding(reader_url) as kept:
        assert f"SELECT FROM {RULES}.latest_lag" in kept
        within(LONGEST, steps[step])


def test_a_schema_of_other_rules_that_was_read_goes_the_next_time(
    stocked: PostgresHistory, database_url: str, reader_url: str
) -> None:
    """It stays while somebody reads it; its rows are gone already."""
    with hoarding(reader_url):
        within(LONGEST, lambda: maintain(stocked))
        assert stocked._shelves() == [RULES]
    stocked.expire(FIRST + timedelta(days=60))
    assert stocked._shelves() == []


def test_what_a_reader_sees_held_it_cannot_take_over(
    stocked: PostgresHistory, database_url: str, reader_url: str
) -> None:
    """Keys of advisory locks are shown to everybody: who waits for one of ours would have it next."""
    with psycopg.connect(reader_url, autocommit=True) as reader:

        def queue() -> None:
            for (key,) in reader.execute(SHOWN.encode()).fetchall():
                reader.execute("SELECT pg_advisory_lock(%s)", [key])

        with stocked.lock("take_snapshot of demo"):
            thread = threading.Thread(target=queue, daemon=True)
            thread.start()
            thread.join(2)
            with pytest.raises(ClusterBusy):
                stocked.lock("take_snapshot of demo").__enter__()
        thread.join(LONGEST)
        within(LONGEST, lambda: snapshot(stocked))


# Who holds a lock, and for how long


def terminate(url: str, pid: int) -> None:
    """End a session, and wait until it has ended."""
    with psycopg.connect(url, autocommit=True) as server:
        server.execute("SELECT pg_terminate_backend(%s, 10000)", [pid])


def put(url: str, name: str, session: psycopg.Connection[Any], role: str) -> None:
    """Note a session as the holder of a lock, whoever it is."""
    (since,) = session.execute("SELECT now()").fetchone() or ()
    with psycopg.connect(url) as connection:
        connection.execute(
            "INSERT INTO held_lock VALUES (%s, %s, %s, %s)",
            [name, session.info.backend_pid, role, since],
        )


def test_busy_says_who_holds_the_lock(history: PostgresHistory, database_url: str) -> None:
    """By step, process, machine, role and moment; once that session has ended the lock is free."""
    token = DOING.set("take_snapshot")
    holding = PostgresHistory(database_url)
    DOING.reset(token)
    role = psycopg.conninfo.conninfo_to_dict(database_url)["user"]
    with holding.lock("take_snapshot of demo"):
        with pytest.raises(ClusterBusy) as caught:
            history.lock("take_snapshot of demo").__enter__()
        named = re.search(
            r"^take_snapshot of demo is still running: evenkeel take_snapshot, pid (\d+) on (\S+)"
            rf" \(role {role}, server process (\d+), since \d{{4}}-\d\d-\d\d [\d:]{{8}} UTC\)\. Let it",
            str(caught.value),
        )
        assert named is not None, caught.value
        assert (int(named[1]), named[2]) == (os.getpid(), socket.gethostname()[: len(named[2])])
        terminate(database_url, int(named[3]))
        with history.lock("take_snapshot of demo"):
            pass
    with psycopg.connect(database_url) as connection:
        assert connection.execute("SELECT name FROM held_lock").fetchall() == []


def test_a_process_that_was_killed_holds_no_lock(
    history: PostgresHistory, database_url: str
) -> None:
    """However it ends: the server notices the end of its connection."""
    code = (
        "import sys, time\n"
        "from evenkeel.engine.adapters.postgres import PostgresHistory\n"
        "with PostgresHistory(sys.argv[1]).lock('a'):\n"
        "    print('held', flush=True)\n"
        "    time.sleep(600)\n"
    )
    argv = [sys.executable, "-c", code, database_url]
    with subprocess.Popen(argv, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        with pytest.raises(ClusterBusy):
            history.lock("a").__enter__()
        process.kill()
    deadline = time.monotonic() + LONGEST
    while True:
        with suppress(ClusterBusy), history.lock("a"):
            break
        assert time.monotonic() < deadline


def test_the_session_of_another_role_is_taken_at_its_word_and_no_other(
    history: PostgresHistory, postgres_server: PostgresServer, database_url: str, reader_url: str
) -> None:
    """The server hides when it began: its lock counts while it lives; a reader of that process id holds nothing."""
    database = str(psycopg.conninfo.conninfo_to_dict(database_url)["dbname"])
    own = str(psycopg.conninfo.conninfo_to_dict(database_url)["user"])
    with psycopg.connect(postgres_server.administrator_url, dbname=database) as other:
        put(database_url, "a", other, other.info.user)
        with pytest.raises(ClusterBusy, match=rf"role {other.info.user}, server process"):
            history.lock("a").__enter__()
    with psycopg.connect(reader_url) as reader:
        put(database_url, "b", reader, own)
        with history.lock("a"), history.lock("b"):
            pass


def test_many_that_want_a_lock_have_it_one_after_the_other(history: PostgresHistory) -> None:
    """Never two at a time, and whoever lets go leaves it to the others."""
    inside, had = [], []

    def want(number: int) -> None:
        for _ in range(5):
            with suppress(ClusterBusy), history.lock("a"):
                inside.append(number)
                assert inside == [number]
                inside.remove(number)
                had.append(number)

    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(want, range(6))) == [None] * 6
    assert len(had) >= 6


def test_a_database_that_was_never_migrated_has_no_locks(empty_database: str) -> None:
    """That is said as of every other use, and the lake still gets its snapshots (`take_scheduled_snapshot`)."""
    with pytest.raises(HistoryError, match=r"not migrated.*evenkeel admin migrate"):
        PostgresHistory(empty_database).lock("a").__enter__()


# Migrating


def test_a_migration_names_who_keeps_a_view_from_it(
    database_url: str, reader_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a bounded wait, by application, role and process, and nothing is changed; afterwards it goes through."""
    monkeypatch.setattr(migration, "LOCK_SECONDS", 2)
    with psycopg.connect(database_url) as connection:
        row = connection.execute("SELECT pg_get_viewdef('newest_snapshot')").fetchone()
        former = f"SELECT * FROM ({row and row[0].rstrip(';')}) AS was WHERE TRUE"
        connection.execute(f"CREATE OR REPLACE VIEW newest_snapshot AS {former}".encode())
    with psycopg.connect(reader_url, application_name="a dashboard") as reader:
        reader.execute("SELECT * FROM newest_snapshot")
        with pytest.raises(HistoryError) as caught:
            migrate(database_url, reader=read_only(reader_url))
        who = (
            f"a dashboard (role {read_only(reader_url)}, server process {reader.info.backend_pid})"
        )
        assert f"{who} did not let go of a table or view within 2 s." in str(caught.value)
        assert "evenkeel admin migrate" in str(caught.value)
    assert migrate(database_url, reader=read_only(reader_url)) == []


def test_a_migration_names_who_keeps_a_table_from_it(
    database_url: str, reader_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """By what a migration of Alembic alters, too; it is still pending afterwards."""
    copy = shutil.copytree(sql.MIGRATIONS, tmp_path / "migrations")
    numbers = sorted(file.stem[:4] for file in (copy / "versions").glob("*.py"))
    (copy / "versions" / "9000_more.py").write_text(
        f"from alembic import op\nrevision, down_revision = '9000', '{numbers[-1]}'\n"
        "def upgrade():\n    op.execute('ALTER TABLE snapshot ADD COLUMN more integer')\n"
    )
    monkeypatch.setattr(sql, "MIGRATIONS", copy)
    monkeypatch.setattr(migration, "LOCK_SECONDS", 2)
    with psycopg.connect(reader_url, application_name="a report") as reader:
        reader.execute("LOCK TABLE snapshot IN ACCESS SHARE MODE")
        with pytest.raises(
            HistoryError, match=r"a report \(role \S+, server process \d+\) did not"
        ):
            migrate(database_url, reader=read_only(reader_url))
    assert pending(database_url) == ["9000_more"]
    assert migrate(database_url, reader=read_only(reader_url)) == ["9000_more"]


@pytest.mark.parametrize("is_new", [True, False], ids=["the first", "a later one"])
def test_a_migration_that_waits_for_another_says_for_whom(
    empty_database: str, monkeypatch: pytest.MonkeyPatch, is_new: bool
) -> None:
    """It is told who is at it, as often as it looks, and then has its turn."""
    monkeypatch.setattr(migration, "LOCK_SECONDS", 1)
    if not is_new:
        migrate(empty_database)
    told: list[str] = []
    heard = threading.Event()

    def hear(line: str) -> None:
        if line.startswith("waiting"):
            told.append(line)
            heard.set()

    with ThreadPoolExecutor(1) as pool:
        with psycopg.connect(empty_database, application_name="another") as other:
            pid = other.info.backend_pid
            other.execute(migration._TURN)
            waiting = pool.submit(migrate, empty_database, tell=hear)
            assert heard.wait(LONGEST)
        assert bool(waiting.result(LONGEST)) == is_new
    role = psycopg.conninfo.conninfo_to_dict(empty_database)["user"]
    named = f"another (role {role}, server process {pid}, since "
    assert told[0].startswith(f"waiting for another migration: {named}")
