"""The embedded Postgres keeps its data, ends with its parent, and leaves nothing behind."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import psycopg
import pytest

from evenkeel.engine.adapters.postgres import migrate
from evenkeel.engine.adapters.postgres.reader import READER
from tests.stage.postgres import EmbeddedPostgres
from tests.stage.process import LocalClusterError

pytestmark = [pytest.mark.nightly, pytest.mark.postgres]

ROOT = Path(__file__).resolve().parents[3]


def postmaster(server: EmbeddedPostgres) -> psutil.Process:
    """The server's process."""
    return psutil.Process(int((server.data / "postmaster.pid").read_text().split()[0]))


def test_a_server_keeps_its_data_and_leaves_no_process(tmp_path: Path) -> None:
    """What was stored is there after a stop and a start; a stopped server is gone, its socket with it."""
    server = EmbeddedPostgres(tmp_path / "pg")
    with server:
        process = postmaster(server)
        children = process.children(recursive=True)
        with psycopg.connect(server.database("evenkeel")) as connection:
            connection.execute("CREATE TABLE kept (a int)")
    assert not any(p.is_running() for p in (process, *children))
    assert list((tmp_path / "pg" / "socket").iterdir()) == []
    with pytest.raises(LocalClusterError, match="start it first"):
        server.url("evenkeel", "evenkeel")
    with (
        EmbeddedPostgres(tmp_path / "pg"),
        psycopg.connect(server.database("evenkeel")) as connection,
    ):
        assert connection.execute("SELECT * FROM kept").fetchall() == []


@pytest.mark.skipif(
    sys.platform != "linux", reason="other systems do not tell a child of the end of its parent"
)
def test_a_server_ends_with_its_parent(tmp_path: Path) -> None:
    """A killed parent takes its server with it, cleanly."""
    script = (
        "import sys, pathlib, time; from tests.stage.postgres import EmbeddedPostgres;"
        "EmbeddedPostgres(pathlib.Path(sys.argv[1])).start(); print(flush=True); time.sleep(600)"
    )
    parent = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path / "pg")],
        cwd=ROOT,
        stdout=subprocess.PIPE,
    )
    server = EmbeddedPostgres(tmp_path / "pg")
    try:
        assert parent.stdout is not None
        assert parent.stdout.readline()
        process = postmaster(server)
        parent.kill()
        parent.wait()
        psutil.wait_procs([process], timeout=120)
        assert not process.is_running()
        assert "database system is shut down" in server.log.read_text()
    finally:
        parent.kill()
        parent.communicate()
        server.stop()


def test_who_only_reads_may_log_in(tmp_path: Path) -> None:
    """Also where an administrator made that role without login, as `database.sql` does, and at a second start."""
    with EmbeddedPostgres(tmp_path / "pg") as server:
        with psycopg.connect(server.administrator_url) as connection:
            connection.execute("CREATE ROLE evenkeel_reader NOLOGIN")
        migrate(server.database("evenkeel"))
        for _ in range(2):
            server.create_reader()
            with psycopg.connect(server.url("evenkeel", READER)) as connection:
                assert connection.execute("SELECT * FROM group_status").fetchall() == []
